"""Scorers and the real servers: the same number for every submission, and none for the same."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rlconvert.formats.scorers import Scorer, scorers
from scorers.generating import Case, generated, sound_rows, written

pytestmark = pytest.mark.framework

JUDGE = Path(__file__).parents[2] / "formats" / "nemo" / "judge" / "nemo_verify.py"
ASKED = [(each, server) for each in scorers() if not each.requirements for server in each.servers]


def cases(each: Scorer) -> list[Case]:
    """The cases by hand, and 300 generated ones."""
    by_hand = [case for case, _, _ in written(each)]
    return [*by_hand, *generated(each, sound_rows(each), 300, seed=1)]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What the servers give, by their names; all asked in one process."""
    python = os.environ.get("RLCONVERT_NEMO_PYTHON")
    if not python:
        pytest.skip('RLCONVERT_NEMO_PYTHON is not set: eval "$(scripts/frameworks DIR)"')
    folder = tmp_path_factory.mktemp("servers")
    named = [(server, case) for each, server in ASKED for case in cases(each)]
    with (folder / "asked").open("w+", encoding="ascii") as asked:
        asked.writelines(case.asked(server) + "\n" for server, case in named)
        asked.seek(0)
        run = subprocess.run(
            [python, JUDGE], stdin=asked, stdout=subprocess.PIPE, check=True, cwd=folder
        )
    _, *lines = [json.loads(line) for line in run.stdout.splitlines()]
    found: dict[str, list[Any]] = {}
    for (server, _), line in zip(named, lines, strict=True):
        found.setdefault(server, []).append(line)
    return found


@pytest.mark.parametrize(("each", "server"), ASKED, ids=[server for _, server in ASKED])
def test_agreement(each: Scorer, server: str, answers: dict[str, list[Any]]) -> None:
    for case, answer in zip(cases(each), answers[server], strict=True):
        grade = each.rule().score(each.params(case.config, case.row), case.answer)
        assert grade["reward"] == answer.get("reward"), (case, grade, answer)
