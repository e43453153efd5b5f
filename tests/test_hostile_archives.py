"""Archives made to do harm: a typed error or a harmless tree, whatever is in them."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from archiving import Piece, pieces_of, table, tar, tar_gz, zipped
from laws.running import room
from rlconvert.archives import parquet
from rlconvert.archives.reading import tree_of_archive
from rlconvert.archives.view import unpacked
from rlconvert.errors import Malformed, ReadError, TooBig, UnsafeInput, UnsafePath
from rlconvert.files import FileTree, check_path
from rlconvert.links import check_links
from rlconvert.source import FolderSource
from strategies.files import text_file
from strategies.folders import folders

CONFIG = Piece("task.toml", b"")
GOOD = [CONFIG, Piece("instruction.md", b"hello"), Piece("tests/test.sh", b"#!", mode=0o755)]

NAMES = st.sampled_from(
    [
        "task.toml",
        "a",
        "A",
        "a/b",
        "./a",
        "a/",
        "..",
        "../a",
        "a/../../b",
        "/a",
        "//a",
        "",
        ".",
        "./",
        "con",
        "a\\b",
        "C:a",
        "a\0b",
        "e\u0301",
        "\u00e9",
        "x" * 300,
        "/".join("d" * 70),
        ".git/hooks/post-checkout",
    ]
)
KINDS = st.sampled_from([tarfile.REGTYPE, b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"S", b"Z"])
TARGETS = st.sampled_from(["", "a", "..", "../..", "/etc/passwd", "a/b", "task.toml", "."])
PIECES = st.lists(
    st.builds(
        Piece, NAMES, st.binary(max_size=3), KINDS, TARGETS, st.sampled_from([0o644, 0o7777])
    ),
    max_size=5,
)


def harmless(tree: FileTree) -> None:
    for path in (*tree.entries, *tree.empty_folders):
        check_path(path)
    check_links(tree)


@example(pieces=[Piece("", b"", b"0", "", 0o644)], wrap=zipped, begun=False)
@given(PIECES, st.sampled_from([tar, tar_gz, zipped]), st.booleans())
def test_any_members(pieces: list[Piece], wrap: object, begun: bool) -> None:
    try:
        data = wrap([*GOOD, *pieces] if begun else pieces)  # type: ignore[operator]
    except ValueError:  # not even the library makes it
        return
    try:
        tree = tree_of_archive(data)
    except (UnsafePath, Malformed, TooBig):
        return
    harmless(tree)


@given(st.sampled_from([tar, tar_gz, zipped]), st.data())
def test_any_damage(wrap: object, data: st.DataObject) -> None:
    """Bytes changed, put in, or gone."""
    whole = bytearray(wrap(GOOD))  # type: ignore[operator]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(whole) - 1))
        size = data.draw(st.integers(0, 600))
        whole[at : at + size] = data.draw(st.binary(max_size=8) | st.just(bytes(size)))
        if not whole:
            return
    try:
        tree = tree_of_archive(bytes(whole))
    except (UnsafePath, Malformed, TooBig):
        return
    harmless(tree)


@given(folders(), st.data())
def test_what_is_cut_short_is_never_read(tree: FileTree, data: st.DataObject) -> None:
    """Not even at the end of a member: then files would be missing, and nobody would know."""
    plain = tar(pieces_of(tree))
    end = len(plain.rstrip(b"\0"))
    for whole in (gzip.compress(plain), plain[: end + 512 + -end % 512]):
        cut = data.draw(st.integers(0, len(whole) - 1))
        with pytest.raises(Malformed):
            tree_of_archive(whole[:cut])


@given(st.binary(max_size=600))
@example(b"\x1f\x8b")
@example(b"PK\x03\x04")
@example(b"\0" * 512)
def test_any_bytes(data: bytes) -> None:
    with pytest.raises(Malformed):
        tree_of_archive(data)


@given(st.data())
def test_any_damage_to_a_parquet_file(data: st.DataObject) -> None:
    with room() as place:
        file = table(place / "x.parquet", [(f"t{n}", tar(GOOD)) for n in range(3)])
        whole = bytearray(file.read_bytes())
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at : at + data.draw(st.integers(1, 40))] = data.draw(st.binary(max_size=40))
        file.write_bytes(whole)
        found = unpacked(FolderSource(str(place)))
        for item in found.items("tasks"):
            with suppress(ReadError, UnsafeInput):
                harmless(found.tree(f"tasks/{item.name}"))


REFUSED = {
    "hard link": (Piece("more", kind=b"1", target="task.toml"), "a hard link cannot be part"),
    "device": (Piece("tests/null", kind=b"3"), "a device, socket or pipe cannot be part"),
    "pipe": (Piece("tests/pipe", kind=b"6"), "a device, socket or pipe cannot be part"),
    "absolute": (Piece("/etc/cron.d/x", b"x"), "is absolute"),
    "up": (Piece("tests/../../x", b"x"), "leads out of its folder"),
    "link out": (Piece("tests/up", kind=b"2", target="../../x"), "leads out of its task"),
    "absolute link": (Piece("tests/up", kind=b"2", target="/etc/passwd"), "leads out"),
    "link in a circle": (Piece("tests/x", kind=b"2", target="../tests"), "a folder that holds it"),
    "twice": (Piece("instruction.md", b"other"), "two members of this name"),
    "other case": (Piece("Instruction.md", b"other"), "one file where case or normal form"),
    "file and folder": (Piece("tests", b"x"), "is a file and a folder"),
    "through a link": (Piece("tests/test.sh/x", b"x"), "is a file and a folder"),
    "too deep": (Piece("/".join("d" * 70), b""), "folders inside each other"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_what_no_task_can_have(fault: str) -> None:
    piece, said = REFUSED[fault]
    wraps = [tar, tar_gz] if piece.kind in (b"1", b"3") else [tar, tar_gz, zipped]
    for wrap in wraps:
        with pytest.raises((UnsafePath, TooBig), match=said):
            tree_of_archive(wrap([*GOOD, piece]))


def test_bombs_are_not_unpacked() -> None:
    zeros = Piece("zeros", bytes(70 << 20))
    for wrap in (tar_gz, zipped):
        with pytest.raises(TooBig, match="more than 200 times its size"):
            tree_of_archive(wrap([CONFIG, zeros]))


def test_a_gzip_file_in_another_is_no_task() -> None:
    with pytest.raises(Malformed, match="neither a tar file"):
        tree_of_archive(gzip.compress(tar_gz(GOOD)))


def test_members_are_counted() -> None:
    folder = tar([Piece("d/", kind=b"5")])[:512]
    with pytest.raises(TooBig, match="more than 100,000 members"):
        tree_of_archive(folder * 100_001 + bytes(1024))


def test_a_size_that_is_a_lie() -> None:
    """A member that claims more than there is, or less than nothing."""
    info = tarfile.TarInfo("task.toml")
    info.size = 1 << 40
    header = info.tobuf(tarfile.GNU_FORMAT)
    with pytest.raises(Malformed, match="cut short"):
        tree_of_archive(header + bytes(1024))
    pax = tarfile.TarInfo("task.toml")
    pax.pax_headers = {"size": "-512"}
    with pytest.raises(Malformed):
        tree_of_archive(pax.tobuf(tarfile.PAX_FORMAT) + bytes(1024))


def test_an_encrypted_zip_is_refused() -> None:
    data = bytearray(zipped(GOOD))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + flags] |= 1
    with pytest.raises(UnsafePath, match="an encrypted file"):
        tree_of_archive(bytes(data))


def test_a_zip_without_modes_is_read() -> None:
    """Nothing that it says of modes, kinds of files or links means anything."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in (("task.toml", b"x"), ("tests/test.sh", b"#!/bin/sh\n"), ("a", b"")):
            info = zipfile.ZipInfo(name)
            info.create_system = 0
            info.external_attr = 0o120777 << 16
            archive.writestr(info, data)
    assert tree_of_archive(out.getvalue()) == FileTree(
        {
            "a": text_file(""),
            "task.toml": text_file("x"),
            "tests/test.sh": text_file("#!/bin/sh\n", executable=True),
        }
    )


