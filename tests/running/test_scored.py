"""Rows that a scorer grades, run as Harbor's tasks, one of every scorer.

The oracle must earn full reward and doing nothing less; a wrong answer, handed in by an oracle that
knows no better, what the scorer's cases say, which were measured on the real `verify()`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from converting import convert_folder
from rlconvert import api
from rlconvert.formats.scorers import Scorer, scorer, scorers
from rlconvert.reward import Submission
from rlconvert.running.sandboxes import Question
from rlconvert.running.verdicts import TaskRun
from scorers.cases import cases_of
from strategies.files import lay
from strategies.nemo_rows import rows_of

pytestmark = pytest.mark.run

SANDBOX = os.environ.get("RLCONVERT_SANDBOX")
HARBOR = os.environ.get("RLCONVERT_HARBOR_PYTHON")
ROOTFS = os.environ.get("RLCONVERT_ROOTFS")
FILES = {Submission.FINAL_MESSAGE: "answer.txt", Submission.TOOL_CALLS: "tool_calls.json"}
SOLVE = "#!/bin/bash\nexec cp /solution/{name} /app/{name}\n"
PUBLISHED = os.environ.get("RLCONVERT_PUBLISHED")
ALONE = [each for each in scorers() if not each.requirements]
PACKED = [each for each in scorers() if each.requirements]
"""Those that need a package registry while their image is built."""

Case = Mapping[str, Any]


def right(known: Scorer) -> Case:
    """A case with an answer that its scorer knows itself, and that earns full reward."""
    return next(
        each
        for each in cases_of(known)
        if (gold := known.rule().gold(each["params"])) is not None
        and known.rule().score(each["params"], gold)["reward"] == 1.0
        and known.rule().score(each["params"], {"text": "", "calls": []})["reward"] != 1.0
    )


def wrong(known: Scorer) -> Case:
    """A case that earns less, with the most to say."""
    found = [each for each in cases_of(known) if each["reward"] is not None and each["reward"] < 1]
    return max(found, key=lambda each: (len(str(each["submission"])) < 9999, each["reward"]))


def written(case: Case, known: Scorer) -> bytes:
    said = case["submission"]
    if known.submission is Submission.TOOL_CALLS:
        return json.dumps(said["calls"]).encode()
    return str(said["text"]).encode()


def lay_out(place: Path, every: Sequence[Scorer]) -> Path:
    """Two tasks of each scorer, one of them with an oracle that hands in a wrong answer."""
    all_tasks = place / "tasks"
    all_tasks.mkdir()
    for known in every:
        for kind, case in (("right", right(known)), ("wrong", wrong(known))):
            params, name = case["params"], f"{known.name}-{kind}"
            row = {"responses_create_params": {"input": "?"}, **params["row"], "instance_id": name}
            source = lay(place / name, rows_of(known.servers[0], row, rule=params["config"]))
            convert_folder(source, place / f"{name}-out", "harbor")
            (made,) = (place / f"{name}-out" / "tasks").iterdir()
            task = made.rename(all_tasks / name)
            if kind == "wrong":
                file = FILES[known.submission]
                (task / "solution").mkdir(exist_ok=True)
                (task / "solution" / file).write_bytes(written(case, known))
                (task / "solution" / "solve.sh").write_text(SOLVE.format(name=file))
    return all_tasks


def run(tasks: Path, question: Question) -> Mapping[str, TaskRun]:
    using = {} if HARBOR is None else {"harbor": HARBOR}
    done = api.verify(str(tasks), using=using, question=question)
    return {each.task: each for result in done.results for each in result.runs}


def in_a_container(place: Path, every: Sequence[Scorer]) -> Mapping[str, TaskRun]:
    if SANDBOX is None:
        pytest.skip('RLCONVERT_SANDBOX is not set: eval "$(scripts/sandbox DIR)"')
    if HARBOR is None:
        pytest.skip('RLCONVERT_HARBOR_PYTHON is not set: eval "$(scripts/frameworks DIR)"')
    return run(lay_out(place, every), Question(sandbox=SANDBOX, jobs=2, seconds=120))


@pytest.fixture(scope="module", params=["local", pytest.param("container", marks=pytest.mark.slow)])
def ran(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, TaskRun]:
    """The verdict on each task, by its name: quick over a root file system, slow by Harbor."""
    place = tmp_path_factory.mktemp("scored")
    if request.param == "container":
        return in_a_container(place, ALONE)
    if not ROOTFS:
        pytest.skip('RLCONVERT_ROOTFS is not set: eval "$(scripts/sandbox DIR)"')
    question = Question(sandbox="local", rootfs=ROOTFS, jobs=2, seconds=120)
    return run(lay_out(place, ALONE), question)


@pytest.mark.slow
def test_those_with_packages_in_containers(tmp_path: Path) -> None:
    if not PUBLISHED:
        pytest.skip("its images have no package registry: scripts/sandbox DIR --published has")
    verdicts = in_a_container(tmp_path, PACKED)
    said = {f"{known.name}-right": verdicts[f"{known.name}-right"] for known in PACKED}
    assert {name: each.reason for name, each in said.items()} == dict.fromkeys(said, "verified")
    for known in PACKED:
        found = verdicts[f"{known.name}-wrong"].oracle
        assert found is not None
        assert found.rewards == (("reward", wrong(known)["reward"]),)


def test_a_few_of_them_in_containers(tmp_path: Path) -> None:
    few = [scorer("nemo.mcqa@1"), scorer("nemo.xlam_fc@1")]
    verdicts = in_a_container(tmp_path, few)
    assert {name: each.reason for name, each in verdicts.items() if name.endswith("right")} == {
        f"{known.name}-right": "verified" for known in few
    }
    for known in few:
        found = verdicts[f"{known.name}-wrong"].oracle
        assert found is not None
        assert found.rewards == (("reward", wrong(known)["reward"]),)


@pytest.mark.parametrize("known", ALONE, ids=lambda known: known.name)
def test_the_oracle_earns_full_and_doing_nothing_less(
    ran: Mapping[str, TaskRun], known: Scorer
) -> None:
    verdict = ran[f"{known.name}-right"]
    assert verdict.reason == "verified", (verdict.problem, verdict.log)


@pytest.mark.parametrize("known", ALONE, ids=lambda known: known.name)
def test_a_wrong_answer_earns_what_the_original_gives(
    ran: Mapping[str, TaskRun], known: Scorer
) -> None:
    verdict = ran[f"{known.name}-wrong"]
    assert verdict.oracle is not None, verdict.problem
    assert verdict.oracle.rewards == (("reward", wrong(known)["reward"]),), verdict.log
