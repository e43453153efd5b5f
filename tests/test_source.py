"""Sources: a folder and the same tree in memory answer alike, and nothing outside is read."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rlconvert import source as module
from rlconvert.errors import Malformed, ReadError, RlconvertError, SourceChanged, TooBig, UnsafePath
from rlconvert.files import EAGER_BYTES, Blob, Entry, File, FileTree, Link, make_tree
from rlconvert.memory import MemorySource
from rlconvert.pointers import MARK
from rlconvert.source import FolderSource, Item, Kind, Source

POINTER = MARK + b"\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"


def put(tree: FileTree, root: Path) -> None:
    """Write a tree with the standard library alone."""
    root.mkdir(exist_ok=True)
    for path in tree.empty_folders:
        (root / path).mkdir(parents=True, exist_ok=True)
    for path, entry in tree:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(entry, File):
            place.write_bytes(entry.blob.read())
            place.chmod(0o755 if entry.executable else 0o644)
        else:
            place.symlink_to(entry.target)


NAMES = st.sampled_from(["a", "b", "A", "é", "e\u0301", "aux", "x ", "c\\d", ".git", "n\nl"])
CONTENTS = st.sampled_from([b"", b"1\n2\r\n3\r4", b"x" * 200, POINTER, b"\xff\n\n"])


@st.composite
def disk_trees(draw: st.DrawFn) -> FileTree:
    """A tree that a disk could hold; names and links may be bad."""
    folders, entries = [""], dict[str, Entry]()
    for _ in range(draw(st.integers(0, 4))):
        path = f"{draw(st.sampled_from(folders))}/{draw(NAMES)}".lstrip("/")
        if path not in folders:
            folders.append(path)
    for _ in range(draw(st.integers(1, 6))):
        path = f"{draw(st.sampled_from(folders))}/{draw(NAMES)}".lstrip("/")
        if path in folders:
            continue
        if draw(st.integers(0, 3)):
            entries[path] = File(Blob(draw(CONTENTS)), draw(st.booleans()))
        else:
            entries[path] = Link(draw(st.sampled_from(["a", "../a", "..", "/", "b/a", "gone"])))
    return make_tree(entries, folders[1:])


def answer(ask: object) -> object:
    """What a question gives, an error by all that a person would see of it."""
    try:
        found = ask() if callable(ask) else None
        return list(found) if isinstance(found, Iterator) else found
    except RlconvertError as error:
        return type(error), error.problem, error.facts()


@given(disk_trees(), st.lists(NAMES, max_size=2).map("/".join), st.booleans())
@example(make_tree({"a/x": File(Blob(b"1\r2\n"))}), "a/x", False)
@example(make_tree({"a": Link("/")}), "a", False)
@example(make_tree({"a/aux": Link("a")}), "a", False)
@example(make_tree({"d/n\nl/f": File(Blob(b""))}, ["d/aux"]), "d", True)
def test_a_folder_and_memory_answer_alike(tree: FileTree, asked: str, skipping: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "root")
        put(tree, root)
        disk, memory = FolderSource(str(root)), MemorySource(tree, name="root")
        paths = {asked, "", *tree.entries, *tree.empty_folders}
        paths |= {path.rpartition("/")[0] for path in tree.entries} | {f"{asked}/no"}
        faults: dict[str, list[object]] = {"disk": [], "memory": []}
        for path in sorted(paths):
            inside = path == asked or path.startswith(f"{asked}/")
            skip = [asked] if skipping and not inside else []
            for ask in (
                lambda s, p=path: s.items(p),
                lambda s, p=path: s.kind(p),
                lambda s, p=path: s.read(p, 1000),
                lambda s, p=path: s.read(p, 3),
                lambda s, p=path: s.read_at(p, 1, 2),
                lambda s, p=path: s.lines(p),
            ):
                assert answer(lambda a=ask: a(disk)) == answer(lambda a=ask: a(memory)), path
            found = []
            for name, source in (("disk", disk), ("memory", memory)):
                said = faults[name]
                said.clear()

                def note(error: RlconvertError, said: list[object] = said) -> None:
                    said.append((type(error), error.reason, error.file))

                found.append(
                    answer(lambda s=source, n=note, p=path, k=skip: s.tree(p, skip=k, on_fault=n))
                )
            assert found[0] == found[1]
            assert sorted(map(str, faults["disk"])) == sorted(map(str, faults["memory"]))
            whole = answer(lambda p=path, k=skip: disk.tree(p, skip=k))
            assert isinstance(whole, FileTree) is (isinstance(found[0], FileTree) and not said)


def both(tmp_path: Path, tree: FileTree) -> list[Source]:
    put(tree, tmp_path / "root")
    return [FolderSource(str(tmp_path / "root")), MemorySource(tree, name="root")]


def test_what_a_source_says(tmp_path: Path) -> None:
    entries: dict[str, Entry] = {
        "d/run": File(Blob(b"1\n2\r3"), executable=True),
        "l": Link("d"),
        "é": File(Blob(b"")),
    }
    for source in both(tmp_path, make_tree(entries, ["empty/inner"])):
        assert source.name == source.origin.label == "root"
        assert source.items("") == [
            Item("d", Kind.FOLDER),
            Item("empty", Kind.FOLDER),
            Item("l", Kind.LINK),
            Item("é", Kind.FILE),
        ]
        assert [source.kind(path) for path in ("", "d", "d/run", "l", "l/run", "empty/inner")] == [
            Kind.FOLDER, Kind.FOLDER, Kind.FILE, Kind.LINK, None, Kind.FOLDER,
        ]  # fmt: skip
        assert source.items("l") == [], "a link is not followed"
        assert source.items("d/run") == source.items("no") == []
        assert source.read("d/run", 5) == b"1\n2\r3"
        assert source.read_at("d/run", 1, 3) == b"\n2\r"
        assert list(source.lines("d/run")) == [b"1\n", b"2\r3"]
        assert source.tree("") == make_tree(entries, ["empty/inner"])
        assert source.tree("d") == make_tree({"run": entries["d/run"]})
        assert source.tree("", skip=["d", "empty/inner", "l"]) == make_tree({"é": entries["é"]})
        for path in ("l/run", "l", "d", "no"):
            for ask in (lambda p, s=source: s.read(p, 5), lambda p, s=source: list(s.lines(p))):
                with pytest.raises(ReadError) as caught:
                    ask(path)
                assert (caught.value.reason, caught.value.file) == ("not-a-file", path)
        with pytest.raises(TooBig, match=r"5 bytes are more than the 4 allowed"):
            source.read("d/run", 4)
        with pytest.raises(SourceChanged):
            source.read_at("d/run", 4, 2)
        for path in ("l", "no", "d/run"):
            with pytest.raises(ReadError, match="no folder"):
                source.tree(path)


def test_pointers_are_told_from_files_that_speak_of_them(tmp_path: Path) -> None:
    entries: dict[str, Entry] = {
        "pointer": File(Blob(POINTER)),
        "short": File(Blob(MARK + b"\n")),
        "long": File(Blob(MARK + b"\n" + b"x" * 2000)),
        "about": File(Blob(b"# " + POINTER)),
    }
    for source in both(tmp_path, make_tree(entries)):
        with pytest.raises(Malformed) as caught:
            source.tree("")
        assert (caught.value.reason, caught.value.file) == ("lfs-pointer", "pointer")
        faults: list[RlconvertError] = []
        assert list(source.tree("", on_fault=faults.append).entries) == ["about", "long", "short"]
        assert [fault.file for fault in faults] == ["pointer"]
        ways: list[Callable[[str], object]] = [
            partial(source.read, limit=999),
            source.open,
            lambda path, source=source: list(source.lines(path)),  # type: ignore[misc]
        ]
        for way in ways:
            with pytest.raises(Malformed, match="pointer: this is a Git LFS pointer"):
                way("pointer")
        assert source.read("about", 999) == b"# " + POINTER


def test_what_is_left_out_may_have_held_a_link_back(tmp_path: Path) -> None:
    file = File(Blob(b""))
    entries: dict[str, Entry] = {"L": file, "a/b/f": file, "f": file}
    entries |= {"l": Link("a/b"), "x": Link("l/../../f")}
    for source in both(tmp_path, make_tree(entries)):
        faults: list[RlconvertError] = []
        assert list(source.tree("", on_fault=faults.append).entries) == ["L", "a/b/f", "f"]
        assert [(fault.file, fault.reason) for fault in faults] == [
            ("l", "names-clash"),
            ("x", "link-escapes"),
        ]


def test_a_line_may_not_be_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LINE", 4)
    for source in both(tmp_path, make_tree({"f": File(Blob(b"123\n1234\n"))})):
        lines = source.lines("f")
        assert next(lines) == b"123\n"
        with pytest.raises(TooBig) as caught:
            next(lines)
        assert caught.value.file == "f"


def test_the_root_may_be_reached_through_a_link(tmp_path: Path) -> None:
    put(make_tree({"f": File(Blob(b"1"))}), tmp_path / "real")
    (tmp_path / "door").symlink_to("real")
    source = FolderSource(str(tmp_path / "door"))
    assert source.kind("") is Kind.FOLDER
    assert source.items("") == [Item("f", Kind.FILE)]
    assert list(source.tree("").entries) == ["f"]
    assert source.name == "door"


def test_a_root_that_is_gone(tmp_path: Path) -> None:
    source = FolderSource(str(tmp_path / "gone"))
    assert source.kind("") is None
    assert source.items("") == []
    with pytest.raises(ReadError):
        source.tree("")


def test_special_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "f").write_bytes(b"1")
    source = FolderSource(str(tmp_path))
    assert source.kind("pipe") is Kind.OTHER
    with pytest.raises(ReadError):
        source.read("pipe", 10)
    with pytest.raises(UnsafePath) as caught:
        source.tree("")
    assert (caught.value.reason, caught.value.file) == ("not-a-file", "pipe")
    faults: list[RlconvertError] = []
    assert list(source.tree("", on_fault=faults.append).entries) == ["f"]
    assert len(faults) == 1


def test_depth_has_a_limit(tmp_path: Path) -> None:
    fine = tmp_path / "fine" / "/".join("d" * module.MAX_DEPTH)
    deep = tmp_path / "deep" / "/".join("d" * (module.MAX_DEPTH + 1))
    for folder in (fine, deep):
        folder.mkdir(parents=True)
        (folder / "f").write_bytes(b"1")
    assert len(FolderSource(str(tmp_path / "fine")).tree("").entries) == 1
    with pytest.raises(TooBig) as caught:
        FolderSource(str(tmp_path / "deep")).tree("")
    assert caught.value.reason == "too-deep"


def test_a_file_may_not_claim_more_than_any_disk_holds(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(module.MAX_FILE + 1)
    started = time.monotonic()
    with pytest.raises(TooBig) as caught:
        FolderSource(str(tmp_path)).tree("")
    assert caught.value.file == "huge"
    assert time.monotonic() - started < 5


def test_small_files_are_read_at_once_and_large_ones_later(tmp_path: Path) -> None:
    (tmp_path / "small").write_bytes(b"s" * EAGER_BYTES)
    (tmp_path / "large").write_bytes(b"l" * (EAGER_BYTES + 1))
    tree = FolderSource(str(tmp_path)).tree("")
    for name in ("small", "large"):
        (tmp_path / name).write_bytes(b"changed")
    small, large = tree.file("small"), tree.file("large")
    assert small is not None
    assert small.blob.read() == b"s" * EAGER_BYTES
    assert large is not None
    with pytest.raises(SourceChanged) as caught:
        large.blob.read()
    assert caught.value.file == "large"


def test_a_small_file_that_changes_between_listing_and_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_bytes(b"12345")
    true = os.read

    def late(descriptor: int, size: int) -> bytes:
        (tmp_path / "f").write_bytes(b"123456")
        return true(descriptor, size)

    monkeypatch.setattr(os, "read", late)
    with pytest.raises(SourceChanged):
        FolderSource(str(tmp_path)).tree("")
    (tmp_path / "f").write_bytes(b"12345")
    with pytest.raises(SourceChanged):
        FolderSource(str(tmp_path)).read("f", 100)


def test_reading_asks_for_no_more_memory_than_there_are_bytes(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"12345")
    assert FolderSource(str(tmp_path)).read("f", 1 << 50) == b"12345"


def test_names_are_never_read_in_another_encoding(tmp_path: Path) -> None:
    """Else one repo would be converted to other bytes, or not at all, by the user's locale."""
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            f"from rlconvert.source import FolderSource as F; F({str(tmp_path)!r})",
        ],
        env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "UsageError: this Python takes the names of files for" in run.stderr
    assert "Set PYTHONUTF8=1" in run.stderr
