"""What trials say of a task: the oracle must earn full reward, doing nothing less."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlconvert.running.runner import NOP, ORACLE, AgentName, ErrorKind, StepTrial, Trial, TrialError
from rlconvert.running.symptoms import symptom_in
from rlconvert.running.verdicts import Outcome, TaskRun, judge_trials

BOTH: tuple[AgentName, ...] = (ORACLE, NOP)


def trial(agent: AgentName, rewards: dict[str, float] | float | None, **more: object) -> Trial:
    """A trial with one number, or with named rewards of which none is the number."""
    fields: dict[str, object] = {"task": "t", "agent": agent, **more}
    if isinstance(rewards, dict):
        fields |= {"rewards": rewards, "reward": rewards.get("reward")}
    elif rewards is not None:
        fields |= {"rewards": {"reward": rewards}, "reward": rewards}
    return Trial.model_validate(fields)


def failed(agent: AgentName, kind: ErrorKind, log: str = "") -> Trial:
    """A trial without a reward."""
    return trial(agent, None, error=TrialError(kind=kind, message="Because"), log=log)


def judged(*trials: Trial, agents: tuple[AgentName, ...] = BOTH, repeat: int = 1) -> TaskRun:
    return judge_trials("t", trials, agents, repeat)


@pytest.mark.parametrize(
    ("oracle", "nop", "reason"),
    [
        (1.0, 0.0, "verified"),
        (1.0, 0.29, "verified"),  # credit for what was there before
        (1.5, 0.0, "verified"),
        (1.0, 1.0, "nothing-earns-full"),
        (0.0, 1.0, "nothing-earns-full"),
        (0.0, 0.0, "oracle-earns-nothing"),
        (0.75, 0.0, "oracle-not-full"),
        ({"reward": 1, "style": 0.5}, {"reward": 0, "style": 0.5}, "verified"),
        # Without one number, each named reward must be full.
        ({"correct": 1, "style": 1}, {"correct": 0, "style": 1}, "verified"),
        ({"correct": 1, "style": 0.75}, {"correct": 0, "style": 0.25}, "oracle-not-full"),
        ({"correct": 1, "style": 1}, {"correct": 1, "style": 1}, "nothing-earns-full"),
        ({}, {}, "oracle-earns-nothing"),
    ],
)
def test_rewards(
    oracle: float | dict[str, float], nop: float | dict[str, float], reason: str
) -> None:
    run = judged(trial(ORACLE, oracle), trial(NOP, nop))
    assert run.reason == reason
    good = Outcome.VERIFIED if reason == "verified" else Outcome.FAILED
    assert run.outcome is good


def test_what_counts_as_full_can_be_said() -> None:
    trials = (trial(ORACLE, 0.75), trial(NOP, 0.0))
    assert judge_trials("t", trials, BOTH, 1, full=0.75).outcome is Outcome.VERIFIED


def test_without_an_oracle_nothing_is_verified() -> None:
    run = judged(trial(NOP, 0.0), agents=(NOP,))
    assert (run.outcome, run.reason, run.oracle) == (Outcome.NO_ORACLE, "no-oracle", None)
    assert judged(trial(NOP, 1.0), agents=(NOP,)).reason == "nothing-earns-full"


@pytest.mark.parametrize(
    ("kind", "outcome", "reason"),
    [
        (ErrorKind.NO_REWARD, Outcome.FAILED, "no-reward"),
        (ErrorKind.BAD_REWARD, Outcome.FAILED, "bad-reward"),
        (ErrorKind.VERIFIER_TIMEOUT, Outcome.FAILED, "verifier-timeout"),
        (ErrorKind.AGENT_TIMEOUT, Outcome.FAILED, "oracle-timeout"),
        (ErrorKind.AGENT_FAILED, Outcome.FAILED, "oracle-failed"),
        (ErrorKind.UNSET_VARIABLE, Outcome.NOT_RUN, "unset-variable"),
        (ErrorKind.ENVIRONMENT, Outcome.NOT_RUN, "environment"),
        (ErrorKind.CRASH, Outcome.NOT_RUN, "crash"),
    ],
)
@pytest.mark.parametrize("who", BOTH)
def test_errors(who: AgentName, kind: ErrorKind, outcome: Outcome, reason: str) -> None:
    """An error is never a reward of 0, and what failed for the machine's sake fails no task."""
    other = trial(NOP if who == ORACLE else ORACLE, 1.0 if who == NOP else 0.0)
    run = judged(failed(who, kind), other)
    assert (run.outcome, run.reason) == (outcome, reason)


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("/tests/test.sh: line 3: pytest: command not found\n", "command-not-found"),
        ("sh: 1: uvx: not found\n", "command-not-found"),
        ("curl: (6) Could not resolve host: example.invalid\n", "no-network"),
        ("collected 0 items\n\n==== no tests ran in 0.01s ====\n", "no-test-ran"),
        ("ERROR: file or directory not found: /tests/test_x.py\n", "no-test-ran"),
        ("/tests/test.sh: line 2: $'\\r': command not found\n", "windows-line-ends"),
        ("/bin/bash: /tests/test.sh: cannot execute: required file not found\n", "cannot-start"),
        ("OSError: [Errno 28] No space left on device\n", "out-of-resources"),
    ],
)
def test_a_low_reward_with_a_sign_of_the_machine_is_not_the_tasks_fault(
    log: str, reason: str
) -> None:
    run = judged(trial(ORACLE, 0.0, log=log), trial(NOP, 0.0, log=log))
    assert (run.outcome, run.reason) == (Outcome.NOT_RUN, reason)
    run = judged(failed(ORACLE, ErrorKind.NO_REWARD, log), trial(NOP, 0.0))
    assert (run.outcome, run.reason) == (Outcome.NOT_RUN, reason)
    # Where all is well, nobody asks.
    assert judged(trial(ORACLE, 1.0, log=log), trial(NOP, 0.0)).outcome is Outcome.VERIFIED


