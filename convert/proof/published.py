"""A repo as it would be published: its files, their digest, and a bare git repository of them.

`README.md` and `.rlconvert/` are outside every layout, and git's own files outside every repo. So
is a root `.gitattributes` that only says what LFS carries: the Hub puts one into every repo. The
Hub's HTTP side knows no links: there a copy stands in the place of each, and a digest is of these.
Bytes go into git as they are: no attribute, filter or ignore rule of the repo is applied.
"""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO

from rlconvert.errors import CheckFailed, UnsafePath
from rlconvert.files import Blob, Entry, File, FileTree, Link, make_tree, printable
from rlconvert.links import bad_links, copies, links_to_nothing
from rlconvert.source import BOOKKEEPING, FolderSource, Kind

OUTSIDE = frozenset({"README.md", "eval.yaml"})
"""Files at the root that no layout reads: they are for the Hub's own pages."""

_ANY = File(Blob(b""))

ATTRIBUTES = ".gitattributes"
_LFS_RULE = frozenset({b"filter=lfs", b"diff=lfs", b"merge=lfs", b"-text", b"lockable"})

_COMMIT = b"commit refs/heads/main\ncommitter rlconvert <rlconvert@localhost> 0 +0000\ndata 0\n"


@dataclass(frozen=True, slots=True)
class Member:
    """A file or link of the repo."""

    path: str
    kind: Kind


def members(source: FolderSource, folder: str = "") -> Iterator[Member]:
    """Every file and link, in one order; `UnsafePath` for what can be in no repo."""
    for item in source.items(folder):
        path = f"{folder}/{item.name}" if folder else item.name
        if item.kind is Kind.FOLDER:
            if path not in BOOKKEEPING:
                yield from members(source, path)
        elif item.kind is Kind.OTHER:
            raise UnsafePath(
                "a device, socket or pipe cannot be published",
                reason="not-a-file",
                file=printable(path),
                remedy="Remove it",
            )
        elif path not in BOOKKEEPING:  # in a clone, `.git` may be a file
            yield Member(path, item.kind)


def outline(source: FolderSource) -> FileTree:
    """The paths and links of the repo; what the files hold is not told."""
    entries: dict[str, Entry] = {}
    for member in members(source):
        if member.kind is Kind.LINK:
            target = os.readlink(f"{source.root}/{member.path}")  # noqa: PTH115 - a Path tidies it
            entries[member.path] = Link(target)
        else:
            entries[member.path] = _ANY
    return make_tree(entries)


def layout_digest(source: FolderSource, *, known: Mapping[str, str] = MappingProxyType({})) -> str:
    """A digest of paths and bytes; modes are left out: the Hub's HTTP side keeps none.

    Links are followed; one that cannot be is taken as it is written. `known` has the SHA-256, by
    path, of files in the place of which something else stands here.
    """
    tree = outline(source)
    faulty = [fault.file for fault in bad_links(tree) if fault.file is not None]
    sound = tree.without(*faulty)
    ends = {path: Member(path, Kind.FILE) for path, entry in tree if isinstance(entry, File)}
    ends |= {path: Member(end, Kind.FILE) for path, end in copies(sound)}
    ends |= {path: Member(path, Kind.LINK) for path in (*faulty, *links_to_nothing(sound))}
    return digest_of(
        (path, member.kind, known.get(member.path) or _blob(source, member)[0].sha256)
        for path, member in ends.items()
        if path not in OUTSIDE and not (path == ATTRIBUTES and only_lfs(source))
    )


def listed_digest(files: Mapping[str, str], attributes: bytes) -> str:
    """`layout_digest` of a repo without links, by the SHA-256 of its files that are `in_layout`.

    `attributes` is its root `.gitattributes`, or empty.
    """
    left_out = {ATTRIBUTES} if _only_lfs(attributes.split(b"\n")) else frozenset[str]()
    return digest_of(
        (path, Kind.FILE, sha256)
        for path, sha256 in files.items()
        if in_layout(path) and path not in left_out
    )


