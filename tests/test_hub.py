"""Snapshots, from the Hub of the tests."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rlconvert import errors
from rlconvert.hub.snapshots import HubAddress, Snapshot, fetch_dataset

if TYPE_CHECKING:
    from hub_fixture import Hub

pytest_plugins = ["hub_fixture"]

REPO = "alice/envs"
HERE = HubAddress(REPO)
FILES = {
    "README.md": b"---\ntags: [harbor]\n---\n",
    "tasks/a/instruction.md": b"one\r\n",
    "tasks/a/empty": b"",
    "tasks/b/instruction.md": b"two",
    "tasks/[c]/naïve #1?.txt": b"three",
}


def fetch(
    hub: Hub,
    dest: Path,
    address: HubAddress = HERE,
    *,
    allow: list[str] | None = None,
    token: str | bool | None = None,
) -> Snapshot:
    token = hub.token if token is None else token
    return fetch_dataset(address, dest=dest, allow=allow, endpoint=hub.url, token=token)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if not path.is_dir()
    }


def test_everything_comes_at_one_commit(hub: Hub, tmp_path: Path) -> None:
    head = hub.server.seed(REPO, FILES)
    got = fetch(hub, tmp_path / "out")
    assert got == Snapshot(REPO, head, tmp_path / "out", date=got.date)
    assert got.date is not None
    assert date.fromisoformat(got.date).year >= 2026
    assert {k: v for k, v in contents(got.folder).items() if k != ".gitattributes"} == FILES
    assert not any(path.is_symlink() for path in got.folder.rglob("*"))
    paths = [path for _, path, _ in hub.server.requests]
    named = [path for path in paths if "/main" in path]
    assert len(named) <= 1, "the branch is asked for once, the rest names the commit"
    assert all(head in path for path in paths if "/tree/" in path or "/resolve/" in path)


@pytest.mark.parametrize("form", ["branch", "tag", "commit", "pull request"])
def test_revisions(hub: Hub, tmp_path: Path, form: str) -> None:
    old = hub.server.seed(REPO, {"a.txt": b"old"})
    hub.server.seed(REPO, {"a.txt": b"new"})
    names = {"branch": "feat/x", "tag": "v1.0", "commit": old, "pull request": "refs/pr/1"}
    refs = {"branch": "refs/heads/feat/x", "tag": "refs/tags/v1.0", "pull request": "refs/pr/1"}
    if form in refs:
        hub.server.repo(REPO).git("update-ref", refs[form], old)
    got = fetch(hub, tmp_path / "out", HubAddress(REPO, names[form]))
    assert got.commit == old
    assert contents(got.folder)["a.txt"] == b"old"


@pytest.mark.parametrize(
    ("path", "allow", "expected"),
    [
        ("tasks/a", None, {"tasks/a/instruction.md", "tasks/a/empty"}),
        ("tasks/[c]", None, {"tasks/[c]/naïve #1?.txt"}),
        ("tasks/a/empty", None, {"tasks/a/empty"}),
        ("", ["tasks/*/instruction.md"], {"tasks/a/instruction.md", "tasks/b/instruction.md"}),
        ("tasks", ["b/*"], {"tasks/b/instruction.md"}),
    ],
)
def test_a_part_keeps_its_place(
    hub: Hub, tmp_path: Path, path: str, allow: list[str] | None, expected: set[str]
) -> None:
    hub.server.seed(REPO, FILES)
    got = fetch(hub, tmp_path / "out", HubAddress(REPO, path=path), allow=allow)
    assert set(contents(got.folder)) == expected


def test_large_files_and_links(hub: Hub, tmp_path: Path) -> None:
    data = os.urandom(20_000)
    hub.server.seed(
        REPO,
        {
            "data/x.parquet": hub.server.lfs_pointer(data),
            "run.sh": ("100755", b"#!/bin/sh\n"),
            "link": ("120000", b"/etc/passwd"),
        },
    )
    got = fetch(hub, tmp_path / "out")
    assert (got.folder / "data/x.parquet").read_bytes() == data
    assert (got.folder / "link").read_bytes() == b"/etc/passwd"
    assert not (got.folder / "link").is_symlink()
    assert not os.access(got.folder / "run.sh", os.X_OK)


def test_bookkeeping_of_the_repo_stays_away(hub: Hub, tmp_path: Path) -> None:
    hub.server.seed(REPO, {"a": b"a", ".cache/huggingface/trees/x.json": b"{}", "b/.cache/c": b"c"})
    assert set(contents(fetch(hub, tmp_path / "out").folder)) == {
        ".gitattributes",
        "a",
        "b/.cache/c",
    }


def test_an_empty_folder_is_used_and_a_full_one_refused(hub: Hub, tmp_path: Path) -> None:
    hub.server.seed(REPO, FILES)
    fetch(hub, tmp_path)
    with pytest.raises(errors.OutputExists):
        fetch(hub, tmp_path)
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(errors.OutputExists):
        fetch(hub, tmp_path / "file")


Break = Callable[["Hub", pytest.MonkeyPatch], None]


def fail(needle: str, status: int, times: int = 1) -> Break:
    def apply(hub: Hub, _: pytest.MonkeyPatch) -> None:
        hub.server.fail_next += [(needle, status, {})] * times

    return apply


def gate(hub: Hub, _: pytest.MonkeyPatch) -> None:
    hub.server.repo(REPO).gated = True


def hide(hub: Hub, _: pytest.MonkeyPatch) -> None:
    hub.server.repo(REPO).private = True


def stop(hub: Hub, _: pytest.MonkeyPatch) -> None:
    hub.server.stop()


def fill_disk(_: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("huggingface_hub.file_download.http_get", full)


def talk_nonsense(_: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(*_: object, **__: object) -> None:
        json.loads("<html>please log in</html>")

    monkeypatch.setattr("huggingface_hub.HfApi.repo_info", answer)


@pytest.mark.parametrize(
    ("broken", "token", "kind", "reason"),
    [
        (gate, "hf_bob", errors.HubDenied, "gated"),
        (gate, False, errors.HubDenied, "gated"),
        (hide, "hf_bob", errors.HubNotFound, "repo-not-found"),
        (hide, False, errors.HubNotFound, "repo-not-found"),
        (fail("/api/", 401), "hf_bob", errors.HubDenied, "bad-token"),
        (fail("/nothing/", 500), "hf_wrong", errors.HubDenied, "bad-token"),
        (fail("/nothing/", 500), True, errors.HubDenied, "no-token"),
        (fail("/api/", 403), None, errors.HubDenied, "forbidden"),
        (fail("/api/", 418), None, errors.HubError, "hub-status"),
        (fail("/api/", 429), None, errors.HubUnavailable, "rate-limit"),
        (fail("/api/", 503), None, errors.HubUnavailable, "hub-down"),
        (fail("/resolve/", 404), None, errors.HubError, "hub-status"),
        (stop, None, errors.HubUnavailable, "network"),
        (fill_disk, None, errors.WriteError, "disk-full"),
        (talk_nonsense, None, errors.HubError, "hub-answer"),
    ],
)
def test_each_failure_is_one_sentence_and_one_remedy(
    hub: Hub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    broken: Break,
    token: str | bool | None,
    kind: type[errors.RlconvertError],
    reason: str,
) -> None:
    hub.server.seed(REPO, FILES)
    broken(hub, monkeypatch)
    with pytest.raises(kind) as caught:
        fetch(hub, tmp_path / "out", token=token)
    assert type(caught.value) is kind
    assert caught.value.reason == reason
    assert caught.value.remedy
    assert "\n" not in str(caught.value)
    assert "hf_" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_what_is_not_there(hub: Hub, tmp_path: Path) -> None:
    hub.server.seed(REPO, FILES)
    for address, allow, reason in (
        (HubAddress("alice/other"), None, "repo-not-found"),
        (HubAddress(REPO, "no-such-branch"), None, "revision-not-found"),
        (HubAddress(REPO, "0" * 40), None, "revision-not-found"),
        (HubAddress(REPO, path="Tasks/a"), None, "path-not-found"),
        (HERE, ["nothing/*"], "path-not-found"),
    ):
        with pytest.raises(errors.HubNotFound) as caught:
            fetch(hub, tmp_path, address, allow=allow)
        assert caught.value.reason == reason
        assert not list(tmp_path.iterdir())


def test_an_empty_dataset_is_no_error(hub: Hub, tmp_path: Path) -> None:
    hub.server.seed(REPO, {})
    assert set(contents(fetch(hub, tmp_path / "out").folder)) == {".gitattributes"}


def test_an_interrupted_download_leaves_nothing(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.server.seed(REPO, FILES)

    def interrupt(*_: object, **__: object) -> None:
        (tmp_path / "half").mkdir()
        (tmp_path / "half" / "file").write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr("huggingface_hub.snapshot_download", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch(hub, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made(hub: Hub, tmp_path: Path) -> None:
    hub.server.seed(REPO, FILES)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(errors.WriteError) as caught:
        fetch(hub, tmp_path / "file" / "out")
    assert caught.value.reason == "download-not-writable"


SCRIPT = """
import sys
from pathlib import Path
from rlconvert.errors import RlconvertError
from rlconvert.hub.snapshots import HubAddress, fetch_dataset
try:
    print(fetch_dataset(HubAddress(sys.argv[1]), dest=Path(sys.argv[2])).commit)
except RlconvertError as error:
    print(type(error).__name__, error.reason)
"""


def run(hub: Hub, dest: Path, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, REPO, str(dest)],
        env=hub.env | env,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert not done.stderr
    return done.stdout.strip()


def test_the_environment_decides_where_nothing_else_does(hub: Hub, tmp_path: Path) -> None:
    head = hub.server.seed(REPO, FILES)
    hub.server.repo(REPO).private = True
    assert run(hub, tmp_path / "mine") == head
    assert run(hub, tmp_path / "offline", HF_HUB_OFFLINE="1") == "HubUnavailable offline"


def test_importing_is_cheap() -> None:
    code = "import sys, rlconvert.hub; print('huggingface_hub' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
