"""Which files of a source are archives that hold tasks, and which of them are read.

Task folders come first: an archive beside them is a copy of them, or an index, and is told of but
not read. Then come parquet files of archives, one a row, and last zip and tar files that hold
task folders. All of the first kind that there is are read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import accumulate, islice

from rlconvert.errors import Malformed, RlconvertError, UnsafePath
from rlconvert.files import printable
from rlconvert.searching import files_called, items_to_search, marked_folders
from rlconvert.source import BOOKKEEPING, Item, Kind, Source

from .members import MAX_UNPACKED
from .parquet import TaskTable, names_columns, task_table
from .tarred import GZIP, tar_members, unzipped_pieces
from .zipped import MAGIC, opened_zip

MARK = "task.toml"
"""The file that makes a folder a task, in every framework that has folders for tasks."""

TABLE = ".parquet"
PACKED = (".tar.gz", ".tgz", ".tar", ".zip")
_SHARD = re.compile(r"(?P<stem>.+)-(?P<number>[0-9]{5})-of-(?P<count>[0-9]{5})(-[0-9a-f]{8,64})?")
_DEPTH, _DEEP = 3, 8
_MAX_FOLDERS = 2_000
_MAX_MEMBERS = 100_000
_SAMPLE, _MANY = 3, 50
_HEAD = 16 << 20
"""Bytes of an unpacked tar file in which a task is looked for."""

_PLAIN = ("", "data", "tasks")
"""Folders that say nothing of what is in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The parquet files of one set, `files` in their order.

    `name` tells it from others of the repo; `missing` is how many of its files are not there, by
    the names of the others. `rooted`: it is the form of a repo that has nothing beside it that
    would count, as we write it.
    """

    name: str
    files: tuple[str, ...]
    missing: int = 0
    rooted: bool = False

    @property
    def said(self) -> str:
        """What a person calls it."""
        first = self.files[0]
        return first if len(self.files) == 1 else f"{first} and {len(self.files) - 1} more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Archives:
    """What was found: `tables` and `sets` (zip and tar files) are read, `unread` are not.

    `folder` is a task folder that stands beside them.
    """

    tables: tuple[Table, ...] = ()
    sets: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    folder: str | None = None

    @property
    def read(self) -> tuple[str, ...]:
        """What a person calls those that are read."""
        return (*(table.said for table in self.tables), *self.sets)

    @property
    def beside(self) -> str:
        """What is read in the place of `unread`."""
        return "task folders" if self.folder is not None else "parquet files of archives"

    def __bool__(self) -> bool:
        return bool(self.tables or self.sets or self.unread)


def stem_of(path: str) -> str:
    """A path less the ending that says that it is an archive."""
    return next((path.removesuffix(each) for each in PACKED if path.endswith(each)), path)


def is_archive(name: str) -> bool:
    """Whether a file's name says that it may be an archive of tasks."""
    return name.endswith((TABLE, *PACKED))


def find_archives(source: Source) -> Archives:
    """The archives of tasks in a source; a file that is only called like one is none."""
    looked = _Looked(source)
    tables = tuple(_tables(source, looked.tables))
    sets = tuple(path for path in looked.packed if _holds_tasks(source, path))
    if not tables and not sets:
        return Archives()
    if ours := tuple(table for table in tables if table.rooted):
        unread = (*(table.said for table in tables if not table.rooted), *sets)
        return Archives(tables=ours, unread=unread)
    folder = looked.folder or next(marked_folders(source, MARK, "", _DEEP), None)
    if folder is not None:
        unread = (*(table.said for table in tables), *sets)
        return Archives(unread=unread, folder=folder)
    if tables:
        return Archives(tables=tables, unread=sets)
    return Archives(sets=sets)


def set_alone(source: Source, path: str) -> Archives:
    """One archive, whatever stands beside it; `Malformed` when it holds no tasks."""
    source.open(path).close()  # it says itself when it was not fetched, or cannot be read
    if path.endswith(TABLE):
        if task_table(source, path) is not None:
            return Archives(tables=(Table(name="", files=(path,)),))
        problem = (
            "it has no columns path and task_binary, which parquet files of task archives have"
        )
    elif _holds_tasks(source, path):
        return Archives(sets=(path,))
    else:
        problem = f"it holds no folder with a {MARK}, or cannot be read"
    raise Malformed(
        problem, reason="no-tasks-in-archive", file=path, remedy="Name the folder it is in"
    )


def unread(source: Source) -> RlconvertError | None:
    """Why the first file that may hold tasks cannot be read, in a source where none were found.

    It was not fetched, it is damaged, or it is nearly what is read and not quite. None where there
    is nothing of the kind.
    """
    for path in files_called(source, (".jsonl", TABLE, *PACKED)):
        try:
            source.open(path).close()
            if path.endswith(TABLE):
                _refuse_other_types(source, path)
            elif path.endswith(PACKED):
                _refuse_damage(source, path)
        except RlconvertError as error:
            error.file = printable(path)
            return error
    return None


def _refuse_other_types(source: Source, path: str) -> None:
    if task_table(source, path) is None and names_columns(source, path):
        raise Malformed(
            "its columns path and task_binary are not one of text and one of bytes",
            reason="not-a-task-table",
            remedy="Write them as string and binary",
        )