def in_layout(path: str) -> bool:
    """Whether a file could be of a layout: it is not for the Hub's pages, nor bookkeeping."""
    return path not in OUTSIDE and path.partition("/")[0] not in BOOKKEEPING


def digest_of(files: Iterable[tuple[str, Kind, str]]) -> str:
    """The digest of files and links with these paths and SHA-256, in any order."""
    whole = hashlib.sha256()
    for path, kind, digest in sorted(files, key=lambda each: each[0].split("/")):
        mark = b"l" if kind is Kind.LINK else b"f"
        whole.update(b"%s %s %s\0" % (mark, digest.encode(), os.fsencode(path)))
    return f"sha256:{whole.hexdigest()}"


def only_lfs(source: FolderSource) -> bool:
    """Whether the root's `.gitattributes` says how bytes travel, and nothing of what they are."""
    if source.kind(ATTRIBUTES) is not Kind.FILE:
        return False
    return _only_lfs(source.lines(ATTRIBUTES))


def _only_lfs(lines: Iterable[bytes]) -> bool:
    rules = (line.split() for line in lines if not line.startswith(b"#"))
    return all(b"filter=lfs" in rule and _LFS_RULE.issuperset(rule[1:]) for rule in rules if rule)


def _blob(source: FolderSource, member: Member) -> tuple[Blob, bool]:
    """The bytes of a member, and whether it is executable."""
    full = f"{source.root}/{member.path}"
    if member.kind is Kind.LINK:
        return Blob(os.fsencode(os.readlink(full))), False  # noqa: PTH115 - a Path tidies it
    status = os.stat(full, follow_symlinks=False)  # noqa: PTH116
    blob = Blob.of_file(full, status.st_size, status.st_mtime_ns, name=printable(member.path))
    return blob, bool(status.st_mode & stat.S_IXUSR)


def make_bare(source: FolderSource, folder: str, environment: Mapping[str, str]) -> None:
    """A bare git repository with one commit of the repo at `folder`; `CheckFailed` without git."""
    Path(folder).mkdir(parents=True)
    _git(["init", "--quiet", "--bare", folder], environment)
    git = ["git", "-C", folder]
    # As partial and by-commit clones want it of a server.
    for setting in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        _git(["-C", folder, "config", setting, "true"], environment)
    _git(["-C", folder, "symbolic-ref", "HEAD", "refs/heads/main"], environment)
    with subprocess.Popen(
        [*git, "fast-import", "--quiet"],
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            if process.stdin is not None:  # it is a pipe
                _import(source, process.stdin)
                process.stdin.close()
            status = process.wait()
        except BrokenPipeError:
            status = process.wait() or 1
        except BaseException:
            process.kill()
            raise
    if status:
        raise _no_git(f"git fast-import ended with {status}")


def _import(source: FolderSource, stream: IO[bytes]) -> None:
    stream.write(_COMMIT)
    for member in members(source):
        blob, executable = _blob(source, member)
        mode = b"120000" if member.kind is Kind.LINK else b"100755" if executable else b"100644"
        stream.write(b"M %s inline %s\ndata %d\n" % (mode, _quoted(member.path), blob.size))
        for chunk in blob.chunks():
            stream.write(chunk)
        stream.write(b"\n")


def _quoted(path: str) -> bytes:
    """A path as git reads it."""
    raw = os.fsencode(path)
    escaped = raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"%s"' % escaped


def _git(arguments: list[str], environment: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(
            ["git", *arguments],  # noqa: S607 - the user's git
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise _no_git(str(error)) from error
    if done.returncode:
        raise _no_git(done.stderr.strip())


def _no_git(problem: str) -> CheckFailed:
    return CheckFailed(
        f"the repo cannot be put into git: {problem}",
        reason="no-git",
        remedy="Install git, or correct what it says",
    )
