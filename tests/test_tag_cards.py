"""`tag` on datasets that are not as they should be: the truth of each, or why it cannot be told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hubserver import Fault
from rlconvert.errors import (
    ExitCode,
    HubConflict,
    HubDenied,
    HubError,
    HubNotFound,
    Malformed,
    NewerSchema,
    RlconvertError,
)
from rlconvert.hub.write import Access
from rlconvert.proof.records import CHECKS
from rlconvert.tags.retagging import Outcome, Wish, tag
from rlconvert.tags.review import Standing
from test_tag import (
    CARD,
    FAILS,
    LOADS,
    access,
    card_at,
    run,
    seed,
    standings,
    written,
)

if TYPE_CHECKING:
    from hub_fixture import Hub

pytest_plugins = ["hub_fixture"]

CHANGE = Wish(write=True, remove=True)


def test_every_standing_at_once(hub: Hub, tmp_path: Path) -> None:
    """Each tag by itself: one that is untrue does not make the next one so."""
    tags = "[environment, harbor, openenv, nemo-gym, Verifiers, a]"
    seed(hub, tmp_path, tags, harbor=LOADS, verifiers=LOADS, openenv=FAILS)
    done = run(hub)
    assert standings(done) == {
        "rl-environment": Standing.MISSING,
        "harbor": Standing.TRUE,
        "verifiers": Standing.MISSING,  # upper and lower case differ
        "openenv": Standing.UNTRUE,
        "nemo-gym": Standing.UNPROVED,
    }
    assert (done.review.former, done.exit_code) == (True, ExitCode.CHECK_FAILED)
    done = run(hub, CHANGE)
    assert done.exit_code is ExitCode.NOT_VERIFIED  # of nemo-gym nothing is known, still
    tags = "[environment, harbor, nemo-gym, Verifiers, a, rl-environment, verifiers]"
    assert card_at(hub) == CARD.format(tags).encode()
    assert set(standings(run(hub)).values()) == {
        Standing.TRUE,
        Standing.UNPROVED,
        Standing.NOT_EARNED,
    }


def test_an_untrue_tag_that_is_there_twice_goes_twice(hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, "[openenv, a, openenv]", openenv=FAILS)
    run(hub, CHANGE)
    assert card_at(hub) == CARD.format("[a]").encode()


def test_a_tag_that_is_one_word_and_no_list(hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, "harbor", harbor=LOADS)
    done = run(hub, CHANGE)
    assert standings(done)["harbor"] is Standing.TRUE
    assert card_at(hub) == CARD.format("\n- harbor\n- rl-environment").encode()


# --- who may read -------------------------------------------------------------------------------


def test_a_private_dataset(hub: Hub, tmp_path: Path) -> None:
    """For its owner as any other; for everybody else it is not there."""
    seed(hub, tmp_path, "[harbor, rl-environment]", harbor=LOADS)
    hub.server.repo("alice/set").private = True
    assert run(hub).exit_code is ExitCode.DONE
    for token in (hub.other_token, False):
        with pytest.raises(HubNotFound, match="or it is private"):
            tag("alice/set", access=Access(hub.url, token))


def test_a_gated_dataset(hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, "[harbor, rl-environment]", harbor=LOADS)
    hub.server.repo("alice/set").gated = True
    assert run(hub).exit_code is ExitCode.DONE
    for address in ("alice/set", "git+alice/set"):
        with pytest.raises(HubDenied, match="gated"):
            tag(address, access=Access(hub.url, hub.other_token))


def test_a_dataset_with_nothing_in_it(hub: Hub) -> None:
    hub.server.create_repo("alice/set", "dataset")
    done = run(hub, CHANGE)
    assert set(standings(done).values()) == {Standing.NOT_EARNED}
    assert (done.outcome, done.exit_code) == (Outcome.UNCHANGED, ExitCode.DONE)
    assert not written(hub)


# --- cards and records that cannot be read ------------------------------------------------------


@pytest.mark.parametrize(
    ("card", "problem", "line"),
    [
        (b"---\nlicense: mit\ntags: [harbor\n---\n", "YAML", "line 3"),
        (b"---\nlicense: [\ntags: [harbor]\n---\n", "YAML", "line 3"),
        (b"---\n- harbor\n---\n", "no block of keys", "line 2"),
        (b"---\ntags: [harbor]\ntags: [openenv]\n---\n", "twice", "line 3"),
        (b"---\ntags: [harbor]\n\nNo end.\n", "no end", "line 1"),
        (b"---\nname: Caf\xe9\ntags: [harbor]\n---\n", "not UTF-8", "line 2"),
        ("---\ntags: [harbor]\n---\n".encode("utf-16"), "not UTF-8", "line 1"),
    ],
)
def test_a_card_that_says_nothing_certain(card: bytes, problem: str, line: str, hub: Hub) -> None:
    """It is not told what its tags are, and nothing is written."""
    hub.server.seed("alice/set", {"README.md": card})
    for wish in (Wish(), CHANGE, Wish(as_pr=True)):
        with pytest.raises(Malformed, match=problem) as caught:
            run(hub, wish)
        assert (caught.value.file, caught.value.where) == ("README.md", line)
        assert caught.value.remedy
    assert not written(hub)


def test_a_huge_header(hub: Hub) -> None:
    header = b"k: " + b"v" * (1 << 18) + b"\ntags: [harbor]\n"
    hub.server.seed("alice/set", {"README.md": b"---\n" + header + b"---\n"})
    with pytest.raises(Malformed, match="its header is too long") as caught:
        run(hub)
    assert caught.value.file == "README.md"


def test_a_long_card_with_a_short_header(hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, "[harbor]", harbor=LOADS)
    body = b"# long\n" * 400_000
    hub.server.seed("alice/set", {"README.md": CARD.format("[harbor]").encode() + body})
    assert run(hub, CHANGE).outcome is Outcome.WRITTEN
    assert card_at(hub) == CARD.format("[harbor, rl-environment]").encode() + body


@pytest.mark.parametrize(
    ("records", "error"),
    [
        (b"", Malformed),
        (b"{", Malformed),
        (b'{"schema": 1, "checks": {"harbor": {}}}', Malformed),
        (b'{"schema": 2, "checks": {}}', NewerSchema),
    ],
)
def test_records_that_cannot_be_read(
    records: bytes, error: type[RlconvertError], hub: Hub
) -> None:  # fmt: skip
    card = CARD.format("[harbor]").encode()
    hub.server.seed("alice/set", {CHECKS: records, "README.md": card})
    with pytest.raises(error) as caught:
        run(hub, CHANGE)
    assert caught.value.file == CHECKS
    assert not written(hub)


def test_records_of_frameworks_that_nobody_knows(hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, "[harbor]", harbor=LOADS)
    records = json.loads(hub.server.repo("alice/set").git("show", f"main:{CHECKS}"))
    records["checks"] = {"newer": records["checks"]["harbor"]}
    hub.server.seed("alice/set", {CHECKS: json.dumps(records).encode()})
    assert run(hub).review.having(Standing.UNPROVED) == ("harbor",)


# --- a dataset that changes meanwhile -----------------------------------------------------------


def change_at(hub: Hub, part: str, tmp_path: Path) -> None:
    """Just before the first such request somebody else commits: other files, other tags."""
    todo = [part]

    def interfere(_: str, path: str) -> Fault | None:
        if todo and todo[0] in path:
            todo.clear()
            seed(hub, tmp_path, "[theirs]", stale=True)
        return None

    hub.server.interfere = interfere


@pytest.mark.parametrize("part", ["/tree/", "README.md", "checks.json", "task.toml"])
@pytest.mark.parametrize("address", ["alice/set", "git+alice/set"])
def test_one_commit_is_looked_at(address: str, part: str, hub: Hub, tmp_path: Path) -> None:
    commit = seed(hub, tmp_path, "[harbor, rl-environment]", harbor=LOADS)
    change_at(hub, part, tmp_path)
    done = tag(address, access=access(hub))
    assert done.of == f"alice/set@{commit[:12]}"
    assert done.review.having(Standing.TRUE) == ("rl-environment", "harbor")


def test_nothing_is_put_on_top_of_what_was_not_looked_at(hub: Hub, tmp_path: Path) -> None:
    seed(hub, tmp_path, "[a]", harbor=LOADS)
    change_at(hub, "checks.json", tmp_path)
    with pytest.raises(HubConflict):
        run(hub, CHANGE)
    assert card_at(hub) == CARD.format("[theirs]").encode()


def test_a_pull_request_is_one_to_the_commit_that_was_looked_at(hub: Hub, tmp_path: Path) -> None:
    commit = seed(hub, tmp_path, "[a]", harbor=LOADS)
    change_at(hub, "checks.json", tmp_path)
    assert run(hub, Wish(as_pr=True)).outcome is Outcome.PROPOSED
    git = hub.server.repo("alice/set").git
    assert git("rev-parse", "refs/pr/1^").decode().strip() == commit
    assert git("diff", "--name-only", commit, "refs/pr/1") == b"README.md\n"
    assert (
        f"Of alice/set@{commit[:12]}:"
        in hub.server.repo("alice/set").discussions[0].events[0]["data"]["latest"]["raw"]
    )


def test_a_commit_that_is_gone(hub: Hub, tmp_path: Path) -> None:
    """As after a squash of the history, while its files are listed."""
    seed(hub, tmp_path, "[harbor]", harbor=LOADS)
    hub.server.interfere = lambda _, path: Fault(404) if "/tree/" in path else None
    with pytest.raises(HubError):
        run(hub)
