"""Symbolic links of a tree: they stay inside it, and a walk along them comes to an end."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping

from .errors import TooBig, UnsafePath
from .files import MAX_HOPS, FileTree, Link, parents, printable

MAX_COPIES = 100_000
"""Files that may be reached through links: more than the Hub takes into one repo."""


def check_links(tree: FileTree) -> None:
    """`UnsafePath` for a link that leaves the tree, or that leads round in a circle.

    A link to nothing is kept, as git keeps it. Resolution is by the tree's own
    entries; nothing on disk is followed.
    """
    for fault in bad_links(tree):
        raise fault


def bad_links(tree: FileTree) -> Iterator[UnsafePath]:
    """The links that leave the tree, and those by which a walk that follows links has no end."""
    inside: dict[str, list[tuple[str, str]]] = {}
    leads: dict[str, str] = {}
    for path, entry in tree.entries.items():
        if isinstance(entry, Link):
            try:
                leads[path] = _resolve(tree, path, entry.target)
            except UnsafePath as fault:
                yield fault
    ends = set(leads.values())
    for path, end in leads.items():
        for folder in ("", *parents(path)):
            if folder in ends:
                inside.setdefault(folder, []).append((path, end))
    yield from _circles(tree, inside)


def links_to_nothing(tree: FileTree) -> Iterator[str]:
    """The links with no file at their end, nor a folder that holds something.

    Empty folders do not count: neither Git nor the Hub keeps them.
    """
    folders = {"", *(folder for path in tree.entries for folder in parents(path))}
    for path, entry in tree.entries.items():
        if isinstance(entry, Link):
            end = _resolve(tree, path, entry.target)
            if end not in folders and end not in tree.entries:
                yield path


def copies(tree: FileTree) -> Iterator[tuple[str, str]]:
    """What stands where links are followed: each path, and the file of the tree that it is.

    Links to nothing give nothing. The links are those that `check_links` lets pass; `TooBig` when
    they multiply beyond `MAX_COPIES`.
    """
    paths = list(tree.entries)
    count = 0
    todo = [
        (path, _resolve(tree, path, entry.target))
        for path, entry in tree.entries.items()
        if isinstance(entry, Link)
    ]
    while todo:
        shown, end = todo.pop()
        inside = [end] if end in tree.entries else _below(paths, end)
        for path in inside:
            entry = tree.entries[path]
            place = shown + path[len(end) :]
            if isinstance(entry, Link):
                todo.append((place, _resolve(tree, path, entry.target)))
                continue
            count += 1
            if count > MAX_COPIES:
                raise TooBig(
                    f"links lead to more than {MAX_COPIES:,} files",
                    reason="too-many-copies",
                    file=printable(shown),
                    remedy="Remove links, or put the files where they are needed once",
                )
            yield place, path


def _below(paths: list[str], folder: str) -> Iterator[str]:
    """The paths inside a folder, of a sorted list."""
    inside = f"{folder}/"
    at = bisect_left(paths, inside)
    while at < len(paths) and paths[at].startswith(inside):
        yield paths[at]
        at += 1


def _circles(tree: FileTree, inside: Mapping[str, list[tuple[str, str]]]) -> Iterator[UnsafePath]:
    """The links that close a circle. `inside` has, for each folder links lead to, those in it."""
    done: set[str] = set()
    for start in inside:
        if start in done:
            continue
        way = {start: iter(inside[start])}
        while way:
            folder, links = next(reversed(way.items()))
            link, end = next(links, ("", ""))
            if not link:
                done.add(folder)
                del way[folder]
            elif end in way:
                entry = tree.entries[link]
                target = entry.target if isinstance(entry, Link) else ""
                inner = not end or link.startswith(f"{end}/")
                what = "a folder that holds it" if inner else "where other links lead back from"
                yield _bad_link(link, target, "link-cycle", f"leads to {what}")
            elif end in inside and end not in done:
                way[end] = iter(inside[end])


def _resolve(tree: FileTree, link: str, target: str) -> str:
    """Where a link leads. Parts that are not there are taken for folders."""
    if target.startswith("/") or "\\" in target or "\0" in target:
        raise _bad_link(link, target, "link-escapes", "leads out of its task")
    here = link.split("/")[:-1]
    todo = target.split("/")[::-1]
    hops = 0
    while todo:
        part = todo.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not here:
                raise _bad_link(link, target, "link-escapes", "leads out of its task")
            here.pop()
            continue
        here.append(part)
        entry = tree.entries.get("/".join(here))
        if isinstance(entry, Link):
            if entry.target.startswith("/"):
                raise _bad_link(link, target, "link-escapes", "leads out of its task")
            hops += 1
            if hops > MAX_HOPS:
                raise _bad_link(link, target, "link-cycle", "leads round in a circle")
            here.pop()
            todo += entry.target.split("/")[::-1]
    return "/".join(here)


def _bad_link(link: str, target: str, reason: str, what: str) -> UnsafePath:
    return UnsafePath(
        f"the link to {printable(target)!r} {what}",
        reason=reason,
        file=link,
        remedy="Replace it by a copy of what it points at",
    )
