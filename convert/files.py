"""Safe paths, blobs and file trees.

A `FileTree` is a set of files, links and empty folders below one root, held by relative POSIX
paths. Every path in a tree has passed `check_path`; no two paths of a tree are the same file on a
file system that folds case or normal form.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from .errors import ReadError, SourceChanged, UnsafePath

EAGER_BYTES = 1 << 20
"""Files up to this size are read when their tree is listed; larger ones when they are written."""

_CHUNK = 1 << 20
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_+@=-]*(?:\.[A-Za-z0-9_+@=-]+)*")
MAX_HOPS = 40
"""Links on one way, as Linux counts them."""

_WINDOWS_DEVICE = re.compile(
    r"(?i)(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(\..*)?"
)
_MAX_NAME_BYTES = 255
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe must not hang us
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class Blob:
    """Some bytes: in memory, or a regular file that is read when asked for.

    Two blobs are equal when their bytes are. A file that no longer has the size and the time of
    change it had when it was listed raises `SourceChanged`.
    """

    __slots__ = ("_data", "_digest", "_name", "_path", "_stamp", "size")

    def __init__(self, data: bytes) -> None:
        self._data: bytes | None = data
        self._path = self._name = ""
        self._stamp = 0
        self._digest: str | None = None
        self.size = len(data)

    @classmethod
    def of_file(cls, path: str, size: int, stamp: int, *, name: str | None = None) -> Blob:
        """A blob of `size` bytes at `path`, last changed at `stamp` (nanoseconds).

        Errors call it `name`.
        """
        blob = cls.__new__(cls)
        blob._data, blob._path, blob._stamp, blob._digest, blob.size = None, path, stamp, None, size
        blob._name = name or path
        return blob

    def read(self) -> bytes:
        """All bytes at once."""
        return self._data if self._data is not None else b"".join(self.chunks())

    def chunks(self) -> Iterator[bytes]:
        """The bytes in pieces of at most 1 MiB."""
        if self._data is not None:
            yield self._data
            return
        with open_regular(self._path, self._name) as descriptor:
            left = self.size
            while left:
                chunk = read_piece(descriptor, min(left, _CHUNK), self._name)
                if not chunk:
                    raise changed(self._name)
                left -= len(chunk)
                yield chunk
            status = os.fstat(descriptor)
            if status.st_size != self.size or status.st_mtime_ns != self._stamp:
                raise changed(self._name)

    @property
    def sha256(self) -> str:
        """The digest of the bytes in hexadecimal, computed once."""
        if self._digest is None:
            if self._data is not None:
                self._digest = hashlib.sha256(self._data).hexdigest()
            else:
                digest = hashlib.sha256()
                for chunk in self.chunks():
                    digest.update(chunk)
                self._digest = digest.hexdigest()
        return self._digest

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Blob):
            return NotImplemented
        if self.size != other.size:
            return False
        if self._data is not None and other._data is not None:
            return self._data == other._data
        return self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __repr__(self) -> str:
        return f"Blob({self.size} bytes)"


class open_regular:  # noqa: N801 - reads as a function: `with open_regular(path) as descriptor`
    """Open a file for reading without following a link in its last part.

    `SourceChanged` when it is not there, `ReadError` when it may not be read; both say `name`.
    """

    def __init__(self, path: str, name: str) -> None:
        self._path = path
        self._name = name

    def __enter__(self) -> int:
        try:
            self._descriptor = os.open(self._path, _OPEN)
        except OSError as error:
            if error.errno in _GONE:
                raise changed(self._name) from error
            raise unreadable(self._name, error) from error
        return self._descriptor

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def read_piece(descriptor: int, size: int, name: str) -> bytes:
    """At most `size` bytes from an open file; `ReadError` when the system cannot."""
    try:
        return os.read(descriptor, size)
    except OSError as error:
        raise unreadable(name, error) from error


def unreadable(path: str, error: OSError) -> ReadError:
    """The error for a path the operating system does not let us read."""
    return ReadError(
        f"cannot be read: {error.strerror or error}",
        reason="unreadable",
        file=printable(path) or None,
        remedy="Give the right to read it, or leave it out",
    )


def changed(path: str) -> SourceChanged:
    """The error for a file that is no longer what it was when it was listed."""
    return SourceChanged(
        "the file vanished or changed while it was being read",
        reason="changed-while-read",
        file=printable(path),
        remedy="Convert again when nothing writes to the source",
    )


@dataclass(frozen=True, slots=True)
class File:
    """A regular file. Of its mode only the executable bit means anything to a task."""

    blob: Blob
    executable: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link, kept as it is written. It resolves inside its tree, or to nothing."""

    target: str


Entry: TypeAlias = File | Link


