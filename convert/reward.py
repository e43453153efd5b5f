"""Reward rules as data: how the number is computed, apart from who computes it.

A rule never holds code of ours or of a framework: `Script` and `Hosted` point at code that comes
along, `Scored` names a scorer by version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from .data import Data


@dataclass(frozen=True, slots=True)
class Script:
    """Run `command` (a path in the tests) in a container; it leaves the reward in a file.

    `keys` are the named rewards it is known to write: an empty tuple is one number without a
    name, None is not known without running it.
    """

    command: str
    keys: tuple[str, ...] | None = ()


class Submission(StrEnum):
    """What of the agent's work is scored."""

    FINAL_MESSAGE = "final message"
    FILE = "file"
    TOOL_CALLS = "tool calls"
    FINAL_STATE = "final state"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """Scorer `scorer` (``mcq@1``) on the submission, with `params` as its data.

    `path` is the submitted file where the submission is one.
    """

    scorer: str
    params: Mapping[str, Data]
    submission: Submission
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A model grades. `endpoint` and `model` may be ``${VAR}``; secrets always are."""

    prompt: str
    model: str
    endpoint: str
    reference: str | None = None
    rubric: str | None = None
    submission: Submission = Submission.FINAL_MESSAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One named part of a weighted reward."""

    name: str
    weight: float
    rule: Reward


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighted:
    """Named parts and how they become one number. A sum is never normalised."""

    parts: tuple[Part, ...]
    combine: Literal["sum", "mean", "product", "gate", "min"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """The rule is a framework's own code: `component` at `version`, its configuration and payload.

    It is run by that framework or not at all; nobody imitates it.
    """

    framework: str
    component: str
    version: str
    config: Mapping[str, Data]
    payload: Mapping[str, Data]


Reward: TypeAlias = Script | Scored | Judge | Weighted | Hosted


class StepRewards(StrEnum):
    """How the rewards of several steps become one."""

    MEAN = "mean"
    FINAL = "final"
