"""What a judge is: a framework that is asked, in a Python of its own, whether it loads a repo.

A format says how its framework is installed and how it is asked; `judges.py` makes the Python,
`checking.py` holds the hearing. A judge's exit status says nothing: its answer is a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from .source import FolderSource

LOCAL = "local"
"""The sandbox that is no container: quick, and no boundary for hostile tasks."""

ANSWER = "{answer}"
"""In the arguments of a script: where it is to write its answer."""


@dataclass(frozen=True, slots=True)
class TaskVerdict:
    """What a framework says of one task; `reason` is None when it loads.

    `task` is what the format's reader calls it, `place` its folder in the repo, if it has one.
    """

    task: str
    reason: str | None = None
    place: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a framework says of a repo.

    `versions` are of every package that took part. A fault is of no single task and makes the
    verdict red as a task does that fails; a warning does not. No task at all is no success.
    `graders` are what computes the rewards, where that is something beside the tasks: their tag
    promises it too.
    """

    versions: Mapping[str, str] = field(default_factory=dict)
    python: str = ""
    tasks: tuple[TaskVerdict, ...] = ()
    faults: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    graders: tuple[str, ...] = ()

    @property
    def failures(self) -> tuple[TaskVerdict, ...]:
        """The tasks that do not load."""
        return tuple(task for task in self.tasks if task.reason is not None)

    @property
    def loaded(self) -> int:
        """How many tasks load."""
        return len(self.tasks) - len(self.failures)

    @property
    def passed(self) -> bool:
        """Whether the framework loads all there is."""
        return bool(self.tasks) and not self.failures and not self.faults


class Hearing(Protocol):
    """One repo before one judge."""

    @property
    def source(self) -> FolderSource:
        """The repo. Nothing may write there."""
        ...

    def ask(self, script: str, *arguments: str) -> bytes:
        """What a script of the judge's folder answers, run by the framework's Python.

        `ANSWER` among the arguments stands for the file to write. `CheckFailed` when no such file
        is written in time; the exit status is not looked at.
        """
        ...

    def note(self, name: str, text: str) -> str:
        """Write `text` where scripts can read it; the path."""
        ...

    def serve(self, repo_id: str) -> str:
        """The address under which git gets the repo, and no other, from the Hub.

        A rule of the private HOME leads it to a copy on this machine.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """How a framework runs tasks, without a model; what it is told is in `runner.py`.

    `script` is a file in the folder of the judge's scripts; `local` is a module of ours that keeps
    the same contract in the sandbox `LOCAL`, without the framework. `sandboxes` are those the
    script can run in; None: whatever the framework knows by the name. `environment` is set for it,
    beside what a judge's script gets. `tools` are requirements, by the sandbox that needs them on
    PATH; each is named like its program.
    """

    script: str
    local: str | None = None
    sandboxes: tuple[str, ...] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    tools: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """How a framework is installed and asked.

    `requirements` are exact pins, `pythons` the versions that will do, best first; `proof` is a
    statement that fails where the installation is not whole. `scripts` is the folder of the
    scripts that run in it. `environment` is set for them beside PATH, HOME and LANG. `runner` is
    how the framework runs tasks, where it can without a model.
    """

    requirements: tuple[str, ...]
    pythons: tuple[str, ...]
    proof: str
    scripts: str
    hear: Callable[[Hearing], Verdict]
    pip_flags: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    runner: Runner | None = None
