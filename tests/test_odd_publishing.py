"""Folders as vandals make them, published: refused by name, nothing sent; or whole, and told."""

from __future__ import annotations

import io
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import rlconvert
from hubserver import Fault
from rlconvert.errors import (
    HubConflict,
    Malformed,
    NewerSchema,
    RlconvertError,
    SecretFound,
    SourceChanged,
    TooBig,
    UnsafePath,
    UsageError,
)
from test_publish import HELLO, REPO, go, no_xet, proved, put, sent

if TYPE_CHECKING:
    from hub_fixture import Hub

__all__ = ["no_xet"]

pytest_plugins = ["hub_fixture"]
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

NPM = "npm_" + "Q7wZr2Lk9XvT4bNc8mHs5YpD3fGj6RtKe1Ua"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A conversion."""
    shutil.copytree(HELLO, tmp_path / "source" / "hello")
    rlconvert.convert(str(tmp_path / "source"), str(tmp_path / "out"), to=["nemo"])
    return tmp_path / "out"


def packed(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def two_forms(out: Path) -> None:
    put(out, "tasks/hello/e\u0301.txt")
    put(out, "tasks/hello/\u00e9.txt")


def sparse(out: Path) -> None:
    with (out / "tasks/hello/big").open("wb") as file:
        file.truncate(60 * 10**9)


FOLDERS: dict[str, tuple[Callable[[Path], object], type[RlconvertError], str]] = {
    "another normal form": (two_forms, UnsafePath, "tasks/hello/\u00e9.txt"),
    "another case": (lambda out: put(out, "README.MD"), UnsafePath, "README.md"),
    "a backslash": (lambda out: put(out, "a\\b"), UnsafePath, "a\\b"),
    "a line feed": (lambda out: put(out, "a\nb"), UnsafePath, "a\\nb"),
    "no UTF-8": (lambda out: put(out, os.fsdecode(b"\xff")), UnsafePath, "\\udcff"),
    "a drive": (lambda out: put(out, "c:x"), UnsafePath, "c:x"),
    "a socket's place": (lambda out: os.mkfifo(out / ".rlconvert/x"), UnsafePath, ".rlconvert/x"),
    "a file beyond the Hub": (sparse, TooBig, "tasks/hello/big"),
    "records cut": (
        lambda out: put(out, ".rlconvert/manifest.jsonl", b'{"task": "a"'),
        Malformed,
        ".rlconvert/manifest.jsonl",
    ),
    "newer records": (
        lambda out: put(out, ".rlconvert/provenance.json", b'{"schema": 99}'),
        NewerSchema,
        ".rlconvert/provenance.json",
    ),
    "a secret in an archive in an archive": (
        lambda out: put(out, "a.zip", packed(b=packed(c=NPM.encode()))),
        SecretFound,
        "a.zip/b/c",
    ),
    "a secret in UTF-16": (
        lambda out: put(out, "a.txt", f"key = {NPM}".encode("utf-16")),
        SecretFound,
        "a.txt",
    ),
}


@pytest.mark.parametrize("fault", FOLDERS)
def test_a_folder_that_cannot_go(hub: Hub, out: Path, fault: str) -> None:
    spoil, kind, file = FOLDERS[fault]
    spoil(out)
    with pytest.raises(kind) as caught:
        go(hub, out)
    assert caught.value.file == file
    assert caught.value.remedy
    assert str(caught.value).isprintable()
    assert sent(hub) == []


HEADERS: dict[str, bytes] = {
    "broken": b"---\nlicense: [mit\n---\n# x\n",
    "a tab": b"---\nlicense:\n\t- mit\n---\n",
    "a list": b"---\n- license\n---\n",
    "Latin-1": "---\nlicense: mit\npretty_name: \u00e9\n---\n".encode("latin-1"),
    "UTF-16": "---\nlicense: mit\n---\n".encode("utf-16"),
    "tags twice": b"---\nlicense: mit\ntags: [a]\ntags: [b]\n---\n",
    "an anchor": b"---\nlicense: mit\ntags: &t [a]\nother: *t\n---\n",
    "code": b"---\nlicense: mit\ntags: !!python/object/apply:os.system ['true']\n---\n",
    "very deep": b"---\nlicense: mit\na: " + b"[" * 9999 + b"]" * 9999 + b"\n---\n",
}


OF_BOTH = [
    (fault, whose)
    for fault in HEADERS
    for whose in ("the folder's", "the repo's")
    if whose == "the folder's" or fault != "very deep"  # no Hub takes that
]


@pytest.mark.parametrize(("fault", "whose"), OF_BOTH)
def test_a_card_that_cannot_be_edited(hub: Hub, out: Path, fault: str, whose: str) -> None:
    """With tags to add, wherever the card is: named, and nothing is sent."""
    proved(out, "nemo")
    before = None
    if whose == "the folder's":
        put(out, "README.md", HEADERS[fault])
    else:
        before = hub.server.seed(REPO, {"README.md": HEADERS[fault]})
        (out / "README.md").unlink()
    with pytest.raises((Malformed, UsageError)) as caught:
        go(hub, out)
    assert caught.value.file == "README.md"
    assert caught.value.remedy
    assert sent(hub) == []
    if before is not None:
        assert hub.server.repo(REPO).resolve("main") == before


def test_what_was_not_looked_into_is_told(hub: Hub, out: Path) -> None:
    """Before it goes, and by the command line."""
    put(out, "more/data.7z", b"7z\xbc\xaf\x27\x1c" + bytes(99))
    put(out, "more/cut.zip", packed(a=b"x")[:-30])
    done = go(hub, out)
    (note,) = (each for each in done.plan.notes if "secrets" in each)
    assert "more/data.7z (a 7z file)" in note
    assert "more/cut.zip" in note


def test_a_repo_that_changes_while_it_is_looked_at(hub: Hub, out: Path) -> None:
    """Between the question what is there and the commit: nothing of it is overwritten."""
    go(hub, out)
    (out / "tasks" / "hello" / "instruction.md").write_text("Other.\n")
    theirs: list[str] = []

    def intrude(_: str, path: str) -> Fault | None:
        if "/preupload/" in path and not theirs:
            theirs.append(hub.server.seed(REPO, {"README.md": b"# theirs\n"}))
        return None

    hub.server.interfere = intrude
    with pytest.raises(HubConflict):
        go(hub, out)
    assert hub.server.repo(REPO).resolve("main") == theirs[0]


def test_a_folder_that_changes_while_it_is_hashed(
    hub: Hub, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large file grows while its bytes are read."""
    put(out, "large.bin", bytes(3 << 20))
    real = os.read

    def growing(descriptor: int, size: int) -> bytes:
        data = real(descriptor, size)
        if size == 1 << 20:
            with (out / "large.bin").open("ab") as file:
                file.write(b"more")
        return data

    monkeypatch.setattr(os, "read", growing)
    with pytest.raises(SourceChanged) as caught:
        go(hub, out)
    assert caught.value.file == "large.bin"
    assert sent(hub) == []
