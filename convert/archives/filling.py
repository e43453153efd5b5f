"""Making the index of the archives of a source: one pass over names, no task is unpacked."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from typing import BinaryIO

from rlconvert.errors import Malformed, RlconvertError, UnsafePath
from rlconvert.files import check_path, folded, name_fault, parents
from rlconvert.source import Kind, Source

from .finding import TABLE, Archives, Table, stem_of
from .members import Member, named, too_many, twice
from .nodes import Node, What, text_of
from .parquet import row_paths, task_table
from .tarred import GZIP, tar_members, unzipped_pieces
from .zipped import MAGIC, opened_zip, zip_members

_MAX_SET = 64 << 30
"""Bytes of a tar file, unpacked from gzip into the folder for temporary files."""

_MAX_SET_MEMBERS = 5_000_000
_TASKS = "tasks"
_WHOLE_FILE = 1 << 62
"""In the place of a row: what is said of the file as a whole comes after its rows."""
_CHUNK = 1 << 20
_SCHEMA = (
    "PRAGMA journal_mode = MEMORY",  # without one nothing could be taken back
    "PRAGMA synchronous = OFF",
    """CREATE TABLE node (above TEXT, name TEXT, what TEXT, file INT, place INT, size INT,
    executable INT, text TEXT, PRIMARY KEY (above, name)) WITHOUT ROWID""",
    "CREATE TABLE claim (key TEXT PRIMARY KEY, path TEXT) WITHOUT ROWID",
    "BEGIN",
)


def fill(folder: str, source: Source, found: Archives, *, at_root: bool) -> None:
    """Make the table of all that is read, in `folder`."""
    with closing(sqlite3.connect(f"{folder}/index", isolation_level=None)) as database:
        for statement in _SCHEMA:
            database.execute(statement)
        filling = _Filling(database)
        first = 0
        for table in found.tables:
            _Rows(filling, source, table, first).add()
            first += len(table.files)
        for number, path in enumerate(found.sets, first):
            base = "" if at_root else stem_of(path)
            try:
                with filling.all_or_nothing(), closing(source.open(path)) as file:
                    _add_set(filling, file, number, folder, base)
            except RlconvertError as error:
                error.file = path
                filling.put_faulty(f"{base}/damaged".lstrip("/"), number, _WHOLE_FILE, error)
        database.execute("COMMIT")


class _Filling:
    """The table while it grows."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._folders: set[str] = {""}
        self._members = self._faults = 0

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """What is added in here is taken back when it fails: a task may have come in part."""
        before = set(self._folders)
        self._database.execute("SAVEPOINT whole")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK TO whole")
            self._folders = before
            raise
        finally:
            self._database.execute("RELEASE whole")

    def put(self, node: Node) -> bool:
        """Add a node, and the folders above it; False when something else is there."""
        above = node.path.rpartition("/")[0]
        if above not in self._folders and not all(map(self._folder, (*parents(above), above))):
            return False
        return self._folder(node.path) if node.what is What.FOLDER else self._insert(node)

    def _folder(self, path: str) -> bool:
        if path not in self._folders:
            if not self._insert(Node(path, What.FOLDER)):
                return False
            self._folders.add(path)
        return True

    def _insert(self, node: Node) -> bool:
        above, _, name = node.path.rpartition("/")
        done = self._database.execute(
            "INSERT OR IGNORE INTO node VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                above,
                name,
                node.what,
                node.file,
                node.place,
                node.size,
                node.executable,
                node.text,
            ),
        )
        return bool(done.rowcount)

    def claim(self, path: str) -> str | None:
        """Claim a name; the one that is the same and was first, when there is one."""
        key = folded(path)
        claim = self._database.execute("INSERT OR IGNORE INTO claim VALUES (?, ?)", (key, path))
        if claim.rowcount:
            return None
        first = self._database.execute("SELECT path FROM claim WHERE key = ?", (key,))
        return str(first.fetchone()[0])

    def put_faulty(self, path: str, file: int, row: int, error: RlconvertError) -> None:
        """Add a task that cannot be read, under a name that is free."""
        text, name, tries = text_of(error), path, 1
        while not self.put(Node(name, What.ROW, file, row, text=text)):
            tries += 1  # at the root: a folder above may be a task
            name = f"{path.replace('/', '-')}-{tries}"

    def add_members(self, members: Iterable[Member], base: str, file: int) -> None:
        """Add what a zip or tar file holds, below `base`."""
        above = f"{base}/" if base else ""
        for member in members:
            self._members += 1
            if self._members > _MAX_SET_MEMBERS:
                raise too_many(_MAX_SET_MEMBERS)
            path, fault = above + member.path, member.fault
            if fault is None and member.path and not self._put_member(member, path, file):
                fault = twice(member.path)
            if fault is not None:
                self._put_fault(path, file, fault)

    def _put_member(self, member: Member, path: str, file: int) -> bool:
        what = What.FILE
        if member.kind is Kind.FOLDER:
            what = What.FOLDER
        elif member.kind is Kind.LINK:
            what = What.LINK
        size, executable, target = member.size, member.executable, member.target
        return self.put(Node(path, what, file, member.place, size, executable, target or None))

    def _put_fault(self, path: str, file: int, fault: RlconvertError) -> None:
        """A member that cannot be taken, as a fault of the folder that it would be in."""
        above: list[str] = []
        for part in path.split("/")[:-1]:
            if name_fault(part):
                break
            above.append(part)
        self._faults += 1
        # A name that no file can have.
        name = f"\0{self._faults}"
        self._insert(Node("/".join([*above, name]), What.FAULT, file, text=text_of(fault)))