@pytest.mark.parametrize(
    "log", ["", "AssertionError: 1 != 2", "the file was not found here", "1 failed in 0.3s"]
)
def test_no_sign(log: str) -> None:
    assert symptom_in(log) is None


def test_an_oracle_whose_script_fails() -> None:
    """It is told apart from one that does nothing; where its reward is full, it is no matter."""
    nothing = trial(NOP, 0.0)
    assert judged(trial(ORACLE, 0.0, agent_exit=1), nothing).reason == "oracle-failed"
    assert judged(trial(ORACLE, 0.0, agent_exit=0), nothing).reason == "oracle-earns-nothing"
    assert judged(trial(ORACLE, 1.0, agent_exit=1), nothing).outcome is Outcome.VERIFIED


def test_a_sign_of_the_machine_does_not_hide_that_the_oracle_failed() -> None:
    """A tool that could not be fetched may have been there all the same."""
    log = "curl: (6) Could not resolve host: example.invalid\nImportError: no such name\n"
    run = judged(trial(ORACLE, 0.0, agent_exit=1, log=log), trial(NOP, 0.0))
    assert (run.outcome, run.reason) == (Outcome.NOT_RUN, "no-network")
    assert run.problem.endswith("; the oracle ended with status 1")


def test_flaky() -> None:
    same = (trial(NOP, 0.0), trial(NOP, 0.0, attempt=1))
    run = judged(trial(ORACLE, 1.0), trial(ORACLE, 0.0, attempt=1), *same, repeat=2)
    assert (run.outcome, run.reason) == (Outcome.FAILED, "flaky")
    assert "the oracle earns 1, 0" in run.problem
    steady = judged(trial(ORACLE, 1.0), trial(ORACLE, 1.0, attempt=1), *same, repeat=2)
    assert steady.outcome is Outcome.VERIFIED


def test_flaky_in_one_step_or_one_name_only() -> None:
    def stepped(attempt: int, value: float) -> Trial:
        return trial(
            ORACLE, 1.0, attempt=attempt, steps=[StepTrial(name="one", rewards={"reward": value})]
        )

    same = (trial(NOP, 0.0), trial(NOP, 0.0, attempt=1))
    assert judged(stepped(0, 1), stepped(1, 0.5), *same, repeat=2).reason == "flaky"
    named = [trial(ORACLE, {"reward": 1, "style": n / 2}, attempt=n) for n in (0, 1)]
    assert judged(*named, *same, repeat=2).reason == "flaky"


def test_refused_by_the_framework() -> None:
    run = judged(trial(ORACLE, None, refused="no several steps here"), trial(NOP, 0.0))
    assert (run.outcome, run.reason) == (Outcome.NOT_RUN, "refused")
    assert run.problem == "no several steps here"


@given(st.lists(st.sampled_from([ORACLE, NOP]), max_size=3))
def test_what_was_not_run_is_not_verified(agents: list[AgentName]) -> None:
    """Whatever is missing: without each attempt of each agent there is no verdict."""
    trials = [trial(agent, 1.0 if agent == ORACLE else 0.0) for agent in agents]
    run = judged(*trials, repeat=2)
    complete = agents.count(ORACLE) >= 2 and agents.count(NOP) >= 2
    assert not complete
    assert run.outcome is Outcome.NOT_RUN


def test_only_the_end_of_a_log_is_kept() -> None:
    assert len(trial(ORACLE, 1.0, log="x" * 100_000).log) == 4000
