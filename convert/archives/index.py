"""What stands in the archives of a source, as a table on disk: folders, files, and tasks in rows.

One process makes the table; others, who got the reader pickled, read it by its path.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from weakref import finalize

from rlconvert.files import parents
from rlconvert.source import Source

from .filling import fill
from .finding import Archives
from .nodes import Node, What


class ArchiveIndex:
    """The nodes of all archives that are read. `folder` has the table and unpacked tar files."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        database = f"file:{folder}/index?mode=ro&immutable=1"
        self._database = sqlite3.connect(database, uri=True, check_same_thread=False)
        finalize(self, self._database.close)

    @classmethod
    def made(cls, source: Source, found: Archives, *, at_root: bool) -> ArchiveIndex:
        """The index of what was found; it is gone with the object that is given back.

        `at_root`: a zip or tar file is the source itself, and not a folder of its name.
        """
        folder = tempfile.mkdtemp(prefix="rlconvert-")
        try:
            fill(folder, source, found, at_root=at_root)
            index = cls(folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        finalize(index, shutil.rmtree, folder, ignore_errors=True)
        return index

    def get(self, path: str) -> Node | None:
        """The node at a path."""
        above, _, name = path.rpartition("/")
        rows = self._database.execute(
            "SELECT * FROM node WHERE above = ? AND name = ? AND what != ?",
            (above, name, What.FAULT),
        )
        row = rows.fetchone()
        return None if row is None else _node(row)

    def row_above(self, path: str) -> Node | None:
        """The row that a path is, or is in."""
        for whole in (*parents(path), path):
            node = self.get(whole)
            if node is None:
                return None
            if node.what is What.ROW:
                return node
        return None

    def names(self, folder: str) -> Iterator[tuple[str, What]]:
        """What is in a folder: rows in the order of their files, then others by name."""
        cursor = self._database.cursor()
        rows = cursor.execute(
            "SELECT name, what FROM node WHERE above = ? AND what != ? "
            "ORDER BY what != ?, CASE what WHEN ? THEN file END, "
            "CASE what WHEN ? THEN place END, name",
            (folder, What.FAULT, What.ROW, What.ROW, What.ROW),
        )
        for name, what in rows:
            yield str(name), What(what)

    def below(self, folder: str) -> Iterator[Node]:
        """Every node below a folder, faults too."""
        inside = (folder, f"{folder}/", f"{folder}0") if folder else ("", "", "\U0010ffff")
        rows = self._database.cursor().execute(
            "SELECT * FROM node WHERE above = ? OR (above >= ? AND above < ?)",
            inside,  # "0" follows "/"
        )
        yield from map(_node, rows)


def _node(row: tuple[str, str, str, int, int, int, int, str | None]) -> Node:
    above, name, what, file, place, size, executable, text = row
    path = f"{above}/{name}" if above else name
    return Node(path, What(what), file, place, size, bool(executable), text)
