"""Names, trees and links: every rule, and the real file system as the judge of links."""

from __future__ import annotations

import copy
import os
import re
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rlconvert import files
from rlconvert.errors import ReadError, SourceChanged, TooBig, UnsafePath
from rlconvert.files import (
    Blob,
    Entry,
    File,
    FileTree,
    Link,
    check_clashes,
    check_path,
    clashes,
    folded,
    make_tree,
    name_fault,
    parents,
    printable,
)
from rlconvert.links import bad_links, check_links, copies

DATA = File(Blob(b"x"))


def tree(*paths: str, empty: tuple[str, ...] = (), **links: str) -> FileTree:
    """A tree of files; a link is given as `a__b="target"` for `a/b`."""
    entries: dict[str, Entry] = dict.fromkeys(paths, DATA)
    entries |= {path.replace("__", "/"): Link(target) for path, target in links.items()}
    return make_tree(entries, empty)


# ------------------------------------------------------------------ names


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "empty"),
        (".", "step"),
        ("..", "step"),
        ("a\\b", "slash"),
        ("a\0", "control"),
        ("a\n", "control"),
        ("\x1b[0m", "control"),
        ("a\x7f", "control"),
        ("a\x85", "control"),
        ("\udce9", "UTF-8"),
        ("a.", "dot"),
        ("...", "dot"),
        ("a ", "space"),
        (" ", "space"),
        ("c:", "drive"),
        ("C:a", "drive"),
        ("n" * 256, "longer"),
        ("é" * 128, "longer"),
        ("con", "device"),
        ("NUL", "device"),
        ("aux.txt", "device"),
        ("aux.tar.gz", "device"),
        ("AUX .txt", "device"),
        ("Com1", "device"),
        ("com0", "device"),
        ("lpt9.log", "device"),
        ("COM¹", "device"),
        ("conin$", "device"),
        ("CONOUT$.x", "device"),
    ],
)
def test_names_that_are_not_names_everywhere(name: str, fault: str) -> None:
    assert re.search(fault, name_fault(name) or "")
    assert name_fault("a/b")
    with pytest.raises(UnsafePath) as caught:
        check_path(f"above/{name}/below")
    assert caught.value.reason == "unsafe-name"
    assert caught.value.remedy
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "name",
    [
        "a", ".a", "-a", "--help", "a b", "a..b", "..a", " a", "ab:c", "1:2", "console", "com10",
        "auxiliary.txt", "nul_", "con-1", "n" * 255, "é" * 127, "日本語", "e\u0301", "🎯", "~", "*",
        "?", "a'b\"c", "$HOME", "%20", "#", "\u202e", "\u200b", "conin", "x.con",
    ],
)  # fmt: skip
def test_names_that_are(name: str) -> None:
    assert name_fault(name) is None
    assert check_path(f"{name}/{name}") == f"{name}/{name}"


@pytest.mark.parametrize("path", ["", "/a", "a/", "a//b", "./a", "../a", "a/..", "a/./b", "/"])
def test_paths_that_are_not_relative_and_normal(path: str) -> None:
    with pytest.raises(UnsafePath):
        check_path(path)


names = st.one_of(
    st.text(st.sampled_from("aCcoOnNuUlL1.: \\/\0~$-_é\u0301\udce9"), max_size=7),
    st.sampled_from(["con", "nul", "aux", "com1", "lpt1", "conin$"]).flatmap(
        lambda name: st.text(st.sampled_from(". aA"), max_size=3).map(lambda end: name + end)
    ),
    st.text("ab.", min_size=250, max_size=260),
)


@given(names)
def test_the_fast_rule_for_names_agrees_with_the_slow_ones(name: str) -> None:
    never = re.compile(r"(?!)")
    with pytest.MonkeyPatch.context() as patch:
        fast = name_fault.__wrapped__(name)
        patch.setattr(files, "_PLAIN_NAME", never)
        slow = name_fault.__wrapped__(name)
    assert fast == slow


@given(st.text(), st.sampled_from("/\\\n\0\udcff\x1b"))
def test_a_forbidden_character_is_forbidden_anywhere(text: str, bad: str) -> None:
    assert name_fault(text + bad + text)


