"""What a copy of a repo has lost, given back from its manifest: modes, links, empty folders.

The Hub's HTTP side keeps none of them. A link comes back as a copy of what it leads to, which is
how `publish` sends it, or as a text file that holds its target, which is how git's comes out.
What somebody has edited since is left as it is.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .errors import RlconvertError, UnsafePath
from .files import Entry, File, FileTree, Link, check_path, make_tree
from .links import check_links, copies
from .sidecar import MANIFEST, SHARED, SharedRecord, TaskRecord, parse
from .source import FolderSource, Kind


def repaired(tree: FileTree, record: TaskRecord, *, lossy: bool) -> FileTree:
    """`tree` with the modes, links and empty folders that a plain copy or the Hub has lost.

    A link that is not there at all was deleted, as a file is, unless the place is a `lossy` one.
    """
    entries = dict(tree.entries)
    for path, file in record.files.items():
        entry = entries.get(path)
        if isinstance(entry, File) and entry.blob.sha256 in (file.sha256, _rewritten(record, path)):
            entries[path] = File(entry.blob, file.mode == "x")
    maybe: dict[str, str] = {}
    for path, target in record.links.items():
        check_path(path)
        entry = entries.get(path)
        if entry is None and not tree.has_folder(path):
            if lossy:
                entries[path] = Link(target)
        elif isinstance(entry, File) and entry.blob.read() == target.encode():
            entries[path] = Link(target)
        elif not isinstance(entry, Link):
            maybe[path] = target
    made = make_tree(entries, tree.empty_folders)
    whole = _relinked(made, maybe)
    whole = make_tree(whole.entries, {*whole.empty_folders, *map(check_path, record.empty)})
    check_links(whole)
    return whole


def _rewritten(record: TaskRecord, path: str) -> str | None:
    """What a target has in the place of the source's own bytes; where two differ, neither."""
    found = {each.rewritten[path] for each in record.targets.values() if path in each.rewritten}
    return found.pop() if len(found) == 1 else None


def _relinked(tree: FileTree, links: Mapping[str, str]) -> FileTree:
    """`tree` with those links that lead to just what stands in their places."""
    chosen = dict(links)
    while chosen:
        bare = tree.without(*chosen)
        guess = make_tree(
            {**bare.entries, **{path: Link(target) for path, target in chosen.items()}},
            bare.empty_folders,
        )
        try:
            check_links(guess)
        except UnsafePath:
            return tree
        there = {place: guess.entries[end] for place, end in copies(guess)}
        wrong = [path for path in chosen if not _same(tree, there, path)]
        if not wrong:
            return guess
        for path in wrong:
            del chosen[path]
    return tree


def _same(tree: FileTree, there: Mapping[str, Entry], link: str) -> bool:
    """Whether the same files stand at and below `link`, whatever their modes."""
    mine = {path: entry for path, entry in tree if _at(path, link)}
    theirs = {path: entry for path, entry in there.items() if _at(path, link)}
    return mine.keys() == theirs.keys() and all(
        isinstance(one, File) and isinstance(other, File) and one.blob == other.blob
        for one, other in ((mine[path], theirs[path]) for path in mine)
    )


def _at(path: str, link: str) -> bool:
    return path == link or path.startswith(f"{link}/")


# ---------------------------------------------------------------- a folder


@dataclass(frozen=True, slots=True)
class Recorded:
    """The paths of a repo that its records say are executable, links, or empty folders."""

    executables: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    empty: set[str] = field(default_factory=set)

    def _add(self, folder: str, *, files: Iterable[str], links: Iterable[str]) -> None:
        self.executables.update(_join(folder, path) for path in files)
        self.links.update(_join(folder, path) for path in links)


def recorded(source: FolderSource) -> Recorded:
    """What the records of a repo can give back; `Malformed` when they are damaged."""
    found = Recorded()
    for record in _tasks(source):
        folder = record.folder or ""
        executables = (path for path, file in record.files.items() if file.mode == "x")
        found._add(folder, files=executables, links=record.links)
        found.empty.update(_join(folder, path) for path in record.empty)
    if source.kind(SHARED) is Kind.FILE:
        for line in source.lines(SHARED):
            shared = parse(SharedRecord, line, SHARED)
            if shared.link is not None:
                found.links.add(shared.path)
            elif shared.file is None:
                found.empty.add(shared.path)
            elif shared.file.mode == "x":
                found.executables.add(shared.path)
    return found


def repair_folder(source: FolderSource) -> None:
    """Give the folders of the tasks in a fresh download back what their records tell.

    What cannot be repaired stays as it came: whoever reads it says what is wrong with it.
    """
    try:
        for record in _tasks(source):
            _repair_task(source, record)
    except (RlconvertError, OSError):
        return


def _tasks(source: FolderSource) -> Iterable[TaskRecord]:
    """The records of tasks whose own folders are in the repo."""
    if source.kind(MANIFEST) is Kind.FILE:
        for line in source.lines(MANIFEST):
            record = parse(TaskRecord, line, MANIFEST)
            if record.folder is not None:
                yield record


def _repair_task(source: FolderSource, record: TaskRecord) -> None:
    folder = record.folder or ""
    if folder:
        check_path(folder)
    if source.kind(folder) is not Kind.FOLDER:
        return
    tree = source.tree(folder, on_fault=lambda _: None)
    whole = repaired(tree, record, lossy=True)
    root = Path(source.root, folder)
    for path in tree.entries:
        if path not in whole.entries:
            (root / path).unlink()
    for path, entry in whole:
        if isinstance(entry, File):
            _set_mode(root / path, executable=entry.executable)
    for path in whole.empty_folders:
        (root / path).mkdir(parents=True, exist_ok=True)
    for path, entry in whole:  # last: nothing is written through one
        if isinstance(entry, Link) and not isinstance(tree.entries.get(path), Link):
            _put_link(root / path, entry.target)


def _set_mode(file: Path, *, executable: bool) -> None:
    mode = file.stat().st_mode
    wanted = mode | 0o111 if executable else mode & ~0o111
    if wanted != mode:
        file.chmod(stat.S_IMODE(wanted))


def _put_link(place: Path, target: str) -> None:
    if place.is_dir():
        for folder in sorted(place.rglob("*"), reverse=True):
            folder.rmdir()  # its files are gone
        place.rmdir()
    else:
        place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def _join(folder: str, path: str) -> str:
    return f"{folder}/{path}" if folder else path
