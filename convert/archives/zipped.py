"""Zip files: their members, and the bytes of one."""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from lzma import LZMAError
from typing import BinaryIO

from rlconvert.errors import RlconvertError
from rlconvert.source import Kind

from .members import Member, check_unpacked, damaged, named, refused

MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
_UNIX = (3, 19)  # and Darwin
_SCRIPT = b"#!"
_MAX_TARGET = 4096
FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    LZMAError,
    NotImplementedError,
    EOFError,
    OSError,  # a place before the beginning of the file
    OverflowError,
    RuntimeError,
    ValueError,
)
"""What reading a zip file raises when it is damaged, encrypted, or packed in an unknown way."""


@contextmanager
def opened_zip(file: BinaryIO) -> Iterator[zipfile.ZipFile]:
    """A zip file; `Malformed` when it is none, or what is read of it is damaged."""
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except FAULTS as error:
        raise damaged(f"the zip file is damaged, or cannot be read: {error}") from error


def zip_members(archive: zipfile.ZipFile) -> Iterator[Member]:
    """The members of a zip file, in the order of its directory; a link's target is read.

    Where it has no modes, files that begin with ``#!`` are executable.
    """
    modes = has_modes(archive)
    for number, info in enumerate(archive.infolist()):
        member = _member(archive, number, info)
        if not modes and member.kind is Kind.FILE and _is_script(archive, info):
            member = replace(member, executable=True)
        yield member


def has_modes(archive: zipfile.ZipFile) -> bool:
    """Whether who made it said which files are executable: on Windows nobody does.

    Nor does a program that gives a file its text and no mode; what it then writes is no mode of
    any kind of file.
    """
    files = (_mode(info) for info in archive.infolist() if not is_folder(info))
    return any(stat.S_IFMT(mode) or mode & 0o111 for mode in files)


def is_folder(info: zipfile.ZipInfo) -> bool:
    """Whether a member is a folder. The library looks at the last letter of a name without any."""
    return info.filename.endswith("/")


def _mode(info: zipfile.ZipInfo) -> int:
    return info.external_attr >> 16 if info.create_system in _UNIX else 0


def _is_script(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bool:
    try:
        with archive.open(info) as file:
            return file.read(len(_SCRIPT)) == _SCRIPT
    except FAULTS:
        return False  # whoever reads all of it says why it cannot be


def _member(archive: zipfile.ZipFile, number: int, info: zipfile.ZipInfo) -> Member:
    path = named(info.filename)
    if isinstance(path, RlconvertError):
        return Member(path=info.filename, fault=path)
    if info.filename.endswith("/"):
        return Member(path=path, kind=Kind.FOLDER)
    if not path:
        return Member(path="", fault=refused(info.filename, "a file without a name"))
    if info.flag_bits & 1:
        return Member(path=path, fault=refused(path, "an encrypted file"))
    mode = _mode(info)
    form = stat.S_IFMT(mode)
    if form == stat.S_IFLNK:
        if info.file_size > _MAX_TARGET:
            return Member(path=path, fault=refused(path, "a link with so long a target"))
        target = archive.read(info).decode("utf-8", "surrogateescape")
        return Member(path=path, kind=Kind.LINK, target=target)
    if form == stat.S_IFDIR:
        return Member(path=path, kind=Kind.FOLDER)
    if form not in (0, stat.S_IFREG):
        return Member(path=path, fault=refused(path, "a device, socket or pipe"))
    return Member(
        path=path,
        kind=Kind.FILE,
        size=info.file_size,
        executable=bool(mode & stat.S_IXUSR),
        place=number,
    )


def zip_bytes(archive: zipfile.ZipFile, number: int) -> bytes:
    """The bytes of a member by its number; `TooBig` before a bomb is unpacked."""
    info = archive.infolist()[number]
    check_unpacked(info.file_size, info.compress_size)
    try:
        with archive.open(info) as file:
            data = file.read(info.file_size + 1)
    except FAULTS as error:
        raise damaged(f"the zip file is damaged, or cannot be read: {error}") from error
    if len(data) != info.file_size:
        raise damaged("a file of the zip file has another size than it says")
    return data
