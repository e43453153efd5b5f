"""NeMo Gym's files for tasks that Harbor runs: the row, `config.yaml`, `manifest.yaml`.

Pure functions from small records to bytes; the same input gives the same bytes. `parse.py` is the
way back. The tasks themselves stay Harbor's folders. Foreign facts are NeMo Gym 0.7.0's (its agent
`harbor_agent_general`) and Harbor 0.25.0's, which is what it resolves rows with; README.md beside
this file has the list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

from rlconvert.formats.taskfolder.sifting import parse_pointer, pointer

from .licences import NEMO_LICENCES, manifest_licensing
from .yamltext import Node, dump, literal, resolved

Json: TypeAlias = str | int | float | bool | list["Json"] | dict[str, "Json"] | None
SplitType = Literal["train", "validation", "example"]

AGENT = "harbor_agent_general"
"""The implementation: NeMo Gym's agent that hands a row to Harbor."""
DATASET_PATH = "${harbor_dataset_path}"
"""Where no repo is known: the user passes `++harbor_dataset_path=ABSOLUTE_PATH` (or env.yaml)."""
DEFAULT_REWARD_KEY = "reward"

PARAMS = "responses_create_params"
"""The key of a row that holds the request to the model."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_INSTANCE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_URL = re.compile(r"https?://[^\s@]+(?:@[^\s/:@]+)?")
_SOURCE = re.compile(r"(?:(?:https?|ssh|git|file)://\S+|[^@\s]+@[^:\s]+:\S+)")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class LayoutError(ValueError):
    """A file of this layout that does not say what it must, or a record that cannot be written."""


# --- which tasks a row can name ------------------------------------------------------------------


def row_fault(folder: str, declared: str | None, *, from_repo: bool) -> str | None:
    """Why the row named after this task folder would not run this task; None: it would.

    `declared` is `[task].name`. A row is a *pattern* over folder names, the finished trial is then
    sought under the declared name or its last part, and a task that is not found is reported with
    reward 0.0 (NeMo Gym 0.7.0). `from_repo`: Harbor lists the folders of a git repository, quoted
    by git, and fetches one by a sparse-checkout pattern.
    """
    if declared is not None and declared.rsplit("/", 1)[-1] != folder:
        return f"[task].name is {declared!r}: the folder must be called like its last part"
    if set("*?[") & set(folder):
        return "the name is a file name pattern, which may match other tasks or not itself"
    if "/" in folder:
        return "the name is no single folder's"
    if from_repo and not (
        folder.isascii() and folder.isprintable() and not set('"\\') & set(folder)
    ):
        return "git quotes the name in its listing, so that Harbor does not find it in a repository"
    return None


# --- rows ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One row: the task it names, what NeMo adds for routing, and everything else it carries."""

    task_name: str
    params: dict[str, Json] = field(default_factory=dict[str, Json])
    """`responses_create_params`; this agent ignores its `input`."""
    routing: dict[str, Json] = field(default_factory=dict[str, Json])
    """Keys that belong to NeMo Gym and never to the task: `agent_ref`, `task_source`, `_ng_*`."""
    extras: dict[str, Json] = field(default_factory=dict[str, Json])


def row_extras(row: Row) -> dict[str, Json]:
    """What a row says beyond naming its task, by JSON pointer."""
    extras = {pointer((key,)): value for key, value in {**row.routing, **row.extras}.items()}
    for key, value in row.params.items():
        if (key, value) != ("input", []):
            extras[pointer((PARAMS, key))] = value
    return extras


def row_line(task_name: str, extras: Mapping[str, object] = MappingProxyType({})) -> bytes:
    """One line of JSONL, with what `row_extras` gave.

    ASCII, since NeMo Gym 0.7.0 reads the file in the user's locale.
    """
    if not task_name:
        raise LayoutError("a row needs the name of its task")
    params: dict[str, object] = {"input": []}
    row: dict[str, object] = {"task_name": task_name, PARAMS: params}
    for place, value in extras.items():
        *above, key = parse_pointer(place)
        (params if above else row)[key] = value
    return json.dumps(row).encode("ascii") + b"\n"


