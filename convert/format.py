"""What a format is: the protocols a framework's folder implements, and the registry of formats.

Data flows one way: a `Reader` makes tasks, a `Writer` makes parts of them, the assembler owns
every path of the output. A writer never touches the disk; a reader never sees the target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import Protocol, TypeAlias

from .data import Data
from .errors import (
    AmbiguousFormat,
    NothingRepresentable,
    RlconvertError,
    UnknownFormat,
    UsageError,
)
from .files import Blob, FileTree
from .judge import Judge
from .model import Native, Repo, Task, TaskRef
from .soundness import Weakness
from .source import Source


class Fate(StrEnum):
    """What becomes of one field of a task."""

    EXACT = "exact"
    TRANSLATED = "translated"
    DELEGATED = "delegated"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldFate:
    """A fate and, unless it is exact, why."""

    fate: Fate
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One thing a person should know about one task: the fate of a field that is special to it.

    `field` is a field path of the model. `reason` is one of a few sentences, so that notes can be
    counted; what differs from task to task is the `detail`.
    """

    field: str
    fate: Fate
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a task cannot go to a target. `reason` is a stable slug, listed by the format."""

    reason: str
    problem: str
    field: str
    remedy: str | None = None

    def as_error(self, task: str, target: str) -> RlconvertError:
        """The refusal as an error, for those who want to stop at it."""
        return NothingRepresentable(
            f"it cannot go to {target}: {self.problem}",
            reason=self.reason,
            task=task,
            where=self.field,
            remedy=self.remedy,
        )


# --- parts -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PutTree:
    """A folder that belongs to one task."""

    path: str
    tree: FileTree


@dataclass(frozen=True, slots=True)
class PutFile:
    """A file of the whole output. The same bytes may be put twice, other bytes may not."""

    path: str
    blob: Blob


@dataclass(frozen=True, slots=True)
class AppendRow:
    """A line of a row file, with its line end.

    `label` is for the writer that closes the output: every row of a file has the same. Rows come
    in the order of their tasks, but where they have a number `at`: then in the order of those.
    """

    path: str
    line: bytes
    label: str = ""
    at: int | None = None


@dataclass(frozen=True, slots=True)
class ListItem:
    """An item of a list that writers make something of when they close the output.

    `list` is led by the target's name, so that no two writers share a list.
    """

    list: str
    text: str


@dataclass(frozen=True, slots=True)
class RowFile:
    """A row file that was written: how many rows, and their label."""

    rows: int
    label: str


@dataclass(frozen=True, slots=True)
class AddEntry:
    """An entry of the JSON list at `path`, which other targets may add to.

    The same entry may be added twice; under one `key` there can be no other. Refused when the
    path is also put as a file.
    """

    path: str
    key: str
    entry: Mapping[str, Data]


@dataclass(frozen=True, slots=True)
class CardSection:
    """A section of the card; sections stand in the order in which they came."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class CardRows:
    """A row file that the card names under `config`, so that viewers find it."""

    config: str
    split: str
    path: str


TaskPart: TypeAlias = PutTree | AppendRow | ListItem


@dataclass(frozen=True, slots=True)
class RepoNote:
    """What a person should know about the output as a whole."""

    note: Note


RepoPart: TypeAlias = PutFile | AddEntry | CardSection | CardRows | RepoNote


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A task as the target has it.

    `way` names the column of fates that it went by. `id` is what the target's own reader will
    call it, and `native` what that reader will say are its own bytes. `rewritten` are the files
    that are not the source's own bytes in a folder that otherwise is the source's. `counted`:
    other tasks may have become the same, and its reader tells them apart as `nth_id` does.
    """

    way: str
    id: str
    native: Native
    parts: tuple[TaskPart, ...]
    notes: tuple[Note, ...] = ()
    rewritten: tuple[str, ...] = ()
    counted: bool = False


def nth_id(name: str, number: int) -> str:
    """What the `number`-th of several tasks that are the same is called, from 1 on."""
    return name if number == 1 else f"{name}~{number}"


class Outcome(Protocol):
    """What became of the tasks, for a writer that closes its output."""

    @property
    def shared(self) -> FileTree:
        """The source's files that belong to no task."""
        ...

    @property
    def row_files(self) -> Mapping[str, RowFile]:
        """The row files of the output by path, in the order in which they began."""
        ...

    def has_folder(self, path: str) -> bool:
        """Whether the folder of a converted task stands at `path` of the output."""
        ...

    def items(self, name: str) -> Iterator[str]:
        """The texts of a list, in the order of the tasks that added them."""
        ...

    @property
    def converted(self) -> int:
        """How many tasks stand in the output, whatever the targets that they are for."""
        ...

    @property
    def complete(self) -> bool:
        """Whether every task of the source was converted."""
        ...


