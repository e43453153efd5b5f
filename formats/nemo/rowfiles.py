"""The row files of a repo, who grades their rows, and how that is known.

Only files that a config lists hold tasks: rollouts and metrics lie beside them. In a repo whose
configs list no file that is there, a JSONL file whose first row is a request without a response is
read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from rlconvert.data import Data
from rlconvert.errors import RlconvertError, UsageError
from rlconvert.files import check_path
from rlconvert.format import Options
from rlconvert.model import Taskset
from rlconvert.pointers import NOT_FETCHED
from rlconvert.searching import items_to_search
from rlconvert.source import BOOKKEEPING, Kind, Source

from .configs import (
    MAX_YAML,
    Dataset,
    Found,
    find_configs,
    is_config,
    is_environment,
    places_of,
    read_configs,
)
from .jsonline import parse_line
from .layout import AGENT as HARBOR_AGENT
from .recognise import Grader, recognise
from .rowshape import RowParts, take_apart
from .servers import AGENTS, schemas

FORMAT = "nemo"
SERVER_OPTION, CONFIG_OPTION = "nemo-server", "nemo-config"
NOT_KNOWN = "nobody says which server grades the rows"
_SAMPLE = 20
_MAX_FOLDERS = 2_000
_SPLITS = ("train", "validation", "example", "benchmark")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSource:
    """A file of rows. `component` grades them, by the settings `rule`; None: nobody knows who.

    `agents` are the implementations that configs have run them.
    """

    path: str
    component: str | None
    rule: Mapping[str, Data]
    because: str
    tasksets: tuple[str, ...]
    declared: bool
    agents: frozenset[str] = frozenset()


@dataclass(slots=True)
class RowFiles:
    """All of them, with what the repo says of them."""

    files: dict[str, RowSource] = field(default_factory=dict)
    tasksets: list[Taskset] = field(default_factory=list)
    faults: list[RlconvertError] = field(default_factory=list)
    licences: set[str] = field(default_factory=set)


def row_files(source: Source, options: Options) -> RowFiles:
    """The row files of a repo; `UsageError` for an option that names nothing."""
    texts = {
        path: source.read(path, MAX_YAML)
        for path in find_configs(source)
        if is_config(source, path)
    }
    stated = _stated(source, options, texts)
    found = read_configs(texts)
    result = RowFiles(faults=list(found.faults))
    by_path: dict[str, list[Dataset]] = {}
    for dataset in found.datasets:
        place, has_rows = _place(source, dataset, result)
        if place is not None and has_rows:
            by_path.setdefault(place, []).append(dataset)
        result.tasksets.append(_taskset(dataset, found, place))
        if isinstance(words := dataset.entry.get("license"), str):
            result.licences.add(words)
    for path, datasets in by_path.items():
        result.files[path] = _declared(path, datasets)
    if not result.files and not any(_is_of_folders(path, data) for path, data in texts.items()):
        _read_bare(source, stated, result)
    result.tasksets = [_explained(each, result.files) for each in result.tasksets]
    return result


def _explained(taskset: Taskset, files: Mapping[str, RowSource]) -> Taskset:
    """The taskset with what its writer is to say of it."""
    said = dict(taskset.extras[FORMAT])
    file = files.get(str(said["/place"]))
    if file is None:
        why = "/missing" if said["/place"] is None else "/empty"
        said[why] = f"{said['/config']}: {said['/path']}"
    else:
        known = file.component is not None
        said["/because"] = file.because if known else NOT_KNOWN
        said["/grader"] = f"{file.path}: {file.component if known else file.because}"
    return replace(taskset, extras={FORMAT: said})


def _is_of_folders(path: str, config: bytes) -> bool:
    """Whether a config's rows name task folders."""
    return is_environment(path) and HARBOR_AGENT.encode() in config


def _place(source: Source, dataset: Dataset, result: RowFiles) -> tuple[str | None, bool]:
    """Where the file of a dataset stands, and whether it has rows."""
    for path in places_of(dataset):
        try:
            if source.kind(check_path(path)) is Kind.FILE:
                return path, any(True for _ in source.lines(path))
        except RlconvertError as error:
            error.file, error.where = dataset.config, f"{dataset.instance.name}: {path[:200]}"
            result.faults.append(error)
            return None, False
    return None, False


def _declared(path: str, datasets: list[Dataset]) -> RowSource:
    """The file as its configs have it; where they differ on the reward, nobody knows."""
    rules = {json.dumps([each.component, each.rule], sort_keys=True) for each in datasets}
    first = datasets[0]
    known = len(rules) == 1 and first.component is not None
    configs = ", ".join(sorted({f"{each.config} ({each.component})" for each in datasets})[:6])
    if known:
        because = "a config says which server grades the rows"
    elif len(rules) == 1:
        because = f"{first.config} names a server that no config here sets up"
    else:
        because = f"several configs grade the same rows in different ways: {configs}"
    return RowSource(
        path=path,
        component=first.component if known else None,
        rule=first.rule if known else {},
        because=because,
        tasksets=tuple(dict.fromkeys(_key(each) for each in datasets)),
        declared=True,
        agents=frozenset(
            each.instance.implementation for each in datasets if each.instance.kind == AGENTS
        ),
    )


