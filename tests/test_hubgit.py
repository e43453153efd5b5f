"""Snapshots by git, from the Hub of the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rlconvert import errors
from rlconvert.hub.git import clone_dataset
from rlconvert.hub.snapshots import HubAddress, Snapshot, fetch_dataset
from rlconvert.opening import open_source

if TYPE_CHECKING:
    from hub_fixture import Hub

pytest_plugins = ["hub_fixture"]

REPO = "alice/envs"
HERE = HubAddress(REPO)
HOSTILE = b"* text eol=crlf ident\n*.txt working-tree-encoding=UTF-16 filter=evil\n"
"""What would have git write other bytes than the commit has, and start a program."""


def clone(
    hub: Hub, dest: Path, address: HubAddress = HERE, *, token: str | bool | None = None
) -> Snapshot:
    token = hub.token if token is None else token
    return clone_dataset(address, dest=dest, endpoint=hub.url, token=token)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def test_the_very_bytes_modes_and_links(hub: Hub, tmp_path: Path) -> None:
    data = os.urandom(20_000)
    head = hub.server.seed(
        REPO,
        {
            ".gitattributes": HOSTILE,
            "a.txt": b"$Id$\none\ntwo\r\n",
            "run.sh": ("100755", b"#!/bin/sh\n"),
            "plain.sh": b"#!/bin/sh\n",
            "link": ("120000", b"run.sh"),
            "large/x.bin": hub.server.lfs_pointer(data),
        },
    )
    got = clone(hub, tmp_path / "out")
    assert got == Snapshot(REPO, head, tmp_path / "out", date=got.date, has_modes=True)
    assert contents(got.folder) == {
        ".gitattributes": HOSTILE,
        "a.txt": b"$Id$\none\ntwo\r\n",
        "run.sh": b"#!/bin/sh\n",
        "plain.sh": b"#!/bin/sh\n",
        "large/x.bin": data,
    }
    assert os.access(got.folder / "run.sh", os.X_OK)
    assert not os.access(got.folder / "plain.sh", os.X_OK)
    assert (got.folder / "link").readlink() == Path("run.sh")


def test_it_is_what_comes_over_http(hub: Hub, tmp_path: Path) -> None:
    hub.server.seed(REPO, {f"tasks/t{n}/naïve #{n}?.md": str(n).encode() for n in range(50)})
    by_git, by_http = clone(hub, tmp_path / "git"), tmp_path / "http"
    fetch_dataset(HERE, dest=by_http, endpoint=hub.url, token=hub.token)
    assert contents(by_git.folder) == contents(by_http)
    assert not by_git.has_modes, "who writes over HTTP cannot say which files are programs"


def test_one_fetch_brings_all(hub: Hub, tmp_path: Path) -> None:
    hub.server.seed(REPO, {f"tasks/t{n}/a.md": b"x" for n in range(300)})
    before = len(hub.server.requests)
    clone(hub, tmp_path / "out")
    assert len(hub.server.requests) - before < 8


def test_an_older_revision(hub: Hub, tmp_path: Path) -> None:
    old = hub.server.seed(REPO, {"a.txt": b"old"})
    hub.server.seed(REPO, {"a.txt": b"new"})
    for number, revision in enumerate((old, "refs/pr/1")):
        hub.server.repo(REPO).git("update-ref", "refs/pr/1", old)
        got = clone(hub, tmp_path / str(number), HubAddress(REPO, revision))
        assert (got.commit, contents(got.folder)["a.txt"]) == (old, b"old")


def test_a_private_repo_needs_the_token(hub: Hub, tmp_path: Path) -> None:
    hub.server.seed(REPO, {"a.txt": b"a"})
    hub.server.repo(REPO).private = True
    assert contents(clone(hub, tmp_path / "mine").folder)["a.txt"] == b"a"
    with pytest.raises(errors.HubNotFound):
        clone(hub, tmp_path / "theirs", token=False)
    assert not (tmp_path / "theirs").exists()


def test_submodules_are_refused(hub: Hub, tmp_path: Path) -> None:
    head = hub.server.seed(REPO, {"a.txt": b"a"})
    repo = hub.server.repo(REPO)
    listed = repo.git("ls-tree", head) + f"160000 commit {head}\tinner\n".encode()
    tree = repo.git("mktree", stdin=listed).decode().strip()
    commit = repo.git(
        "-c", "user.name=a", "-c", "user.email=a@b.c", "commit-tree", "-m", "x", tree
    )  # fmt: skip
    repo.git("update-ref", "refs/heads/main", commit.decode().strip())
    with pytest.raises(errors.Malformed, match="submodule") as caught:
        clone(hub, tmp_path / "out")
    assert caught.value.file == "inner"
    assert not (tmp_path / "out").exists()


def test_what_lfs_does_not_have_is_refused(hub: Hub, tmp_path: Path) -> None:
    """A pointer that stands for nothing is never content; nor does it stay behind."""
    hub.server.seed(REPO, {"a.txt": b"a", "x.bin": hub.server.lfs_pointer(b"gone" * 99)})
    hub.server.fail_next += [("/resolve/", 404, {"X-Error-Code": "EntryNotFound"})] * 9
    with pytest.raises(errors.HubError) as caught:
        clone(hub, tmp_path / "out")
    assert caught.value.remedy
    assert not (tmp_path / "out").exists()


def test_without_git(hub: Hub, tmp_path: Path) -> None:
    hub.server.seed(REPO, {"task.toml": b""})
    run = subprocess.run(
        [sys.executable, "-m", "rlconvert", "inspect", f"git+{REPO}"],
        env={**hub.env, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == errors.ExitCode.HUB
    assert "git cannot be started" in run.stderr
    assert "Install git" in run.stderr


def test_a_cut_connection_leaves_nothing(hub: Hub, tmp_path: Path) -> None:
    hub.server.seed(REPO, {"a.txt": b"a"})
    hub.server.fail_next += [("info/refs", 500, {})] * 4
    with pytest.raises(errors.HubUnavailable, match="git could not get it"):
        clone(hub, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_as_a_source(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.server.seed(REPO, {"run.sh": ("100755", b"#!/bin/sh\n"), "plain.sh": b"#!/bin/sh\n"})
    for name, value in hub.env.items():
        if name.startswith("HF_"):
            monkeypatch.setenv(name, value)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
    with open_source(f"git+{REPO}") as source:
        tree = source.tree("")
        assert source.origin.repo == REPO
        assert not source.origin.modes_inferred
    assert [path for path, entry in tree if getattr(entry, "executable", False)] == ["run.sh"]


@pytest.mark.parametrize("address", ["git+./here", "git+https://example.org/a/b", "git+nothing"])
def test_what_git_cannot_fetch(address: str) -> None:
    with pytest.raises(errors.UsageError), open_source(address):
        pass
