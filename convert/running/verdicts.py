"""From trials to a verdict on a task: does the oracle earn full reward, and doing nothing less?

Nothing here runs or reads anything. A task without an oracle is never called verified, and a trial
that failed for the machine's sake says nothing of the task.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from .runner import NOP, ORACLE, AgentName, ErrorKind, Trial, TrialError
from .symptoms import symptom_in

_WORDS = 300


class Outcome(StrEnum):
    """The four things a verdict can say."""

    VERIFIED = "verified"
    """The oracle earns full reward, doing nothing earns less."""
    FAILED = "failed"
    """The task was run, and is not sound."""
    NO_ORACLE = "no oracle"
    """It cannot be verified; doing nothing earns less than full."""
    NOT_RUN = "not run"
    """The machine or the framework did not do it: nothing is known."""


@dataclass(frozen=True, slots=True)
class Earned:
    """What an agent earned, as far as two runs must agree: every named reward, of every step."""

    reward: float | None
    rewards: tuple[tuple[str, float], ...] | None
    steps: tuple[tuple[str, tuple[tuple[str, float], ...] | None], ...]
    error: ErrorKind | None

    def facts(self) -> dict[str, object]:
        """For ``--json``."""
        return {
            "reward": self.reward,
            "rewards": None if self.rewards is None else dict(self.rewards),
            "steps": [
                {"name": name, "rewards": None if rewards is None else dict(rewards)}
                for name, rewards in self.steps
            ],
            "error": None if self.error is None else self.error.value,
        }

    def __str__(self) -> str:
        if self.error is not None and self.rewards is None:
            return self.error.value
        if self.rewards is None:
            return "nothing" if self.reward is None else f"{self.reward:g}"
        named = [f"{name} {value:g}" for name, value in self.rewards]
        if len(named) == 1 and self.reward == self.rewards[0][1]:
            return f"{self.reward:g}"
        text = ", ".join(named)
        return text if self.reward is None else f"{self.reward:g} ({text})"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRun:
    """The verdict on one task. `reason` is a slug, `log` the output that shows why."""

    task: str
    outcome: Outcome
    reason: str
    problem: str
    oracle: Earned | None = None
    nop: Earned | None = None
    log: str = ""
    seconds: float = 0.0

    @property
    def said(self) -> tuple[Outcome, str, Earned | None, Earned | None]:
        """What two runs of the same task must have in common."""
        return self.outcome, self.reason, self.oracle, self.nop


def earned(trial: Trial) -> Earned:
    """What a trial came to."""
    return Earned(
        reward=trial.reward,
        rewards=_sorted(trial.rewards),
        steps=tuple((step.name, _sorted(step.rewards)) for step in trial.steps),
        error=None if trial.error is None else trial.error.kind,
    )


def not_run(task: str, reason: str, problem: str) -> TaskRun:
    """The verdict on a task that never reached a sandbox."""
    return TaskRun(task=task, outcome=Outcome.NOT_RUN, reason=reason, problem=problem)


def judge_trials(
    task: str, trials: Sequence[Trial], agents: Sequence[AgentName], repeat: int, full: float = 1.0
) -> TaskRun:
    """The verdict on `task` from all trials of it; `full` is the reward that counts as full.

    Where the framework makes no one number of several named rewards, each of them must be full.
    """
    of = {agent: [each for each in trials if each.agent == agent] for agent in agents}
    outcome, reason, problem, log = _verdict(of, repeat, full)
    return TaskRun(
        task=task,
        outcome=outcome,
        reason=reason,
        problem=problem,
        oracle=_first(of.get(ORACLE)),
        nop=_first(of.get(NOP)),
        log=log,
        seconds=sum(each.seconds for each in trials),
    )


_Said = tuple[Outcome, str, str, str]


def _verdict(of: dict[AgentName, list[Trial]], repeat: int, full: float) -> _Said:
    every = [trial for trials in of.values() for trial in trials]
    for trial in every:
        if trial.refused is not None:
            return Outcome.NOT_RUN, "refused", trial.refused, ""
    short = [agent for agent, trials in of.items() if len(trials) < repeat]
    if short or not every:
        return Outcome.NOT_RUN, "no-result", f"there is no result of {' and '.join(short)}", ""
    for agent, trials in of.items():
        if len({earned(each) for each in trials}) > 1:
            values = ", ".join(str(earned(each)) for each in trials)
            return Outcome.FAILED, "flaky", f"{_WHO[agent]} earns {values}", trials[0].log
    for trials in of.values():
        if (error := trials[0].error) is not None:
            return _of_error(trials[0], error)
    return _of_rewards(of, full)


_WHO: dict[AgentName, str] = {"oracle": "the oracle", "nop": "doing nothing"}


def _of_rewards(of: dict[AgentName, list[Trial]], full: float) -> _Said:
    nothing = of[NOP][0]
    if _is_full(nothing, full):
        problem = f"doing nothing earns {earned(nothing)}"
        return Outcome.FAILED, "nothing-earns-full", problem, nothing.log
    if ORACLE not in of:
        problem = f"there is no oracle; doing nothing earns {earned(nothing)}"
        return Outcome.NO_ORACLE, "no-oracle", problem, ""
    best = of[ORACLE][0]
    values = f"{earned(best)}, doing nothing {earned(nothing)}"
    if _is_full(best, full):
        return Outcome.VERIFIED, "verified", f"the oracle earns {values}", ""
    if (sign := symptom_in(best.log)) is not None:
        problem = f"{sign.problem}: {sign.line}"
        if best.agent_exit:  # which may be for another reason
            problem += f"; the oracle ended with status {best.agent_exit}"
        return Outcome.NOT_RUN, sign.reason, problem, best.log
    if best.agent_exit:
        problem = f"the oracle ended with status {best.agent_exit} and earns {earned(best)}"
        return Outcome.FAILED, "oracle-failed", problem, best.log
    if earned(best) == earned(nothing):
        problem = f"the oracle earns no more than doing nothing: {earned(best)}"
        return Outcome.FAILED, "oracle-earns-nothing", problem, best.log
    return Outcome.FAILED, "oracle-not-full", f"the oracle earns {values}", best.log


def _of_error(trial: Trial, error: TrialError) -> _Said:
    who, words = _WHO[trial.agent], _short(error.message)
    match error.kind:
        case ErrorKind.NO_REWARD:
            if (sign := symptom_in(trial.log)) is not None:
                problem = f"no reward: {sign.problem}: {sign.line}"
                return Outcome.NOT_RUN, sign.reason, problem, trial.log
            return Outcome.FAILED, "no-reward", f"the verifier left no reward ({who})", trial.log
        case ErrorKind.BAD_REWARD:
            return Outcome.FAILED, "bad-reward", f"its reward cannot be read: {words}", trial.log
        case ErrorKind.VERIFIER_TIMEOUT:
            return Outcome.FAILED, "verifier-timeout", "the verifier did not end in time", trial.log
        case ErrorKind.AGENT_TIMEOUT:
            return Outcome.FAILED, "oracle-timeout", "the oracle did not end in time", trial.log
        case ErrorKind.AGENT_FAILED:
            problem = f"the oracle could not be applied: {words}"
            return Outcome.FAILED, "oracle-failed", problem, trial.log
        case ErrorKind.UNSET_VARIABLE:
            problem = f"it needs a variable that is not set: {words}"
            return Outcome.NOT_RUN, "unset-variable", problem, ""
        case ErrorKind.ENVIRONMENT:
            problem = f"its container did not come to stand: {words}"
            return Outcome.NOT_RUN, "environment", problem, ""
        case ErrorKind.CRASH:
            return Outcome.NOT_RUN, "crash", f"the framework stopped: {words}", trial.log
    assert_never(error.kind)


def _short(message: str) -> str:
    """The end of a message: the cause comes last."""
    text = " ".join(message.split())
    return text if len(text) <= _WORDS else f"... {text[-_WORDS:]}"


def _is_full(trial: Trial, full: float) -> bool:
    if trial.reward is not None:
        return trial.reward >= full
    return bool(trial.rewards) and all(value >= full for value in (trial.rewards or {}).values())


def _sorted(rewards: dict[str, float] | None) -> tuple[tuple[str, float], ...] | None:
    return None if rewards is None else tuple(sorted(rewards.items()))


def _first(trials: Sequence[Trial] | None) -> Earned | None:
    return earned(trials[0]) if trials and trials[0].refused is None else None
