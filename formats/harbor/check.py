"""Asks the real Harbor whether it loads a repo: by folder, by registry, and from the Hub.

Facts: harbor 0.26.0. A dataset leaves out, without a word, a folder that is no valid task, and
`harbor lint` alone tells of keys that are ignored. So every folder is asked about by itself, and
what each way of naming a dataset finds is compared with what stands there.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Mapping, Sequence

from rlconvert.errors import CheckFailed, RlconvertError
from rlconvert.formats.taskfolder.folder import CONFIG
from rlconvert.formats.taskfolder.layouts import REGISTRY, find_layout
from rlconvert.judge import ANSWER, Hearing, TaskVerdict, Verdict
from rlconvert.proof.answers import Answer, answer, answers
from rlconvert.source import BOOKKEEPING, FolderSource, Kind

_REPO_ID = "rlconvert/checked"
_PARTS = ("instruction.md", "environment", "tests", "solution", "steps")
"""A folder beside tasks that has one of these is a task that lost its `task.toml`."""


class _Header(Answer):
    harbor: str
    python: str


class _Load(Answer):
    path: str
    loads: bool
    error: str | None


class _Finding(Answer):
    path: str
    rule: str
    message: str


class _Dataset(Answer):
    way: str
    where: str
    declared: int | None = None
    found: tuple[str, ...] = ()
    error: str | None = None


class _Fetched(Answer):
    path: str
    error: str | None


class _Datasets(Answer):
    lint: tuple[_Finding, ...]
    datasets: tuple[_Dataset, ...]
    fetched: tuple[_Fetched, ...]


def hear(hearing: Hearing) -> Verdict:
    """The verdict on every task folder, and on every way in which Harbor finds them."""
    source = hearing.source
    try:
        layout = find_layout(source)
    except RlconvertError as error:
        return Verdict(faults=(str(error),))
    names = {ref.path: ref.id for ref in layout.refs}
    reasons: dict[str, str | None] = {}
    tasks = [TaskVerdict(ref.id, str(error), ref.path) for ref, error in layout.faults]
    tasks += [
        TaskVerdict(path, f"it has no {CONFIG}: a dataset leaves it out, without a word", path)
        for path in _without_config(source, names)
    ]
    header, reasons = _loads(hearing, tuple(names))
    datasets = answer(_Datasets, hearing.ask("harbor_datasets.py", _job(hearing, names), ANSWER))
    faults: list[str] = []
    for each in datasets.datasets:
        faults += _compared(each, names, reasons)
    for fetched in datasets.fetched:
        if fetched.error is not None and reasons.get(fetched.path) is None:
            reasons[fetched.path] = f"as git gives it: {fetched.error}"
    tasks += [TaskVerdict(name, reasons[path], path) for path, name in names.items()]
    return Verdict(
        versions={"harbor": header.harbor},
        python=header.python,
        tasks=tuple(tasks),
        faults=tuple(faults),
        warnings=tuple(f"{each.path}: {each.rule}: {each.message}" for each in datasets.lint),
    )


def _loads(hearing: Hearing, places: Sequence[str]) -> tuple[_Header, dict[str, str | None]]:
    root = hearing.source.root
    asked = {f"{root}/{place}" if place else root: place for place in places}
    listed = hearing.note("folders", "".join(f"{path}\n" for path in asked))
    header, *lines = hearing.ask("harbor_loads.py", ANSWER, f"@{listed}").splitlines()
    said = {each.path: each for each in answers(_Load, lines)}
    if said.keys() != asked.keys():
        raise CheckFailed(
            f"{len(asked)} folders were asked about, {len(said)} judged", reason="garbled-verdict"
        )
    reasons = {
        place: None if said[path].loads else said[path].error or "it does not load"
        for path, place in asked.items()
    }
    return answer(_Header, header), reasons


def _job(hearing: Hearing, names: Mapping[str, str]) -> str:
    """What `harbor_datasets.py` is to do; a single task is no dataset."""
    source = hearing.source
    job = {
        "repo": source.root,
        "url": hearing.serve(_REPO_ID),
        "tasks": list(names),
        "parents": sorted({posixpath.dirname(place) for place in names if place}),
        "registry": source.kind(REGISTRY) is Kind.FILE,
    }
    return hearing.note("job.json", json.dumps(job))


def _compared(
    dataset: _Dataset, names: Mapping[str, str], reasons: dict[str, str | None]
) -> Iterator[str]:
    """What is wrong with a dataset as Harbor finds it; `reasons` gets what it leaves out."""
    if dataset.error is not None:
        yield f"{dataset.way} {dataset.where or '.'}: {dataset.error}"
        return
    found = set(dataset.found)
    if dataset.declared is not None:  # of a registry
        if len(dataset.found) != dataset.declared:
            yield (
                f"{dataset.way} {dataset.where}: it lists {dataset.declared} tasks, "
                f"Harbor finds {len(dataset.found)}"
            )
        return
    expected = {place for place in names if place and posixpath.dirname(place) == dataset.where}
    for place in sorted(expected - found):
        if reasons.get(place) is None:
            reasons[place] = f"{dataset.way} {dataset.where or '.'} does not find it"
    extra = sorted(found - expected)
    if extra and not names.keys() >= found:
        yield f"{dataset.way} {dataset.where or '.'} finds more than there is: {extra[:3]}"


def _without_config(source: FolderSource, names: Mapping[str, str]) -> Iterator[str]:
    for parent in sorted({posixpath.dirname(place) for place in names if place} | {"tasks"}):
        for item in source.items(parent):
            place = f"{parent}/{item.name}" if parent else item.name
            if item.kind is not Kind.FOLDER or place in names or place in BOOKKEEPING:
                continue
            parts = any(source.kind(f"{place}/{part}") is not None for part in _PARTS)
            if parts and source.kind(f"{place}/{CONFIG}") is None:
                yield place
