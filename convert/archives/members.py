"""What archives hold, member by member, whatever kind of archive it is.

Nothing is extracted by name: a member's bytes are read from its place, and its name has to pass
the same gate as that of a file on a disk. What cannot be part of a task (hard links, devices,
absolute names, a name that is there twice) is refused, and so is what unpacks to more than it may.
An archive inside an archive is a file like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rlconvert.errors import Malformed, RlconvertError, TooBig, UnsafePath
from rlconvert.files import Blob, Entry, File, FileTree, Link, check_path, make_tree, printable
from rlconvert.source import MAX_DEPTH, Kind

MAX_ENTRIES = 100_000
"""Members of the archive of one task."""

MAX_UNPACKED = 1 << 30
"""Bytes that the archive of one task unpacks to, since they are held in memory; or one file."""

MAX_RATIO, RATIO_FLOOR = 200, 64 << 20
"""More than so many times its size is a bomb, once it is more than so many bytes."""

_AGAIN = "Make the archive again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A name in an archive. `place` is where its bytes begin (tar), or its number (zip).

    `fault` is why it cannot be taken; its path is then as far as it can be said.
    """

    path: str
    kind: Kind = Kind.OTHER
    size: int = 0
    executable: bool = False
    target: str = ""
    place: int = 0
    fault: RlconvertError | None = None


def named(name: str) -> str | RlconvertError:
    """The path that a member's name stands for, "" for the folder itself; or why there is none."""
    path = name.rstrip("/")
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    if path in ("", "."):
        return "" if not name.startswith("/") else _unsafe(name, "is absolute")
    if path.startswith("/"):
        return _unsafe(name, "is absolute")
    if ".." in path.split("/"):
        return _unsafe(name, "leads out of its folder")
    if path.count("/") >= MAX_DEPTH:
        return TooBig(
            f"more than {MAX_DEPTH} folders inside each other",
            reason="too-deep",
            file=printable(path[:200]),
            remedy="Move what is deep down further up",
        )
    try:
        return check_path(path)
    except UnsafePath as error:
        return error


def refused(path: str, what: str) -> UnsafePath:
    """The error for a member of a kind that no task can have."""
    return UnsafePath(
        f"{what} cannot be part of a task",
        reason="not-a-file",
        file=printable(path),
        remedy="Leave it out of the archive, or put a file there",
    )


def twice(path: str) -> UnsafePath:
    """The error for a name that is there already."""
    return UnsafePath(
        "the archive has two members of this name",
        reason="duplicate-member",
        file=printable(path),
        remedy=f"{_AGAIN} with one of them",
    )


def too_many(limit: int = MAX_ENTRIES) -> TooBig:
    """The error for an archive of more than `limit` members."""
    return TooBig(
        f"it has more than {limit:,} members",
        reason="too-many-members",
        remedy="Leave it out, or make it smaller",
    )


def damaged(problem: str) -> Malformed:
    """The error for an archive that cannot be read to its end."""
    return Malformed(problem, reason="archive-damaged", remedy=f"{_AGAIN}, or fetch it again")


def check_unpacked(size: int, packed: int, limit: int = MAX_UNPACKED) -> None:
    """`TooBig` for bytes that unpack to more than `limit`, or to many times what they were."""
    if size > limit:
        problem = f"it unpacks to more than the {limit:,} bytes that are allowed"
    elif size > RATIO_FLOOR and size > packed * MAX_RATIO:
        problem = f"it unpacks to more than {MAX_RATIO} times its size"
    else:
        return
    raise TooBig(problem, reason="archive-bomb", remedy="Leave it out, or make it smaller")


def tree_of_members(
    members: Iterable[Member], read: Callable[[Member], bytes], mark: str
) -> FileTree:
    """The files of the task in an archive; the first fault of any member raises.

    `mark` is a file that a task has. Where it stands not at the top but in the only folder there
    is, that folder is the task's own and is left out.
    """
    entries: dict[str, Entry] = {}
    folders: set[str] = set()
    total = 0
    for count, member in enumerate(members, 1):
        path = member.path
        if member.fault is not None:
            raise member.fault
        if count > MAX_ENTRIES:
            raise too_many()
        if path in entries or (path in folders and member.kind is not Kind.FOLDER):
            raise twice(path)
        match member.kind:
            case Kind.FOLDER:
                folders.add(path)
            case Kind.LINK:
                entries[path] = Link(member.target)
            case _:
                total += member.size
                check_unpacked(total, total)
                entries[path] = File(Blob(read(member)), member.executable)
    folders.discard("")
    if not entries and not folders:
        raise Malformed("the archive is empty", reason="archive-empty", remedy=_AGAIN)
    return _without_top(make_tree(entries, folders), mark)


def _without_top(tree: FileTree, mark: str) -> FileTree:
    if mark in tree:
        return tree
    tops = {path.partition("/")[0] for path in (*tree.entries, *tree.empty_folders)}
    top = next(iter(tops))
    return tree.below(top) if len(tops) == 1 and f"{top}/{mark}" in tree else tree


def _unsafe(name: str, fault: str) -> UnsafePath:
    return UnsafePath(
        f"the name {printable(name[:200])!r} {fault}",
        reason="unsafe-name",
        remedy="Make the archive again with names inside its folder",
    )
