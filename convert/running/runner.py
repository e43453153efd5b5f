"""What a runner is told and what it says: a framework runs tasks, without a model.

Two agents stand for one: the *oracle* applies the reference solution, *nop* does nothing. A format
names a script that runs in the framework's own Python (or in ours, where the runner is our own):

    PYTHON SCRIPT ORDER TRIALS

ORDER is a file with one JSON object, an `Order`. The script appends lines to the file TRIALS and
flushes each: first a `Head`, then a `Trial` per task, agent and attempt, in any order and as soon
as it is over; of two lines about one attempt the first counts. A trial that could not be held is a
line too, with `error` or `refused`; a task that has no line was not run. The exit status says
nothing. The script may print what it likes, is ended by a signal at any moment, and cleans up
nothing that its containers leave: whoever started it knows them by the paths below `Order.work`
that they mount or are labelled with.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from rlconvert.proof.answers import Answer

AgentName = Literal["oracle", "nop"]
ORACLE: AgentName = "oracle"
NOP: AgentName = "nop"

MAX_LOG = 4000
"""So many characters of the end of a verifier's output go into a trial."""


def _tail(text: str) -> str:
    return text[-MAX_LOG:]


class ErrorKind(StrEnum):
    """Why a trial has no reward, in words that all frameworks share."""

    NO_REWARD = "no-reward"
    """The verifier ended, and there is no reward."""
    BAD_REWARD = "bad-reward"
    """There is a reward that the framework cannot read, or not the one it looks for."""
    VERIFIER_TIMEOUT = "verifier-timeout"
    AGENT_TIMEOUT = "agent-timeout"
    AGENT_FAILED = "agent-failed"
    """The oracle could not be applied."""
    UNSET_VARIABLE = "unset-variable"
    """The task needs a variable of the host, and it is not set."""
    ENVIRONMENT = "environment"
    """The container was not built, not pulled or not started."""
    CRASH = "crash"
    """Anything else."""


class TaskOrder(Answer):
    """One task to run: its `folder`, by these `agents`.

    `reward_key` is the named reward that the framework is told to take, where it is told one.
    """

    task: str
    folder: str
    agents: tuple[AgentName, ...]
    reward_key: str | None = None


class Order(Answer):
    """What to run. `work` is a fresh folder for the framework's own files.

    `jobs` trials run at a time, each (task, agent) `repeat` times; no phase of a trial may take
    longer than `seconds`, whatever the task allows itself. `rootfs` is a root file system, for a
    sandbox that needs one. `variables` are given to tasks that ask for them by name.
    """

    sandbox: str
    work: str
    jobs: int = 1
    repeat: int = 1
    seconds: float = 3600
    rootfs: str | None = None
    variables: dict[str, str] = Field(default_factory=dict)
    tasks: tuple[TaskOrder, ...] = ()


class Head(Answer):
    """The first line: who runs them. `versions` are of every package that takes part."""

    versions: dict[str, str]
    python: str


class TrialError(Answer):
    """Why there is no reward; `message` is the framework's own."""

    kind: ErrorKind
    message: str = ""


class StepTrial(Answer):
    """What one step earned, by the names that its verifier gives; None when it earned nothing."""

    name: str
    rewards: dict[str, float] | None = None


class Trial(Answer):
    """What came of one agent at one task.

    `rewards` are all that the verifier wrote, `reward` is the one number that the framework makes
    of them. `refused`: the framework does not run such a task, and says why. `log` is the end of
    the verifier's output, and of the agent's before it where that failed. `agent_exit` is what the
    oracle's script ended with, where that is known. `seconds` is the trial's time.
    """

    task: str
    agent: AgentName
    attempt: int = 0
    rewards: dict[str, float] | None = None
    reward: float | None = None
    steps: tuple[StepTrial, ...] = ()
    error: TrialError | None = None
    refused: str | None = None
    agent_exit: int | None = None
    log: Annotated[str, AfterValidator(_tail)] = ""
    seconds: float = Field(0.0, allow_inf_nan=False)