@given(st.text(st.characters()))
def test_printable_text_is_printable_and_pure(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    shown.encode()
    assert printable(shown) == shown


# ------------------------------------------------------------------ clashes


@given(st.text(max_size=8))
@example("\u01f0")
@example("\u0390")
@example("\u1fb4")
@example("\u0345\u0301")
@example("ß")
def test_folding_is_one_for_all_normal_forms_and_stable(text: str) -> None:
    one = folded(text)
    assert {folded(unicodedata.normalize(form, text)) for form in ("NFC", "NFD")} == {one}
    assert folded(unicodedata.normalize("NFD", text).casefold()) == one
    assert folded(one) == one
    if text.isascii():
        assert folded(text.upper()) == one


@pytest.mark.parametrize(
    ("paths", "file"),
    [
        (("A", "a"), "a"),
        (("dir/A", "dir/a"), "dir/a"),
        (("Dir/x", "dir/y"), "dir"),
        (("e\u0301", "\u00e9"), "\u00e9"),
        (("straße", "strasse"), "straße"),
        (("A", "a/b"), "a"),  # a file, and a folder in another spelling
        (("a", "a/b"), "a/b"),  # a file and a folder of the same name
        (("x/A/b", "x/a"), "x/a"),
    ],
)
def test_clashes(paths: tuple[str, ...], file: str) -> None:
    with pytest.raises(UnsafePath) as caught:
        check_clashes(tree(*paths))
    assert (caught.value.reason, caught.value.file) == ("names-clash", file)
    assert not list(clashes(tree(*paths).without(file)))


def test_empty_folders_and_links_clash_too() -> None:
    for clashing in (tree(empty=("A", "a")), tree("A", a="x"), tree("A/b", empty=("a",))):
        with pytest.raises(UnsafePath, match="folded"):
            check_clashes(clashing)
    with pytest.raises(UnsafePath, match="a file and a folder"):
        check_clashes(tree("link/x", link="other"))


def test_a_clash_of_folders_is_told_once() -> None:
    found = list(clashes(tree("A/1", "A/2", "a/1", "a/3", "a/b/c", "z")))
    assert [fault.file for fault in found] == ["a"]


@pytest.mark.parametrize("paths", [("a", "b"), ("a/b", "a/c"), ("ab", "a/b"), ("a", "a.txt")])
def test_no_clash(paths: tuple[str, ...]) -> None:
    check_clashes(tree(*paths))


# ------------------------------------------------------------------ links

ESCAPES = {
    "absolute": tree("f", a="/etc/passwd"),
    "up": tree("f", a="../f"),
    "up from below": tree("d/f", d__a="../../f"),
    "back by name": tree("d/f", d__a="../../task/d/f"),
    "through a link": tree("f", d__door="..", e__a="../d/door/../f"),
    "dangling": tree("f", a="../no-such"),
    "through what is not there": tree("f", a="no/../../f"),
    "backslash": tree("f", a="..\\f"),
    "nul": tree("f", a="f\0"),
    "through an absolute link": tree("f", a="/", b="a/f"),
}
CIRCLES = {
    "itself": tree(a="a"),
    "two": tree(a="b", b="a"),
    "its folder": tree("d/f", d__a="."),
    "its folder by name": tree("d/f", d__a="../d"),
    "above": tree("d/e/f", d__e__a="../.."),
    "the root": tree("d/f", d__a=".."),
    "above, through a link": tree("d/e/f", d__e__a="../../up", up="d"),
    "two folders into each other": tree("d/f", "e/f", d__a="../e", e__b="../d"),
    "three folders": tree("d/f", "e/f", "g/f", d__a="../e", e__a="../g", g__a="../d"),
    "into a folder below": tree("d/x/f", "e/f", d__x__a="../../e", e__b="../d"),
    "through itself": tree("f", a="a/f"),
}
FINE = {
    "file": tree("f", a="f"),
    "folder": tree("d/f", a="d"),
    "up and down": tree("d/f", "e/g", d__a="../e/g"),
    "link to link": tree("f", a="b", b="c", c="f"),
    "through a linked folder": tree("d/f", a="d", b="a/f"),
    "up out of a linked folder": tree("p/q/r", "p/f", a="p/q", b="a/../f"),
    "dangling": tree("f", a="later"),
    "dangling folder": tree("f", a="later/on"),
    "empty folder": tree(empty=("d",), a="d"),
    "twice the same folder": tree("d/f", "e/f", e__a="../d", e__b="../d"),
    "dots": tree("d/f", a="./d/.//f"),
    "a name that starts like its own": tree("d/f", "dd/f", dd__a="../d"),
    "chain of folders": tree("d/f", "e/f", "g/f", d__a="../e", e__a="../g"),
}


@pytest.mark.parametrize("name", ESCAPES)
def test_links_out_of_the_tree(name: str) -> None:
    with pytest.raises(UnsafePath) as caught:
        check_links(ESCAPES[name])
    assert caught.value.reason == "link-escapes"
    assert caught.value.remedy


@pytest.mark.parametrize("name", CIRCLES)
def test_links_in_a_circle(name: str) -> None:
    with pytest.raises(UnsafePath) as caught:
        check_links(CIRCLES[name])
    assert caught.value.reason == "link-cycle"


@pytest.mark.parametrize("name", FINE)
def test_links_that_are_fine(name: str) -> None:
    check_links(FINE[name])


@pytest.mark.parametrize("name", [*ESCAPES, *CIRCLES])
def test_the_blamed_links_are_enough(name: str) -> None:
    rest = (ESCAPES | CIRCLES)[name]
    for _ in range(3):
        rest = rest.without(*(fault.file or "" for fault in bad_links(rest)))
    check_links(rest)


def test_many_links_take_no_time() -> None:
    entries: dict[str, Entry] = {f"d/{at}": Link("../e") for at in range(20_000)}
    entries |= {f"e/{at}": Link("../g") for at in range(20_000)}
    entries |= {f"g/{at}": Link("x") for at in range(20_000)}
    check_links(make_tree(entries))


PARTS = st.sampled_from(["a", "b", "c", "d"])
TARGETS = st.lists(
    st.sampled_from(["a", "b", "c", "d", "..", "..", ".", "nothing"]), min_size=1, max_size=4
).map("/".join)


@st.composite
def linked_trees(draw: st.DrawFn) -> FileTree:
    """A small tree of real folders with files and links, as a walk of a disk would give it."""
    folders = [""]
    entries: dict[str, Entry] = {}
    for _ in range(draw(st.integers(0, 5))):
        path = f"{draw(st.sampled_from(folders))}/{draw(PARTS)}".lstrip("/")
        if path not in entries and path not in folders:
            folders.append(path)
    for _ in range(draw(st.integers(1, 7))):
        path = f"{draw(st.sampled_from(folders))}/{draw(PARTS)}".lstrip("/")
        if path not in folders:
            link = draw(st.none() | TARGETS)
            entries[path] = Link(link) if link else File(Blob(path.encode()))
    return make_tree(entries, folders[1:])


def put(tree: FileTree, root: Path) -> None:
    """Write a tree with the standard library alone."""
    for path in tree.empty_folders:
        (root / path).mkdir(parents=True, exist_ok=True)
    for path, entry in tree:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(entry, File):
            (root / path).write_bytes(entry.blob.read())
        else:
            (root / path).symlink_to(entry.target)


def walk(folder: Path, above: frozenset[str]) -> bool:
    """Whether a walk that follows links comes to an end."""
    real = os.path.realpath(folder)
    if real in above:
        return False
    return all(walk(path, above | {real}) for path in folder.iterdir() if path.is_dir())


@given(linked_trees(), st.lists(PARTS, min_size=1, max_size=4).map("/".join))
@example(FINE["up out of a linked folder"], "b")
@example(FINE["through a linked folder"], "b")
@example(tree("f", "d/f", a="d/f/../../f"), "a")  # a file is no folder to go up from
@example(tree("f", a="../f"), "a")
@example(CIRCLES["two"], "a")
@example(FINE["dots"], "a")
@example(tree("f", a="f/"), "a")
@example(tree("d/f", a="no/../d/f"), "a")
def test_the_file_system_agrees_about_links(tree: FileTree, asked: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(os.path.realpath(folder), "deep", "in", "here")
        root.mkdir(parents=True)
        put(tree, root)
        for path in {asked, *tree.entries}:
            real = os.path.realpath(root / path)
            inside = real.startswith(f"{root}/")
            found = tree.follow(path)
            if (root / path).is_file() and inside and stays(tree):
                assert found is not None
                assert found.blob.read() == Path(real).read_bytes()
            elif not (root / path).is_file():
                assert found is None
        faults = list(bad_links(tree))
        if not faults:
            for path in tree.entries:
                real = os.path.realpath(root / path)
                assert real.startswith(f"{root}/"), (path, real)
            assert walk(root, frozenset())
        for fault in faults:
            assert isinstance(tree.entries[fault.file or ""], Link)
            if fault.reason == "link-cycle" and len(faults) == 1:
                assert not walk(root, frozenset()) or not (root / (fault.file or "")).exists()


@given(linked_trees().filter(lambda tree: not list(bad_links(tree))))
@example(FINE["chain of folders"])
@example(FINE["link to link"])
@example(FINE["through a linked folder"])
def test_copies_are_what_a_walk_along_links_finds(tree: FileTree) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(os.path.realpath(folder))
        put(tree, root)
        expected = {
            path: Path(os.path.realpath(root / path)).relative_to(root).as_posix()
            for path in files_along_links(root, "")
            if path not in tree.entries or isinstance(tree.entries[path], Link)
        }
        found = dict(copies(tree))
        assert expected.items() <= found.items()
        for path in found.keys() - expected.keys():  # only what goes up from a file
            assert not (root / path).exists()


def files_along_links(root: Path, folder: str) -> Iterator[str]:
    for path in (root / folder).iterdir():
        shown = f"{folder}/{path.name}".lstrip("/")
        if path.is_dir():
            yield from files_along_links(root, shown)
        elif path.is_file():
            yield shown


def test_copies_do_not_multiply_without_end() -> None:
    entries: dict[str, Entry] = {"f0/x": DATA}
    for at in range(1, 40):
        entries |= {f"f{at}/{way}": Link(f"../f{at - 1}") for way in "ab"}
    with pytest.raises(TooBig):
        list(copies(make_tree(entries)))


def stays(tree: FileTree) -> bool:
    """Whether no link of the tree leaves it."""
    return not any(fault.reason == "link-escapes" for fault in bad_links(tree))


def test_follow_gives_up_on_a_circle_and_on_what_is_no_file() -> None:
    assert CIRCLES["two"].follow("a") is None
    assert FINE["folder"].follow("a") is None
    assert FINE["folder"].follow("a/f") is DATA
    assert FINE["folder"].follow("d/f/g") is None
    assert tree("etc/passwd", a="/etc/passwd").follow("a") is None


# ------------------------------------------------------------------ trees


def test_make_tree_sorts_and_drops_folders_that_are_not_empty() -> None:
    made = make_tree({"b": DATA, "a/x": DATA}, ["z", "a", "y/deep", "y", "z"])
    assert list(made.entries) == ["a/x", "b"]
    assert made.empty_folders == ("y/deep", "z")


def test_questions_to_a_tree() -> None:
    some = tree("a/b/f", "g", empty=("e/mpty",), h="g")
    assert some
    assert not FileTree()
    assert FileTree({}, ("d",))
    assert "g" in some
    assert "a" not in some
    assert some.file("g") is DATA
    assert some.file("h") is None
    assert some.file("a") is None
    assert [some.has_folder(path) for path in ("a", "a/b", "e", "e/mpty", "g", "h", "a/", "b")] == [
        True, True, True, True, False, False, False, False,
    ]  # fmt: skip
    assert list(parents("a/b/c")) == ["a", "a/b"]
    assert list(parents("a")) == []


def test_parts_of_a_tree() -> None:
    some = tree("a/f", "a/b/g", "ab/h", empty=("a/e", "z"))
    assert some.below("a") == tree("f", "b/g", empty=("e",))
    assert some.below("nothing") == FileTree()
    assert some.below("a").moved("a") == some.without("ab", "z")
    assert some.without("a") == tree("ab/h", empty=("z",))
    assert some.without("a/f", "z").empty_folders == ("a/e",)
    assert some.without() == some
    assert some.moved("") is some
    assert some.moved("x").below("x") == some


def test_the_later_tree_wins_and_fills_folders() -> None:
    other = File(Blob(b"other"))
    laid = tree("a", empty=("d", "e")).union(FileTree({"a": other, "d/f": DATA}), FileTree())
    assert laid == make_tree({"a": other, "d/f": DATA}, ["e"])


@given(linked_trees(), linked_trees(), PARTS)
def test_laws_of_trees(one: FileTree, two: FileTree, folder: str) -> None:
    assert one.moved(folder).below(folder) == one
    assert one.union(one) == one
    assert one.union(FileTree()) == one
    inside = one.below(folder).moved(folder)
    assert inside.union(one.without(folder)).entries == {
        path: entry for path, entry in one if path != folder
    }
    both = one.union(two)
    assert set(both.entries) == set(one.entries) | set(two.entries)
    assert all(both.entries[path] == entry for path, entry in two)


# ------------------------------------------------------------------ blobs


def of_file(path: Path) -> Blob:
    status = path.stat()
    return Blob.of_file(str(path), status.st_size, status.st_mtime_ns, name="data.bin")


@given(st.binary(max_size=20), st.binary(max_size=20))
def test_blobs_are_their_bytes(one: bytes, two: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x")
        path.write_bytes(two)
        memory, disk = Blob(one), of_file(path)
        for left, right in ((memory, disk), (disk, memory), (memory, Blob(two))):
            assert (left == right) is (one == two)
            if one == two:
                assert hash(left) == hash(right)
        assert disk == copy.copy(disk), "as a worker gets it"
        assert (disk.read(), disk.size) == (two, len(two))
        assert memory != one
        assert "bytes" in repr(disk)


def test_a_large_file_is_read_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(os.urandom(3 << 20) + b"end")
    pieces = list(of_file(path).chunks())
    assert [len(piece) for piece in pieces] == [1 << 20] * 3 + [3]
    assert of_file(path).sha256 == Blob(path.read_bytes()).sha256


@pytest.mark.parametrize(
    "how", ["grown", "grown, its time kept", "shrunk", "rewritten", "gone", "a link", "a folder"]
)
def test_a_file_that_changed_is_not_read(how: str, tmp_path: Path) -> None:
    path, other = tmp_path / "x", tmp_path / "other"
    path.write_bytes(b"0123456789")
    other.write_bytes(b"0123456789")
    blob = of_file(path)
    match how:
        case "grown":
            path.write_bytes(b"0123456789+")
        case "grown, its time kept":
            before = path.stat().st_mtime_ns
            path.write_bytes(b"0123456789+")
            os.utime(path, ns=(before, before))
        case "shrunk":
            path.write_bytes(b"0123")
        case "rewritten":
            path.write_bytes(b"9876543210")
            os.utime(path, ns=(1, 1))
        case _:
            path.unlink()
    if how == "a link":
        path.symlink_to(other)
    if how == "a folder":
        path.mkdir()
    kind = ReadError if how == "a folder" else SourceChanged
    with pytest.raises(kind) as caught:
        blob.read()
    assert caught.value.file == "data.bin", "the name it was given, not where it is on this machine"
    assert caught.value.remedy
    assert str(tmp_path) not in str(caught.value)


def test_a_broken_disk_is_an_error_of_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"0123")
    blob = of_file(path)

    def broken(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "read", broken)
    with pytest.raises(ReadError, match="Input/output error") as caught:
        blob.read()
    assert caught.value.reason == "unreadable"


def test_a_file_that_became_a_pipe_does_not_hang(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"0123")
    blob = of_file(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(SourceChanged):
        blob.read()
