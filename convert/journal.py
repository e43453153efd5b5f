"""The first half of a conversion on disk, so that it can stop, go on, and be shared out.

    key.json         what is being converted, into what, by which version
    journal.jsonl    a line per task: what became of it
    work/            the folders made for the tasks, waiting to be moved to their place

A conversion has two halves: each task by itself (slow, in any order), then the output in the order
of the source (quick). The first half is what stands here. `--resume` keeps it beside the output
until that is finished; a shard is one, and merging is the second half over several.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from pydantic import BaseModel, ConfigDict, ValidationError

from . import errors
from .archives.packing import Layout
from .errors import Malformed, OutputExists, RlconvertError, StaleProvenance, UsageError
from .format import Refusal
from .model import TaskRef
from .sidecar import TaskRecord
from .sink import writing
from .soundness import Weakness
from .workers import Made, Result

KEY, LINES, WORK = "key.json", "journal.jsonl", "work"


class Key(BaseModel):
    """What must be the same for two halves to fit: `shard` of `shards`, from 1."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: str
    source: str
    commit: str | None
    source_format: str
    targets: tuple[str, ...]
    options: dict[str, str]
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    limit: int | None
    drop_refused: bool
    provenance: bool
    layout: Layout = Layout.FOLDERS
    shard: int = 1
    shards: int = 1

    def fits(self, other: Key) -> bool:
        """Whether two shards are of one conversion."""
        return self.model_copy(update={"shard": 1}) == other.model_copy(update={"shard": 1})


class _Fault(BaseModel):
    """An error, to be made again."""

    kind: str
    problem: str
    facts: dict[str, str | None]


class _Line(BaseModel):
    """One task of the journal."""

    model_config = ConfigDict(
        extra="forbid", ser_json_bytes="base64", val_json_bytes="base64", frozen=True
    )

    index: int
    ref: TaskRef
    fault: _Fault | None = None
    made: tuple[Made, ...] = ()
    refused: tuple[tuple[str, Refusal], ...] = ()
    line: bytes | None = None
    record: TaskRecord | None = None
    missing: dict[str, bytes] | None = None
    weaknesses: tuple[Weakness, ...] = ()