def _refuse_damage(source: Source, path: str) -> None:
    with source.open(path) as file:
        head = file.read(4)
        size = file.seek(0, 2)
        file.seek(0)
        if head in MAGIC:
            with opened_zip(file) as archive:
                if any(_is_mark(name.replace("\\", "/")) for name in archive.namelist()):
                    raise UnsafePath(
                        "the names in it have backslashes, which are no folders in a zip file",
                        reason="unsafe-name",
                        remedy="Make the archive again with names that have slashes",
                    )
            return
        if head[:2] == GZIP:
            pieces = iter(lambda: file.read(1 << 16), b"")
            sizes = accumulate(map(len, unzipped_pieces(pieces, size, MAX_UNPACKED)))
            any(so_far >= _HEAD for so_far in sizes)
        else:
            next(tar_members(file, size), None)


class _Looked:
    """The files near the top that are called like archives, and a task folder met on the way."""

    def __init__(self, source: Source) -> None:
        self.tables: list[str] = []
        self.packed: list[str] = []
        self.folder: str | None = None
        todo = [("", 1)]
        for seen, (folder, depth) in enumerate(todo):
            items = items_to_search(source, folder)
            above = f"{folder}/" if folder else ""
            if any(item.name == MARK for item in items):
                self.folder = self.folder or folder
                continue
            for item in items:
                if item.kind is Kind.FILE and item.name.endswith(TABLE):
                    self.tables.append(above + item.name)
                elif item.kind is Kind.FILE and item.name.endswith(PACKED):
                    self.packed.append(above + item.name)
            if depth <= _DEPTH and seen < _MAX_FOLDERS:
                todo += [(path, depth + 1) for path in _below(source, above, items)]


def _below(source: Source, above: str, items: list[Item]) -> list[str]:
    """The folders to look at next: where the first ones are tasks, not all of thousands."""
    folders = [
        above + item.name
        for item in items
        if item.kind is Kind.FOLDER and (above or item.name not in BOOKKEEPING)
    ]
    tasks = any(source.kind(f"{path}/{MARK}") is not None for path in folders[:_SAMPLE])
    return folders[:_MANY] if tasks else folders[:_MAX_FOLDERS]


# --- parquet -------------------------------------------------------------------------------------


def _tables(source: Source, paths: list[str]) -> Iterator[Table]:
    """Sets of parquet files of which at least one has the columns; the others go with it."""
    groups: dict[tuple[str, str], list[str]] = {}
    for path in sorted(paths):
        folder, _, name = path.rpartition("/")
        shard = _SHARD.fullmatch(name.removesuffix(TABLE))
        groups.setdefault((folder, shard["stem"] if shard else name), []).append(path)
    found = []
    for key, files in groups.items():
        if (said := _first_said(source, files)) is not None:
            found.append((key, files, said.rooted))
    homes = Counter(folder for (folder, _), _, _ in found)
    for (folder, stem), files, rooted in found:
        only = homes[folder] == 1
        parts = [part for part in folder.split("/") if part not in _PLAIN]
        if not parts or not only:
            parts.append(stem.removesuffix(TABLE))
        name = "/".join(parts) if len(found) > 1 else ""
        yield Table(name=name, files=tuple(files), missing=_missing(files), rooted=rooted)


def _first_said(source: Source, files: list[str]) -> TaskTable | None:
    for path in files:
        try:
            return task_table(source, path)
        except RlconvertError:
            continue  # another shard may tell
    return None


def _missing(files: list[str]) -> int:
    """How many shards the names of the others speak of that are not there."""
    shards = [_SHARD.fullmatch(path.rpartition("/")[2].removesuffix(TABLE)) for path in files]
    counts = {int(each["count"]) for each in shards if each is not None}
    numbers = {int(each["number"]) for each in shards if each is not None}
    return max(0, counts.pop() - len(numbers)) if len(counts) == 1 else 0


# --- zip and tar ---------------------------------------------------------------------------------


def _holds_tasks(source: Source, path: str) -> bool:
    try:
        with source.open(path) as file:
            head = file.read(4)
            size = file.seek(0, 2)
            file.seek(0)
            if head in MAGIC:
                with opened_zip(file) as archive:
                    return any(_is_mark(name) for name in archive.namelist())
            if head[:2] != GZIP:
                members = tar_members(file, size)
                return any(_is_mark(each.path) for each in islice(members, _MAX_MEMBERS))
            head = _head(unzipped_pieces(iter(lambda: file.read(1 << 16), b""), size, _HEAD))
            return any(_is_mark(each.path) for each in tar_members(BytesIO(head), len(head)))
    except RlconvertError:  # the head of a tar file is cut short where no task was found in it
        return False


def _head(pieces: Iterator[bytes]) -> bytes:
    """The first of the bytes in pieces."""
    head = bytearray()
    try:
        for piece in pieces:
            head += piece
            if len(head) >= _HEAD:
                break
    except RlconvertError:
        pass  # what came before may tell
    return bytes(head)


def _is_mark(name: str) -> bool:
    return name == MARK or name.endswith(f"/{MARK}")
