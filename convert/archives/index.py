"""What stands in the archives of a source, as a table on disk: folders, files, and tasks in rows.

One process makes the table; others, who got the reader pickled, read it by its path.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from weakref import finalize

from rlconvert import errors
from rlconvert.errors import RlconvertError
from rlconvert.files import parents
from rlconvert.source import Source

from .finding import Archives


class What(StrEnum):
    """What a node is. A row is a task, and a folder to whoever reads."""

    ROW = "row"
    FOLDER = "folder"
    FILE = "file"
    LINK = "link"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Node:
    """Something in an archive. `text` is a link's target, or the fault of a row or a member.

    `place` is the number of a row, or of a zip file's member, or where a tar file has the bytes.
    """

    path: str
    what: What
    file: int = 0
    place: int = 0
    size: int = 0
    executable: bool = False
    text: str | None = None

    @property
    def fault(self) -> RlconvertError | None:
        """Why it cannot be read, if that is known already."""
        if self.text is None or self.what not in (What.ROW, What.FAULT):
            return None
        said = json.loads(self.text)
        kind: type[RlconvertError] = getattr(errors, said.pop("kind"))
        return kind(said.pop("problem"), **said)


def text_of(error: RlconvertError) -> str:
    """An error as the `text` of a node."""
    return json.dumps({"kind": type(error).__name__, "problem": error.problem} | error.facts())


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
        from .filling import fill

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
