"""The sets of a corpus, what rlconvert makes of each, and the task folders found without it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rlconvert.errors import RlconvertError
from rlconvert.files import FileTree
from rlconvert.format import Aim, Refusal, get_format
from rlconvert.model import Native, Task, TaskRef, differing_fields
from rlconvert.pipe import Settings, convert
from rlconvert.sink import write_tree
from rlconvert.source import FolderSource

CONFIG, REGISTRY, MANIFEST = "task.toml", "registry.json", "dataset.toml"
_BOOKKEEPING = frozenset({".git", ".cache", ".rlconvert"})


@dataclass(frozen=True)
class TaskSet:
    """A repository of Harbor tasks: `places` are its task folders as found on disk."""

    root: Path
    places: tuple[str, ...]

    @property
    def name(self) -> str:
        """What people call it."""
        return self.root.name

    def folder(self, place: str) -> Path:
        """Where a task folder is."""
        return self.root / place if place else self.root


def find_sets(corpus: Path) -> list[TaskSet]:
    """The folders of `corpus` that hold tasks, or `corpus` itself when it is one such set."""
    if (corpus / CONFIG).exists() or (corpus / REGISTRY).exists():
        return [TaskSet(corpus, tuple(_places(corpus, "")))]
    sets = (TaskSet(path, tuple(_places(path, ""))) for path in sorted(corpus.iterdir()))
    return [each for each in sets if each.places or (each.root / REGISTRY).exists()]


def _places(root: Path, place: str) -> Iterator[str]:
    """Every folder with a `task.toml`; those inside another task are that task's own."""
    folder = root / place if place else root
    if not folder.is_dir():
        return
    if os.path.lexists(folder / CONFIG):
        yield place
        return
    with os.scandir(folder) as scan:
        items = sorted(scan, key=lambda item: item.name)
    for item in items:
        if item.is_dir(follow_symlinks=False) and (place or item.name not in _BOOKKEEPING):
            yield from _places(root, f"{place}/{item.name}" if place else item.name)


@dataclass(kw_only=True)
class Run:
    """One conversion: why each task was left out (nothing: it was not), and where the rest is."""

    out: Path
    verdicts: dict[str, tuple[RlconvertError, ...]] = field(default_factory=dict)
    error: RlconvertError | None = None
    stray_faults: int = 0
    """Files that belong to no task and could not be read."""

    @property
    def done(self) -> frozenset[str]:
        """The ids of the tasks that are in the output."""
        return frozenset(task for task, faults in self.verdicts.items() if not faults)

    @property
    def left_out(self) -> dict[str, RlconvertError]:
        """The other ids, each with the first reason."""
        return {task: faults[0] for task, faults in self.verdicts.items() if faults}


def convert_set(root: Path, read_as: str, target: str, out: Path) -> Run:
    """Convert everything in `root`, with as many processes as pay off."""
    run = Run(out=out)

    def note(task: str, faults: Sequence[RlconvertError]) -> None:
        run.verdicts[task] = (*run.verdicts.get(task, ()), *faults)

    source = FolderSource(str(root))
    conversion = convert(source, get_format(read_as), [target], str(out), Settings(on_verdict=note))
    run.error = conversion.error
    unreadable = sum(tally.count for tally in conversion.report.unreadable.values())
    refused = sum(tally.count for tally in conversion.report.refused.values())
    run.stray_faults = unreadable + refused - len(run.left_out)
    return run


def refs_of(taskset: TaskSet) -> dict[str, TaskRef]:
    """The tasks that rlconvert finds in a set."""
    reader = get_format("harbor").reader(FolderSource(str(taskset.root)), {})
    return {ref.id: ref for ref in reader.refs()}


@dataclass(kw_only=True)
class Rebuilt:
    """Tasks that were written again from the model alone."""

    pairs: list[tuple[Path, Path]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def rebuild(taskset: TaskSet, tasks: frozenset[str], into: Path) -> Rebuilt:
    """The rebuild law: strip each task of its own bytes, write it, read it, compare the two."""
    harbor = get_format("harbor")
    reader = harbor.reader(FolderSource(str(taskset.root)), {})
    writer = harbor.writer(reader.repo(), Aim(options={}))
    rebuilt = Rebuilt()
    for index, ref in enumerate(reader.refs()):
        if ref.id not in tasks:
            continue
        original = reader.load(ref).stripped
        written = writer.task(original, ref.tasksets)
        if isinstance(written, Refusal):
            rebuilt.faults.append(f"{ref.id}: not rebuilt: {written.problem} [{written.reason}]")
            continue
        # A folder of its own for each, called like the original: Harbor reads the name.
        home = into / str(index) / taskset.folder(ref.path).name
        home.parent.mkdir(parents=True)
        write_tree(str(home), written.native.tree)
        again = harbor.reader(FolderSource(str(home)), {})
        back = again.load(next(iter(again.refs())))
        rebuilt.faults += _not_equal(ref.id, original, back, written.native)
        rebuilt.pairs.append((taskset.folder(ref.path), home))
    return rebuilt


def _not_equal(task: str, original: Task, back: Task, written: Native) -> Iterator[str]:
    fields = differing_fields(original, replace(back, id=original.id))
    if fields:
        yield f"{task}: differs after rebuilding: {', '.join(sorted(fields))}"
    if back.native["harbor"].tree != written.tree:
        yield f"{task}: on disk there is something else than was written"


def same_trees(taskset: TaskSet, places: Sequence[str], back: Path) -> Iterator[str]:
    """Task folders that rlconvert itself reads differently in `back`."""
    before, after = FolderSource(str(taskset.root)), FolderSource(str(back))
    for place in places:
        skip = () if place else tuple(_BOOKKEEPING)
        mine: FileTree = before.tree(place, skip=skip)
        if after.tree(place, skip=skip) != mine:
            yield f"{place or taskset.name}: not the same tree"


def registry_left(data: bytes, gone: frozenset[str]) -> object:
    """What a registry says, less the tasks that live elsewhere or whose folder is in `gone`."""
    datasets = json.loads(data)
    for dataset in datasets:
        dataset["tasks"] = [
            task
            for task in dataset["tasks"]
            if not task.get("git_url") and os.path.normpath(task["path"]) not in gone
        ]
    return datasets
