"""Tar archives, plain or in gzip: their members, and the archive of a tree.

The archive of a tree has the same bytes on every machine: members sorted, no times, no owners.
"""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO

from .errors import RlconvertError
from .files import FileTree, Link
from .members import MAX_UNPACKED, Member, check_unpacked, damaged, named, refused
from .source import Kind

GZIP = b"\x1f\x8b"
_CHUNK = 1 << 20
_LEVEL = 6
_GZIP_WINDOW = 31


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
    """A tree as a gzipped tar file: modes, links and empty folders in it, no times, no owners."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP_WINDOW)
    out = BytesIO()
    folders = dict.fromkeys(tree.empty_folders)
    with tarfile.TarFile(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted((*tree.entries, *folders)):
            info = tarfile.TarInfo(path)
            entry = tree.entries.get(path)
            if entry is None:
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(info)
            elif isinstance(entry, Link):
                info.type, info.mode, info.linkname = tarfile.SYMTYPE, 0o777, entry.target
                tar.addfile(info)
            else:
                info.mode = 0o755 if entry.executable else 0o644
                info.size = entry.blob.size
                tar.addfile(info, BytesIO(entry.blob.read()))
    return packer.compress(out.getbuffer()) + packer.flush()
