"""What a run must look back on, on disk instead of in memory: ids, paths, folders."""

from __future__ import annotations

import sqlite3

from .files import folded


class Spool:
    """A table of claims: who took an id or a path first, and where a task's folder went.

    Claims are folded: what is one name on some file system is one claim.
    """

    def __init__(self, path: str) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute("CREATE TABLE claim (key TEXT PRIMARY KEY, name TEXT) WITHOUT ROWID")
        self._database.execute(
            "CREATE TABLE folder (task TEXT PRIMARY KEY, path TEXT) WITHOUT ROWID"
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

    def set_folder(self, task: str, path: str) -> None:
        """Note where the folder of a task stands."""
        self._database.execute("INSERT OR REPLACE INTO folder VALUES (?, ?)", (task, path))

    def folder(self, task: str) -> str | None:
        """Where the folder of a task stands, or None."""
        found = self._database.execute("SELECT path FROM folder WHERE task = ?", (task,)).fetchone()
        return str(found[0]) if found else None

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()
