"""NeMo Gym's configs in a repo: which rows they declare, for which agent, server and settings.

Facts: NeMo Gym 0.7.0, `config_types` and `global_config`. A config is found where the framework
looks (`environments/*/config.yaml`, `**/configs/*.yaml`) and at the top. References are followed
inside a file, then through `config_paths`, then by a name that is unique in the repo; nothing is
interpolated. `_inherit_from` is not followed and `${...}` in a path is a fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from posixpath import dirname
from typing import cast

from rlconvert.data import Data
from rlconvert.errors import Malformed, RlconvertError
from rlconvert.searching import items_to_search
from rlconvert.source import BOOKKEEPING, Kind, Source

from .layout import AGENT as HARBOR_AGENT
from .servers import AGENTS, SERVERS
from .yamltext import Node, YamlError, load, resolved

MAX_YAML = 1 << 20
TYPES = ("train", "validation", "example", "benchmark")

_KINDS = (SERVERS, AGENTS)
_MARKS = tuple(kind.encode() for kind in _KINDS)
_HOMES = frozenset({"benchmarks", "environments", SERVERS, AGENTS})
_MAX_DEPTH = 5
_MAX_FOLDERS = 500
_STARTING = frozenset({"entrypoint", "host", "port", "num_workers", "datasets"})
CATALOGUE = frozenset(
    {
        "domain",
        "verified",
        "verified_url",
        "description",
        "value",
        "allowed_agents",
        "allowed_model_types",
    }
)

Settings = Mapping[str, Node]


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A server or agent that a config sets up: `kind`, implementation and settings."""

    name: str
    kind: str
    implementation: str
    settings: Settings
    config: str

    @property
    def rule(self) -> dict[str, Data]:
        """The settings that can change a reward: not those of starting it, nor of listing it."""
        kept = self.settings.keys() - _STARTING - CATALOGUE
        return {key: cast("Data", self.settings[key]) for key in self.settings if key in kept}

    @property
    def catalogue(self) -> dict[str, Data]:
        """What people read about it."""
        return {key: cast("Data", self.settings[key]) for key in self.settings if key in CATALOGUE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """One row file that a config declares, on the agent or server `instance`.

    `component` grades it: a server's implementation, or `responses_api_agents/NAME` for an agent
    without a server; None where the reference leads nowhere.
    """

    config: str
    instance: Instance
    server: Instance | None
    component: str | None
    name: str
    type: str
    path: str
    artifact: str | None = None
    entry: Settings = field(default_factory=dict)

    @property
    def group(self) -> str:
        """What its sister datasets share."""
        return f"{self.config}#{self.instance.name}"

    @property
    def rule(self) -> dict[str, Data]:
        """The settings of whoever grades it."""
        if self.server is not None:
            return self.server.rule
        return self.instance.rule if (self.component or "").startswith(AGENTS) else {}


@dataclass(slots=True)
class Found:
    """Everything that the configs of a repo say."""

    datasets: list[Dataset] = field(default_factory=list)
    faults: list[RlconvertError] = field(default_factory=list)
    unfollowed: list[str] = field(default_factory=list)
    configs: list[str] = field(default_factory=list)


def find_configs(source: Source) -> Iterator[str]:
    """The paths of YAML files that may be configs, sorted within each folder."""
    todo = [("", 0)]
    while todo:
        folder, depth = todo.pop(0)
        items = items_to_search(source, folder)
        names = {item.name for item in items}
        if "task.toml" in names:
            continue
        here = folder.rpartition("/")[2]
        above = f"{folder}/" if folder else ""
        for item in items:
            if item.kind is Kind.FILE and item.name.endswith((".yaml", ".yml")):
                is_place = not folder or here == "configs" or item.name == "config.yaml"
                if is_place and (folder or item.name != "config.yml"):
                    yield above + item.name
        folders = [item.name for item in items if item.kind is Kind.FOLDER]
        if depth < _MAX_DEPTH and (len(folders) <= _MAX_FOLDERS or here in _HOMES):
            todo += [
                (above + name, depth + 1)
                for name in folders
                if folder or name not in BOOKKEEPING
            ]  # fmt: skip


def is_config(source: Source, path: str) -> bool:
    """Whether the text of a YAML file names a kind of server."""
    try:
        data = source.read(path, MAX_YAML)
    except RlconvertError:
        return False
    return any(mark in data for mark in _MARKS)


def read_configs(texts: Mapping[str, bytes]) -> Found:
    """What the configs in `texts` (by path) declare."""
    found = Found()
    documents: dict[str, dict[str, Node]] = {}
    for path, data in texts.items():
        try:
            documents[path] = load(data)
            found.configs.append(path)
        except YamlError as error:
            found.faults.append(_fault(path, "bad-config", str(error)))
    instances = [each for path, text in documents.items() for each in _instances(path, text)]
    for path, document in documents.items():
        found.unfollowed += [f"{path}: {name}" for name in _unfollowed(document, documents)]
    for instance in instances:
        if instance.implementation == HARBOR_AGENT and is_environment(instance.config):
            continue  # its tasks are folders: folders.py
        _read_datasets(instance, instances, documents, found)
    return found


def is_environment(path: str) -> bool:
    """Whether a config is that of a folder in `environments/`."""
    parts = path.split("/")
    return len(parts) == 3 and parts[0] == "environments" and parts[2] == "config.yaml"


def _instances(path: str, document: Mapping[str, Node]) -> Iterator[Instance]:
    for name, value in document.items():
        if not isinstance(value, Mapping):
            continue
        for kind in _KINDS:
            servers = value.get(kind)
            if not isinstance(servers, Mapping):
                continue
            for implementation, settings in servers.items():
                if isinstance(settings, Mapping):
                    yield Instance(
                        name=name,
                        kind=kind,
                        implementation=implementation,
                        settings=settings,
                        config=path,
                    )


def _unfollowed(document: Mapping[str, Node], documents: Mapping[str, object]) -> Iterator[str]:
    paths = document.get("config_paths")
    for path in paths if isinstance(paths, list) else []:
        if str(path) not in documents:
            yield f"config_paths names {path}, which is not here"
    for name, value in document.items():
        if isinstance(value, Mapping) and "_inherit_from" in value:
            yield f"{name} inherits from {value['_inherit_from']}"


def _read_datasets(
    instance: Instance,
    instances: list[Instance],
    documents: Mapping[str, Mapping[str, Node]],
    found: Found,
) -> None:
    entries = instance.settings.get("datasets")
    if not entries:
        return
    server, component = _grader(instance, instances, documents)
    for index, entry in enumerate(entries if isinstance(entries, list) else [entries]):
        where = f"{instance.name}.datasets[{index}]"
        try:
            found.datasets.append(_dataset(instance, server, component, entry))
        except ValueError as error:
            found.faults.append(_fault(instance.config, "bad-dataset", str(error), where))


def _grader(
    instance: Instance, instances: list[Instance], documents: Mapping[str, Mapping[str, Node]]
) -> tuple[Instance | None, str | None]:
    if instance.kind == SERVERS:
        return instance, instance.implementation
    reference = instance.settings.get("resources_server")
    if not isinstance(reference, Mapping):
        return None, f"{AGENTS}/{instance.implementation}"
    name = reference.get("name")
    named = [each for each in instances if each.kind == SERVERS and each.name == name]
    chained = documents[instance.config].get("config_paths")
    near = [instance.config, *(map(str, chained) if isinstance(chained, list) else ())]
    for choice in ([each for each in named if each.config in near[:1]],
                   [each for each in named if each.config in near], named):  # fmt: skip
        if len(choice) == 1:
            return choice[0], choice[0].implementation
    return None, None


def _dataset(
    instance: Instance, server: Instance | None, component: str | None, entry: Node
) -> Dataset:
    if not isinstance(entry, Mapping):
        raise ValueError("a dataset is no mapping")
    kind = entry.get("type")
    if kind not in TYPES:
        raise ValueError(f"type {kind!r} is none of {', '.join(TYPES)}")
    repeats = entry.get("num_repeats", 1)
    if not isinstance(repeats, int) or isinstance(repeats, bool) or repeats < 1:
        raise ValueError(f"num_repeats {repeats!r} is no positive whole number")
    origin = entry.get("source") or entry.get("huggingface_identifier")
    artifact = origin.get("artifact_fpath") if isinstance(origin, Mapping) else None
    return Dataset(
        config=instance.config,
        instance=instance,
        server=server,
        component=component,
        name=_plain(entry, "name"),
        type=str(kind),
        path=_plain(entry, "jsonl_fpath"),
        artifact=artifact if isinstance(artifact, str) else None,
        entry=entry,
    )


def _plain(entry: Settings, key: str) -> str:
    value = entry.get(key)
    text = resolved(value) if isinstance(value, str) else None
    if not text or text != value:
        raise ValueError(f"{key} {value!r} is not a plain, non-empty string")
    return text


def _fault(path: str, reason: str, problem: str, where: str | None = None) -> Malformed:
    return Malformed(problem, reason=reason, file=path, where=where, remedy="Correct the config")


def places_of(dataset: Dataset) -> list[str]:
    """Where its rows may stand in the repo, the likeliest first.

    As the config says; where the Hub has the file; beside the config, which people move together.
    """
    home = dirname(dataset.config)
    component = dirname(home) if home.rpartition("/")[2] == "configs" else home
    name = dataset.path.rpartition("/")[2]
    found = [dataset.path, dataset.artifact or ""]
    found += [f"{component}/data/{name}".lstrip("/"), f"{component}/{name}".lstrip("/")]
    return [path for path in dict.fromkeys(found) if path]
