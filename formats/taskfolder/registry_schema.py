"""`registry.json`: the datasets of a repository, bytes to typed entries and back.

Facts: harbor 0.26.0, `harbor/models/registry.py` (`Registry.from_path`) and
`harbor/models/metric/config.py`. JSON is read strictly: repeated keys, NaN, infinities and
absurd depth are refused, each a rule of ours alone, as is an empty object or string in the place
of the array, and an address or commit that git would take for an option: Harbor would run what that
names. Paths are text here: whether a path stays inside its repository is for who follows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pydantic import Field

from .documents import Value, format_json, parse_json
from .problems import CannotEncode, DocumentRefused, Problem, Reason
from .sifting import Findings, merge, read
from .tables import FreeTable, Table


class MetricKind(StrEnum):
    """How the rewards of a dataset become one number."""

    SUM = "sum"
    MIN = "min"
    MAX = "max"
    MEAN = "mean"
    UV_SCRIPT = "uv-script"


class RegistryMetric(Table):
    """An entry of `metrics`."""

    type: MetricKind = MetricKind.MEAN
    kwargs: FreeTable = Field(default_factory=dict)


class RegistryTask(Table):
    """An entry of `tasks`. Without `git_url`: in the repository that the registry is in."""

    name: str
    path: str
    git_url: str | None = None
    git_commit_id: str | None = None


class RegistryDataset(Table):
    """An entry of the registry."""

    name: str
    version: str
    description: str
    tasks: tuple[RegistryTask, ...]
    metrics: tuple[RegistryMetric, ...] = ()


@dataclass(frozen=True, slots=True)
class RegistryJson:
    """A `registry.json`: what Harbor reads, and by RFC 6901 pointer what it ignores."""

    datasets: tuple[RegistryDataset, ...]
    unknown: Mapping[str, Value] = field(default_factory=dict[str, Value])


def decode_registry_json(data: bytes) -> RegistryJson:
    """Read a `registry.json`, or raise `DocumentRefused` with every problem found."""
    tree = parse_json(data)
    if not isinstance(tree, list):
        reason = Reason.EMPTY_NOT_ARRAY if tree in ({}, "") else Reason.WRONG_TYPE
        raise DocumentRefused([Problem(reason, "", "must be an array of datasets")])
    datasets: list[RegistryDataset] = []
    unknown: dict[str, Value] = {}
    problems: list[Problem] = []
    for i, entry in enumerate(tree):
        findings = Findings()
        try:
            datasets.append(read(entry, RegistryDataset, findings, (i,)))
        except DocumentRefused as refused:
            problems.extend(refused.problems)
        unknown |= findings.ignored
    problems += _git_options(datasets)
    if problems:
        raise DocumentRefused(problems)
    return RegistryJson(tuple(datasets), unknown)


def _git_options(datasets: list[RegistryDataset]) -> Iterator[Problem]:
    for i, dataset in enumerate(datasets):
        for j, task in enumerate(dataset.tasks):
            for key, value in (("git_url", task.git_url), ("git_commit_id", task.git_commit_id)):
                if value is not None and value.startswith("-"):
                    where = f"[{i}].tasks[{j}].{key}"
                    yield Problem(Reason.GIT_OPTION, where, "git would take it for an option")


def encode_registry_json(registry: RegistryJson) -> bytes:
    """Write a `registry.json`: set keys, then unknown ones, indented; a given null stays.

    Refuses (`CannotEncode`) an unknown key that has no place or that Harbor would not ignore, and
    values that JSON cannot say.
    """
    by_entry: dict[int, dict[str, Value]] = {}
    for text, value in registry.unknown.items():
        index, slash, rest = text.removeprefix("/").partition("/")
        if not slash or index not in map(str, range(len(registry.datasets))):
            raise CannotEncode(f"no place for the ignored key {text}")
        by_entry.setdefault(int(index), {})["/" + rest] = value
    entries: list[Value] = [
        merge(dataset, by_entry.get(i, {}), nulls=True)
        for i, dataset in enumerate(registry.datasets)
    ]
    return format_json(entries)
