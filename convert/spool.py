"""What a run must look back on, on disk instead of in memory: ids, paths, lists."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from weakref import finalize

from .errors import WriteError
from .files import folded


class Spool:
    """A table of claims, who took an id or a path first; and lists of texts.

    Claims are folded: what is one name on some file system is one claim. A disk that is full is a
    `WriteError`.
    """

    def __init__(self, path: str) -> None:
        try:
            # One thread uses it; which one lets go of it is up to the garbage collector.
            self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise _cannot_write(error) from error
        finalize(self, self._database.close)  # a run that fails has nobody who would do it
        self._run("PRAGMA journal_mode = OFF")
        self._run("PRAGMA synchronous = OFF")
        self._run("CREATE TABLE claim (key TEXT PRIMARY KEY, name TEXT) WITHOUT ROWID")
        self._run("CREATE TABLE item (number INTEGER PRIMARY KEY, list TEXT, text TEXT)")
        self._run("CREATE TABLE tally (key TEXT PRIMARY KEY, number INT) WITHOUT ROWID")
        self._run("CREATE TABLE row (path TEXT, at INT, line BLOB)")
        self._run("BEGIN")

    def _run(self, statement: str, *values: str | int | bytes) -> sqlite3.Cursor:
        try:
            return self._database.execute(statement, values)
        except sqlite3.Error as error:
            raise _cannot_write(error) from error

    def claim(self, kind: str, name: str) -> str | None:
        """Claim `name`; the name that stands there already when somebody was first, else None."""
        key = f"{kind}:{folded(name)}"
        if self._run("INSERT OR IGNORE INTO claim VALUES (?, ?)", key, name).rowcount:
            return None
        return str(self._run("SELECT name FROM claim WHERE key = ?", key).fetchone()[0])

    def has(self, kind: str, name: str) -> bool:
        """Whether `name` is claimed, however it is spelled."""
        key = f"{kind}:{folded(name)}"
        return self._run("SELECT 1 FROM claim WHERE key = ?", key).fetchone() is not None

    def count(self, kind: str, name: str) -> int:
        """How often `name` was counted, with this time."""
        rows = self._run(
            "INSERT INTO tally VALUES (?, 1) "
            "ON CONFLICT DO UPDATE SET number = number + 1 RETURNING number",
            f"{kind}:{name}",
        )
        return int(rows.fetchone()[0])

    def add(self, name: str, text: str) -> None:
        """Add a text to a list."""
        self._run("INSERT INTO item (list, text) VALUES (?, ?)", name, text)

    def items(self, name: str) -> Iterator[str]:
        """The texts of a list, in the order in which they came."""
        for (text,) in self._run("SELECT text FROM item WHERE list = ? ORDER BY number", name):
            yield str(text)

    def keep_row(self, path: str, at: int, line: bytes) -> None:
        """Keep a row for later."""
        self._run("INSERT INTO row VALUES (?, ?, ?)", path, at, line)

    def rows(self) -> Iterator[tuple[str, bytes]]:
        """The rows that were kept: file by file, each in the order of its numbers."""
        for path, line in self._run("SELECT path, line FROM row ORDER BY path, at"):
            yield str(path), bytes(line)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()


def _cannot_write(error: sqlite3.Error) -> WriteError:
    # SQLite names a full disk in words only; what else stops it here is one in most cases too:
    # an empty disk has no room for the file, a full one none for the next page.
    return WriteError(
        f"the temporary table of the run cannot be written: {error}",
        reason="disk-full",
        remedy="Make room and convert again",
    )