# --- config.yaml ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class DatasetEntry:
    """One JSONL file, as config and manifest both list it. No text in it may hold `${`."""

    name: str
    type: SplitType
    jsonl_fpath: str
    """Relative to the repository, which the user makes a search root (`--search-dir`)."""
    licence: str | None = None
    """NeMo's own words (`nemo_licence`); required unless the type is `example`."""
    hub_repo_id: str | None = None
    """Lets `gym dataset collate --download` fetch the file from that Hub dataset."""
    num_repeats: int = 1


@dataclass(frozen=True)
class AgentConfig:
    """What `config.yaml` says: one Harbor agent with its datasets, and its environment server."""

    environment: str
    """The folder under `environments/`; keeps the job folders of two environments apart."""
    datasets: tuple[DatasetEntry, ...]
    repo_url: str | None = None
    """`https://huggingface.co/datasets/ORG/NAME`, optionally with `@REF`; None: the user's path."""
    tasks_path: str = "tasks"
    reward_key: str | None = None
    instance: str = AGENT
    """Top-level key: what `--agent` names. Two configs loaded together must not share it."""
    harness: str = "opencode"
    backend: str = "docker"


def config_yaml(spec: AgentConfig) -> bytes:
    """`environments/<name>/config.yaml`.

    Refuses names that OmegaConf keys or search paths cannot carry, a train or validation set
    without one of NeMo's licence strings, and no datasets at all.
    """
    _match(_NAME, spec.environment, "the environment's name")
    _match(_INSTANCE, spec.instance, "the agent's name")
    _check_datasets(spec.datasets)
    if spec.reward_key == "":
        raise LayoutError("the reward key must not be empty")
    agent: dict[str, Node] = {
        "entrypoint": "app.py",
        "domain": "agent",
        # A literal relative path would lie in the installed package: the server starts there.
        # NeMo resumes what it finds under the same row number, so the folder names what was run.
        "harbor_jobs_dir": "${oc.select:harbor_jobs_dir,${oc.select:results_dir,results}"
        f"/harbor/{spec.environment}"
        "/${.harbor_agent.name}/${oc.select:policy_model_name,model}}",
    }
    if spec.reward_key is not None:
        agent["harbor_reward_key"] = literal(spec.reward_key)
    if spec.repo_url is None:
        agent["harbor_dataset"] = {"path": DATASET_PATH}
    else:
        _match(_URL, spec.repo_url, "the repository's URL")
        agent["harbor_dataset"] = {
            "repo": literal(spec.repo_url),
            "path": literal(_relative(spec.tasks_path)),
        }
    agent["harbor_environment"] = {"type": literal(spec.backend)}
    agent["harbor_agent"] = {"name": literal(spec.harness), "model_name": "${policy_model_name}"}
    agent["datasets"] = [_config_dataset(entry) for entry in spec.datasets]
    return dump(
        {
            spec.instance: {"responses_api_agents": {AGENT: agent}},
            f"{spec.instance}_environment_server": {
                "environment_servers": {
                    "legacy_agent": {
                        "entrypoint": "app.py",
                        "agent_server": {"type": "responses_api_agents", "name": spec.instance},
                    }
                }
            },
        }
    )


def _config_dataset(entry: DatasetEntry) -> dict[str, Node]:
    dataset: dict[str, Node] = {
        "name": entry.name,
        "type": entry.type,
        "jsonl_fpath": entry.jsonl_fpath,
    }
    if entry.num_repeats != 1:
        dataset["num_repeats"] = entry.num_repeats
    if entry.licence is not None:
        dataset["license"] = entry.licence
    if entry.hub_repo_id is not None:
        dataset["source"] = {
            "type": "huggingface",
            "repo_id": entry.hub_repo_id,
            "artifact_fpath": entry.jsonl_fpath,
        }
    return dataset


