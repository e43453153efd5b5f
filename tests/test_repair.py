"""Modes, links and empty folders that a copy has lost come back from the manifest."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import rlconvert
from laws.hub import lay_fragile, published, pushed
from rlconvert.files import Blob, File, FileTree, Link, make_tree
from rlconvert.repair import recorded, repair_folder, repaired
from rlconvert.sidecar import TaskRecord, records_of
from rlconvert.source import FolderSource
from trees import assert_same_tree

SIDECAR = [".rlconvert"]


def task_tree() -> FileTree:
    return make_tree(
        {
            "run": File(Blob(b"\x7fELF"), executable=True),
            "tests/plain": File(Blob(b"#!/bin/sh\n")),
            "tests/deep/x": File(Blob(b"x")),
            "again": Link("tests/plain"),
            "all": Link("tests"),
            "tests/deep/up": Link("../plain"),
            "tests/other": Link("deep"),
        },
        ["logs"],
    )


def record() -> TaskRecord:
    files, links, empty = records_of(task_tree())
    return TaskRecord(task="t", place="t", targets={}, files=files, links=links, empty=empty)


def as_copies() -> dict[str, File]:
    plain, x = File(Blob(b"#!/bin/sh\n")), File(Blob(b"x"))
    tests = {"plain": plain, "deep/x": x, "deep/up": plain, "other/x": x, "other/up": plain}
    return {
        "run": File(Blob(b"\x7fELF")),
        "again": plain,
        **{f"tests/{path}": file for path, file in tests.items()},
        **{f"all/{path}": file for path, file in tests.items()},
    }


def test_copies_become_links_again() -> None:
    assert repaired(make_tree(as_copies()), record(), lossy=False) == task_tree()


@pytest.mark.parametrize("edited", ["again", "all/deep/up", "all/more", "tests/other/x"])
def test_a_copy_that_was_edited_stays(edited: str) -> None:
    copies = as_copies() | {edited: File(Blob(b"mine"))}
    found = repaired(make_tree(copies), record(), lossy=True)
    assert found.entries[edited] == File(Blob(b"mine"))
    link = next(link for link in ("again", "all", "tests/other") if edited.startswith(link))
    kept = {path: entry for path, entry in found if path.startswith(link)}
    assert not any(path == link and isinstance(entry, Link) for path, entry in kept.items())
    assert found.entries["run"] == File(Blob(b"\x7fELF"), executable=True)


def converted(folder: Path) -> Path:
    rlconvert.convert(str(lay_fragile(folder / "source")), str(folder / "out"), to=["nemo"])
    return folder / "out"


@pytest.mark.parametrize("way", ["pushed", "published"])
def test_a_download_is_repaired(way: str, tmp_path: Path) -> None:
    out = converted(tmp_path)
    copy = Path(shutil.copytree(out, tmp_path / "copy", symlinks=True))
    lost = pushed(copy) if way == "pushed" else published(copy, tmp_path / "lost")
    assert lost is not None
    assert not os.access(lost / "tasks" / "hello" / "solution" / "tool", os.X_OK)
    repair_folder(FolderSource(str(lost)))
    assert_same_tree(lost / "tasks", out / "tasks")
    assert (lost / "tasks" / "hello" / "more").is_symlink()


def test_what_the_records_know(tmp_path: Path) -> None:
    found = recorded(FolderSource(str(converted(tmp_path))))
    assert "tasks/hello/solution/tool" in found.executables
    assert found.links == {"tasks/hello/tests/again.sh", "tasks/hello/more"}
    assert found.empty == {"tasks/hello/environment/empty"}


def test_a_damaged_manifest_repairs_nothing(tmp_path: Path) -> None:
    out = converted(tmp_path)
    (out / ".rlconvert" / "manifest.jsonl").write_text("{}\n")
    copy = published(out, tmp_path / "lost")
    assert copy is not None
    repair_folder(FolderSource(str(copy)))
    assert not (copy / "tasks" / "hello" / "more").is_symlink()


def test_records_lead_nowhere_else(tmp_path: Path) -> None:
    """A manifest comes with the repo: nobody vouches for what it says."""
    out = converted(tmp_path)
    manifest = out / ".rlconvert" / "manifest.jsonl"
    text = manifest.read_text()
    (tmp_path / "outside").mkdir()
    for evil in (
        text.replace('"tasks/hello"', '"../outside"'),
        text.replace('"more":"tests"', '"../../../outside/link":"environment"'),
        text.replace('"more":"tests"', '"more":"../../../outside"'),
        text.replace('"environment/empty"', '"../../../outside/empty"'),
    ):
        assert evil != text
        manifest.write_text(evil)
        copy = published(out, tmp_path / "lost")
        assert copy is not None
        repair_folder(FolderSource(str(copy)))
        assert not list((tmp_path / "outside").iterdir())
        for link in copy.rglob("*"):
            assert not link.is_symlink() or copy in link.resolve().parents
        shutil.rmtree(copy)