class _Rows:
    """The rows of a set of parquet files."""

    def __init__(self, filling: _Filling, source: Source, table: Table, first: int) -> None:
        self._filling = filling
        self._source = source
        self._table = table
        self._first = first
        self._base = f"{_TASKS}/{table.name}".rstrip("/")

    def add(self) -> None:
        """Each row becomes a folder; a file that cannot be read becomes one faulty task."""
        for number, path in enumerate(self._table.files, self._first):
            try:
                self._add_file(path, number)
            except RlconvertError as error:
                self._filling.put_faulty(self._nameless(path), number, _WHOLE_FILE, error)
        if self._table.missing:
            first = self._table.files[0]
            gone = Malformed(
                f"by the names of the others {self._table.missing:,} of its files are not here",
                reason="shard-missing",
                file=first,
                remedy="Fetch them, too",
            )
            name = f"{self._nameless(first)}-missing"
            self._filling.put_faulty(name, self._first, _WHOLE_FILE, gone)

    def _nameless(self, path: str) -> str:
        return f"{self._base}/{path.rpartition('/')[2].removesuffix(TABLE)}"

    def _add_file(self, path: str, number: int) -> None:
        found = task_table(self._source, path)
        if found is None:
            raise Malformed(
                "it has no columns path and task_binary, as others of its set have",
                reason="not-a-task-table",
                file=path,
                remedy="Take it out, or rename it",
            )
        for row, value in enumerate(row_paths(self._source, path)):
            try:
                place = self._claimed(self._place(value, rooted=found.rooted))
                if not self._filling.put(Node(place, What.ROW, number, row)):
                    raise _clash(f"a task is inside of another one: {place!a}")
            except RlconvertError as error:
                error.file, error.where = path, f"row {row}"
                name = f"{self._nameless(path)}-row-{row}"
                self._filling.put_faulty(name, number, row, error)

    def _place(self, value: str | None, *, rooted: bool) -> str:
        path = named(value or "")
        if isinstance(path, RlconvertError):
            raise path
        if not path:
            raise Malformed("its path is empty", reason="row-without-path", remedy="Name the task")
        return path if rooted else check_path(f"{self._base}/{stem_of(path)}")

    def _claimed(self, path: str) -> str:
        other = self._filling.claim(path)
        if other == path:
            raise _clash(f"another row has the path {path!a}, too")
        if other is not None:
            raise _clash(f"{other!a} and {path!a} are one where case or normal form is folded")
        return path


def _clash(problem: str) -> UnsafePath:
    return UnsafePath(problem, reason="names-clash", remedy="Rename one of them in the source")


def _add_set(filling: _Filling, file: BinaryIO, number: int, folder: str, base: str) -> None:
    head = file.read(4)
    size = file.seek(0, 2)
    file.seek(0)
    if head in MAGIC:
        with opened_zip(file) as archive:
            filling.add_members(zip_members(archive), base, number)
    elif head[:2] == GZIP:
        with open(unpacked_at(folder, number), "w+b") as unpacked:  # noqa: PTH123
            size = _unpack(file, size, unpacked)
            filling.add_members(tar_members(unpacked, size), base, number)
    else:
        filling.add_members(tar_members(file, size), base, number)


def unpacked_at(folder: str, number: int) -> str:
    """Where the tar file is that was unpacked from gzip."""
    return f"{folder}/{number}.tar"


def _unpack(file: BinaryIO, size: int, unpacked: BinaryIO) -> int:
    pieces = iter(lambda: file.read(_CHUNK), b"")
    unpacked.writelines(unzipped_pieces(pieces, size, _MAX_SET))
    return unpacked.tell()
