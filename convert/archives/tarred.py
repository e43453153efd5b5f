"""Tar archives, plain or in gzip: their members, and the archive of a tree.

The archive of a tree has the same bytes on every machine: members sorted, no times, no owners.
"""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from rlconvert.errors import RlconvertError
from rlconvert.files import FileTree, Link
from rlconvert.source import Kind

from .members import (
    MAX_ENTRIES,
    MAX_RATIO,
    MAX_UNPACKED,
    RATIO_FLOOR,
    Member,
    check_unpacked,
    damaged,
    named,
    refused,
    too_many,
)

GZIP = b"\x1f\x8b"
_CHUNK = 1 << 20
_LEVEL = 6
_GZIP_WINDOW = 31
_SHORT = 99


def gunzipped(data: bytes) -> bytes:
    """What a gzip file holds, all its parts; `Malformed` when it is cut short or damaged."""
    return b"".join(unzipped_pieces(iter([data]), len(data), MAX_UNPACKED))


def unzipped_pieces(pieces: Iterator[bytes], packed: int, limit: int) -> Iterator[bytes]:
    """The same in pieces, of a gzip file of `packed` bytes; `TooBig` as soon as it is a bomb."""
    total = 0
    stream = zlib.decompressobj(_GZIP_WINDOW)
    begun = False
    for piece in pieces:
        left = piece
        while left:
            if not begun and not left.strip(b"\0"):
                break  # padding after the last part
            begun = True
            try:
                out = stream.decompress(left, _CHUNK)
            except zlib.error as error:
                raise damaged("the gzip data are damaged") from error
            total += len(out)
            check_unpacked(total, packed, limit)
            yield out
            left = stream.unconsumed_tail
            if stream.eof:
                left = stream.unused_data
                stream = zlib.decompressobj(_GZIP_WINDOW)
                begun = False
    if begun:
        raise damaged("the gzip data are cut short")


def tar_members(file: BinaryIO, size: int) -> Iterator[Member]:
    """The members of a plain tar file of `size` bytes, one in memory at a time.

    `Malformed` for what is no tar file, or one that is damaged or without its end.
    """
    file.seek(0)
    try:
        with tarfile.TarFile(fileobj=file) as tar:
            while (info := tar.next()) is not None:
                tar.members = []  # type: ignore[attr-defined] # one at a time, however many
                if info.size < 0 or info.offset_data + info.size > size:
                    raise damaged("the tar file is cut short")
                yield _member(info)
            end = tar.offset
        file.seek(end)
        if any(file.read(tarfile.BLOCKSIZE)) or end + tarfile.BLOCKSIZE > size:
            raise damaged("the tar file is cut short, or damaged")
    except (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError) as error:
        raise damaged("it is neither a tar file, plain or in gzip, nor a zip file") from error


def _member(info: tarfile.TarInfo) -> Member:
    path = named(info.name)
    if isinstance(path, RlconvertError):
        return Member(path=info.name, fault=path)
    if info.isdir():
        return Member(path=path, kind=Kind.FOLDER)
    if not path:
        return Member(path="", fault=refused(info.name, "a file without a name"))
    if info.issym():
        return Member(path=path, kind=Kind.LINK, target=info.linkname)
    if info.islnk():
        return Member(path=path, fault=refused(path, "a hard link"))
    if not info.isreg() or info.issparse():
        what = "a sparse file" if info.isreg() else "a device, socket or pipe"
        return Member(path=path, fault=refused(path, what))
    return Member(
        path=path,
        kind=Kind.FILE,
        size=info.size,
        executable=bool(info.mode & 0o100),
        place=info.offset_data,
    )


def tar_of(tree: FileTree) -> bytes:
    """A tree as a gzipped tar file: modes, links and empty folders in it, no times, no owners.

    `TooBig` for one that could not be read again.
    """
    check_unpacked(size := sum(_sizes(tree)), size)
    if len(tree.entries) + len(tree.empty_folders) > MAX_ENTRIES:
        raise too_many()
    pieces: list[bytes] = []
    for path in sorted((*tree.entries, *tree.empty_folders)):
        entry = tree.entries.get(path)
        if entry is None:
            pieces.append(_header(f"{path}/", tarfile.DIRTYPE, 0o755))
        elif isinstance(entry, Link):
            pieces.append(_header(path, tarfile.SYMTYPE, 0o777, target=entry.target))
        else:
            size, mode = entry.blob.size, 0o755 if entry.executable else 0o644
            pieces += _header(path, tarfile.REGTYPE, mode, size), entry.blob.read()
            pieces.append(bytes(-size % tarfile.BLOCKSIZE))
    tar = b"".join((*pieces, bytes(2 * tarfile.BLOCKSIZE)))
    packed = _gzipped(tar, _LEVEL)
    bomb = len(tar) > max(RATIO_FLOOR, len(packed) * MAX_RATIO)
    return _gzipped(tar, 0) if bomb else packed


def _header(path: str, kind: bytes, mode: int, size: int = 0, target: str = "") -> bytes:
    """What stands before a member: no time, no owner; more than one block for odd names."""
    name, link = path.encode(), target.encode("utf-8", "surrogateescape")
    if max(len(name), len(link)) > _SHORT or not (path.isascii() and target.isascii()):
        info = tarfile.TarInfo(path)
        info.type, info.mode, info.size, info.linkname = kind, mode, size, target
        return info.tobuf(tarfile.PAX_FORMAT)
    # As `tobuf` does it, in a tenth of the time: half of packing a small task would be headers.
    numbers = b"%07o\0%07o\0%07o\0%011o\0%011o\0" % (mode, 0, 0, size, 0)
    begin = name.ljust(100, b"\0") + numbers
    end = kind + link.ljust(100, b"\0") + b"ustar\x0000"
    total = sum(begin) + sum(end) + 8 * ord(" ")
    return (begin + b"%06o\0 " % total + end).ljust(tarfile.BLOCKSIZE, b"\0")


def _sizes(tree: FileTree) -> Iterator[int]:
    return (entry.blob.size for _, entry in tree if not isinstance(entry, Link))


def _gzipped(data: bytes, level: int) -> bytes:
    packer = zlib.compressobj(level, zlib.DEFLATED, _GZIP_WINDOW)
    return packer.compress(data) + packer.flush()
