"""Which rows have a rule that is known as data, and why others are NeMo Gym's alone."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from rlconvert.data import Data
from rlconvert.formats.nemo.rowfiles import RowSource
from rlconvert.formats.nemo.rows import NOT_AS_DATA, Place, task_from_row
from rlconvert.formats.nemo.rules import hosted_rule
from rlconvert.formats.scorers import scorers
from rlconvert.model import Task
from rlconvert.reward import Hosted, Scored, Submission

ROW: dict[str, object] = {
    "responses_create_params": {"input": "Say it.", "temperature": 0.5},
    "expected_answer": "it",
    "question": "Say it.",
    "a/b~c": [1],
}


def read(
    row: Mapping[str, object],
    *,
    server: str = "equivalence_rule",
    rule: Mapping[str, Data] | None = None,
    agents: frozenset[str] = frozenset({"simple_agent"}),
) -> Task:
    file = RowSource(
        path="rows.jsonl",
        component=server,
        rule=rule or {},
        because="",
        tasksets=(),
        declared=True,
        agents=agents,
    )
    return task_from_row("one", json.dumps(row).encode() + b"\n", Place(file, 1))


def doubts(task: Task) -> list[str]:
    return [each.detail for each in task.native["nemo"].remarks if each.reason == NOT_AS_DATA]


def test_server_config_and_row_make_the_rule() -> None:
    task = read(ROW, rule={"grading_rule": "seq_match"})
    assert task.reward == Scored(
        scorer="nemo.equivalence_rule@1",
        params={
            "server": "equivalence_rule",
            "config": {"grading_rule": "seq_match"},
            "row": {"expected_answer": "it"},
        },
        submission=Submission.FINAL_MESSAGE,
    )
    assert task.extras == {
        "nemo": {
            "/responses_create_params/temperature": 0.5,
            "/question": "Say it.",
            "/a~1b~0c": [1],
        }
    }


def test_what_the_config_leaves_out_is_the_frameworks_default() -> None:
    reward = read(ROW).reward
    assert isinstance(reward, Scored)
    assert reward.params["config"] == {"grading_rule": "exact"}


@pytest.mark.parametrize(
    ("rule", "doubt"),
    [
        ({"judge": {"input": []}}, "sets judge"),
        ({"grading_rule": "${oc.env:RULE}"}, "takes grading_rule from elsewhere"),
        ({"grading_rule": True}, "grading_rule of another type"),
    ],
)
def test_a_config_that_says_more_stays_hosted(rule: Mapping[str, Data], doubt: str) -> None:
    task = read(ROW, rule=rule)
    assert isinstance(task.reward, Hosted)
    (said,) = doubts(task)
    assert doubt in said


def test_rows_of_another_agent_stay_hosted() -> None:
    task = read(ROW, agents=frozenset({"gymnasium_agent"}))
    assert isinstance(task.reward, Hosted)
    assert "gymnasium_agent" in doubts(task)[0]


ASKED: dict[str, Data] = {
    "instruction_id": "punctuation:no_comma",
    "uid": 1,
    "source": "user",
    "is_misalignment_check": False,
}
JUDGE: dict[str, Data] = {"judge_base_url": "${policy_base_url}", "judge_top_p": 0.8}
VERIFIF: dict[str, object] = {
    "responses_create_params": {"input": "Write."},
    "instructions": [ASKED],
    "llm_judge": [],
    "id": 7,
}


def test_where_no_judge_is_asked_its_config_decides_nothing_and_is_kept() -> None:
    rule = {**JUDGE, "aggregation_mode": "mean"}
    task = read(VERIFIF, server="verifif", rule=rule)
    assert isinstance(task.reward, Scored)
    assert task.reward.params["config"] == rule
    back = hosted_rule(task)
    assert back is not None
    assert back.config == rule
    assert back.payload == {k: v for k, v in VERIFIF.items() if k != "responses_create_params"}


@pytest.mark.parametrize(
    ("asked", "judged", "doubt"),
    [
        ([ASKED], {"content": "Kind?", "uid": 2}, "its llm_judge asks a judge model"),
        (
            [{**ASKED, "instruction_id": "stylistic:voice", "voice_type": "active"}],
            None,
            "its instruction stylistic:voice asks a judge model",
        ),
    ],
)
def test_a_row_that_asks_a_judge_stays_hosted(
    asked: list[Data], judged: dict[str, Data] | None, doubt: str
) -> None:
    judges = [{**judged, "source": "user", "is_misalignment_check": False}] if judged else []
    row = {**VERIFIF, "instructions": asked, "llm_judge": judges}
    task = read(row, server="verifif")
    assert isinstance(task.reward, Hosted)
    assert doubts(task) == [f"{doubt}, so that only NeMo Gym itself can grade it"]


def test_a_number_that_nemo_gym_rounds_stays_hosted() -> None:
    row = {"responses_create_params": {"input": "x"}, "outputs": ["a"], "subset": "s"}
    assert isinstance(read({**row, "length": 2**63}, server="ruler").reward, Scored)
    task = read({**row, "length": 2**64}, server="ruler")
    assert isinstance(task.reward, Hosted)
    assert "64 bits" in doubts(task)[0]


def test_a_row_that_lacks_what_its_server_reads_stays_hosted() -> None:
    row = {key: value for key, value in ROW.items() if key != "expected_answer"}
    task = read(row)
    assert isinstance(task.reward, Hosted)
    (remark,) = task.native["nemo"].remarks
    assert remark.detail == "/expected_answer is missing, as equivalence_rule has it"


def test_a_server_without_a_scorer_is_no_doubt() -> None:
    task = read(ROW, server="simpleqa")
    assert isinstance(task.reward, Hosted)
    assert not task.native["nemo"].remarks


@pytest.mark.parametrize("rule", [{}, {"grading_rule": "exact"}, {"grading_rule": "seq_match"}])
def test_the_rule_goes_back_as_it_was_stated(rule: Mapping[str, Data]) -> None:
    """Less what is the default anyway."""
    back = hosted_rule(read(ROW, rule=rule))
    assert back == Hosted(
        framework="nemo",
        component="equivalence_rule",
        version="0.7.0",
        config={key: value for key, value in rule.items() if value != "exact"},
        payload={key: ROW[key] for key in ROW if key != "responses_create_params"},  # type: ignore[misc]
    )


def test_every_scorer_of_nemo_gym_has_a_server_that_is_known() -> None:
    """Its rows are recognised by the manifest alone."""
    for known in scorers():
        assert known.framework == "nemo-gym"
        assert known.servers
