"""Writing the sidecar of an output, and giving a source back from it.

While a task of a converted repo is untouched, the sidecar restores its source byte for byte. Once
it is edited, the edit wins and the sidecar supplies only what the converted layout cannot say;
where it cannot follow the edit the answer is `StaleProvenance`, never a guess. The sidecar holds
nothing that the source did not expose.
"""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from .errors import RlconvertError, StaleProvenance
from .files import Blob, Entry, File, FileTree, Link, check_path, make_tree
from .format import Fate, get_format
from .lineindex import LineIndex
from .links import check_links
from .memory import MemorySource
from .model import Native, RowLine, Task, TaskRef
from .repair import repaired
from .sidecar import (
    MANIFEST,
    PROVENANCE,
    SHARED,
    FileRecord,
    Mode,
    Packed,
    ProvenanceRecord,
    SharedRecord,
    TaskRecord,
    TaskTargets,
    line_of,
    pack_name,
    parse,
    parse_provenance,
)
from .sink import OURS, Sink
from .source import Kind, Source

_PACK_BYTES = 64 << 20
_WORTH_REMEMBERING = 4096
"""Smaller blobs are packed again: a million rows would fill the memory with their digests."""
_MAX_META = 1 << 20
_MAX_FILE = 1 << 40


class SidecarWriter:
    """Writes the sidecar of one output, in the order it is given things.

    Without a sink it keeps nothing, for those who ask for an output without a sidecar.
    """

    def __init__(self, sink: Sink | None) -> None:
        self._sink = sink
        self._shard = 0
        self._at = 0
        self._packed: dict[str, Packed] = {}

    def line(self, line: bytes) -> None:
        """A task whose record is written already, all its bytes being in the output."""
        self._append(MANIFEST, line)

    def task(self, record: TaskRecord, missing: Mapping[str, bytes]) -> None:
        """A task; `missing` are the bytes of its source, by digest, that the output lacks."""
        if missing:
            record = record.model_copy(
                update={
                    "files": {
                        path: self._stored(file, missing) for path, file in record.files.items()
                    },
                    "rows": tuple(
                        row.model_copy(update={"file": self._stored(row.file, missing)})
                        for row in record.rows
                    ),
                }
            )
        self._append(MANIFEST, line_of(record))

    def _append(self, path: str, data: bytes) -> None:
        if self._sink is not None:
            self._sink.append(path, data)

    def _stored(self, file: FileRecord, missing: Mapping[str, bytes]) -> FileRecord:
        data = missing.get(file.sha256)
        if data is None:
            return file
        return file.model_copy(update={"packed": self._pack(Blob(data))})

    def shared(self, path: str, entry: Entry | None, *, in_place: bool) -> None:
        """A file, a link or (None) an empty folder that belongs to no task."""
        file = link = None
        if isinstance(entry, Link):
            link = entry.target
        elif entry is not None:
            packed = None if in_place else self._pack(entry.blob)
            mode: Mode = "x" if entry.executable else "-"
            file = FileRecord(sha256=entry.blob.sha256, mode=mode, packed=packed)
        self._append(SHARED, line_of(SharedRecord(path=path, file=file, link=link)))

    def _pack(self, blob: Blob) -> Packed:
        place = self._packed.get(blob.sha256)
        if place is None:
            if self._at and self._at + blob.size > _PACK_BYTES:
                self._shard, self._at = self._shard + 1, 0
            for chunk in blob.chunks():
                self._append(pack_name(self._shard), chunk)
            place = Packed(shard=self._shard, start=self._at, size=blob.size)
            self._at += blob.size
            if blob.size > _WORTH_REMEMBERING:
                self._packed[blob.sha256] = place
        return place

    def finish(self, record: ProvenanceRecord) -> None:
        """Write ``provenance.json``."""
        text = record.model_dump_json(by_alias=True, exclude_none=True, indent=2) + "\n"
        if self._sink is not None:
            self._sink.put(PROVENANCE, Blob(text.encode()))


