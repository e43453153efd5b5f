"""What of a folder goes to the Hub, and what the Hub loses of it.

The Hub's HTTP side takes regular files alone: in the place of a link goes a copy of what it leads
to, and modes and empty folders do not go at all. What the Hub or its client would not take as it
is, is refused by name before anything is sent.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rlconvert.errors import UnsafePath
from rlconvert.files import (
    Blob,
    Entry,
    File,
    Link,
    changed,
    check_path,
    make_tree,
    printable,
    unreadable,
)
from rlconvert.hub.write import SAMPLE, OnDisk, RemoteFile
from rlconvert.links import check_links, copies, links_to_nothing
from rlconvert.pointers import is_pointer, not_fetched
from rlconvert.proof.published import ATTRIBUTES, OUTSIDE, digest_of, members, outline
from rlconvert.repair import recorded
from rlconvert.sink import OURS
from rlconvert.source import (
    BOOKKEEPING,
    MAX_FILE,
    FolderSource,
    Kind,
    too_big,
)

_NOT_TAKEN = frozenset({".git", ".cache"})
"""Names of folders that the client refuses or leaves out, wherever they are."""
_HIDES = ".gitignore"


@dataclass(frozen=True, slots=True)
class OutFile:
    """A file as it goes out; `oid` and `sha256` are what the Hub will call it by.

    `file` is where its bytes are, where they are on disk.
    """

    blob: Blob
    oid: str
    sha256: str
    sample: bytes
    file: str | None = None

    @classmethod
    def of(cls, blob: Blob, file: str | None = None) -> OutFile:
        """The file with these bytes, which are read once."""
        oid = hashlib.sha1(b"blob %d\0" % blob.size, usedforsecurity=False)
        digest = hashlib.sha256()
        sample = b""
        for chunk in blob.chunks():
            sample = sample or chunk[:SAMPLE]
            oid.update(chunk)
            digest.update(chunk)
        return cls(blob, oid.hexdigest(), digest.hexdigest(), sample, file)

    def is_at(self, remote: RemoteFile | None) -> bool:
        """Whether the Hub has just these bytes there."""
        if remote is None:
            return False
        return self.oid == remote.oid if remote.sha256 is None else self.sha256 == remote.sha256

    def content(self, path: str, *, large: bool) -> bytes | OnDisk:
        """The bytes to send; `SourceChanged` when they are not those that were hashed."""
        if large and self.file is not None:
            return OnDisk(self.file, self.sha256)
        data = self.blob.read()
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise changed(path)
        return data


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """Things of one kind that the Hub loses; `for_good` are those that no reader finds again."""

    paths: tuple[str, ...] = ()
    for_good: tuple[str, ...] = ()

    def facts(self) -> dict[str, object]:
        """For ``--json``."""
        return {
            "count": len(self.paths),
            "examples": list(self.paths[:5]),
            "for_good": len(self.for_good),
            "for_good_examples": list(self.for_good[:5]),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """Everything of a folder that goes out, by the path it has on the Hub."""

    files: Mapping[str, OutFile]
    executables: Lost
    links: Lost
    empty_folders: Lost
    attributes: bool
    """Whether the folder has a `.gitattributes` at its root, which stays here."""

    @property
    def digest(self) -> str:
        """What `layout_digest` says of the files when they are there alone."""
        return digest_of(
            (path, Kind.FILE, file.sha256)
            for path, file in self.files.items()
            if path not in OUTSIDE and not path.startswith(f"{OURS}/")
        )


def outgoing(source: FolderSource) -> Outgoing:
    """What goes out of a folder, hashed.

    `UnsafePath` for links out of it and to nothing, for devices, and for names that cannot be
    everywhere; `Malformed` for a file that Git LFS has not fetched, and for damaged records.
    """
    entries: dict[str, Entry] = dict(outline(source).entries)
    entries |= {path: File(Blob(b"")) for path in _sidecar(source)}
    attributes = entries.pop(ATTRIBUTES, None) is not None
    for path in entries:
        _check(path)
    tree = make_tree(entries)
    check_links(tree)
    for path in links_to_nothing(tree):
        raise UnsafePath(
            "the link leads to nothing",
            reason="link-to-nothing",
            file=printable(path),
            remedy="Remove it, or put there what it should lead to",
        )
    found = {path: path for path, entry in tree if isinstance(entry, File)}
    real = {path: _hashed(source, path) for path in found}
    found |= dict(copies(tree))
    executables = [path for path in real if _is_executable(source, path)]
    known = recorded(source)
    return Outgoing(
        files={path: real[found[path]] for path in sorted(found)},
        executables=_lost(
            executables,
            lambda path: path in known.executables or real[path].sample.startswith(b"#!"),
        ),
        links=_lost(
            (path for path, entry in tree if isinstance(entry, Link)), known.links.__contains__
        ),
        empty_folders=_lost(_empty_folders(source, ""), known.empty.__contains__),
        attributes=attributes,
    )


def _sidecar(source: FolderSource) -> Iterator[str]:
    for member in members(source, OURS):
        if member.kind is Kind.LINK:
            raise UnsafePath(
                "a record must be a file, not a link",
                reason="link-in-sidecar",
                file=printable(member.path),
                remedy=f"Remove {OURS}/, or convert again",
            )
        yield member.path


def _check(path: str) -> None:
    check_path(path)
    if path == _HIDES:
        raise UnsafePath(
            "at the root of a repo it makes the Hub leave files out",
            reason="hides-files",
            file=path,
            remedy="Remove it; what it names should not be in the folder",
        )
    for part in path.split("/"):
        if part.lower() in _NOT_TAKEN:
            raise UnsafePath(
                f"the Hub takes nothing that is called {part} or stands in it",
                reason="not-taken",
                file=printable(path),
                remedy="Rename it, put it into an archive with --layout archive, or remove it",
            )


def _hashed(source: FolderSource, path: str) -> OutFile:
    full = Path(source.root, path)
    try:
        status = full.stat(follow_symlinks=False)
    except OSError as error:
        raise unreadable(path, error) from error
    if status.st_size > MAX_FILE:
        raise too_big(path, status.st_size, MAX_FILE)
    blob = Blob.of_file(str(full), status.st_size, status.st_mtime_ns, name=printable(path))
    file = OutFile.of(blob, str(full))
    if is_pointer(file.sample, blob.size):
        raise not_fetched(path, "publish again")
    return file


def _is_executable(source: FolderSource, path: str) -> bool:
    return bool(os.stat(f"{source.root}/{path}").st_mode & stat.S_IXUSR)  # noqa: PTH116


def _empty_folders(source: FolderSource, folder: str) -> Iterator[str]:
    items = source.items(folder)
    if folder and not items:
        yield folder
    for item in items:
        path = f"{folder}/{item.name}" if folder else item.name
        if item.kind is Kind.FOLDER and path not in BOOKKEEPING:
            yield from _empty_folders(source, path)


def _lost(paths: Iterable[str], found_again: Callable[[str], bool]) -> Lost:
    every = tuple(paths)
    return Lost(paths=every, for_good=tuple(path for path in every if not found_again(path)))
