"""The fixtures of NeMo Gym rows: back byte for byte, and what is said about each set."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from converting import ONE_JOB
from rlconvert.format import get_format
from rlconvert.formats.nemo.noticing import LOST, REFUSED, UNHEARD
from rlconvert.formats.nemo.rules import hosted_rule
from rlconvert.model import Task
from rlconvert.pipe import convert
from rlconvert.source import FolderSource
from trees import assert_same_tree

FIXTURES = Path(__file__).parents[2] / "fixtures" / "nemo"
NEMO = get_format("nemo")

# How many tasks; who grades them; how many rows NeMo Gym refuses, and takes without a part.
SETS: dict[str, tuple[int, set[str | None], int, int]] = {
    "agents": (5, {"mcqa", "echo"}, 0, 0),
    "shapes": (4, {"mcqa"}, 0, 0),
    "items": (8, {"mcqa"}, 0, 0),
    "bare": (2, {"structured_outputs"}, 0, 0),
    "ambiguous": (2, {None}, 0, 0),
    "padded": (1, {"workplace_assistant"}, 1, 0),
    "misread": (5, {"mcqa"}, 3, 3),
    "scored": (4, {"equivalence_rule"}, 0, 0),
}


def tasks(source: Path) -> list[Task]:
    reader = NEMO.reader(FolderSource(str(source)), {})
    return [reader.load(ref) for ref in reader.refs()]


def test_every_set_is_here() -> None:
    assert {path.name for path in FIXTURES.iterdir() if path.is_dir()} == SETS.keys()


@pytest.mark.parametrize("name", SETS)
def test_what_is_read(name: str) -> None:
    count, components, refused, lost = SETS[name]
    found = tasks(FIXTURES / name)
    assert len(found) == count
    assert {rule and rule.component for rule in map(hosted_rule, found)} == components
    reasons = Counter(
        reason
        for task in found
        for reason in {each.reason for each in task.native["nemo"].remarks if each.harm}
    )
    assert (reasons[REFUSED], reasons[LOST] + reasons[UNHEARD]) == (refused, lost)


@pytest.mark.parametrize("name", SETS)
def test_back_byte_for_byte(name: str, tmp_path: Path) -> None:
    source = FIXTURES / name
    made = convert(FolderSource(str(source)), NEMO, ["nemo"], str(tmp_path / "out"), ONE_JOB)
    assert not made.report.any_refused
    assert_same_tree(tmp_path / "out", source, ignore=[".rlconvert"])


def test_settings_of_a_server_are_kept_as_they_are_written() -> None:
    echo = next(task for task in tasks(FIXTURES / "agents") if task.id == "say-one")
    assert getattr(echo.reward, "config", None) == {
        "judge_model_server": {"type": "responses_api_models", "name": "policy_model"},
        "judge_responses_create_params": {"input": []},
        "loudness": 1e-5,
        "answer": False,
    }