@dataclass(frozen=True, slots=True)
class Sidecar:
    """The sidecar of a repo that is being read as `read_as`. It can be pickled.

    `record` says what the repo was converted from; `index` finds the line of a task by its id.
    """

    source: Source
    read_as: str
    record: ProvenanceRecord
    index: LineIndex = field(repr=False)

    @classmethod
    def of(cls, source: Source, read_as: str, targets: Container[str]) -> Sidecar | None:
        """The sidecar by which a source goes home to one of `targets`; None when there is none.

        `NewerSchema` and `Malformed` where it cannot be read.
        """
        if source.kind(PROVENANCE) is not Kind.FILE:
            return None
        record = parse_provenance(source.read(PROVENANCE, _MAX_META))
        if record.source.format not in targets:
            return None
        return cls(source, read_as, record, LineIndex(_lines(source, read_as)))

    @property
    def format(self) -> str:
        """What the repo was converted from."""
        return self.record.source.format

    def in_order(self, refs: Iterable[TaskRef]) -> list[TaskRef]:
        """`refs` in the order that their tasks had in the source; new ones come last."""
        last = (sys.maxsize, 0)
        return sorted(refs, key=lambda ref: next(self.index.find(ref.id), last))

    def restore(self, task: Task) -> Task:
        """`task` with what the sidecar knows of its source.

        `StaleProvenance` when an edit cannot be followed.
        """
        record = self._record_of(task)
        if record is None:
            return task
        read_as = self.read_as
        for path in (record.place, record.folder, *(row.path for row in record.rows)):
            if path:
                check_path(path)  # the sidecar came with the repo: nobody vouches for it
        rows = self._rows(task, record)
        carried = task.native.get(self.format) or _at(task, record.folder)
        if carried is not None:
            lossy = self.source.origin.modes_inferred
            tree = repaired(self._undone(carried.tree, record, read_as), record, lossy=lossy)
            native = Native(record.place, tree, rows, carried.remarks)
            return _with_native(task, self.format, native)
        native = Native(record.place, self._unpacked(record), rows)
        own = task.native.get(read_as)
        if own is not None and own.digest == record.targets[read_as].digest:
            return _with_native(task, self.format, native)
        return self._merged(task, read_as, record.targets[read_as].way, native)

    def _record_of(self, task: Task) -> TaskRecord | None:
        for start, size in self.index.find(task.id):
            line = self.source.read_at(MANIFEST, start, size)
            record = parse(TaskRecord, line, MANIFEST)
            if record.targets[self.read_as].id == task.id:
                return record
        return None

    def _rows(self, task: Task, record: TaskRecord) -> tuple[RowLine, ...]:
        """The task's rows; those that went over as they were are the task's own, edits and all."""
        own = task.native.get(self.format)
        if own is not None and all(row.file.packed is None for row in record.rows):
            return own.rows
        return tuple(RowLine(row.path, self._bytes(row.file)) for row in record.rows)

    def _undone(self, tree: FileTree, record: TaskRecord, read_as: str) -> FileTree:
        """`tree` with the source's own bytes where the conversion had rewritten a file."""
        entries = dict(tree.entries)
        for path, digest in record.targets[read_as].rewritten.items():
            own, entry = record.files.get(path), entries.get(path)
            now = entry.blob.sha256 if isinstance(entry, File) else None
            if own is None or now == own.sha256:
                continue
            if now != digest:
                raise stale(f"{path} was rewritten for {read_as}, and has been edited since")
            at = None if record.folder is None else f"{record.folder}/{path}".lstrip("/")
            entries[path] = File(Blob(self._bytes(own, at)), own.mode == "x")
        return FileTree(entries, tree.empty_folders)

    def _unpacked(self, record: TaskRecord) -> FileTree:
        entries: dict[str, Entry] = {
            check_path(path): Link(target) for path, target in record.links.items()
        }
        for path, file in record.files.items():
            at = None if record.folder is None else f"{record.folder}/{path}".lstrip("/")
            entries[check_path(path)] = File(Blob(self._bytes(file, at)), file.mode == "x")
        tree = make_tree(entries, map(check_path, record.empty))
        check_links(tree)
        return tree

    def _bytes(self, file: FileRecord, path: str | None = None) -> bytes:
        """The bytes of a file: from a pack, else from `path` of the output."""
        at = file.packed
        if at is not None:
            data = self.source.read_at(pack_name(at.shard), at.start, at.size)
        elif path is not None and self.source.kind(path) is Kind.FILE:
            data = self.source.read(path, _MAX_FILE)
        else:
            raise stale("some of the source's bytes are not where the sidecar says")
        if Blob(data).sha256 != file.sha256:
            raise stale("some bytes of the source are not what they were when it was converted")
        return data

    def _merged(self, task: Task, read_as: str, way: str, native: Native) -> Task:
        """An edited task: what it lost by `way` comes from the source as it was."""
        ways = get_format(read_as).ways
        dropped = {
            path
            for fates in ([ways[way]] if way in ways else ways.values())
            for path, fate in fates.items()
            if fate.fate is Fate.DROPPED
        }
        if not dropped:
            return replace(task, place=native.path)
        reader = get_format(self.format).reader(
            MemorySource(native.tree, name=task.id), self.record.options
        )
        old = reader.load(next(iter(reader.refs())))
        inner = [path.removeprefix("steps.") for path in dropped if path.startswith("steps.")]
        if inner and len(old.steps) != len(task.steps):
            raise stale("the task has other steps than the sidecar knows").for_task(task.id)
        steps = task.steps
        if inner:
            steps = tuple(
                replace(new, **{name: getattr(before, name) for name in inner})
                for new, before in zip(task.steps, old.steps, strict=True)
            )
        plain = {path: getattr(old, path) for path in dropped if "." not in path}
        return replace(task, steps=steps, place=native.path, **plain)

    def shared(self) -> FileTree:
        """The source's files that belong to no task; those edited in place as they are now."""
        entries: dict[str, Entry] = {}
        empty: list[str] = []
        lines = self.source.lines(SHARED) if self.source.kind(SHARED) is Kind.FILE else ()
        for raw in lines:
            record = parse(SharedRecord, raw, SHARED)
            path = check_path(record.path)
            if record.link is not None:
                entries[path] = Link(record.link)
            elif record.file is None:
                empty.append(path)
            elif record.file.packed is not None:
                entries[path] = File(Blob(self._bytes(record.file)), record.file.mode == "x")
            elif self.source.kind(path) is Kind.FILE:
                blob = Blob(self.source.read(path, _MAX_FILE))
                entries[path] = File(blob, record.file.mode == "x")
        tree = make_tree(entries, empty)
        check_links(tree)
        return tree


