"""Folders as they stand on disk, compared strictly and without rlconvert's own code."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Collection, Mapping
from pathlib import Path

Snapshot = Mapping[str, str]
"""By relative path: the kind of an entry and all that has to be equal for that kind."""

FOLDER = "folder"
OURS = ".rlconvert"
"""What an output has beside the layout; never part of a comparison with a source."""


def snapshot(root: Path, *, without: Collection[str] = ()) -> Snapshot:
    """Everything below `root`: names, kinds, bytes, executable bits, link targets, empty folders.

    `without` are relative paths left out with all that is in them, and with the folders above that
    held nothing else.
    """
    found: dict[str, str] = {}
    _collect(root, "", frozenset(without), found)
    return found


def _collect(folder: Path, above: str, without: frozenset[str], found: dict[str, str]) -> bool:
    """Whether anything of `folder` stayed, or it was empty from the start."""
    with os.scandir(folder) as scan:
        items = sorted(scan, key=lambda item: item.name)
    stays = not items
    for item in items:
        path = above + item.name
        if path in without:
            continue
        if item.is_dir(follow_symlinks=False):
            if _collect(folder / item.name, path + "/", without, found):
                found[path] = FOLDER
                stays = True
            continue
        found[path] = _entry(item)
        stays = True
    return stays


def _entry(item: os.DirEntry[str]) -> str:
    if item.is_symlink():
        return f"link to {os.readlink(item.path)!r}"  # noqa: PTH115 - a Path would tidy the target
    mode = item.stat(follow_symlinks=False).st_mode
    if not stat.S_ISREG(mode):
        return f"special file {stat.S_IFMT(mode):o}"
    kind = "executable" if mode & 0o111 else "file"
    return f"{kind} {hashlib.sha256(Path(item.path).read_bytes()).hexdigest()}"


def differences(actual: Snapshot, expected: Snapshot) -> list[str]:
    """What differs, in both directions; empty when the folders are the same."""
    lines = [f"{path}: not in the source" for path in sorted(actual.keys() - expected)]
    lines += [f"{path}: did not come back" for path in sorted(expected.keys() - actual)]
    lines += [
        f"{path}: {actual[path][:24]}, in the source {expected[path][:24]}"
        for path in sorted(actual.keys() & expected)
        if actual[path] != expected[path]
    ]
    return lines


def tree_digest(found: Snapshot) -> str:
    """One digest for all that a snapshot holds."""
    digest = hashlib.sha256()
    for path in sorted(found):
        digest.update(f"{os.fsencode(path)!r} {found[path]}\n".encode())
    return digest.hexdigest()


def copy_backwards(source: Path, copy: Path) -> None:
    """The same tree with every entry made in the opposite order, so that folders list otherwise."""
    copy.mkdir()
    with os.scandir(source) as scan:
        items = sorted(scan, key=lambda item: item.name, reverse=True)
    for item in items:
        target = copy / item.name
        if item.is_dir(follow_symlinks=False):
            copy_backwards(Path(item.path), target)
        else:
            shutil.copy2(item.path, target, follow_symlinks=False)