def _check_datasets(datasets: tuple[DatasetEntry, ...]) -> None:
    names = [entry.name for entry in datasets]
    if not names or len(set(names)) != len(names):
        raise LayoutError("at least one dataset is needed, and their names must differ")
    for entry in datasets:
        # NeMo Gym reads these as they stand where it collates and resolves them where it serves.
        for text in (entry.name, entry.jsonl_fpath, entry.hub_repo_id or ""):
            if resolved(text) != text:
                raise LayoutError(f"NeMo Gym would read {text!r} in two ways")
        if entry.name.strip() != entry.name or not entry.name:
            raise LayoutError(f"a dataset's name is empty or padded with space: {entry.name!r}")
        _relative(entry.jsonl_fpath)
        if entry.licence not in NEMO_LICENCES and (entry.type != "example" or entry.licence):
            raise LayoutError(f"{entry.licence!r} is none of NeMo Gym's licence strings")
        if entry.num_repeats < 1:
            raise LayoutError("num_repeats must be at least 1")


# --- manifest.yaml -------------------------------------------------------------------------------


@dataclass(frozen=True)
class AdoptedFrom:
    """Where the tasks come from; NeMo Gym wants all three."""

    source: str
    """A URL (http, https, ssh, git, file) or `user@host:path`; not `hf://`."""
    ref: str
    """The revision, without blanks."""
    reconciled: str
    """A date, `YYYY-MM-DD`, given by the caller: ours would make the bytes depend on the clock."""


@dataclass(frozen=True)
class Manifest:
    """What `manifest.yaml` says beyond the mirror of its config."""

    name: str
    """Equal to the folder's name under `environments/`, or NeMo Gym refuses the manifest."""
    version: str
    description: str
    authors: tuple[str, ...]
    datasets: tuple[DatasetEntry, ...]
    licence: str | None = None
    """An SPDX identifier or expression; what NeMo would not accept is written as `unknown`."""
    reward_range: tuple[float, float] = (0.0, 1.0)
    adopted_from: AdoptedFrom | None = None


def manifest_yaml(spec: Manifest) -> bytes:
    """`environments/<name>/manifest.yaml`: the catalogue entry that `gym env validate` checks.

    Refuses what the closed model of NeMo Gym 0.7.0 refuses: no authors or the same one twice, blank
    texts, a source that is no URL, an unordered range.
    """
    _match(_NAME, spec.name, "the environment's name")
    _check_datasets(spec.datasets)
    authors = [author.strip() for author in spec.authors]
    if not authors or len(set(authors)) != len(authors) or not all(authors):
        raise LayoutError("a manifest needs authors, each named once")
    for what, text in (("version", spec.version), ("description", spec.description)):
        if not text.strip():
            raise LayoutError(f"a manifest needs a {what}")
    low, high = map(float, spec.reward_range)
    if not float("-inf") < low <= high < float("inf"):
        raise LayoutError("the reward range must be finite and in order")
    document: dict[str, Node] = {
        "name": spec.name,
        "version": spec.version.strip(),
        "experimental": True,
        "kind": "environment",
        "integration_profile": "external-agent-loop",
        "domain": "agent",
        "description": spec.description.strip(),
        "modality": "text",
        "licensing": manifest_licensing(spec.licence),
        "authors": authors,
        "reward": {"range": [low, high], "higher_is_better": True},
        "determinism": "unknown",
        "resources_server": None,
        "agent_server": AGENT,
        "datasets": [
            {
                "name": entry.name,
                "type": entry.type,
                "jsonl_fpath": entry.jsonl_fpath,
                "num_repeats": entry.num_repeats,
            }
            for entry in spec.datasets
        ],
    }
    if spec.adopted_from is not None:
        _match(_SOURCE, spec.adopted_from.source, "the origin")
        _match(re.compile(r"\S+"), spec.adopted_from.ref, "the origin's revision")
        _match(_DATE, spec.adopted_from.reconciled, "the date")
        document["adopted_from"] = {
            "source": spec.adopted_from.source,
            "ref": spec.adopted_from.ref,
            "reconciled": spec.adopted_from.reconciled,
        }
    document["lifecycle"] = "active"
    return dump(document)


def _match(rule: re.Pattern[str], text: str, what: str) -> None:
    if not rule.fullmatch(text):
        raise LayoutError(f"{what} cannot be {text!r}")


def _relative(path: str) -> str:
    if any(part in {"", ".", ".."} for part in path.split("/")) or path.strip() != path:
        raise LayoutError(f"not a relative path inside the repository: {path!r}")
    return path
