"""What `tag` fetches of a dataset to know whether its records count: nothing that is large."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rlconvert.address import HubAddress
from rlconvert.errors import TooBig
from rlconvert.hub.git import clone_dataset
from rlconvert.hub.snapshots import fetch_dataset
from rlconvert.hub.write import Access, find_dataset, list_files
from rlconvert.judge import TaskVerdict, Verdict
from rlconvert.proof.published import layout_digest
from rlconvert.proof.records import CHECKS, checks_text, record_of
from rlconvert.source import FolderSource
from rlconvert.tags import remote, retagging
from rlconvert.tags.remote import remote_digest
from rlconvert.tags.retagging import tag
from rlconvert.tags.review import Standing

if TYPE_CHECKING:
    from hub_fixture import Hub

pytest_plugins = ["hub_fixture"]

REPO = "alice/set"
Files = dict[str, bytes | tuple[str, bytes]]
LOADS = Verdict(versions={"fake": "1.0"}, python="3", tasks=(TaskVerdict("a"),))
LFS_ALONE = b"*.bin filter=lfs diff=lfs merge=lfs -text\n"
NAMES = (
    "tasks/a/task.toml",
    "tasks/a/naïve #1?.txt",
    "tasks/a/data.bin",
    "tasks/b-b/x",
    "tasks/b/x",
    "README.md",
    "eval.yaml",
    "eval.yaml/below",
    "sub/README.md",
    ".rlconvert/manifest.jsonl",
    ".cache/huggingface/x",
    ".git.keep",
    ".gitattributes",
    "sub/.gitattributes",
    "link",
    "sub/link",
)
ATTRIBUTES = (
    b"",
    LFS_ALONE,
    b"# mine\n\n" + LFS_ALONE,
    b"* text\n",
    LFS_ALONE + b"* text=auto\r\n",
)


def generated(hub: Hub, seed: int) -> Files:
    """A repo: any of these names, small or large, an attributes file or none, links of any kind."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    files: Files = {}
    for name in rng.sample(NAMES, rng.randint(6, len(NAMES))):
        if any(f"{other}/".startswith(f"{name}/") or f"{name}/".startswith(f"{other}/")
               for other in files):  # fmt: skip
            continue
        data = rng.randbytes(rng.randint(0, 40))
        if name == ".gitattributes":
            data = rng.choice(ATTRIBUTES)
        if name.endswith("link"):
            target = rng.choice(
                [b"tasks/b/x", b"../tasks/a/data.bin", b"nowhere", b"tasks", b"/etc"]
            )
            files[name] = ("120000", target)
        elif rng.random() < 0.4:
            files[name] = hub.server.lfs_pointer(data)
        else:
            files[name] = ("100755", data) if rng.random() < 0.3 else data
    return files


def access(hub: Hub) -> Access:
    return Access(hub.url, hub.token)


def pinned(hub: Hub) -> HubAddress:
    dataset = find_dataset(HubAddress(REPO), access(hub))
    assert dataset is not None
    return HubAddress(REPO, dataset.commit)


@pytest.mark.parametrize("by_git", [False, True])
def test_the_digest_is_that_of_all_the_files(by_git: bool, hub: Hub, tmp_path: Path) -> None:
    fetch = clone_dataset if by_git else fetch_dataset
    found = set()
    for seed in range(5 if by_git else 8):
        hub.server.repos.clear()
        folder = tmp_path / str(seed)
        hub.server.root = folder / "server"
        (hub.server.root / "lfs").mkdir(parents=True)
        hub.server.seed(REPO, generated(hub, seed))
        place = pinned(hub)
        fetch(place, dest=folder / "all", endpoint=hub.url, token=hub.token)
        whole = layout_digest(FolderSource(str(folder / "all")))
        listed = list_files(place, access(hub))
        assert remote_digest(place, listed, access(hub), by_git=by_git) == whole, seed
        found.add(whole)
    assert len(found) > 4


