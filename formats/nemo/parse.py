"""Back from NeMo Gym's files to records: rows, and the Harbor agents of a `config.yaml`.

Reading resolves nothing: a value that only OmegaConf could fill in (`${...}`, `???`) stays as it
stands. Foreign facts are NeMo Gym 0.7.0's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from .layout import (
    AGENT,
    DEFAULT_REWARD_KEY,
    PARAMS,
    AdoptedFrom,
    DatasetEntry,
    Json,
    LayoutError,
    Row,
    SplitType,
)
from .yamltext import Node, YamlError, load, resolved

_SPLIT_TYPES: dict[str, SplitType] = {
    "train": "train",
    "validation": "validation",
    "example": "example",
}
_ROUTING = ("agent_ref", "task_source", "skills_ref")


def parse_row(line: bytes) -> Row:
    """The row on one line. Refuses what NeMo would refuse, and what readers disagree about.

    That is: a blank line, bytes that are not UTF-8, a value that is no object, a repeated key, NaN,
    nesting that Python cannot follow, no `task_name` or no `responses_create_params`.
    """
    try:
        row: Json = json.loads(
            line.decode("utf-8"), object_pairs_hook=_no_repeats, parse_constant=_no_constant
        )
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise LayoutError(f"not a row of JSON: {error}") from error
    if not isinstance(row, dict):
        raise LayoutError("a row must be a JSON object")
    task_name = row.pop("task_name", None)
    params = row.pop(PARAMS, None)
    if not isinstance(task_name, str) or not task_name:
        raise LayoutError("a row for harbor_agent_general needs `task_name`, a string")
    if not isinstance(params, dict) or "input" not in params:
        raise LayoutError("a row needs `responses_create_params` with `input`")
    routing = {key: row.pop(key) for key in list(row) if key in _ROUTING or key.startswith("_ng_")}
    return Row(task_name, params, routing, row)


def _no_repeats(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    row = dict(pairs)
    if len(row) != len(pairs):
        raise LayoutError("a key stands twice in the row")
    return row


def _no_constant(name: str) -> Json:
    raise LayoutError(f"{name} is not JSON")


# --- config.yaml ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class HarborAgent:
    """One instance of `harbor_agent_general` in a config."""

    name: str
    harbor_dataset: dict[str, Node]
    """Harbor's `DatasetConfig` keys as written, interpolations included."""
    reward_key: str
    datasets: tuple[DatasetEntry, ...]
    settings: dict[str, Node] = field(default_factory=dict[str, Node])
    """Every other key of the instance: harness, backend, verifier, job folder."""

    @property
    def tasks_path(self) -> str | None:
        """The folder of the tasks: inside the repo when `harbor_dataset` names one, else local.

        None: it needs a value that the config does not hold (`${harbor_dataset_path}`).
        """
        path = self.harbor_dataset.get("path")
        return resolved(path) if isinstance(path, str) else None


@dataclass(frozen=True)
class ParsedConfig:
    """The Harbor agents of one config file, and what was passed over."""

    agents: tuple[HarborAgent, ...]
    ignored: tuple[str, ...]
    """Top-level keys that are neither such an agent nor the environment server of one."""
    problems: tuple[str, ...]
    """What NeMo would refuse or only a run could tell; the rest of the config is still given."""


def parse_config(data: bytes) -> ParsedConfig:
    """The `harbor_agent_general` instances of a NeMo Gym config.

    Refuses (LayoutError) only what cannot be read within the limits of `yamltext.load`; other
    configs named in `config_paths` are not opened, and `_inherit_from` is not followed: both are
    reported.
    """
    try:
        document = load(data)
    except YamlError as error:
        raise LayoutError(str(error)) from error
    problems: list[str] = []
    agents: list[HarborAgent] = []
    for name, value in document.items():
        settings = _server(value, "responses_api_agents", AGENT)
        if settings is not None:
            agents.append(_agent(name, settings, problems))
    names = {agent.name for agent in agents}
    ignored: list[str] = []
    for key, value in document.items():
        if key in names:
            continue
        if _fronts(value) in names:
            continue
        ignored.append(key)
        if key == "config_paths":
            problems.append("config_paths: other configs are part of this one and were not read")
        elif isinstance(value, dict) and "_inherit_from" in value:
            problems.append(f"{key}: inherits from another instance, which was not followed")
    return ParsedConfig(tuple(agents), tuple(ignored), tuple(problems))


