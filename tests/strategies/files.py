"""File trees, and a way to put them on a disk that owes nothing to the code under test."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

from rlconvert.files import Blob, Entry, File, FileTree, Link, folded, make_tree
from strategies.words import names, payloads

Node = File | dict[str, "Node"]
Draw = st.DrawFn

files = st.builds(File, payloads.map(Blob), st.booleans())


def _one_spelling(nodes: Mapping[str, Node]) -> dict[str, Node]:
    """Less the names that some file system takes for an earlier one."""
    kept: dict[str, Node] = {}
    seen: set[str] = set()
    for name, node in nodes.items():
        if folded(name) not in seen:
            seen.add(folded(name))
            kept[name] = node
    return kept


def _nodes(depth: int) -> st.SearchStrategy[dict[str, Node]]:
    entries: st.SearchStrategy[Node] = files
    if depth:
        entries = files | _nodes(depth - 1)
    return st.dictionaries(names, entries, max_size=3).map(_one_spelling)


def _flat(nodes: Mapping[str, Node], above: str = "") -> FileTree:
    entries: dict[str, Entry] = {}
    empty: list[str] = []
    for name, node in nodes.items():
        path = f"{above}{name}"
        if isinstance(node, File):
            entries[path] = node
        elif node:
            inner = _flat(node, f"{path}/")
            entries |= inner.entries
            empty += inner.empty_folders
        else:
            empty.append(path)
    return make_tree(entries, empty)


@cache
def trees(depth: int = 2) -> st.SearchStrategy[FileTree]:
    """Files and folders, empty ones too; no links: those need the whole task (`with_links`)."""
    return _nodes(depth).map(_flat)


small_trees = trees(1)


@st.composite
def with_links(draw: Draw, tree: FileTree, folders: Iterable[str]) -> FileTree:
    """`tree` with up to two links in `folders`: to a file, to a folder, to nothing.

    At most one leads to a folder: two could lead round in a circle, which is refused.
    """
    entries = dict(tree.entries)
    ways = _folders(tree)
    for folder in draw(st.lists(st.sampled_from(sorted(folders)), max_size=2, unique=True)):
        path = f"{folder}/to" if folder else "to"
        if path in entries or tree.has_folder(path):
            continue
        inside = sorted({*tree.entries, *(p for p in ways if not _holds(p, path))})
        targets = [posixpath.relpath(each, folder or ".") for each in inside if each != path]
        target = draw(st.sampled_from([*targets, "gone", "gone/deeper", "./gone"]))
        if posixpath.normpath(posixpath.join(folder, target)) in ways:
            ways = set()
        entries[path] = Link(target)
    return make_tree(entries, tree.empty_folders)


def _holds(folder: str, path: str) -> bool:
    return path.startswith(f"{folder}/")


def _folders(tree: FileTree) -> set[str]:
    return {posixpath.dirname(path) for path in tree.entries if "/" in path} | set(
        tree.empty_folders
    )


def lay(root: Path, tree: FileTree, *, backwards: bool = False) -> Path:
    """Write a tree as the new folder `root`; `backwards`: the last path first."""
    order = list(tree.entries.items())
    folders = list(tree.empty_folders)
    root.mkdir(parents=True)
    for path in folders[::-1] if backwards else folders:
        (root / path).mkdir(parents=True)
    for path, entry in order[::-1] if backwards else order:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(entry, Link):
            place.symlink_to(entry.target)
        else:
            place.write_bytes(entry.blob.read())
            place.chmod(0o755 if entry.executable else 0o644)
    return root


def text_file(text: str, *, executable: bool = False) -> File:
    """A file of text, its line ends as they are."""
    return File(Blob(text.encode()), executable)
