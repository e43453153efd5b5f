"""Where tasks are read from: a folder, which may be a snapshot of a Hub repo.

A source lists and reads; it never follows a link, never runs anything, and never reads outside
its root. What it hands out has safe names, links that stay inside, and no Git LFS pointer for a
file.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import BinaryIO, Protocol

from .errors import ReadError, RlconvertError, TooBig, UnsafePath, UsageError
from .files import (
    EAGER_BYTES,
    Blob,
    Entry,
    File,
    FileTree,
    Link,
    changed,
    check_path,
    clashes,
    make_tree,
    open_regular,
    parents,
    printable,
    read_piece,
    unreadable,
)
from .links import bad_links
from .model import Origin
from .pointers import MARK, SIZES, is_pointer, not_fetched

MAX_DEPTH = 64
"""Folders below a task's own; deeper trees are refused."""

MAX_FILE = 50 * 10**9
"""Bytes of one file: what the Hub takes. A sparse file may claim far more than the disk holds."""

MAX_LINE = 1 << 28
"""Bytes of one line of a row file."""

BOOKKEEPING = frozenset({".git", ".cache", ".rlconvert"})
"""Top-level folders of a repo that belong to git, to the Hub client or to us, never to a layout."""


class Kind(Enum):
    """What stands at a path."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "device or pipe"


@dataclass(frozen=True, slots=True)
class Item:
    """One name in a folder."""

    name: str
    kind: Kind


OnFault = Callable[[RlconvertError], None]


class Source(Protocol):
    """A readable tree of files.

    Paths are relative and POSIX; ``""`` is the root. `name` is what a taskset is called that has
    no name of its own.
    """

    @property
    def name(self) -> str: ...

    @property
    def origin(self) -> Origin: ...

    def items(self, folder: str) -> list[Item]:
        """The names in a folder, sorted; empty where there is no such folder."""
        ...

    def kind(self, path: str) -> Kind | None:
        """What stands at `path`, or None for nothing."""
        ...

    def read(self, path: str, limit: int) -> bytes:
        """All bytes of a regular file; `TooBig` beyond `limit`, `ReadError` where none is."""
        ...

    def read_at(self, path: str, start: int, size: int) -> bytes:
        """`size` bytes of a file from `start` on; `SourceChanged` when there are not so many."""
        ...

    def lines(self, path: str) -> Iterator[bytes]:
        """The lines of a file with their line ends, one in memory at a time."""
        ...

    def open(self, path: str) -> BinaryIO:
        """A file to seek in and to close."""
        ...

    def tree(
        self, folder: str, *, skip: Collection[str] = (), on_fault: OnFault | None = None
    ) -> FileTree:
        """Everything below `folder` less the paths in `skip` (relative to the source).

        A faulty file goes to `on_fault` and is left out; without it, it raises.
        """
        ...


class FolderSource:
    """A folder on this machine. `UsageError` where Python reads names in another encoding."""

    def __init__(self, root: str, *, name: str | None = None, origin: Origin | None = None) -> None:
        if sys.getfilesystemencoding() != "utf-8":
            raise UsageError(
                f"this Python takes the names of files for {sys.getfilesystemencoding()}",
                reason="names-not-utf8",
                remedy="Set PYTHONUTF8=1, so that the output does not depend on the locale",
            )
        self._root = os.path.abspath(root)
        self._name = name or os.path.basename(self._root) or "tasks"
        self._origin = origin or Origin(label=self._name)
        self._stamps: dict[str, tuple[int, int]] = {}

    @property
    def name(self) -> str:
        return self._name

    @property
    def origin(self) -> Origin:
        return self._origin

    @property
    def root(self) -> str:
        """The absolute path of the folder."""
        return self._root

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root

    def items(self, folder: str) -> list[Item]:
        if self.kind(folder) is not Kind.FOLDER:
            return []
        try:
            with os.scandir(self._at(folder)) as entries:
                found = [Item(entry.name, _kind(entry)) for entry in entries]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise unreadable(folder, error) from error
        return sorted(found, key=lambda item: item.name)

    def kind(self, path: str) -> Kind | None:
        try:
            if not path:  # the root may be reached through a link: the caller named it
                return _kind_of_mode(os.stat(self._root).st_mode)
            for folder in parents(path):  # a link above would lead out unseen
                if not stat.S_ISDIR(os.lstat(self._at(folder)).st_mode):
                    return None
            return _kind_of_mode(os.lstat(self._at(path)).st_mode)
        except (OSError, ValueError):
            return None

    def read(self, path: str, limit: int) -> bytes:
        if self.kind(path) is not Kind.FILE:
            raise not_a_file(path)
        name = printable(path)
        with open_regular(self._at(path), name) as descriptor:
            size = os.fstat(descriptor).st_size
            if size > limit:
                raise too_big(path, size, limit)
            pieces = []
            left = size + 1
            while left and (piece := read_piece(descriptor, left, name)):
                pieces.append(piece)
                left -= len(piece)
        if left != 1:
            raise changed(name)
        data = b"".join(pieces)
        if is_pointer(data, size):
            raise not_fetched(path)
        return data

    def read_at(self, path: str, start: int, size: int) -> bytes:
        if self.kind(path) is not Kind.FILE:
            raise not_a_file(path)
        with open_regular(self._at(path), printable(path)) as descriptor:
            self._check_stamp(descriptor, path)
            data = _pread(descriptor, size, start, path)
        if len(data) != size:
            raise changed(printable(path))
        return data

    def lines(self, path: str) -> Iterator[bytes]:
        with self.open(path) as file:
            yield from bounded_lines(file, path)

    def open(self, path: str) -> BinaryIO:
        if self.kind(path) is not Kind.FILE:
            raise not_a_file(path)
        with open_regular(self._at(path), printable(path)) as descriptor:
            size = self._check_stamp(descriptor, path)
            if size in SIZES and is_pointer(_pread(descriptor, len(MARK), 0, path), size):
                raise not_fetched(path)
            return open(os.dup(descriptor), "rb")

    def _check_stamp(self, descriptor: int, path: str) -> int:
        """The size of a file that is read in parts, and must not change in between."""
        status = os.fstat(descriptor)
        stamp = status.st_size, status.st_mtime_ns
        if self._stamps.setdefault(path, stamp) != stamp:
            raise changed(printable(path))
        return status.st_size

    def tree(
        self, folder: str, *, skip: Collection[str] = (), on_fault: OnFault | None = None
    ) -> FileTree:
        if self.kind(folder) is not Kind.FOLDER:
            raise not_a_folder(folder)
        entries: dict[str, Entry] = {}
        empty: list[str] = []
        todo = [""]
        base = self._at(folder)
        above = f"{folder}/" if folder else ""
        while todo:
            inner = todo.pop()
            before = f"{inner}/" if inner else ""
            listing = []
            anything = False
            try:
                with os.scandir(f"{base}/{inner}" if inner else base) as names:
                    for entry in names:
                        anything = True
                        if not skip or above + before + entry.name not in skip:
                            listing.append(entry)
            except OSError as error:
                _fault(unreadable(inner, error), on_fault)
                continue
            for entry in listing:
                path = before + entry.name
                try:
                    check_path(entry.name)
                    kind = _kind(entry)
                    if kind is Kind.FOLDER:
                        if path.count("/") >= MAX_DEPTH:
                            raise _too_deep(path)
                        todo.append(path)
                    else:
                        entries[path] = _entry(entry, kind, path)
                except RlconvertError as error:
                    error.file = printable(path)
                    _fault(error, on_fault)
                except OSError as error:
                    _fault(unreadable(path, error), on_fault)
            if inner and not anything:
                empty.append(inner)
        return checked(make_tree(entries, empty), on_fault)


def checked(tree: FileTree, on_fault: OnFault | None) -> FileTree:
    """`tree` when no two names clash, links stay inside and no file is an LFS pointer."""
    while True:
        gone: list[str] = []
        for error in (*clashes(tree), *bad_links(tree), *_pointers(tree)):
            _fault(error, on_fault)
            gone.append(error.file or "")
        if not gone:
            return tree
        tree = tree.without(*gone)  # and look again: what is gone may have held a link back


def _pointers(tree: FileTree) -> Iterator[RlconvertError]:
    for path, entry in tree:
        if not isinstance(entry, File) or entry.blob.size not in SIZES:
            continue
        if is_pointer(entry.blob.read(), entry.blob.size):
            yield not_fetched(path)


def bounded_lines(file: BinaryIO, path: str) -> Iterator[bytes]:
    """The lines of an open file; `TooBig` for one above `MAX_LINE`."""
    try:
        while line := file.readline(MAX_LINE + 1):
            if len(line) > MAX_LINE:
                raise too_big(path, len(line), MAX_LINE)
            yield line
    except OSError as error:
        raise unreadable(path, error) from error


def _pread(descriptor: int, size: int, start: int, path: str) -> bytes:
    try:
        return os.pread(descriptor, size, start)
    except OSError as error:
        raise unreadable(path, error) from error


def _fault(error: RlconvertError, on_fault: OnFault | None) -> None:
    if on_fault is None:
        raise error
    on_fault(error)


def _kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_symlink():
        return Kind.LINK
    if entry.is_file(follow_symlinks=False):
        return Kind.FILE
    return Kind.FOLDER if entry.is_dir(follow_symlinks=False) else Kind.OTHER


def _kind_of_mode(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return Kind.FILE
    if stat.S_ISDIR(mode):
        return Kind.FOLDER
    return Kind.LINK if stat.S_ISLNK(mode) else Kind.OTHER


def kind_of_entry(entry: Entry) -> Kind:
    """What an entry of a tree is."""
    return Kind.LINK if isinstance(entry, Link) else Kind.FILE


def _entry(entry: os.DirEntry[str], kind: Kind, path: str) -> Entry:
    if kind is Kind.LINK:
        return Link(os.readlink(entry.path))
    if kind is Kind.OTHER:
        raise UnsafePath(
            "a device, socket or pipe cannot be part of a task",
            reason="not-a-file",
            remedy="Remove it from the source",
        )
    status = entry.stat(follow_symlinks=False)
    size, stamp = status.st_size, status.st_mtime_ns
    if size > MAX_FILE:
        raise too_big(path, size, MAX_FILE)
    executable = bool(status.st_mode & stat.S_IXUSR)
    with open_regular(entry.path, path) as descriptor:
        if size > EAGER_BYTES:  # opened all the same: that it cannot be read is told now
            blob = Blob.of_file(entry.path, size, stamp, name=path)
            return File(blob, executable)
        data = os.read(descriptor, size + 1)
        after = os.fstat(descriptor)
    if len(data) != size or after.st_size != size or after.st_mtime_ns != stamp:
        raise changed(path)
    return File(Blob(data), executable)


def not_a_file(path: str) -> ReadError:
    """The error for a path where a regular file is wanted and none stands."""
    return ReadError(
        "there is no regular file here",
        reason="not-a-file",
        file=printable(path),
        remedy="Put a file there, not a link or a folder",
    )


def not_a_folder(path: str) -> ReadError:
    """The error for a path where a folder is wanted and none stands."""
    return ReadError(
        "there is no folder here",
        reason="not-a-folder",
        file=printable(path) or None,
        remedy="Put a folder there, not a link to one",
    )


def too_big(path: str, size: int, limit: int) -> TooBig:
    """The error for a file above the limit of its kind."""
    return TooBig(
        f"{size:,} bytes are more than the {limit:,} allowed for this file",
        reason="too-big",
        file=printable(path),
        remedy="Make it smaller, or leave it out",
    )


def _too_deep(path: str) -> TooBig:
    return TooBig(
        f"more than {MAX_DEPTH} folders inside each other",
        reason="too-deep",
        file=printable(path[:200]),
        remedy="Move what is deep down further up",
    )
