"""What is packed in a file, and in what is packed there: archives, and compressed files.

Whatever an archive names, nothing is extracted: its members are read one by one. The limits are
those of archives of tasks; what an archive inside of another unpacks to counts all together. From
where something is damaged, locked, too big or of a kind that is not known here, nothing more of it
is seen, and that is told.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from tempfile import SpooledTemporaryFile
from typing import IO, BinaryIO, TypeAlias

from rlconvert.archives.members import (
    MAX_ENTRIES,
    MAX_RATIO,
    MAX_UNPACKED,
    check_unpacked,
    too_many,
)
from rlconvert.archives.tarred import tar_members, unzipped_pieces
from rlconvert.archives.zipped import FAULTS, is_folder, opened_zip
from rlconvert.errors import RlconvertError
from rlconvert.files import printable
from rlconvert.source import Kind

from .columns import texts_of_columns, values_of_columns
from .expanding import bunzipped, unxzed, unzstded

_PIECE = 1 << 20
_IN_MEMORY = 16 << 20
_NESTED = 8
"""Packed files inside each other."""

_BLOCK = tarfile.BLOCKSIZE
HEAD = _BLOCK
"""Bytes by which it is known how a file is packed."""


@dataclass(frozen=True, slots=True)
class Unseen:
    """Something that was not looked into, and why not."""

    path: str
    why: str

    def __str__(self) -> str:
        return f"{printable(self.path)} ({self.why})"


Text: TypeAlias = tuple[str, Iterator[bytes]]
"""A path, and its bytes in pieces; to be read before the next one is asked for."""


class Form(Enum):
    """How a file is packed."""

    GZIP = re.compile(rb"\x1f\x8b\x08")
    BZIP2 = re.compile(rb"BZh[1-9](?:\x31\x41\x59\x26\x53\x59|\x17\x72\x45\x38\x50\x90)")
    XZ = re.compile(rb"\xfd7zXZ\0")
    ZSTD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")
    ZIP = re.compile(rb"PK\x03\x04|PK\x05\x06")
    PARQUET = re.compile(rb"PAR1")
    SEVEN_ZIP = re.compile(rb"7z\xbc\xaf\x27\x1c")
    RAR = re.compile(rb"Rar!\x1a\x07")
    LZ4 = re.compile(rb"\x04\x22\x4d\x18")
    COMPRESS = re.compile(rb"\x1f\x9d")
    LOCKED_PARQUET = re.compile(rb"PARE")
    TAR = re.compile(rb"(?s).{148}[0-7 \0]{8}")


_NOT_KNOWN = {
    Form.SEVEN_ZIP: "a 7z file",
    Form.RAR: "a RAR file",
    Form.LZ4: "an LZ4 file",
    Form.COMPRESS: "a file of `compress`",
    Form.LOCKED_PARQUET: "an encrypted parquet file",
}


_PACKED = re.compile(b"|".join(form.value.pattern for form in Form if form is not Form.TAR))


def form_of(head: bytes) -> Form | None:
    """How a file that begins so is packed; None when it is not."""
    for form in Form:
        if form.value.match(head) and (form is not Form.TAR or _is_header(head[:_BLOCK])):
            return form
    return None


def _is_header(block: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


class _Room:
    """What an archive, and all that is packed in it, may still unpack to."""

    def __init__(self) -> None:
        self._bytes = self._members = 0

    def take(self, size: int) -> None:
        """`TooBig` when there was less room than that."""
        self._bytes += size
        check_unpacked(self._bytes, self._bytes)

    def take_member(self) -> None:
        """The same for a member of an archive."""
        self._members += 1
        if self._members > MAX_ENTRIES:
            raise too_many()


def packed_in(
    path: str, file: BinaryIO, depth: int = 0, room: _Room | None = None
) -> Iterator[Text | Unseen]:
    """What is packed in a file that can be sought in, by the file's path and its own."""
    file.seek(0)
    form = form_of(file.read(HEAD))
    if form is None:
        return
    if depth == _NESTED:
        yield Unseen(path, f"more than {_NESTED} packed files inside each other")
        return
    try:
        match form:
            case Form.ZIP:
                yield from _in_zip(path, file, depth, room)
            case Form.TAR:
                yield from _in_tar(path, file, depth, room)
            case Form.PARQUET:
                yield from _in_parquet(path, file, depth, room)
            case Form.GZIP | Form.BZIP2 | Form.XZ | Form.ZSTD:
                pieces = _expanded(form, file)
                yield from _spooled(path, pieces, depth, room or _Room())
            case _:
                yield Unseen(path, _NOT_KNOWN[form])
    except (RlconvertError, *FAULTS) as error:
        yield Unseen(path, _said(error))


def unpacked_member(path: str, pieces: Iterator[bytes]) -> Iterator[Text | Unseen]:
    """What is packed in a file that is a part of another one."""
    yield from _spooled(path, pieces, 0, _Room(), seen=True)


def _expanded(form: Form, file: BinaryIO) -> Iterator[bytes]:
    size = file.seek(0, 2)
    file.seek(0)
    return _bounded(_pieces_of(form, file, size), size)


