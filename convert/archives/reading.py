"""What is in the archives of a source: the task in a row, the bytes of a file in a set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from io import BytesIO
from typing import BinaryIO
from weakref import finalize
from zipfile import ZipFile

from rlconvert.errors import Malformed, RlconvertError
from rlconvert.files import FileTree
from rlconvert.source import Source, checked

from .filling import unpacked_at
from .finding import MARK
from .laying import Laid
from .members import check_unpacked, tree_of_members
from .nodes import Node
from .parquet import Cells
from .tarred import GZIP, gunzipped, tar_members
from .zipped import MAGIC, opened_zip, zip_bytes, zip_members


def tree_of_archive(data: bytes) -> FileTree:
    """The files of the task in an archive; a folder that holds all of them is left out."""
    if data[:4] in MAGIC:
        with opened_zip(BytesIO(data)) as archive:
            members = zip_members(archive)
            tree = tree_of_members(members, lambda each: zip_bytes(archive, each.place), MARK)
    else:
        if data[:2] == GZIP:
            data = gunzipped(data)
        members = tar_members(BytesIO(data), len(data))
        tree = tree_of_members(
            members, lambda each: data[each.place : each.place + each.size], MARK
        )
    return checked(tree, None)


class Contents:
    """The archives in `files` of a source, one of them open at a time.

    `folder` has the tar files that were unpacked from gzip, and archives that were laid out.
    """

    def __init__(self, source: Source, files: Sequence[str], folder: str) -> None:
        self._source = source
        self._files = files
        self._folder = folder
        self._open = ExitStack()
        finalize(self, self._open.close)
        self._laid = Laid(folder)
        finalize(self, self._laid.close)
        self._number = -1
        self._cells: Cells | None = None
        self._zip: ZipFile | None = None
        self._tar: BinaryIO | None = None
        self._last: tuple[str, FileTree] | None = None

    def task(self, row: Node) -> FileTree:
        """The task in a row; its error names the parquet file, the row, and the file in it."""
        if self._last is not None and self._last[0] == row.path:
            return self._last[1]
        self._last = None
        if row.fault is not None:
            raise row.fault
        name = self._files[row.file]
        try:
            cell = self._laid.take(row) or self._cell(row)
            if not cell:
                remedy = "Leave the row out, or fetch the file again"
                raise Malformed("it has no archive", reason="row-without-archive", remedy=remedy)
            tree = tree_of_archive(cell)
        except RlconvertError as error:
            inside = "" if error.file in (None, name) else f", {error.file}"
            error.file, error.where = name, f"row {row.place}{inside}"
            raise
        self._last = row.path, tree
        return tree

    def lay_out(self, rows: Iterable[Node]) -> None:
        """Put the archives in rows where the process that is given their tasks finds them, once.

        Where there is none, or it cannot be read, that process looks itself and says so.
        """
        self._laid.put(self._sound(rows))

    def _sound(self, rows: Iterable[Node]) -> Iterator[tuple[Node, bytes]]:
        for row in rows:
            with suppress(RlconvertError):
                if row.fault is None and (cell := self._cell(row)):
                    yield row, cell

    def _cell(self, row: Node) -> bytes | None:
        self._turn_to(row.file)
        if self._cells is None:
            self._cells = self._open.enter_context(Cells(self._source, self._files[row.file]))
        return self._cells.cell(row.place)

    def bytes_of(self, file: Node) -> bytes:
        """The bytes of a file in a zip or tar file."""
        try:
            self._turn_to(file.file)
            self._open_set(file.file)
            if self._zip is not None:
                return zip_bytes(self._zip, file.place)
            check_unpacked(file.size, file.size)
            if self._tar is None:
                raise TypeError("neither a zip nor a tar file is open")
            self._tar.seek(file.place)
            data = self._tar.read(file.size)
            if len(data) != file.size:
                raise Malformed("it is shorter than it was", reason="archive-changed")
            return data
        except RlconvertError as error:
            error.file, error.where = self._files[file.file], file.path
            raise

    def _turn_to(self, number: int) -> None:
        """Let go of the archive that is open, unless it is the one that is wanted."""
        if number != self._number:
            self._open.close()
            self._number = number
            self._cells = self._zip = self._tar = None

    def _open_set(self, number: int) -> None:
        if self._zip is not None or self._tar is not None:
            return
        file = self._open.enter_context(self._source.open(self._files[number]))
        head = file.read(4)
        file.seek(0)
        if head in MAGIC:
            self._zip = self._open.enter_context(opened_zip(file))
        elif head[:2] == GZIP:
            unpacked = open(unpacked_at(self._folder, number), "rb")  # noqa: PTH123, SIM115
            self._tar = self._open.enter_context(unpacked)
        else:
            self._tar = file
