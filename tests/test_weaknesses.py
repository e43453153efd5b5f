"""What is weak about verifiers is counted over the tasks converted, and stands in the card."""

from __future__ import annotations

from pathlib import Path

import pytest

from converting import convert_folder
from rlconvert import workers
from rlconvert.format import get_format
from rlconvert.inspection import inspect
from rlconvert.pipe import Settings, convert, convert_shard, merge
from rlconvert.report import Tally, count_weaknesses
from rlconvert.selection import Selection
from rlconvert.soundness import Weakness
from rlconvert.source import FolderSource
from trees import assert_same_tree

BROKEN = Path(__file__).parents[1] / "fixtures" / "verify" / "broken"
HARBOR = get_format("harbor")


def section(out: Path) -> list[str]:
    """The rows that the card of an output has on how its tasks are graded."""
    card = (out / "README.md").read_text(encoding="utf-8")
    _, _, rest = card.partition("\n## How the tasks are graded\n")
    lines = rest.partition("\n## ")[0].splitlines()
    return [line for line in lines if line.startswith("| ")][1:]


def test_the_card_counts_the_tasks_that_were_converted(tmp_path: Path) -> None:
    """`never-writes` is refused for this target: nothing of it is in the output."""
    out = tmp_path / "out"
    run = convert_folder(BROKEN, out, "nemo")
    assert "never-writes" in [
        key for tally in run.report.refused.values() for key in tally.examples
    ]
    assert section(out) == [
        "| --- | --- | --- |",
        "| 2 | its verifier writes 1, whatever the agent did | `always-one`, `one-then-timeout` |",
        "| 1 | its script has the line ends of Windows, and does not run | `crlf` |",
        "| 1 | its verifier needs the network when it grades | `unreachable-host` |",
        "| 1 | it takes a variable of the host that has no default | `unset-variable` |",
        "| 1 | its verifier writes a reward that is no number | `garbled-reward` |",
        "| 1 | its solution does nothing | `idle-oracle` |",
    ]


def test_a_card_says_nothing_where_there_is_nothing_to_say(tmp_path: Path) -> None:
    selection = Selection(include=("flaky", "no-oracle"))
    convert_folder(BROKEN, tmp_path / "out", "nemo", settings=Settings(jobs=1, selection=selection))
    assert section(tmp_path / "out") == []


@pytest.mark.parametrize("way", ["two processes", "shards", "resumed"])
def test_the_card_is_the_same_however_it_was_made(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, one = FolderSource(str(BROKEN)), Settings(jobs=1)
    out, plain = tmp_path / "out", tmp_path / "plain"
    convert(source, HARBOR, ["nemo"], str(plain), one)
    if way == "two processes":
        convert(source, HARBOR, ["nemo"], str(out), Settings(jobs=2))
    elif way == "shards":
        shards = [str(tmp_path / f"shard-{number}") for number in (1, 2)]
        for number, shard in enumerate(shards, 1):
            convert_shard(source, HARBOR, ["nemo"], shard, one, (number, 2))
        merge(source, HARBOR, str(out), shards, one)
    else:
        real, done = workers.convert_task, 0

        def stopping(*given: object) -> object:
            nonlocal done
            done += 1
            if done == 8:
                raise KeyboardInterrupt
            return real(*given)  # type: ignore[arg-type]

        resuming = Settings(jobs=1, resume=True)
        with monkeypatch.context() as patch:
            patch.setattr(workers, "convert_task", stopping)
            with pytest.raises(KeyboardInterrupt):
                convert(source, HARBOR, ["nemo"], str(out), resuming)
        convert(source, HARBOR, ["nemo"], str(out), resuming)
    assert section(out)
    assert_same_tree(out, plain)


def test_inspect_counts_every_task_that_can_be_read() -> None:
    found = inspect(FolderSource(str(BROKEN)), HARBOR, {})
    assert {reason: tally.examples for reason, tally in found.weaknesses.items()} == {
        "always-one": ["always-one", "one-then-timeout"],
        "crlf": ["crlf"],
        "needs-network": ["unreachable-host"],
        "needs-variable": ["unset-variable"],
        "never-writes": ["never-writes"],
        "not-a-number": ["garbled-reward"],
        "oracle-idle": ["idle-oracle"],
    }
    assert found.facts()["weaknesses"]


def test_a_task_counts_once_for_a_reason_by_its_first_place() -> None:
    tallies: dict[str, Tally] = {}
    twice = [
        Weakness(reason="a", problem="is a", field="tests", file=file, where="line 1")
        for file in ("x", "y")
    ]
    count_weaknesses(tallies, "one", twice)
    assert (tallies["a"].count, tallies["a"].place) == (1, "x, line 1")
