"""The server of the tests, against the unmodified ``huggingface_hub`` client and ``git``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from huggingface_hub import (
    CommitOperationAdd,
    CommitOperationDelete,
    HfApi,
    snapshot_download,  # pyright: ignore[reportUnknownVariableType]
)
from huggingface_hub.errors import (
    BadRequestError,
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from hubserver import HubServer

if TYPE_CHECKING:
    from hub_fixture import Hub

pytest_plugins = ["hub_fixture"]

REPO = "alice/envs"
ALICE = "hf_alice"
CARD = b"---\nlicense: apache-2.0\ntags:\n- rl-environment\n- harbor\n---\n\n# Tasks\n"


def api(hub: Hub, token: str | bool | None = None) -> HfApi:
    return HfApi(endpoint=hub.url, token=hub.token if token is None else token)


def commit(hub: Hub, files: dict[str, bytes], parent: str | None = None) -> str:
    operations = [CommitOperationAdd(path, data) for path, data in files.items()]
    info = api(hub).create_commit(
        REPO,
        operations,
        commit_message="Add",
        repo_type="dataset",
        parent_commit=parent,
    )
    return str(info.oid)


def download(
    hub: Hub,
    folder: Path,
    *,
    revision: str | None = None,
    token: str | bool = ALICE,
    allow: str | None = None,
) -> dict[str, bytes]:
    snapshot_download(
        REPO,
        repo_type="dataset",
        endpoint=hub.url,
        local_dir=folder,
        revision=revision,
        token=token,
        allow_patterns=allow,
    )
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".cache" not in path.parts
    }


def python(hub: Hub, code: str, *args: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        env=hub.env | env,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_accounts_and_repositories(hub: Hub) -> None:
    alice = api(hub)
    assert alice.whoami()["name"] == "alice"  # pyright: ignore[reportUnknownMemberType]
    alice.create_repo(REPO, repo_type="dataset")
    with pytest.raises(HfHubHTTPError) as caught:
        alice.create_repo(REPO, repo_type="dataset")
    assert caught.value.response.status_code == 409
    alice.create_repo(REPO, repo_type="dataset", exist_ok=True)
    with pytest.raises(HfHubHTTPError) as caught:
        api(hub, hub.other_token).create_repo("alice/other", repo_type="dataset")
    assert caught.value.response.status_code == 403
    alice.delete_repo(REPO, repo_type="dataset")
    assert not alice.repo_exists(REPO, repo_type="dataset")


def test_commits_come_back_byte_for_byte(hub: Hub, tmp_path: Path) -> None:
    files = {
        "README.md": CARD,
        "tasks/a/instruction.md": b"one\r\ntwo",
        "tasks/a/naïve #1?&+ 'q'.txt": b"odd name",
        "tasks/a/empty": b"",
    }
    hub.server.seed(REPO, {})
    first = commit(hub, files)
    second = commit(hub, {"tasks/b/new.txt": b"new"}, parent=first)
    assert second != first
    assert download(hub, tmp_path / "new").items() >= files.items()
    old = download(hub, tmp_path / "old", revision=first)
    assert "tasks/b/new.txt" not in old
    only = download(hub, tmp_path / "some", allow="tasks/b/**")
    assert only == {"tasks/b/new.txt": b"new"}
    with pytest.raises(HfHubHTTPError) as caught:
        commit(hub, {"late.txt": b"x"}, parent=first)
    assert caught.value.response.status_code == 412
    assert commit(hub, {"tasks/b/new.txt": b"new"}) == second, "nothing changed, no commit"


def test_delete_branches_tags_and_history(hub: Hub) -> None:
    first = hub.server.seed(REPO, {"a.txt": b"a", "tasks/t/x": b"x"})
    alice = api(hub)
    alice.create_tag(REPO, tag="v1", repo_type="dataset", revision=first)
    alice.create_branch(REPO, branch="feat/x", repo_type="dataset")
    alice.create_commit(
        REPO,
        [CommitOperationDelete("tasks/", is_folder=True)],
        commit_message="Remove",
        repo_type="dataset",
        revision="feat/x",
    )
    refs = alice.list_repo_refs(REPO, repo_type="dataset")
    assert {ref.name for ref in refs.branches} == {"main", "feat/x"}
    assert [ref.target_commit for ref in refs.tags] == [first]
    left = alice.list_repo_files(REPO, repo_type="dataset", revision="feat/x")
    assert left == [".gitattributes", "a.txt"]
    titles = [c.title for c in alice.list_repo_commits(REPO, repo_type="dataset")]
    assert titles == ["Seed", "initial commit"]


def test_upload_folder_with_lfs(hub: Hub, tmp_path: Path) -> None:
    folder = tmp_path / "up"
    (folder / "data").mkdir(parents=True)
    (folder / "README.md").write_bytes(CARD)
    (folder / "data" / "x.parquet").write_bytes(b"PAR1" + os.urandom(5000))
    (folder / "data" / "nul.dat").write_bytes(b"a\0b")
    (folder / "data" / "big.txt").write_bytes(b"line\n" * 2_200_000)
    hub.server.seed(REPO, {})
    python(
        hub,
        "import sys\n"
        "from huggingface_hub import HfApi\n"
        "repo_id, folder_path = sys.argv[1:]\n"
        "HfApi().upload_folder(repo_id=repo_id, repo_type='dataset', folder_path=folder_path)",
        REPO,
        str(folder),
    )
    head = hub.server.repo(REPO).resolve("main")
    listed = {entry.path: entry.lfs for entry in hub.server.repo(REPO).entries(head)}
    assert listed["README.md"] is None
    assert all(listed[f"data/{name}"] for name in ("x.parquet", "nul.dat", "big.txt"))
    back = download(hub, tmp_path / "down")
    for path in folder.rglob("*"):
        if path.is_file():
            assert back[path.relative_to(folder).as_posix()] == path.read_bytes()


def test_listing_by_tag(hub: Hub) -> None:
    hub.server.seed(REPO, {"README.md": CARD})
    hub.server.seed("bob/plain", {"README.md": b"no card\n"})
    found = api(hub).list_datasets(filter=["rl-environment", "harbor"])
    assert [info.id for info in found] == [REPO]
    assert not list(api(hub).list_datasets(filter="openenv"))


def test_a_card_is_validated(hub: Hub) -> None:
    hub.server.seed(REPO, {})
    with pytest.raises(ValueError, match="Invalid metadata"):
        commit(hub, {"README.md": b"---\ntags: harbor\n---\n"})


def test_pull_requests(hub: Hub) -> None:
    base = hub.server.seed(REPO, {"README.md": CARD})
    bob = api(hub, hub.other_token)
    add = [CommitOperationAdd("new.txt", b"new")]
    with pytest.raises(HfHubHTTPError) as caught:
        bob.create_commit(REPO, add, commit_message="Push", repo_type="dataset")
    assert caught.value.response.status_code == 403
    made = bob.create_commit(
        REPO, add, commit_message="Offer", repo_type="dataset", create_pr=True, parent_commit=base
    )
    assert made.pr_num == 1
    shown = api(hub).get_discussion_details(REPO, 1, repo_type="dataset")
    assert (shown.status, shown.title, shown.is_pull_request) == ("open", "Offer", True)
    assert shown.diff is not None
    assert "+new" in shown.diff
    api(hub).merge_pull_request(REPO, 1, repo_type="dataset")
    assert hub.server.repo(REPO).resolve("main") == made.oid


def test_folder_limit_leaves_nothing(tmp_path: Path) -> None:
    with HubServer(tmp_path, max_entries_per_dir=3) as server:
        head = server.seed(REPO, {})
        client = HfApi(endpoint=server.url, token="hf_test")
        adds = [CommitOperationAdd(f"tasks/{n}", b"x") for n in range(4)]
        with pytest.raises(BadRequestError, match="too many files per directory"):
            client.create_commit(REPO, adds, commit_message="Add", repo_type="dataset")
        assert server.repo(REPO).resolve("main") == head


def test_listing_in_pages(tmp_path: Path) -> None:
    with HubServer(tmp_path, page_size=3) as server:
        server.seed(REPO, {f"f{n:02}": b"x" for n in range(10)})
        files = HfApi(endpoint=server.url).list_repo_files(REPO, repo_type="dataset")
        assert len(files) == 11


def test_private_gated_and_missing(hub: Hub, tmp_path: Path) -> None:
    hub.server.seed(REPO, {"a.txt": b"a"})
    repo = hub.server.repo(REPO)
    repo.private = True
    for token in (hub.other_token, False):
        with pytest.raises(RepositoryNotFoundError):
            download(hub, tmp_path / f"private-{token}", token=token)
    assert download(hub, tmp_path / "mine")["a.txt"] == b"a"
    repo.private, repo.gated = False, True
    for token in (hub.other_token, False):
        with pytest.raises(GatedRepoError):
            download(hub, tmp_path / f"gated-{token}", token=token)
    repo.gated = False
    with pytest.raises(RevisionNotFoundError):
        download(hub, tmp_path / "revision", revision="no-such-branch")
    with pytest.raises(RepositoryNotFoundError):
        api(hub).repo_info("alice/nothing", repo_type="dataset")


def test_injected_failures(hub: Hub, tmp_path: Path) -> None:
    hub.server.seed(REPO, {"a.txt": b"a"})
    hub.server.fail_next.append(("/revision/", 429, {}))
    with pytest.raises(FileNotFoundError):
        download(hub, tmp_path / "info")
    hub.server.fail_next.append(("/resolve/", 429, {"RateLimit": '"resolvers";r=0;t=0'}))
    assert download(hub, tmp_path / "retried")["a.txt"] == b"a"
    assert not hub.server.fail_next
    assert 429 in [status for _, _, status in hub.server.requests]


def test_offline_reuse(hub: Hub) -> None:
    head = hub.server.seed(REPO, {"a.txt": b"a"})
    code = (
        "from huggingface_hub import snapshot_download as get\n"
        f"print(get({REPO!r}, repo_type='dataset', revision={head!r}))"
    )
    there = python(hub, code)
    before = len(hub.server.requests)
    assert python(hub, code, HF_HUB_OFFLINE="1") == there
    assert len(hub.server.requests) == before


def test_modes_and_links_over_http_and_git(hub: Hub, tmp_path: Path) -> None:
    hub.server.seed(
        REPO, {"run.sh": ("100755", b"#!/bin/sh\n"), "link": ("120000", b"run.sh"), "a": b"a"}
    )
    over_http = tmp_path / "http"
    download(hub, over_http)
    assert not os.access(over_http / "run.sh", os.X_OK)
    assert not (over_http / "link").is_symlink()
    assert (over_http / "link").read_bytes() == b"run.sh"
    over_git = tmp_path / "git"
    address = f"https://huggingface.co/datasets/{REPO}"
    subprocess.run(["git", "clone", "-q", address, str(over_git)], env=hub.env, check=True)
    assert os.access(over_git / "run.sh", os.X_OK)
    assert (over_git / "link").readlink() == Path("run.sh")


def test_git_push(hub: Hub, tmp_path: Path) -> None:
    hub.server.seed(REPO, {"a.txt": b"a"})
    work = tmp_path / "work"
    for args in (
        ["clone", "-q", f"{hub.url}/datasets/{REPO}", str(work)],
        ["-C", str(work), "commit", "-q", "--allow-empty", "-m", "From git"],
        ["-C", str(work), "push", "-q"],
    ):
        subprocess.run(["git", *args], env=hub.env, check=True)
    assert api(hub).list_repo_commits(REPO, repo_type="dataset")[0].title == "From git"
