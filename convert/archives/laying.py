"""Archives of rows that one process takes out of parquet files, laid out for another.

The library for parquet files takes more memory than all the rest of a process: so only one loads
it. What it lays out is gone as soon as the other has it open.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from struct import Struct
from typing import BinaryIO

from .nodes import Node

_HEAD = Struct("<QQQ")
"""The numbers of the file and of the row, and how many bytes follow."""


class Laid:
    """Rows that are laid out in `folder`: a file for as many as are asked for one after another."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._open = ExitStack()
        self._file: BinaryIO | None = None
        self._places: dict[tuple[int, int], tuple[int, int]] = {}

    def put(self, cells: Iterable[tuple[Node, bytes]]) -> None:
        """Lay out rows, to be found by the first of them. What cannot be written is not there."""
        place: Path | None = None
        try:
            with ExitStack() as stack:
                for row, cell in cells:
                    if place is None:
                        place = self._place(row)
                        file = stack.enter_context(place.open("wb"))
                    file.write(_HEAD.pack(row.file, row.place, len(cell)))
                    file.write(cell)
        except OSError:
            if place is not None:
                place.unlink(missing_ok=True)

    def take(self, row: Node) -> bytes | None:
        """The archive in a row, where it is laid out in the file that is open or begins one."""
        if (row.file, row.place) not in self._places:
            self._begin(row)
        start, size = self._places.pop((row.file, row.place), (0, 0))
        if self._file is None or not size:
            return None
        self._file.seek(start)
        return self._file.read(size)

    def close(self) -> None:
        """Let go of the file that is open."""
        self._open.close()
        self._file = None
        self._places.clear()

    def _begin(self, row: Node) -> None:
        place = self._place(row)
        try:
            file = place.open("rb")
        except FileNotFoundError:
            return
        self.close()
        self._file = self._open.enter_context(file)
        place.unlink()
        while head := file.read(_HEAD.size):
            number, row_number, size = _HEAD.unpack(head)
            self._places[number, row_number] = file.tell(), size
            file.seek(size, 1)

    def _place(self, row: Node) -> Path:
        return Path(self._folder, f"{row.file}-{row.place}")