def _key(dataset: Dataset) -> str:
    return f"{dataset.group}#{dataset.name}#{dataset.type}"


def _taskset(dataset: Dataset, found: Found, place: str | None) -> Taskset:
    server, agent = dataset.server, dataset.instance
    said: dict[str, Data] = {
        "/group": dataset.group,
        "/config": dataset.config,
        "/dataset": dataset.name,
        "/path": dataset.path,
        "/place": place,
        "/licence": str(dataset.entry.get("license") or "") or None,
        "/num_repeats": dataset.entry.get("num_repeats", 1),
        "/component": dataset.component,
        "/unfollowed": list(found.unfollowed),
    }
    if agent.kind == "responses_api_agents":
        said |= {"/agent": agent.implementation, "/agent_settings": agent.rule}
    if server is not None:
        said |= {"/server": server.name, "/catalogue": server.catalogue}
    parts = dataset.config.split("/")
    name = parts[1] if parts[0] in ("environments", "benchmarks") and len(parts) == 3 else ""
    return Taskset(
        key=_key(dataset),
        name=name or agent.name.removesuffix("_simple_agent"),
        split=dataset.type,
        extras={FORMAT: said},
    )


# --- without a config ----------------------------------------------------------------------------


def _stated(
    source: Source, options: Options, texts: dict[str, bytes]
) -> Grader | tuple[str, Mapping[str, Data]] | None:
    """What the user says of rows that no config of the repo declares."""
    if (path := options.get(CONFIG_OPTION)) is not None:
        data = _config_text(source, path)
        found = read_configs({path: data})
        graders = {(str(each.component), json.dumps(each.rule)): each for each in found.datasets}
        texts[path] = data
        if found.faults:
            raise found.faults[0]
        if len(graders) != 1:
            raise UsageError(
                f"{path} declares the datasets of {len(graders)} servers, not of one",
                reason="bad-nemo-config",
                remedy=f"Name the server with --{SERVER_OPTION}",
            )
        (one,) = graders.values()
        return str(one.component), one.rule
    if (name := options.get(SERVER_OPTION)) is not None:
        if name not in schemas():
            near = get_close_matches(name, schemas(), 3)
            raise UsageError(
                f"NeMo Gym 0.7.0 has no server {name!r} with a row schema",
                reason="no-such-server",
                remedy=f"Did you mean {' or '.join(near)}?" if near else "See `gym list`",
            )
        return Grader(name, f"asserted by the user with --{SERVER_OPTION}")
    return None


def _config_text(source: Source, path: str) -> bytes:
    try:
        if source.kind(path) is Kind.FILE:
            return source.read(path, MAX_YAML)
        with Path(path).open("rb") as file:
            return file.read(MAX_YAML + 1)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"there is no config {path!r}, neither in the source nor on this machine",
            reason="no-such-config",
            remedy="Give the path of a YAML file",
        ) from error


def _read_bare(
    source: Source, stated: Grader | tuple[str, Mapping[str, Data]] | None, result: RowFiles
) -> None:
    for path in bare_row_files(source):
        if isinstance(stated, tuple):
            grader, rule = (
                Grader(stated[0], f"asserted by the user with --{CONFIG_OPTION}"),
                stated[1],
            )
        else:
            grader, rule = stated or recognise(sample(source, path)), {}
        stem = path.removesuffix(".jsonl").replace("/", ".")
        split = next((each for each in _SPLITS if each in stem), "train")
        result.files[path] = RowSource(
            path=path,
            component=grader.component,
            rule=rule,
            because=grader.because,
            tasksets=(path,),
            declared=False,
        )
        said: dict[str, Data] = {"/group": path, "/dataset": stem, "/place": path}
        result.tasksets.append(
            Taskset(key=path, name=stem, split=split, extras={FORMAT: said})
        )  # fmt: skip


def sample(source: Source, path: str) -> list[RowParts]:
    """The first rows of a file, as far as they can be read."""
    found = []
    for number, line in enumerate(islice(source.lines(path), _SAMPLE), 1):
        try:
            found.append(take_apart(parse_line(line, path, number)))
        except RlconvertError:
            continue
    return found


def bare_row_files(source: Source) -> Iterator[str]:
    """JSONL files whose first readable row is a request that nobody has answered yet."""
    todo, seen = [""], 0
    while todo and seen < _MAX_FOLDERS:
        folder = todo.pop(0)
        seen += 1
        above = f"{folder}/" if folder else ""
        items = items_to_search(source, folder)
        if any(item.name == "task.toml" for item in items):
            continue
        for item in items:
            if item.kind is Kind.FOLDER and (folder or item.name not in BOOKKEEPING):
                todo.append(above + item.name)
            elif (
                item.kind is Kind.FILE
                and item.name.endswith(".jsonl")
                and _is_rows(source, above + item.name)
            ):
                yield above + item.name


def _is_rows(source: Source, path: str) -> bool:
    try:
        for number, line in enumerate(islice(source.lines(path), _SAMPLE), 1):
            if b"responses_create_params" not in line:
                continue
            take_apart(parse_line(line, path, number))
            return True
    except RlconvertError as error:
        return error.reason not in ("rollout", "no-request", NOT_FETCHED)
    return False
