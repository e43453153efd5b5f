"""One strict comparison of two folders, for every test that compares folders."""

import os
import stat
from collections.abc import Collection
from fnmatch import fnmatchcase
from itertools import zip_longest
from pathlib import Path

Entry = tuple[str, object]  # kind, and what has to be equal for that kind


def assert_same_tree(actual: Path, expected: Path, *, ignore: Collection[str] = ()) -> None:
    """Fail unless both folders hold the same things, and say everything that differs.

    Compared: names, in both directions; the kind of each entry; the bytes and the executable bit
    of a file; the target of a link, which is never followed; folders, so empty ones too.
    `ignore` holds `fnmatch` patterns of relative paths (`/` between parts, and `*` crosses it); a
    pattern that matches a folder hides what is in it.
    A pattern that matches nothing on either side is an error: it would hide nothing, for ever.
    """
    used: set[str] = set()
    left, right = (_entries(root, ignore, used) for root in (actual, expected))
    if unused := [pattern for pattern in ignore if pattern not in used]:
        raise ValueError(f"patterns that match nothing: {', '.join(unused)}")
    lines = [f"only in actual: {name} ({left[name][0]})" for name in sorted(left.keys() - right)]
    lines += [
        f"only in expected: {name} ({right[name][0]})" for name in sorted(right.keys() - left)
    ]
    for name in sorted(left.keys() & right):
        if left[name] != right[name]:
            lines.append(f"{name}: {_difference(left[name], right[name])}")
    if lines:
        raise AssertionError("\n".join([f"{actual} is not {expected}:", *lines]))


def _entries(root: Path, ignore: Collection[str], used: set[str]) -> dict[str, Entry]:
    if root.is_symlink() or not root.is_dir():
        raise AssertionError(f"not a folder: {root}")
    found: dict[str, Entry] = {}
    folders = [(root, "")]
    while folders:
        folder, prefix = folders.pop()
        with os.scandir(folder) as scan:
            for item in scan:
                name = prefix + item.name
                if matching := [pattern for pattern in ignore if fnmatchcase(name, pattern)]:
                    used.update(matching)
                    continue
                found[name] = entry = _entry(item)
                if entry[0] == "folder":
                    folders.append((Path(item.path), name + "/"))
    return found


def _entry(item: os.DirEntry[str]) -> Entry:
    if item.is_symlink():
        return "link", os.readlink(item.path)  # noqa: PTH115 - a Path would tidy the target
    if item.is_dir(follow_symlinks=False):
        return "folder", None
    mode = item.stat(follow_symlinks=False).st_mode
    if not stat.S_ISREG(mode):
        return "special file", stat.S_IFMT(mode)
    kind = "executable file" if mode & 0o111 else "file"
    return kind, Path(item.path).read_bytes()


def _difference(actual: Entry, expected: Entry) -> str:
    if actual[0] != expected[0]:
        return f"{actual[0]}, expected {expected[0]}"
    a, b = actual[1], expected[1]
    if not (isinstance(a, bytes) and isinstance(b, bytes)):
        return f"{a!r}, expected {b!r}"
    lines = zip_longest(a.splitlines(keepends=True), b.splitlines(keepends=True))
    number, ours, theirs = next((n, x, y) for n, (x, y) in enumerate(lines, 1) if x != y)
    return f"line {number} is {_short(ours)}, expected {_short(theirs)}"


def _short(line: bytes | None) -> str:
    if line is None:
        return "past the end"
    return repr(line) if len(line) <= 120 else f"{line[:120]!r}... ({len(line)} bytes)"