@dataclass(frozen=True, slots=True)
class FileTree:
    """Files and links by relative POSIX path, sorted, and the folders that hold nothing."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    empty_folders: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.entries or self.empty_folders)

    def __contains__(self, path: str) -> bool:
        return path in self.entries

    def __iter__(self) -> Iterator[tuple[str, Entry]]:
        return iter(self.entries.items())

    def file(self, path: str) -> File | None:
        """The regular file at `path`, or None where there is none or a link stands there."""
        entry = self.entries.get(path)
        return entry if isinstance(entry, File) else None

    def follow(self, path: str) -> File | None:
        """The regular file that `path` leads to through links of this tree, or None."""
        entry = self.entries.get(path)
        if isinstance(entry, File):
            return entry
        here: list[str] = []
        todo = path.split("/")[::-1]
        hops = 0
        while todo:
            part = todo.pop()
            if part in ("", ".", ".."):
                # These make sense in a folder only, and there is none above the root.
                if here and not self.has_folder("/".join(here)):
                    return None
                if part == "..":
                    if not here:
                        return None
                    here.pop()
                continue
            here.append(part)
            entry = self.entries.get("/".join(here))
            if isinstance(entry, File):
                return None if todo else entry
            if isinstance(entry, Link):
                hops += 1
                if hops > MAX_HOPS or entry.target.startswith("/"):
                    return None
                here.pop()
                todo += entry.target.split("/")[::-1]
        return None

    def has_folder(self, path: str) -> bool:
        """Whether a folder stands at `path`, empty or not."""
        inside = path + "/"
        return (
            path in self.empty_folders
            or any(name.startswith(inside) for name in self.entries)
            or any(name.startswith(inside) for name in self.empty_folders)
        )

    def below(self, folder: str) -> FileTree:
        """The tree inside `folder`, with paths relative to it."""
        inside, cut = folder + "/", len(folder) + 1
        return FileTree(
            {path[cut:]: entry for path, entry in self.entries.items() if path.startswith(inside)},
            tuple(path[cut:] for path in self.empty_folders if path.startswith(inside)),
        )

    def without(self, *gone: str) -> FileTree:
        """The tree less the paths in `gone` and everything below them."""
        left_out = frozenset(gone)

        def stays(path: str) -> bool:
            return path not in left_out and left_out.isdisjoint(parents(path))

        return FileTree(
            {path: entry for path, entry in self.entries.items() if stays(path)},
            tuple(path for path in self.empty_folders if stays(path)),
        )

    def moved(self, folder: str) -> FileTree:
        """The same tree as it looks from outside `folder`."""
        if not folder:
            return self
        return FileTree(
            {f"{folder}/{path}": entry for path, entry in self.entries.items()},
            tuple(f"{folder}/{path}" for path in self.empty_folders),
        )

    def union(self, *others: FileTree) -> FileTree:
        """This tree with others laid over it; the later one wins where two have a path."""
        entries = dict(self.entries)
        folders = list(self.empty_folders)
        for other in others:
            entries |= other.entries
            folders += other.empty_folders
        return make_tree(entries, folders)


def make_tree(entries: Mapping[str, Entry], empty_folders: Iterable[str] = ()) -> FileTree:
    """A sorted tree; folders that turn out not to be empty are left out. Checks no paths."""
    kept = {path: entries[path] for path in sorted(entries)}
    folders = set(empty_folders)
    filled = {parent for path in (*kept, *folders) for parent in parents(path)}
    return FileTree(kept, tuple(sorted(folders - filled)))


def parents(path: str) -> Iterator[str]:
    """The folders above `path`, nearest last: ``a``, ``a/b`` for ``a/b/c``."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


@lru_cache(maxsize=1 << 14)
def name_fault(name: str) -> str | None:
    """Why `name` cannot be one part of a path on every system, or None when it can."""
    if _PLAIN_NAME.fullmatch(name) and len(name) <= _MAX_NAME_BYTES:
        return "is a Windows device name" if _WINDOWS_DEVICE.fullmatch(name) else None
    if name in ("", ".", ".."):
        return "is empty or a step to another folder"
    if "/" in name or "\\" in name:
        return "holds a slash or a backslash"
    if any(unicodedata.category(char) in ("Cc", "Cs") for char in name):
        return "holds a control character or bytes that are not UTF-8"
    if name[-1] in ". ":
        return "ends in a dot or a space"
    if len(name) > 1 and name[1] == ":" and name[0].isalpha() and name[0].isascii():
        return "starts like a Windows drive"
    if len(name.encode()) > _MAX_NAME_BYTES:
        return f"is longer than {_MAX_NAME_BYTES} bytes"
    return "is a Windows device name" if _WINDOWS_DEVICE.fullmatch(name) else None


def check_path(path: str) -> str:
    """Give `path` back when it is relative, POSIX and writable everywhere; else `UnsafePath`."""
    for name in path.split("/"):
        if fault := name_fault(name):
            raise UnsafePath(
                f"the name {name!r} {fault}",
                reason="unsafe-name",
                file=printable(path),
                remedy="Rename it in the source",
            )
    return path


def printable(text: str) -> str:
    """`text` as it can be written to any stream: lone surrogates and controls escaped."""
    return text if text.isprintable() else ascii(text)[1:-1]


def folded(path: str) -> str:
    """What `path` is on a file system that folds case and normal form."""
    if path.isascii():
        return path.lower()
    # Caseless matching as Unicode defines it for canonical equivalents (D145).
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


def check_clashes(tree: FileTree) -> None:
    """`UnsafePath` when two paths are one on a file system that folds case or normal form.

    So it is when one path is a file and a folder.
    """
    for fault in clashes(tree):
        raise fault


def clashes(tree: FileTree) -> Iterator[UnsafePath]:
    """Every path that clashes with one before it; of a folder, only its topmost such path."""
    spelled: dict[str, str] = {}
    blamed: set[str] = set()
    for path in (*tree.entries, *tree.empty_folders):
        for whole in (*parents(path), path):
            if whole in blamed:
                break
            other = spelled.setdefault(folded(whole), whole)
            if other != whole:
                blamed.add(whole)
                # Escaped: two normal forms of one name look alike.
                both = f"{other!a} and {whole!a}"
                yield _clash(f"{both} are one file where case or normal form is folded", whole)
                break
            if whole != path and whole in tree.entries:
                blamed.add(path)
                yield _clash(f"{whole!a} is a file and a folder", path)
                break


def _clash(problem: str, path: str) -> UnsafePath:
    return UnsafePath(
        problem, reason="names-clash", file=path, remedy="Rename one of them in the source"
    )
