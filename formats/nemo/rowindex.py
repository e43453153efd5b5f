"""Every row of a repo, once: where it stands and what it is called. On disk, however many.

A task's id is the name that its row gives it, when no other row has that name; else a digest of
what the row says. Rows that say the same get the same digest and a count: `<digest>~2`.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from weakref import finalize

from rlconvert.errors import RlconvertError
from rlconvert.format import nth_id
from rlconvert.model import RowRef
from rlconvert.source import Source

from .jsonline import parse_line
from .rowshape import content_of, name_key, take_apart, usable_name

_TABLES = (
    "PRAGMA journal_mode = OFF",
    "PRAGMA synchronous = OFF",
    "CREATE TABLE row (file INT, start INT, size INT, line INT, name TEXT, digest BLOB, copy INT)",
    "CREATE TABLE name (key TEXT PRIMARY KEY, rows INT) WITHOUT ROWID",
    "CREATE TABLE digest (digest BLOB PRIMARY KEY, rows INT) WITHOUT ROWID",
    "BEGIN",
)
_DIGEST_BYTES = 10


def digest_id(content: bytes) -> str:
    """The id of a row that has no name of its own."""
    return hashlib.sha256(content).digest()[:_DIGEST_BYTES].hex()


class RowIndex:
    """The rows of `paths`, in their order."""

    def __init__(self, source: Source, paths: Sequence[str]) -> None:
        self._paths = tuple(paths)
        # A file that nobody sees. One thread uses it, any may let go of it.
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        finalize(self, self._database.close)  # it lives as long as the reader does
        for statement in _TABLES:
            self._database.execute(statement)
        for file, path in enumerate(self._paths):
            self._add(source, file, path)

    def _add(self, source: Source, file: int, path: str) -> None:
        start = 0
        insert = self._database.execute
        for number, line in enumerate(source.lines(path), 1):
            name, digest, copy = None, None, 1
            try:
                parts = take_apart(parse_line(line, path, number))
            except RlconvertError:
                pass  # it is told when the row is loaded
            else:
                name = usable_name(parts.name)
                if name is not None:
                    insert(
                        "INSERT INTO name VALUES (?, 1) ON CONFLICT DO UPDATE SET rows = rows + 1",
                        (name_key(name),),
                    )
                digest = hashlib.sha256(content_of(parts)).digest()[:_DIGEST_BYTES]
                copy = insert(
                    "INSERT INTO digest VALUES (?, 1) "
                    "ON CONFLICT DO UPDATE SET rows = rows + 1 RETURNING rows",
                    (digest,),
                ).fetchone()[0]
            insert(
                "INSERT INTO row VALUES (?, ?, ?, ?, ?, ?, ?)",
                (file, start, len(line), number, name, digest, copy),
            )
            start += len(line)

    def __iter__(self) -> Iterator[tuple[str, RowRef]]:
        """Each row's id and place. A row that cannot be read is called `<file>:<line>`."""
        rows = self._database.cursor().execute("SELECT * FROM row ORDER BY rowid")
        for file, start, size, number, name, digest, copy in rows:
            path = self._paths[file]
            place = RowRef(path=path, start=start, size=size, number=number)
            yield self._id(path, number, name, digest, copy), place

    def _id(self, path: str, number: int, name: str | None, digest: bytes | None, copy: int) -> str:
        if digest is None:
            return f"{path}:{number}"
        if name is not None and self._rows_called(name) == 1:
            return name
        return nth_id(digest.hex(), copy)

    def _rows_called(self, name: str) -> int:
        found = self._database.execute("SELECT rows FROM name WHERE key = ?", (name_key(name),))
        return int(found.fetchone()[0])