class Journal:
    """A journal in a folder of its own; `work` is where its tasks' folders are."""

    def __init__(self, folder: str, key: Key) -> None:
        self.folder = folder
        self.work = f"{folder}/{WORK}"
        self.key = key
        self._starts = array("q")
        self._end = self._count = 0
        self._out: BinaryIO | None = None

    @classmethod
    def start(cls, folder: str, key: Key) -> Journal:
        """A new journal, or the one that stands there to go on with.

        `UsageError` when that is of another conversion.
        """
        path = f"{folder}/{KEY}"
        if os.path.lexists(path):
            journal = cls.read(folder)
            if journal.key != key:
                raise UsageError(
                    "what was begun here is another conversion",
                    reason="other-conversion",
                    file=folder,
                    remedy="Give the same source, targets and options, or remove that folder",
                )
            return journal
        with writing(folder):
            if os.path.isdir(folder) and os.listdir(folder):
                raise OutputExists(
                    f"the folder {folder} is there already, and is no shard",
                    reason="output-exists",
                    remedy="Choose another",
                )
            os.makedirs(f"{folder}/{WORK}", exist_ok=True)
            with open(f"{path}.new", "w", encoding="utf-8") as file:
                file.write(key.model_dump_json(indent=2) + "\n")
            os.rename(f"{path}.new", path)
        return cls(folder, key)

    @classmethod
    def read(cls, folder: str) -> Journal:
        """A journal that stands on disk; a last line that was cut short counts as not written."""
        try:
            with open(f"{folder}/{KEY}", "rb") as file:
                key = Key.model_validate_json(file.read())
        except (OSError, ValidationError) as error:
            raise Malformed(
                "this is not a shard that this version of rlconvert made",
                reason="bad-shard",
                file=folder,
            ) from error
        journal = cls(folder, key)
        journal._load()
        return journal

    def _load(self) -> None:
        if not os.path.exists(f"{self.folder}/{LINES}"):
            return
        with open(f"{self.folder}/{LINES}", "rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                parsed = self._parsed(line)
                if self._whole(parsed):
                    self._note(parsed.index, self._end)
                self._end += len(line)

    def _whole(self, line: _Line) -> bool:
        """Whether the folders of a task are still there: the second half moves them away."""
        staged = {name for made in line.made for _, name in made.folders}
        return all(os.path.exists(f"{self.work}/{name}") for name in staged)

    def _note(self, index: int, start: int) -> None:
        while len(self._starts) <= index:
            self._starts.append(-1)
        self._count += self._starts[index] < 0
        self._starts[index] = start

    def __contains__(self, index: int) -> bool:
        return index < len(self._starts) and self._starts[index] >= 0

    def __len__(self) -> int:
        return self._count

    def write(self, index: int, result: Result) -> None:
        """Put down what became of a task; it is on disk when this returns."""
        fault = result.fault
        line = _Line(
            index=index,
            ref=result.ref,
            fault=None
            if fault is None
            else _Fault(kind=type(fault).__name__, problem=fault.problem, facts=fault.facts()),
            made=result.made,
            refused=result.refused,
            line=result.line,
            record=result.record,
            missing=result.missing,
            weaknesses=result.weaknesses,
        )
        data = line.model_dump_json(exclude_defaults=True).encode() + b"\n"
        with writing(self.folder):
            if self._out is None:
                self._out = open(f"{self.folder}/{LINES}", "ab")  # noqa: SIM115 - until `close`
                self._out.truncate(self._end)
            self._out.write(data)
            self._out.flush()
        self._note(index, self._end)
        self._end += len(data)

    def result(self, index: int, ref: TaskRef) -> Result:
        """What became of a task; `StaleProvenance` when another stands at its place now."""
        with open(f"{self.folder}/{LINES}", "rb") as file:
            file.seek(self._starts[index])
            line = self._parsed(file.readline())
        if (line.ref.id, line.ref.path) != (ref.id, ref.path):
            raise StaleProvenance(
                f"the source has changed: {line.ref.id} was here, now it is {ref.id}",
                reason="source-changed",
                file=self.folder,
                remedy="Start again",
            )
        return Result(
            ref=line.ref,
            fault=None if line.fault is None else _fault(line.fault),
            made=line.made,
            refused=line.refused,
            line=line.line,
            record=line.record,
            missing=line.missing,
            weaknesses=line.weaknesses,
        )

    def _parsed(self, line: bytes) -> _Line:
        try:
            return _Line.model_validate_json(line)
        except ValidationError as error:
            raise Malformed(
                "the journal is damaged", reason="bad-shard", file=f"{self.folder}/{LINES}"
            ) from error

    def close(self) -> None:
        """Let go of the file."""
        if self._out is not None:
            self._out.close()
            self._out = None


def _fault(said: _Fault) -> RlconvertError:
    kind = getattr(errors, said.kind, RlconvertError)
    facts = dict(said.facts)
    error: RlconvertError = kind(said.problem, reason=facts.pop("reason", None) or "", **facts)
    return error


class Shards:
    """The journals of all shards of one conversion, as one."""

    def __init__(self, journals: list[Journal], key: Key) -> None:
        self._by_shard = self._checked(journals, key)

    @staticmethod
    def _checked(journals: list[Journal], key: Key) -> Mapping[int, Journal]:
        found: dict[int, Journal] = {}
        for journal in journals:
            if not journal.key.fits(key.model_copy(update={"shards": journal.key.shards})):
                raise UsageError(
                    "this shard is of another source, target or version",
                    reason="other-conversion",
                    file=journal.folder,
                )
            if found and journal.key.shards != next(iter(found.values())).key.shards:
                raise UsageError(
                    "these shards are not parts of one whole",
                    reason="other-conversion",
                    file=journal.folder,
                )
            found[journal.key.shard] = journal
        missing = set(range(1, journals[0].key.shards + 1)) - found.keys() if journals else {1}
        if missing:
            raise UsageError(
                f"shard {min(missing)} is not there",
                reason="shard-missing",
                remedy="Give every shard of the conversion",
            )
        return found

    def of(self, index: int) -> Journal:
        """The journal that has the task at `index`; `UsageError` when its shard is not done."""
        journal = self._by_shard[index % len(self._by_shard) + 1]
        if index not in journal:
            raise UsageError(
                "this shard is not finished",
                reason="shard-unfinished",
                file=journal.folder,
                remedy="Run it again with --resume",
            )
        return journal


def numbered(refs: Iterator[TaskRef], key: Key) -> Iterator[tuple[int, TaskRef]]:
    """The tasks of one shard, each with its place among all."""
    for index, ref in enumerate(refs):
        if index % key.shards == key.shard - 1:
            yield index, ref
