"""`tag` on datasets of a Hub of our own: the truth of each card, and nothing changed but tags."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rlconvert.address import HubAddress
from rlconvert.errors import (
    ExitCode,
    HubConflict,
    HubDenied,
    HubNotFound,
    Malformed,
    UsageError,
)
from rlconvert.files import File
from rlconvert.format import Format, get_format
from rlconvert.hub.write import Access, list_files, read_file
from rlconvert.judge import Judge, TaskVerdict, Verdict
from rlconvert.proof import checking
from rlconvert.proof.published import layout_digest
from rlconvert.proof.records import CHECKS, checks_text, record_of
from rlconvert.source import FolderSource
from rlconvert.tags import retagging
from rlconvert.tags.edit import with_tags
from rlconvert.tags.retagging import Asking, Outcome, TagRun, Wish, tag
from rlconvert.tags.review import Standing

if TYPE_CHECKING:
    from hub_fixture import Hub

pytest_plugins = ["hub_fixture"]

HELLO = Path(__file__).parents[1] / "fixtures" / "harbor" / "hello"
FILES = {
    f"tasks/hello/{path}": entry.blob.read()
    for path, entry in FolderSource(str(HELLO)).tree("")
    if isinstance(entry, File)
}
CARD = "---\nlicense: mit  # ours\ntags: {}\n---\n# Title\r\n"
LOADS = Verdict(versions={"fake": "1.0"}, python="3", tasks=(TaskVerdict("hello"),))
FAILS = replace(LOADS, tasks=(TaskVerdict("hello", "no such key"),))
ALL = ("rl-environment", "harbor", "verifiers", "openenv", "nemo-gym")


def put(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def write_records(folder: Path, **verdicts: Verdict) -> bytes:
    """The records of these verdicts on what is in the folder, written there."""
    digest = layout_digest(FolderSource(str(folder)))
    records = {
        name: record_of(verdict, digest, network_blocked=True) for name, verdict in verdicts.items()
    }
    text = checks_text(records)
    put(folder, {CHECKS: text})
    return text


def seed(
    hub: Hub, folder: Path, tags: str | None, *, stale: bool = False, **verdicts: Verdict
) -> str:
    """A dataset with these tags and the records of these verdicts; its commit."""
    files: dict[str, bytes | tuple[str, bytes]] = dict(FILES)
    if tags is not None:
        files["README.md"] = CARD.format(tags).encode()
    if verdicts:
        put(folder, FILES)
        files[CHECKS] = write_records(folder, **verdicts)
    if stale:
        files["tasks/hello/instruction.md"] = b"Do something else.\n"
    return hub.server.seed("alice/set", files)


def access(hub: Hub) -> Access:
    return Access(hub.url, hub.token)


def run(hub: Hub, wish: Wish | None = None, asking: Asking | None = None) -> TagRun:
    return tag("alice/set", wish, asking=asking, access=access(hub))


def standings(done: TagRun) -> dict[str, Standing]:
    return {each.tag: each.standing for each in done.review.tags}


def written(hub: Hub) -> list[tuple[str, str, int]]:
    return [each for each in hub.server.requests if each[0] == "POST" and "/commit/" in each[1]]


def files_at(hub: Hub, revision: str) -> Mapping[str, object]:
    files = list_files(HubAddress("alice/set", revision), access(hub))
    return {path: file.oid for path, file in files.items()}


def card_at(hub: Hub, revision: str = "main") -> bytes:
    return read_file(HubAddress("alice/set", revision), "README.md", access(hub))


# --- telling ------------------------------------------------------------------------------------


def test_true(hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, "[harbor, rl-environment]", harbor=LOADS)
    done = run(hub)
    said = standings(done)
    assert said.pop("rl-environment") is said.pop("harbor") is Standing.TRUE
    assert set(said.values()) == {Standing.NOT_EARNED}
    assert (done.exit_code, done.added, done.removed) == (ExitCode.DONE, (), ())
    assert done.review.tags[1].evidence == "fake 1.0, Python 3: 1 of 1 tasks load"
    assert not written(hub)


@pytest.mark.parametrize("tags", [None, "", "[]", "[other]", "[environment, a]"])
def test_missing(tags: str | None, hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, tags, harbor=LOADS, nemo=LOADS)
    done = run(hub)
    assert done.added == ("rl-environment", "harbor", "nemo-gym")
    assert standings(done)["openenv"] is Standing.NOT_EARNED
    assert done.exit_code is ExitCode.DONE
    assert done.review.former is (tags is not None and "environment" in tags)


def test_partial(hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, "[harbor]", harbor=LOADS, openenv=LOADS)
    assert run(hub).added == ("rl-environment", "openenv")


def test_untrue(hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, "[rl-environment, harbor, openenv]", harbor=LOADS, openenv=FAILS)
    done = run(hub)
    said = standings(done)
    assert said["openenv"] is Standing.UNTRUE
    assert said["rl-environment"] is Standing.TRUE
    assert done.exit_code is ExitCode.CHECK_FAILED
    assert "hello: no such key" in done.review.tags[3].evidence
    assert done.removed == ()


def test_all_untrue(hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, "[rl-environment, openenv]", openenv=FAILS)
    assert run(hub).review.having(Standing.UNTRUE) == ("rl-environment", "openenv")


@pytest.mark.parametrize("stale", [False, True])
def test_unproved(stale: bool, hub: Hub, tmp_path: Path) -> None:
    records = {"harbor": LOADS} if stale else {}
    seed(hub, tmp_path, "[rl-environment, harbor]", stale=stale, **records)
    done = run(hub, Wish(remove=True))
    assert done.review.having(Standing.UNPROVED) == ("rl-environment", "harbor")
    assert done.exit_code is ExitCode.NOT_VERIFIED
    assert done.removed == ()
    said = "is of other files" if stale else "no record of a check"
    assert said in done.review.tags[1].evidence


def test_an_environment_of_nobody(hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, "[rl-environment]", harbor=FAILS)
    done = run(hub)
    assert done.review.having(Standing.UNPROVED) == ("rl-environment",)
    assert "without the tag of a framework" in done.review.tags[0].evidence


def test_without_records_only_the_card_is_fetched(hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, "[harbor]")
    run(hub)
    fetched = [path for _, path, _ in hub.server.requests if "/resolve/" in path]
    assert [path.rpartition("/")[2] for path in fetched] == ["README.md"]


def test_at_a_revision(hub: Hub, tmp_path: Path) -> None:
    commit = seed(hub, tmp_path, "[harbor]", harbor=LOADS)
    seed(hub, tmp_path, "[harbor, rl-environment]", stale=True)
    assert standings(run(hub))["harbor"] is Standing.UNPROVED
    done = tag(f"alice/set@{commit}", access=access(hub))
    assert standings(done)["harbor"] is Standing.TRUE
    assert done.of == f"alice/set@{commit[:12]}"


@pytest.mark.parametrize("address", ["alice/set", "git+alice/set", "hf://datasets/alice/set"])
def test_however_it_is_fetched(address: str, hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, "[harbor, rl-environment]", harbor=LOADS)
    assert tag(address, access=access(hub)).exit_code is ExitCode.DONE


# --- changing -----------------------------------------------------------------------------------


def test_a_pull_request_changes_the_card_alone(hub: Hub, tmp_path: Path) -> None:
    commit = seed(hub, tmp_path, "[other, openenv]", harbor=LOADS, openenv=FAILS)
    done = run(hub, Wish(as_pr=True, remove=True))
    assert (done.outcome, done.exit_code) == (Outcome.PROPOSED, ExitCode.DONE)
    assert done.page == f"{hub.url}/datasets/alice/set/discussions/1"
    new = CARD.format("[other, rl-environment, harbor]").encode()
    assert card_at(hub, "refs/pr/1") == new
    before, after = files_at(hub, commit), files_at(hub, "refs/pr/1")
    assert before.keys() == after.keys()
    assert {path for path in before if before[path] != after[path]} == {"README.md"}
    assert files_at(hub, "main") == before
    (pull,) = hub.server.repo("alice/set").discussions
    assert pull.title == "Tags: add rl-environment, harbor; remove openenv"
    assert pull.status == "open"


def test_proposing_again_is_no_second_pull_request(hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, "[other]", harbor=LOADS)
    assert run(hub, Wish(as_pr=True)).outcome is Outcome.PROPOSED
    again = run(hub, Wish(as_pr=True))
    assert again.outcome is Outcome.PROPOSED_BEFORE
    assert again.page == f"{hub.url}/datasets/alice/set/discussions/1"
    assert len(hub.server.repo("alice/set").discussions) == 1


def test_untrue_tags_stay_unless_they_are_to_go(hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, "[harbor, openenv]", harbor=LOADS, openenv=FAILS)
    done = run(hub, Wish(write=True))
    assert done.exit_code is ExitCode.CHECK_FAILED
    assert card_at(hub) == CARD.format("[harbor, openenv, rl-environment]").encode()


def test_the_last_tag_takes_the_environment_with_it(hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, "[rl-environment, openenv]", openenv=FAILS)
    done = run(hub, Wish(write=True, remove=True))
    assert (done.outcome, done.exit_code) == (Outcome.WRITTEN, ExitCode.DONE)
    assert card_at(hub) == CARD.format("[]").encode()
    assert run(hub).review.having(Standing.NOT_EARNED) == ALL


def test_a_dataset_without_a_card_gets_one(hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, None, harbor=LOADS)
    run(hub, Wish(write=True))
    assert card_at(hub) == b"---\ntags:\n- rl-environment\n- harbor\n---\n"
    done = run(hub, Wish(write=True))
    assert done.outcome is Outcome.UNCHANGED
    assert len(written(hub)) == 1


def test_somebody_else_is_quicker(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed(hub, tmp_path, "[other]", harbor=LOADS)

    def late(card: bytes, *, add: Sequence[str] = (), remove: Collection[str] = ()) -> bytes:
        seed(hub, tmp_path, "[theirs]")
        return with_tags(card, add=add, remove=remove)

    monkeypatch.setattr(retagging, "with_tags", late)
    with pytest.raises(HubConflict):
        run(hub, Wish(write=True))
    assert card_at(hub) == CARD.format("[theirs]").encode()


def test_only_who_may_write_writes(hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, "[other]", harbor=LOADS)
    bob = Access(hub.url, hub.other_token)
    with pytest.raises(HubDenied):
        tag("alice/set", Wish(write=True), access=bob)
    assert tag("alice/set", Wish(as_pr=True), access=bob).outcome is Outcome.PROPOSED


def test_a_card_that_cannot_be_edited_stays(hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, "&all [a]", harbor=LOADS)
    with pytest.raises(Malformed, match="an anchor is at the tags") as caught:
        run(hub, Wish(write=True))
    assert (caught.value.file, caught.value.where) == ("README.md", "line 3")
    assert not written(hub)


# --- asking now ---------------------------------------------------------------------------------


def judged_by(monkeypatch: pytest.MonkeyPatch, **verdicts: Verdict) -> Asking:
    """Fake judges in the places of these frameworks."""

    def get(name: str) -> Format:
        judge = Judge(
            requirements=(),
            pythons=(),
            proof="",
            scripts="",
            hear=lambda _: verdicts[name],
        )
        return replace(get_format(name), judge=judge)

    monkeypatch.setattr(checking, "get_format", get)
    return Asking(using=dict.fromkeys(verdicts, sys.executable))


def test_asked_now(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seed(hub, tmp_path, "[harbor, openenv, nemo-gym]", stale=True, harbor=LOADS)
    asking = judged_by(
        monkeypatch, harbor=LOADS, openenv=FAILS, verifiers=LOADS, nemo=Verdict(faults=("no rows",))
    )
    done = run(hub, Wish(as_pr=True, remove=True), asking)
    assert done.added == ("rl-environment", "verifiers")
    assert done.removed == ("openenv", "nemo-gym")
    assert done.exit_code is ExitCode.DONE
    assert card_at(hub, "refs/pr/1") == CARD.format("[harbor, rl-environment, verifiers]").encode()
    assert files_at(hub, "main").keys() == files_at(hub, "refs/pr/1").keys()


def test_who_cannot_be_asked(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seed(hub, tmp_path, "[harbor, openenv]")
    asking = judged_by(monkeypatch, harbor=LOADS, openenv=LOADS)
    nowhere = {"harbor": sys.executable, "openenv": "/nowhere/python"}
    done = run(hub, None, replace(asking, frameworks=["harbor", "openenv"], using=nowhere))
    assert standings(done)["harbor"] is Standing.TRUE
    assert standings(done)["openenv"] is Standing.UNPROVED
    assert "/nowhere/python is no program" in done.review.tags[3].evidence
    assert done.exit_code is ExitCode.JUDGE_MISSING


# --- a folder, and the command line -------------------------------------------------------------


def test_a_folder(tmp_path: Path) -> None:
    put(tmp_path, FILES)
    (tmp_path / "README.md").write_bytes(CARD.format("[nemo-gym]").encode())
    write_records(tmp_path, harbor=LOADS, nemo=FAILS)
    before = FolderSource(str(tmp_path)).tree("").without("README.md")
    done = tag(str(tmp_path), Wish(write=True, remove=True))
    assert done.outcome is Outcome.WRITTEN
    new = CARD.format("[rl-environment, harbor]").encode()
    assert (tmp_path / "README.md").read_bytes() == new
    assert FolderSource(str(tmp_path)).tree("").without("README.md") == before
    again = tag(str(tmp_path), Wish(write=True, remove=True))
    assert (again.outcome, again.exit_code) == (Outcome.UNCHANGED, ExitCode.DONE)


def test_a_folder_is_not_asked_about(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="rlconvert check"):
        tag(str(tmp_path), asking=Asking())


@pytest.mark.parametrize(
    ("address", "wish"),
    [
        ("alice/set", Wish(write=True, as_pr=True)),
        ("alice/set@dev", Wish(as_pr=True)),
        ("alice/set@" + "0" * 40, Wish(write=True)),
        ("hf://datasets/alice/set/tasks", Wish()),
        ("./nowhere", Wish()),
        (str(HELLO), Wish(as_pr=True)),
    ],
)
def test_what_cannot_be(address: str, wish: Wish, hub: Hub) -> None:
    with pytest.raises(UsageError):
        tag(address, wish, access=access(hub))
    assert not hub.server.requests


def test_no_such_dataset(hub: Hub) -> None:
    with pytest.raises(HubNotFound):
        run(hub)


def rlconvert(hub: Hub, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sysconfig.get_path("scripts"), "rlconvert")), "tag", *arguments],
        env={**os.environ, **hub.env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command(hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, "[environment, openenv]", harbor=LOADS, openenv=FAILS)
    told = rlconvert(hub, "alice/set", "--json")
    assert told.returncode == 50
    facts = json.loads(told.stdout)
    assert (facts["add"], facts["remove"]) == (["rl-environment", "harbor"], [])
    assert (facts["outcome"], facts["former_tag"]) == ("told", True)
    assert facts["tags"]["openenv"]["standing"] == "untrue"
    done = rlconvert(hub, "alice/set", "--pr", "--remove")
    assert done.returncode == 0, done.stderr
    assert f"Proposed: {hub.url}/datasets/alice/set/discussions/1" in done.stdout
    assert "which rl-environment was called before" in done.stdout
    assert done.stderr == "rlconvert: comparing alice/set with its records\n"
    new = CARD.format("[environment, rl-environment, harbor]").encode()
    assert card_at(hub, "refs/pr/1") == new
