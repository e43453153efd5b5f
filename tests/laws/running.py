"""Converting folders, and reading what came of it."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from rlconvert.files import FileTree
from rlconvert.format import Fate, Format, Options, Reader, get_format
from rlconvert.model import Repo, Task, TaskRef, field_paths
from rlconvert.pipe import Conversion, Settings, convert
from rlconvert.selection import Selection
from rlconvert.sidecar import LOSS, MANIFEST, TargetRecord, TaskRecord, parse
from rlconvert.sink import OURS
from rlconvert.source import FolderSource, Source
from strategies.files import lay

MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it


NOTED = {*field_paths(), "steps"} | {one.name for one in fields(Repo)}
"""What a note can be about: a field of a task, its steps as such, or something of the repo."""


@contextmanager
def room() -> Iterator[Path]:
    """An empty folder that is gone afterwards; in memory where the system has one there."""
    above = MEMORY if MEMORY.is_dir() else None
    path = Path(tempfile.mkdtemp(prefix="rlconvert-laws-", dir=above))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def laid(where: Path, tree: FileTree, *, backwards: bool = False) -> Path:
    """The tree on disk."""
    return lay(where / "source", tree, backwards=backwards)


def folder(path: Path) -> FolderSource:
    """A folder to read, always by the same name: some formats name tasks after it."""
    return FolderSource(str(path), name="source")


@dataclass(frozen=True)
class Way:
    """One conversion that was made: what it reported, and the folder."""

    conversion: Conversion
    place: Path

    @property
    def out(self) -> Path:
        """The folder; the error of the run where there is none."""
        if self.conversion.error is not None:
            raise self.conversion.error
        return self.place

    @property
    def empty(self) -> bool:
        """Whether not one task could be carried."""
        return self.conversion.error is not None

    def ids(self, target: str) -> dict[str, str]:
        """What each task of the source is called in the output."""
        return {task: each.id for task, each in self._targets(target).items()}

    def _targets(self, target: str) -> dict[str, TargetRecord]:
        lines = folder(self.out).lines(MANIFEST)
        records = [parse(TaskRecord, line, MANIFEST) for line in lines]
        return {record.task: record.targets[target] for record in records}

    def losses(self, target: str) -> Losses:
        """What `loss.jsonl` says, and the manifest of the way of each task."""
        losses = Losses({task: each.way for task, each in self._targets(target).items()})
        for line in (self.out / LOSS).read_bytes().splitlines():
            losses.add(json.loads(line), target)
        return losses

    def forgetful(self) -> Path:
        """The output without its sidecar: what a copy by hand would be."""
        shutil.rmtree(self.out / OURS)
        return self.out


@dataclass
class Losses:
    """The fates of every way that tasks went, which way each went, and the notes of single ones."""

    went: dict[str, str]
    ways: dict[str, dict[str, str]] = field(default_factory=dict)
    notes: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def add(self, line: Mapping[str, object], target: str) -> None:
        """Take in one line."""
        match line:
            case {"target": said, "way": str(way), "fields": dict(fields)} if said == target:
                self.ways[way] = {path: each["fate"] for path, each in fields.items()}
            case {"target": said, "task": str(task), "field": str(path), "fate": str(fate)} if (
                said == target
            ):
                assert line.get("way", "") == self.went.get(task, "")
                self.notes.setdefault(task, []).append((path, fate))

    def fields(self, task: str, *fates: Fate) -> set[str]:
        """The fields of a task that have one of these fates."""
        wanted = {fate.value for fate in fates}
        way = self.ways[self.went[task]]
        by_way = {path for path, fate in way.items() if fate in wanted}
        return by_way | {path for path, fate in self.notes.get(task, []) if fate in wanted}


def run(
    source: Path | Source,
    source_format: str | Format,
    target: str,
    out: Path,
    *,
    include: tuple[str, ...] = (),
    options: Options | None = None,
) -> Way:
    """Convert to `target` with its sidecar."""
    read_as = get_format(source_format) if isinstance(source_format, str) else source_format
    where = folder(source) if isinstance(source, Path) else source
    settings = Settings(selection=Selection(include=include), jobs=1, options=options or {})
    conversion = convert(where, read_as, [target], str(out), settings)
    check_report(conversion, target)
    return Way(conversion, out)


def check_report(conversion: Conversion, target: str) -> None:
    """Every task is converted or listed, every reason, note and way is one that there is."""
    known, report = get_format(target), conversion.report
    assert {key.what for key in report.refused} <= set(known.refusals)
    assert set(report.ways[target]) <= set(known.ways)
    assert {path for _, path, _, _ in report.notes} <= NOTED
    refused = sum(each.count for each in report.refused.values())
    unreadable = sum(each.count for each in report.unreadable.values())
    left_out = report.read - report.converted(target)
    # A file of no task that cannot be read is told there too.
    assert refused <= left_out <= refused + unreadable, "tasks were left out in silence"


def tasks_in(source: Path | Source, name: str) -> dict[str, Task]:
    """Every task of a repo that can be read, by its id, as the model alone knows it."""
    where = folder(source) if isinstance(source, Path) else source
    reader = get_format(name).reader(where, {})
    return {ref.id: reader.load(ref).stripped for ref in reader.refs()}


# --- tasks without their source's own bytes ------------------------------------------------------


class Stripping:
    """A reader whose tasks have lost their own bytes, and whose repo its shared files."""

    def __init__(self, inner: Reader) -> None:
        self._inner = inner

    def repo(self) -> Repo:
        return replace(self._inner.repo(), shared=FileTree())

    def refs(self) -> Iterator[TaskRef]:
        return self._inner.refs()

    def load(self, ref: TaskRef) -> Task:
        return self._inner.load(ref).stripped


def stripped(name: str) -> Format:
    """The format, with a reader that gives what the model alone knows."""
    known = get_format(name)

    def reader(source: Source, options: Options) -> Reader:
        return Stripping(known.reader(source, options))

    return replace(known, reader=reader)