# --- formats -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A choice a format offers; the command line has it as ``--<name>``.

    `file`: its value is the path of a file, of which the sidecar keeps the name alone. `flag`: it
    is given without a value, or not at all; `Options` then has "yes".
    """

    name: str
    help: str
    file: bool = False
    flag: bool = False


Options: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What is asked of a writer. `alone`: no other target shares the output.

    `home`: alone, and the output is in the source's own format, or in the one that the source was
    itself converted from; the files of no task then are this format's own.
    """

    options: Options
    alone: bool = True
    home: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A layout that was recognised, and by what."""

    format: str
    layout: str
    because: str


class Reader(Protocol):
    """Reads one source. It can be pickled: workers load tasks by reference."""

    def repo(self) -> Repo:
        """What the source holds, without loading tasks."""
        ...

    def refs(self) -> Iterator[TaskRef]:
        """Every task once, in the source's order; a fresh iterator each call."""
        ...

    def load(self, ref: TaskRef) -> Task:
        """The task; a typed error when it cannot be read, which never stops the others."""
        ...


class Writer(Protocol):
    """Writes one target. It can be pickled and has no state that tasks change."""

    def task(self, task: Task, tasksets: tuple[str, ...]) -> Written | Refusal:
        """The parts of one task, or why it cannot be carried without changing its meaning."""
        ...

    def close(self, outcome: Outcome) -> Iterator[RepoPart]:
        """The parts that belong to no single task."""
        ...

    def owns(self, path: str, outcome: Outcome) -> bool:
        """Whether the target's layout needs `path`, so that a foreign file cannot stand there."""
        ...


def _asks_nothing(_: Task) -> tuple[str, ...]:
    return ()


def none_known(_: Task) -> tuple[Weakness, ...]:
    """No weakness: for formats whose tasks are not graded by files of their own."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A framework's layout. `ways` are the columns of the fate table, by field path.

    `refusals` lists every reason a task may be refused for, with one sentence each. `host_access`
    says what a task asks of the machine that it is run on, beyond containers of its own, and
    `weaknesses` what is weak about how it is graded, as far as reading tells. `tag` is what the
    card of a repo carries that the framework loads.
    """

    name: str
    title: str
    version: str
    sniff: Callable[[Source], Finding | None]
    reader: Callable[[Source, Options], Reader]
    writer: Callable[[Repo, Aim], Writer]
    ways: Mapping[str, Mapping[str, FieldFate]]
    refusals: Mapping[str, str]
    tag: str | None = None
    reader_options: tuple[Option, ...] = ()
    writer_options: tuple[Option, ...] = ()
    judge: Judge | None = None
    host_access: Callable[[Task], tuple[str, ...]] = _asks_nothing
    weaknesses: Callable[[Task], tuple[Weakness, ...]] = none_known


def format_names() -> tuple[str, ...]:
    """The registered formats, in their listed order."""
    return tuple(_registered())


def get_format(name: str) -> Format:
    """The format called `name`; `UsageError` lists the known ones."""
    known = _registered()
    if name not in known:
        raise UsageError(
            f"there is no format {name!r}",
            reason="no-such-format",
            remedy=f"Known formats: {', '.join(known)}",
        )
    found: Format = import_module(known[name]).FORMAT
    return found


def _registered() -> Mapping[str, str]:
    # By name: the core imports no format, and `--help` none of their libraries.
    known: Mapping[str, str] = import_module("rlconvert.formats").FORMATS
    return known


def sniff(source: Source) -> list[Finding]:
    """Every format whose layout the source has, in the registered order."""
    findings = (get_format(name).sniff(source) for name in format_names())
    return [finding for finding in findings if finding is not None]


def choose_format(source: Source, asked: str | None, *, first_of_several: bool = False) -> Format:
    """The format to read with: the one asked for, else the only one that fits.

    `UnknownFormat` when none fits, `AmbiguousFormat` when several do and the first will not do.
    Where none fits and a file that may hold tasks cannot be read, the error is why.
    """
    if asked is not None:
        return get_format(asked)
    findings = sniff(source)
    if not findings:
        from .archives.finding import unread

        if (fault := unread(source)) is not None:
            raise fault
        names = ", ".join(item.name for item in source.items("")[:8]) or "nothing"
        raise UnknownFormat(
            f"no known task layout in {source.origin.label}; at its top: {names}",
            reason="unknown-format",
            remedy="Name the format with --from if you know it",
        )
    if len(findings) > 1 and not first_of_several:
        said = "; ".join(f"{found.format} ({found.because})" for found in findings)
        raise AmbiguousFormat(
            f"several layouts fit: {said}",
            reason="ambiguous-format",
            remedy="Choose with --from " + " or --from ".join(f.format for f in findings),
        )
    return get_format(findings[0].format)
