"""`grade.py`, as a task runs it: four outcomes, hostile files, limits."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rlconvert.formats.scorers import Scorer, scorer, scorers
from scorers.generating import written

EXIT = {"graded": 0, "not extractable": 0, "invalid task": 3, "infrastructure error": 4}
RULE = {
    "scorer": "nemo.ruler@1",
    "params": {"config": {}, "row": {"outputs": ["a", "b"], "length": 1, "subset": "vt"}},
    "submission": "final message",
}


@dataclass(frozen=True)
class Graded:
    """What a run left behind."""

    status: int
    outcome: dict[str, Any]
    reward: float | None


class Place:
    """A folder with `grade.py`, a `score.py` and a rule, as a task has them."""

    def __init__(self, root: Path, source: bytes, rule: object = RULE) -> None:
        self.root, self.out, self.submission = root, root / "out", root / "work" / "answer.txt"
        self.tests = root / "tests"
        self.tests.mkdir()
        self.submission.parent.mkdir()
        (self.tests / "grade.py").write_bytes(scorers()[0].grade)
        (self.tests / "score.py").write_bytes(source)
        (self.tests / "rule.json").write_text(json.dumps(rule), encoding="utf-8")

    def grade(self) -> Graded:
        """Run it; it says nothing."""
        run = subprocess.run(
            [
                sys.executable,
                self.tests / "grade.py",
                self.tests / "rule.json",
                self.submission,
                self.out,
            ],
            capture_output=True,
            check=False,
            timeout=100,
            cwd=self.submission.parent,
        )
        assert run.stderr == run.stdout == b""
        said = json.loads((self.out / "outcome.json").read_bytes())
        file = self.out / "reward.json"
        reward = json.loads(file.read_bytes()) if file.exists() else {"reward": None}
        assert set(reward) == {"reward"}
        assert reward["reward"] == said["reward"]
        assert run.returncode == EXIT[said["outcome"]]
        return Graded(run.returncode, said, reward["reward"])


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, scorer("nemo.ruler@1").source)


def scored_by(root: Path, body: str) -> Place:
    """A place whose scorer is this code."""
    return Place(root, f"def score(params, submission):\n    {body}\n".encode())


def test_a_right_answer(place: Place) -> None:
    place.submission.write_text("A and b", encoding="utf-8")
    graded = place.grade()
    assert graded.reward == 1.0
    assert graded.outcome["scorer"] == "nemo.ruler@1"


def test_a_half_right_answer(place: Place) -> None:
    place.submission.write_text("xa", encoding="utf-8")
    assert place.grade().reward == 0.5


def test_no_submission_is_an_empty_one(place: Place) -> None:
    graded = place.grade()
    assert graded.reward == 0.0
    assert "no submission" in graded.outcome["detail"]


def test_bytes_that_are_no_text(place: Place) -> None:
    place.submission.write_bytes(b"\xff\xfea\x00b\xed\xa0\x80")
    assert place.grade().reward == 1.0


def make_link(place: Place) -> None:
    secret = place.root / "secret"
    secret.write_text("a b", encoding="utf-8")
    place.submission.symlink_to(secret)


def make_link_on_the_way(place: Place) -> None:
    elsewhere = place.root / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "answer.txt").write_text("a b", encoding="utf-8")
    place.submission.parent.rmdir()
    place.submission.parent.symlink_to(elsewhere)


def make_folder(place: Place) -> None:
    place.submission.mkdir()


def make_pipe(place: Place) -> None:
    os.mkfifo(place.submission)


def make_big(place: Place) -> None:
    with place.submission.open("wb") as file:
        file.write(b"a b")
        file.truncate(10 * 1024 * 1024 + 1)


@pytest.mark.parametrize(
    "make", [make_link, make_link_on_the_way, make_folder, make_pipe, make_big]
)
def test_what_is_no_plain_file_is_an_empty_submission(
    place: Place, make: Callable[[Place], None]
) -> None:
    make(place)
    graded = place.grade()
    assert graded.reward == 0.0
    assert "submission" in graded.outcome["detail"]


def test_the_biggest_file_is_read(place: Place) -> None:
    place.submission.write_bytes(b"." * (10 * 1024 * 1024 - 2) + b"ab")
    assert place.grade().reward == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{}",
        "[1]",
        "3",
        '[{"name": 1, "arguments": "{}"}]',
        '[{"name": "f"}]',
        '["name"]',
        "[" * 100_000,
        '[{"name": "f", "arguments": "{}"}] x',
    ],
)
def test_calls_that_are_none(tmp_path: Path, text: str) -> None:
    place = scored_calls(tmp_path)
    place.submission.write_text(text, encoding="utf-8")
    graded = place.grade()
    assert graded.outcome["seen"] == []
    assert "JSON list" in graded.outcome["detail"] or text == "{}"


def scored_calls(root: Path) -> Place:
    source = b"""def score(params, submission):
    seen = submission["calls"]
    return {"outcome": "graded", "reward": 0.0, "parts": {}, "detail": "", "seen": seen}