@pytest.mark.parametrize("said", [0o644, 0o755, 0o100644])
def test_a_zip_with_a_single_mode_has_modes(said: int) -> None:
    """Of a file: then a script without the bit is meant to have none. Of none: nobody said it."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("task.toml", b"x")
        archive.writestr("script", b"#!/bin/sh\n")
        info = zipfile.ZipInfo("other")
        info.create_system, info.external_attr = 3, said << 16
        archive.writestr(info, b"x")
    tree = tree_of_archive(out.getvalue())
    assert tree.entries["script"] == text_file("#!/bin/sh\n", executable=said == 0o644)
    assert tree.entries["other"] == text_file("x", executable=said == 0o755)


def test_a_huge_cell_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table(tmp_path / "x.parquet", [("small", tar_gz(GOOD)), ("big", tar(GOOD))])
    monkeypatch.setattr(parquet, "MAX_CELL", 2000)
    found = unpacked(FolderSource(str(tmp_path)))
    assert found.tree("tasks/small")
    with pytest.raises(TooBig, match=r"x\.parquet, row 1: an archive of 10,240 bytes"):
        found.tree("tasks/big")


def test_a_huge_row_group_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table(tmp_path / "x.parquet", [("a", tar(GOOD)), ("b", tar(GOOD))])
    monkeypatch.setattr(parquet, "MAX_GROUP", 2000)
    with pytest.raises(TooBig, match=r"x\.parquet, row 0: a row group of"):
        unpacked(FolderSource(str(tmp_path))).tree("tasks/a")