def _pieces_of(form: Form, file: BinaryIO, size: int) -> Iterator[bytes]:
    if form is Form.GZIP:
        return unzipped_pieces(pieces_from(file), size, MAX_UNPACKED)
    if form is Form.BZIP2:
        return bunzipped(pieces_from(file))
    if form is Form.XZ:
        return unxzed(pieces_from(file))
    return unzstded(file)


def _in_zip(path: str, file: BinaryIO, depth: int, room: _Room | None) -> Iterator[Text | Unseen]:
    size, total = file.seek(0, 2), 0
    with opened_zip(file) as archive:
        for info in archive.infolist():
            if room is not None:
                room.take_member()
            if is_folder(info):
                continue
            name = f"{path}/{info.filename}"
            if info.flag_bits & 1:
                yield Unseen(name, "it is encrypted")
                continue
            try:
                check_unpacked(info.file_size, info.compress_size)
            except RlconvertError as error:
                yield Unseen(name, _said(error))
                continue
            total += info.file_size
            check_unpacked(total, size, max(MAX_UNPACKED, size * MAX_RATIO))
            try:
                with archive.open(info) as member:
                    yield from _member(name, pieces_from(member), depth, room)
            except FAULTS as error:
                yield Unseen(name, _said(error))


def _in_tar(path: str, file: BinaryIO, depth: int, room: _Room | None) -> Iterator[Text | Unseen]:
    """The packed files of a tar file; the others were seen as a part of it."""
    if not _has_packed(file):
        return
    size = file.seek(0, 2)
    for member in tar_members(file, size):
        if room is not None:
            room.take_member()
        name = f"{path}/{member.path}"
        if member.fault is not None:
            yield Unseen(name, member.fault.problem)
        elif member.kind is Kind.FILE:
            file.seek(member.place)
            if form_of(file.read(min(member.size, HEAD))) is not None:
                check_unpacked(member.size, member.size)
                file.seek(member.place)
                pieces = pieces_from(file, member.size)
                yield from _spooled(name, pieces, depth, room or _Room(), seen=True)


def _has_packed(file: BinaryIO) -> bool:
    """Whether something packed begins where a member of a tar file may; also of one in it."""
    file.seek(0)
    for piece in pieces_from(file):
        if any(_PACKED.match(piece, start) for start in range(0, len(piece), _BLOCK)):
            return True
    return False


def _in_parquet(
    path: str, file: BinaryIO, depth: int, room: _Room | None
) -> Iterator[Text | Unseen]:
    size = file.seek(0, 2)
    for column, pieces in texts_of_columns(file):
        sound = _Sound(_bounded(pieces, size))
        yield f"{path}/{column}", iter(sound)
        if sound.fault is not None:
            raise sound.fault
    for name, data in values_of_columns(file):
        if room is not None:
            room.take_member()
        yield from _member(f"{path}/{name}", iter([data]), depth, room)


def _member(
    name: str, pieces: Iterator[bytes], depth: int, room: _Room | None
) -> Iterator[Text | Unseen]:
    first = next(pieces, b"")
    every = chain([first], pieces)
    if form_of(first) is not None:
        yield from _spooled(name, every, depth, room or _Room())
        return
    sound = _Sound(every)
    yield name, iter(sound)
    if sound.fault is not None:
        yield Unseen(name, _said(sound.fault))


def _spooled(
    path: str, pieces: Iterable[bytes], depth: int, room: _Room, *, seen: bool = False
) -> Iterator[Text | Unseen]:
    """What is in these bytes, unpacked and, unless that was `seen`, as they are.

    Up to where they cannot be had.
    """
    sound = _Sound(pieces)
    with SpooledTemporaryFile(_IN_MEMORY) as spool:
        for piece in sound:
            room.take(len(piece))
            spool.write(piece)
        spool.seek(0)
        if not seen:
            yield path, pieces_from(spool)
        if sound.fault is None:
            yield from packed_in(path, spool, depth + 1, room)  # type: ignore[arg-type]
    if sound.fault is not None:
        yield Unseen(path, _said(sound.fault))


class _Sound:
    """Pieces up to a fault, which it keeps."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = pieces
        self.fault: Exception | None = None

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._pieces
        except (RlconvertError, *FAULTS) as error:
            self.fault = error


def _bounded(pieces: Iterable[bytes], packed: int) -> Iterator[bytes]:
    """The pieces until they are too many for something of `packed` bytes."""
    total = 0
    for piece in pieces:
        total += len(piece)
        check_unpacked(total, packed, max(MAX_UNPACKED, packed * MAX_RATIO))
        yield piece


def pieces_from(file: IO[bytes], size: int | None = None) -> Iterator[bytes]:
    """The bytes of a file from here on, or the first `size` of them."""
    left = size
    while piece := file.read(_PIECE if left is None else min(_PIECE, left)):
        yield piece
        left = None if left is None else left - len(piece)


def _said(error: Exception) -> str:
    return error.problem if isinstance(error, RlconvertError) else str(error) or "it is damaged"