"""
    return Place(root, source, {**RULE, "submission": "tool calls"})


def test_calls_with_arguments_of_either_kind(tmp_path: Path) -> None:
    place = scored_calls(tmp_path)
    place.submission.write_text(
        '[{"name": "f", "arguments": "{\\"x\\": 1}"}, {"name": "g", "arguments": {"y": "é"}}]',
        encoding="utf-8",
    )
    assert place.grade().outcome["seen"] == [
        {"name": "f", "arguments": '{"x": 1}'},
        {"name": "g", "arguments": '{"y": "é"}'},
    ]


def test_a_task_that_cannot_be_graded(tmp_path: Path) -> None:
    rule = {**RULE, "params": {"config": {}, "row": {}}}
    graded = Place(tmp_path, scorer("nemo.ruler@1").source, rule).grade()
    assert (graded.status, graded.reward) == (3, None)


@pytest.mark.parametrize(
    "body",
    [
        "raise RuntimeError('broken')",
        "return [b'x'] * (1 << 31)",
        "return bytearray(2 * 1024 ** 3)",
        "return score(params, submission)",
        "return {}",
        "return {'outcome': 'graded', 'reward': None, 'parts': {}, 'detail': ''}",
        "return {'outcome': 'graded', 'reward': float('nan'), 'parts': {}, 'detail': ''}",
        "return {'outcome': 'invalid task', 'reward': 0.0, 'parts': {}, 'detail': ''}",
        "return {'outcome': 'good', 'reward': 1.0, 'parts': {}, 'detail': ''}",
        "import os; os.kill(os.getpid(), 9)",
        "import os; os._exit(0)",
    ],
)
def test_a_scorer_that_breaks_gives_no_reward(tmp_path: Path, body: str) -> None:
    place = scored_by(tmp_path, body)
    place.out.mkdir()
    (place.out / "reward.json").write_text('{"reward": 1.0}')
    graded = place.grade()
    assert (graded.status, graded.reward) == (4, None)
    assert graded.outcome["outcome"] == "infrastructure error"


def test_a_scorer_that_never_ends_is_ended(tmp_path: Path) -> None:
    place = scored_by(tmp_path, "import time; time.sleep(1000)")
    grade = (place.tests / "grade.py").read_text(encoding="utf-8")
    assert "SECONDS = 60\n" in grade
    (place.tests / "grade.py").write_text(grade.replace("SECONDS = 60\n", "SECONDS = 1\n"))
    graded = place.grade()
    assert graded.status == 4
    assert "1 seconds" in graded.outcome["detail"]


@pytest.mark.parametrize(
    "rule", [None, [], {}, {**RULE, "submission": "smoke"}, {**RULE, "params": None}]
)
def test_a_rule_that_is_none(tmp_path: Path, rule: object) -> None:
    graded = Place(tmp_path, scorer("nemo.ruler@1").source, rule).grade()
    assert (graded.status, graded.reward) == (4, None)


def test_code_that_the_agent_left_is_not_run(place: Place) -> None:
    """Not from the working folder, which is where the submission lies."""
    for name in ("json.py", "score.py", "sitecustomize.py"):
        (place.submission.parent / name).write_text("raise SystemExit(9)")
    place.submission.write_text("a b", encoding="utf-8")
    assert place.grade().reward == 1.0


def test_a_link_where_the_reward_goes_is_replaced(place: Place) -> None:
    place.out.mkdir()
    victim = place.root / "victim"
    victim.write_text("kept", encoding="utf-8")
    for name in ("reward.json", "reward.json.part", "outcome.json", "outcome.json.part"):
        (place.out / name).symlink_to(victim)
    place.submission.write_text("a b", encoding="utf-8")
    assert place.grade().reward == 1.0
    assert victim.read_text(encoding="utf-8") == "kept"


def test_every_scorer_runs_so(tmp_path: Path) -> None:
    """One case of each outcome through files gives what it gives in process."""
    for each in scorers():
        if each.requirements:
            continue
        by_outcome = {outcome: (case, reward) for case, outcome, reward in written(each)}
        for outcome, (case, reward) in by_outcome.items():
            root = tmp_path / each.folder.name
            root.mkdir()
            rule = {
                "scorer": each.id,
                "params": each.params(case.config, case.row),
                "submission": each.submission.value,
            }
            place = Place(root, each.source, rule)
            text = json.dumps(case.calls) if each.submission == "tool calls" else case.text
            place.submission.write_text(text, encoding="utf-8", newline="")
            graded = place.grade()
            assert (graded.outcome["outcome"], graded.reward) == (outcome, reward), case
            shutil.rmtree(root)


HUGE = {
    "nothing": "\0" * 10_000_000,
    "blank": "\n" * 10_000_000,
    "spaces": "x" + " " * 9_999_998 + "x",
    "brackets": "[" * 10_000_000,
    "braces": '{"a":' * 2_000_000,
    "boxes": "\\boxed{" * 1_400_000,
    "fences": "```{" * 2_500_000,
    "answers": "Answer:" * 1_400_000,
    "lines": "Answer: A\n" * 1_000_000,
    "tags": "<answer>" * 1_250_000,
    "digits": "9" * 10_000_000,
    "wide": "\U0001f600" * 2_500_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HUGE)
@pytest.mark.parametrize(
    "each", [pytest.param(each, id=each.name) for each in scorers() if not each.requirements]
)
def test_ten_megabytes_end_in_time(tmp_path: Path, each: Scorer, name: str) -> None:
    case = next(case for case, outcome, _ in written(each) if outcome == "graded")
    rule = {
        "scorer": each.id,
        "params": each.params(case.config, case.row),
        "submission": each.submission.value,
    }
    place = Place(tmp_path, each.source, rule)
    place.submission.write_text(HUGE[name], encoding="utf-8")
    assert place.grade().outcome["outcome"] in ("graded", "not extractable")
