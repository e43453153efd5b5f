"""What a run must look back on, on disk instead of in memory: ids, paths, lists."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from .files import folded


class Spool:
    """A table of claims, who took an id or a path first; and lists of texts.

    Claims are folded: what is one name on some file system is one claim.
    """

    def __init__(self, path: str) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute("CREATE TABLE claim (key TEXT PRIMARY KEY, name TEXT) WITHOUT ROWID")
        self._database.execute(
            "CREATE TABLE item (number INTEGER PRIMARY KEY, list TEXT, text TEXT)"
        )
        self._database.execute("BEGIN")

    def claim(self, kind: str, name: str) -> str | None:
        """Claim `name`; the name that stands there already when somebody was first, else None."""
        key = f"{kind}:{folded(name)}"
        done = self._database.execute("INSERT OR IGNORE INTO claim VALUES (?, ?)", (key, name))
        if done.rowcount:
            return None
        found = self._database.execute("SELECT name FROM claim WHERE key = ?", (key,)).fetchone()
        return str(found[0])

    def has(self, kind: str, name: str) -> bool:
        """Whether `name` is claimed, however it is spelled."""
        key = f"{kind}:{folded(name)}"
        return (
            self._database.execute("SELECT 1 FROM claim WHERE key = ?", (key,)).fetchone()
            is not None
        )

    def add(self, name: str, text: str) -> None:
        """Add a text to a list."""
        self._database.execute("INSERT INTO item (list, text) VALUES (?, ?)", (name, text))

    def items(self, name: str) -> Iterator[str]:
        """The texts of a list, in the order in which they came."""
        for (text,) in self._database.execute(
            "SELECT text FROM item WHERE list = ? ORDER BY number", (name,)
        ):
            yield str(text)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()