def sent(hub: Hub) -> list[str]:
    """What was fetched, of files and of large ones, by path."""
    paths = [path for _, path, status in hub.server.requests if status in (200, 302)]
    return [path for path in paths if "/resolve/" in path or "/_lfs/" in path]


@pytest.mark.parametrize("address", [REPO, f"git+{REPO}"])
def test_nothing_large_is_fetched(address: str, hub: Hub, tmp_path: Path) -> None:
    """By the log of the server; the record counts all the same, and does not where one differs."""
    large = [b"\0large" * 1000, b"\0larger" * 1000]
    local = tmp_path / "local"
    files: Files = {
        "tasks/a/task.toml": b"",
        "tasks/a/data.bin": large[0],
        "tables/x.parquet": large[1],
    }
    for path, data in files.items():
        (local / path).parent.mkdir(parents=True, exist_ok=True)
        (local / path).write_bytes(data if isinstance(data, bytes) else data[1])
    digest = layout_digest(FolderSource(str(local)))
    record = record_of(LOADS, digest, network_blocked=True)
    files |= {
        path: hub.server.lfs_pointer(data)
        for path, data in zip(list(files)[1:], large, strict=True)
    }
    files |= {
        CHECKS: checks_text({"harbor": record}),
        ".rlconvert/native-0001.pack": b"not needed",
        "README.md": b"---\ntags: [harbor, rl-environment]\n---\n",
    }
    hub.server.seed(REPO, files)
    done = tag(address, access=access(hub))
    assert done.review.having(Standing.TRUE) == ("rl-environment", "harbor")
    assert not [path for path in sent(hub) if "/_lfs/" in path or "pack" in path]
    assert not [path for path in sent(hub) if "data.bin" in path or "parquet" in path]
    hub.server.seed(REPO, {"tables/x.parquet": hub.server.lfs_pointer(b"other")})
    assert tag(address, access=access(hub)).review.having(Standing.UNPROVED)
    assert not [path for path in sent(hub) if "/_lfs/" in path]


def test_a_record_of_nothing_needs_no_files(hub: Hub) -> None:
    hub.server.seed(REPO, {CHECKS: checks_text({}), "tasks/a/task.toml": b""})
    tag(REPO, access=access(hub))
    assert [path.rpartition("/")[2] for path in sent(hub)] == ["checks.json"]


def test_the_records_and_the_rules_may_be_large_files(hub: Hub, tmp_path: Path) -> None:
    """A repo may keep whatever it likes in LFS; that of these two is read."""
    (tmp_path / "x").write_bytes(b"1")
    digest = layout_digest(FolderSource(str(tmp_path)))
    records = checks_text({"harbor": record_of(LOADS, digest, network_blocked=True)})
    files = {CHECKS: records, ".gitattributes": LFS_ALONE}
    hub.server.seed(REPO, {"x": b"1"} | {p: hub.server.lfs_pointer(d) for p, d in files.items()})
    assert tag(REPO, access=access(hub)).added == ("rl-environment", "harbor")


@pytest.mark.parametrize("path", ["README.md", CHECKS, ".gitattributes"])
def test_what_is_read_whole_has_a_limit(
    path: str, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the size that is listed: nothing of it is fetched."""
    for module, name in ((retagging, "_MAX_CARD"), (remote, "_MAX_RECORDS"),
                         (remote, "_MAX_ATTRIBUTES")):  # fmt: skip
        monkeypatch.setattr(module, name, 2000)
    record = record_of(LOADS, "sha256:0", network_blocked=True)
    files: Files = {CHECKS: checks_text({"harbor": record}), path: b"#" * 2001}
    hub.server.seed(REPO, files)
    with pytest.raises(TooBig) as caught:
        tag(REPO, access=access(hub))
    assert caught.value.file == path
    assert not [sent_path for sent_path in sent(hub) if sent_path.endswith(path)]