def _server(value: Node, kind: str, implementation: str) -> dict[str, Node] | None:
    """The settings of a server instance of this kind and implementation."""
    if not isinstance(value, dict):
        return None
    servers = value.get(kind)
    settings = servers.get(implementation) if isinstance(servers, dict) else None
    return settings if isinstance(settings, dict) else None


def _fronts(value: Node) -> str | None:
    """The agent that an environment server stands in front of."""
    settings = _server(value, "environment_servers", "legacy_agent") or {}
    agent = settings.get("agent_server")
    name = agent.get("name") if isinstance(agent, dict) else None
    return name if isinstance(name, str) else None


def _agent(name: str, settings: dict[str, Node], problems: list[str]) -> HarborAgent:
    rest = dict(settings)
    source = rest.pop("harbor_dataset", None)
    if not isinstance(source, dict):
        problems.append(f"{name}: harbor_dataset is no mapping")
        source = {}
    key = rest.pop("harbor_reward_key", DEFAULT_REWARD_KEY)
    reward_key = resolved(key) if isinstance(key, str) else None
    if not reward_key:
        problems.append(f"{name}: harbor_reward_key {key!r} is not a plain, non-empty string")
        reward_key = DEFAULT_REWARD_KEY
    entries = rest.pop("datasets", None) or []
    datasets: list[DatasetEntry] = []
    for index, entry in enumerate(entries if isinstance(entries, list) else [entries]):
        try:
            datasets.append(_dataset(entry))
        except LayoutError as error:
            problems.append(f"{name}: datasets[{index}]: {error}")
    return HarborAgent(name, source, reward_key, tuple(datasets), rest)


def _dataset(entry: Node) -> DatasetEntry:
    if not isinstance(entry, dict):
        raise LayoutError("not a mapping")
    kind = _SPLIT_TYPES.get(_plain(entry, "type"))
    if kind is None:
        raise LayoutError(f"type {entry['type']!r} holds no rows of its own")
    licence = entry.get("license")
    source = entry.get("source") or entry.get("huggingface_identifier")
    repo_id = source.get("repo_id") if isinstance(source, dict) else None
    repeats = entry.get("num_repeats", 1)
    if not isinstance(repeats, int) or isinstance(repeats, bool) or repeats < 1:
        raise LayoutError(f"num_repeats {repeats!r} is no positive whole number")
    return DatasetEntry(
        name=_plain(entry, "name"),
        type=kind,
        jsonl_fpath=_plain(entry, "jsonl_fpath"),
        licence=_plain(entry, "license") if licence is not None else None,
        hub_repo_id=resolved(repo_id) if isinstance(repo_id, str) else None,
        num_repeats=repeats,
    )


def _plain(entry: Mapping[str, Node], key: str) -> str:
    value = entry.get(key)
    text = resolved(value) if isinstance(value, str) else None
    if not text or text != value:  # an escaped `${` means two things to NeMo Gym (`layout.py`)
        raise LayoutError(f"{key} {value!r} is not a plain, non-empty string")
    return text


# --- manifest.yaml -------------------------------------------------------------------------------


@dataclass(frozen=True)
class ParsedManifest:
    """The descriptive part of a manifest; what is absent or of another type is None or empty."""

    name: str | None
    version: str | None
    description: str | None
    authors: tuple[str, ...]
    licensing: str | None
    adopted_from: AdoptedFrom | None


def parse_manifest(data: bytes) -> ParsedManifest:
    """The descriptive keys of a `manifest.yaml`; refuses only what cannot be read at all."""
    try:
        document = load(data)
    except YamlError as error:
        raise LayoutError(str(error)) from error
    authors = document.get("authors")
    origin = document.get("adopted_from")
    parts = [_text(origin, key) for key in ("source", "ref", "reconciled")]
    return ParsedManifest(
        name=_text(document, "name"),
        version=_text(document, "version"),
        description=_text(document, "description"),
        authors=tuple(a for a in authors if isinstance(a, str))
        if isinstance(authors, list)
        else (),
        licensing=_text(document, "licensing"),
        adopted_from=AdoptedFrom(*(part for part in parts if part)) if all(parts) else None,
    )


def _text(mapping: Node, key: str) -> str | None:
    value = mapping.get(key) if isinstance(mapping, dict) else None
    return value if isinstance(value, str) and value else None
