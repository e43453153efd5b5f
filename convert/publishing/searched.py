"""What is searched for secrets: every file that would be published, and what is packed in it.

Packed files are read as streams, one level deep: gzip, zip, and the archives in the rows of a
parquet file. From where one is damaged, locked or a bomb, nothing more of it is seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import IO, BinaryIO
from zipfile import ZipFile, ZipInfo

from rlconvert.archives.members import MAX_UNPACKED, check_unpacked
from rlconvert.archives.parquet import Cells, row_paths, task_table
from rlconvert.archives.tarred import GZIP, unzipped_pieces
from rlconvert.archives.zipped import FAULTS, MAGIC, opened_zip
from rlconvert.errors import RlconvertError
from rlconvert.files import open_regular, printable, read_piece
from rlconvert.proof.published import members
from rlconvert.sink import OURS
from rlconvert.source import FolderSource, Kind

_PIECE = 1 << 20
_TABLE = b"PAR1"

Text = tuple[str, Iterator[bytes]]
"""A path, and its bytes in pieces; to be read before the next one is asked for."""


def texts(source: FolderSource) -> Iterator[Text]:
    """The bytes of every file, as they are; those of packed files also unpacked.

    What a packed file holds has the path of that file before its own.
    """
    for folder in ("", OURS):
        for member in members(source, folder):
            if member.kind is Kind.FILE:  # a link is published as a copy of what is here
                yield from _file(source, member.path)


def _file(source: FolderSource, path: str) -> Iterator[Text]:
    name = printable(path)
    with open_regular(f"{source.root}/{path}", name) as descriptor:
        first = read_piece(descriptor, _PIECE, name)
        head = first[:4]
        yield path, chain([first], _rest(descriptor, name))
    if head[:2] == GZIP or head in (*MAGIC, _TABLE):
        with source.open(path) as file:
            yield from _packed(source, path, file, head)


def _rest(descriptor: int, name: str) -> Iterator[bytes]:
    while piece := read_piece(descriptor, _PIECE, name):
        yield piece


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece


def _packed(source: FolderSource, path: str, file: BinaryIO, head: bytes) -> Iterator[Text]:
    try:
        if head.startswith(GZIP):
            yield path, _gzip(file)
        elif head in MAGIC:
            yield from _zip(path, file)
        elif head == _TABLE and task_table(source, path) is not None:
            yield from _rows(source, path)
    except (RlconvertError, *FAULTS):
        return


def _gzip(file: BinaryIO) -> Iterator[bytes]:
    size = file.seek(0, 2)
    file.seek(0)
    return _while_sound(unzipped_pieces(_pieces(file), size, MAX_UNPACKED))


def _zip(path: str, file: BinaryIO) -> Iterator[Text]:
    with opened_zip(file) as archive:
        for info in archive.infolist():
            if info.is_dir() or info.flag_bits & 1:
                continue
            check_unpacked(info.file_size, info.compress_size)
            yield f"{path}/{info.filename}", _while_sound(_member(archive, info))


def _member(archive: ZipFile, info: ZipInfo) -> Iterator[bytes]:
    with archive.open(info) as member:
        yield from _pieces(member)


def _rows(source: FolderSource, path: str) -> Iterator[Text]:
    with Cells(source, path) as cells:
        for number, name in enumerate(row_paths(source, path)):
            cell = cells.cell(number) or b""
            if cell.startswith(GZIP):
                yield (
                    f"{path}/{name}",
                    _while_sound(unzipped_pieces(iter([cell]), len(cell), MAX_UNPACKED)),
                )
            else:
                yield f"{path}/{name}", iter([cell])


def _while_sound(pieces: Iterator[bytes]) -> Iterator[bytes]:
    try:
        yield from pieces
    except (RlconvertError, *FAULTS):
        return
