"""Compressed files, expanded in pieces: bzip2, xz, zstd; `Malformed` where they are damaged."""

from __future__ import annotations

import lzma
from bz2 import BZ2Decompressor
from collections.abc import Callable, Iterator
from lzma import LZMADecompressor, LZMAError
from typing import BinaryIO, Protocol

from rlconvert.archives.members import damaged
from rlconvert.errors import RlconvertError

_PIECE = 1 << 20
_MAX_MEMORY = 256 << 20
"""What an xz file may ask for to be expanded in; `xz -9` asks for 65 MB."""


class _Expanding(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


def bunzipped(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """What a bzip2 file holds, all its parts."""
    return _expanded(pieces, BZ2Decompressor, "bzip2")


def unxzed(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """What an xz file holds, all its parts."""
    return _expanded(pieces, lambda: LZMADecompressor(lzma.FORMAT_XZ, _MAX_MEMORY), "xz")


def _expanded(
    pieces: Iterator[bytes], begin: Callable[[], _Expanding], name: str
) -> Iterator[bytes]:
    stream = begin()
    begun = False
    for piece in pieces:
        left = piece
        while left or not stream.needs_input:
            if not begun and not left.strip(b"\0"):
                break  # padding after the last part
            begun = True
            try:
                yield stream.decompress(left, _PIECE)
            except (OSError, LZMAError, EOFError, MemoryError) as error:
                raise damaged(f"the {name} data are damaged, or ask for too much") from error
            left = b""
            if stream.eof:
                left, begun = stream.unused_data, False
                stream = begin()
    if begun:
        raise damaged(f"the {name} data are cut short")


def unzstded(file: BinaryIO) -> Iterator[bytes]:
    """What a zstd file holds, all its parts."""
    from pyarrow import ArrowException, CompressedInputStream, PythonFile

    try:
        with CompressedInputStream(PythonFile(file, "r"), "zstd") as stream:
            while piece := stream.read(_PIECE):
                yield piece
    except (ArrowException, OSError) as error:
        raise _damaged_zstd() from error


def _damaged_zstd() -> RlconvertError:
    return damaged("the zstd data are damaged, or cut short")