def targets_of(source: Source) -> tuple[str, ...]:
    """What a repo was converted to, as its sidecar says; nothing where that cannot be read."""
    record = _provenance_of(source)
    return () if record is None else record.targets


def first_repo(source: Source) -> str | None:
    """The repo of the Hub that a repo was converted from, as its sidecar says."""
    record = _provenance_of(source)
    return None if record is None else record.source.repo


def left_behind(source: Source, read_as: str, targets: Container[str]) -> str | None:
    """The format of an earlier source that the output can no longer be turned back into.

    None where there is none, where it is the format that is read, or where one of the targets is
    it. What a sidecar is good for ends where its repo is converted on to a third format.
    """
    record = _provenance_of(source)
    if record is None or record.source.format in targets or record.source.format == read_as:
        return None
    return record.source.format


def _provenance_of(source: Source) -> ProvenanceRecord | None:
    if source.kind(PROVENANCE) is not Kind.FILE:
        return None
    try:
        return parse_provenance(source.read(PROVENANCE, _MAX_META))
    except RlconvertError:
        return None


def stale(problem: str) -> StaleProvenance:
    """The error for a sidecar that contradicts the repo."""
    return StaleProvenance(
        problem,
        reason="stale-provenance",
        remedy=f"Convert from the original source, or remove {OURS}/ to go on without it",
    )


def _at(task: Task, folder: str | None) -> Native | None:
    """What the task has at `folder` of the output: the source's own files, carried over."""
    return next((native for native in task.native.values() if native.path == folder), None)


def _with_native(task: Task, name: str, native: Native) -> Task:
    return replace(task, native={**task.native, name: native})


def _lines(source: Source, read_as: str) -> Iterator[tuple[str, int, int]]:
    """Where the line of each task is, by the id it has in the layout that is read."""
    start = 0
    lines = source.lines(MANIFEST) if source.kind(MANIFEST) is Kind.FILE else ()
    for raw in lines:
        target = parse(TaskTargets, raw, MANIFEST).targets.get(read_as)
        if target is not None:
            yield target.id, start, len(raw)
        start += len(raw)
