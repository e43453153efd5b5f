"""A machine that runs tasks: a framework, or our own local runner, with a sandbox it works in."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from rlconvert.errors import CheckFailed, JudgeMissing, UsageError
from rlconvert.format import Format
from rlconvert.judge import LOCAL, Runner
from rlconvert.proof.judges import judge_python, own_python, tool_folder
from rlconvert.proof.whereabouts import Whereabouts

from .carrying import Bounds, stage
from .engines import ENGINES, answers, first_engine, image_digests
from .orders import Prepared, lay_out, order_of
from .runner import Head, Order, Trial, TrialError
from .trialbook import TrialBook
from .verdicts import TaskRun, judge_trials, not_run

_STALL_SECONDS = 900
"""Beside what three phases of a trial may take: for building, starting and taking down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """How tasks are to be run, and what counts as full reward.

    `sandbox` None is the first engine that answers. `seconds` is the most that a phase of a trial
    may take, whatever the task allows itself. `variables` of this environment, by name, are given
    to tasks that ask for them, and to the sandbox's own client.
    """

    sandbox: str | None = None
    rootfs: str | None = None
    jobs: int = 1
    repeat: int = 1
    seconds: float = 1800
    full: float = 1.0
    reward_key: str | None = None
    variables: tuple[str, ...] = ()
    allow_host: bool = False


@dataclass(slots=True, kw_only=True)
class Machine:
    """Runs tasks and remembers their trials until the end; use it as a context.

    `head` says who ran them, `images` by what the engine knows the images they stood on.
    """

    sandbox: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    path: tuple[str, ...]
    question: Question
    book: TrialBook
    clean: Whereabouts
    head: Head | None = None
    images: dict[str, str] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.book.close(ended=kind is None)

    def run(self, tasks: Sequence[Prepared]) -> list[TaskRun]:
        """The verdict on each; one that the runner chokes on stops no other."""
        trials = {task.task: self._known(task) for task in tasks}
        left = [task for task in tasks if not self._whole(task, trials)]
        problems: dict[str, CheckFailed] = {}
        failure = self._carry_out(left, trials) if left else None
        if failure is not None:
            for task in [each for each in left if not self._whole(each, trials)]:
                alone = self._carry_out([task], trials) if len(left) > 1 else failure
                if alone is not None:
                    problems[task.task] = alone
        return [self._verdict(task, trials, problems.get(task.task)) for task in tasks]

    def _verdict(
        self, task: Prepared, trials: Mapping[str, list[Trial]], failure: CheckFailed | None
    ) -> TaskRun:
        mine = trials[task.task]
        if failure is not None and not self._whole(task, trials):
            return not_run(task.task, failure.reason, self.clean(failure.problem))
        question = self.question
        return judge_trials(task.task, mine, task.agents, question.repeat, question.full)

    def _whole(self, task: Prepared, trials: Mapping[str, list[Trial]]) -> bool:
        return len(trials[task.task]) >= len(task.agents) * self.question.repeat

    def _known(self, task: Prepared) -> list[Trial]:
        """The trials of a run before that did not end, but only a whole set of them."""
        found: list[Trial] = []
        for trial in self.book.known(task.digest):
            self._take(task, trial.model_copy(update={"task": task.task}), found)
        whole = len(found) >= len(task.agents) * self.question.repeat
        return found if whole else []

    def _take(self, task: Prepared, trial: Trial, found: list[Trial]) -> bool:
        """Keep a trial that was ordered and is the first of its attempt; whether it was."""
        ordered = trial.agent in task.agents and 0 <= trial.attempt < self.question.repeat
        again = any((each.agent, each.attempt) == (trial.agent, trial.attempt) for each in found)
        if not ordered or again:
            return False
        found.append(trial)
        found.sort(key=lambda each: (each.agent, each.attempt))
        return True

    def _carry_out(
        self, tasks: Sequence[Prepared], trials: Mapping[str, list[Trial]]
    ) -> CheckFailed | None:
        """Have the runner do them; why it did not come to its end, if it did not."""
        by_name = {task.task: task for task in tasks}
        for task in tasks:
            trials[task.task].clear()
        with stage(self.sandbox, self.path) as place:
            laid = lay_out(tasks, f"{place.work}/tasks")
            order = Order(
                sandbox=self.sandbox,
                work=f"{place.work}/run",
                jobs=self.question.jobs,
                repeat=self.question.repeat,
                seconds=self.question.seconds,
                rootfs=self.question.rootfs,
                variables=variables_given(self.question.variables),
                tasks=tuple(order_of(task, at, self.question.reward_key) for task, at in laid),
            )
            bounds = Bounds(stall=3 * self.question.seconds + _STALL_SECONDS)
            more = {**self.environment, **order.variables}
            failure = None
            try:
                with closing(place.carry_out(self.command, order, bounds, more)) as lines:
                    for said in lines:
                        self._hear(said, by_name, trials)
            except CheckFailed as error:
                failure = error
            self._look_at_images(tasks)
        return failure

    def _hear(
        self,
        said: Head | Trial,
        asked: Mapping[str, Prepared],
        trials: Mapping[str, list[Trial]],
    ) -> None:
        if isinstance(said, Head):
            self.head = said
            self.book.begin(said)
        elif (task := asked.get(said.task)) is not None:
            trial = self._cleaned(said)
            if self._take(task, trial, trials[task.task]):
                self.book.add(task.digest, trial)

    def _look_at_images(self, tasks: Iterable[Prepared]) -> None:
        if self.sandbox in ENGINES:
            unknown = {image for task in tasks for image in task.images} - set(self.images)
            self.images.update(image_digests(self.sandbox, sorted(unknown)))

    def _cleaned(self, trial: Trial) -> Trial:
        error = trial.error
        if error is not None:
            error = TrialError(kind=error.kind, message=self.clean(error.message))
        refused = None if trial.refused is None else self.clean(trial.refused)
        log = self.clean.hidden(trial.log)
        return trial.model_copy(update={"error": error, "refused": refused, "log": log})


def machine(
    chosen: Format, own: str | None, question: Question, source: str, *, resume: bool
) -> Machine:
    """The machine that answers `question` with the framework of a format.

    `own` is the user's Python for it. `JudgeMissing` where it cannot be had, `UsageError` for a
    sandbox that there is not, or that it cannot use.
    """
    judge = chosen.judge
    if judge is None or judge.runner is None:
        raise UsageError(
            f"{chosen.title} cannot run tasks by itself", reason="no-runner", remedy="Leave it out"
        )
    runner = judge.runner
    variables_given(question.variables)
    sandbox = _sandbox(question, runner, chosen.title)
    path: tuple[str, ...] = ()
    command: tuple[str, ...]
    if sandbox == LOCAL:
        python = sys.executable
        command = (python, "-m", str(runner.local))
    else:
        if own is not None:
            python = own_python(chosen.name, judge, own)
        else:
            python = judge_python(chosen.name, judge)
        command = (python, f"{judge.scripts}/{runner.script}")
        tool = runner.tools.get(sandbox)
        if tool is not None and shutil.which(tool.partition("==")[0]) is None:
            path = (tool_folder(tool),)
    asked: dict[str, object] = {
        "source": os.path.realpath(source),
        "framework": LOCAL if sandbox == LOCAL else chosen.name,
        "requirements": list(judge.requirements) if own is None else own,
        "sandbox": sandbox,
        "rootfs": question.rootfs,
        "repeat": question.repeat,
        "seconds": question.seconds,
        "reward_key": question.reward_key,
        "variables": list(question.variables),
    }
    return Machine(
        sandbox=sandbox,
        command=command,
        environment={**judge.environment, **runner.environment},
        path=path,
        question=replace(question, sandbox=sandbox),
        book=TrialBook(asked, resume=resume),
        clean=Whereabouts(source, python),
    )


def _sandbox(question: Question, runner: Runner, title: str) -> str:
    """The sandbox asked for, if it can be used, else the first that can."""
    sandbox = question.sandbox or first_engine()
    if sandbox is None:
        raise UsageError(
            "no container engine answers here: neither docker nor podman",
            reason="no-sandbox",
            remedy="Start one, or name a sandbox with --sandbox",
        )
    if sandbox == LOCAL:
        if question.rootfs is None or not Path(question.rootfs).is_dir():
            raise UsageError(
                "the local sandbox needs a root file system to lay tasks over",
                reason="no-root-file-system",
                remedy="Name one with --rootfs FOLDER",
            )
        if runner.local is None:
            raise UsageError(
                f"tasks of {title} cannot be run in the local sandbox",
                reason="no-such-sandbox",
                remedy="Choose another with --sandbox",
            )
        return sandbox
    known = runner.sandboxes
    if known is not None and sandbox not in known:
        raise UsageError(
            f"{title} does not run tasks in {sandbox!r} here",
            reason="no-such-sandbox",
            remedy=f"Choose one of these with --sandbox: {', '.join(known)}",
        )
    if question.sandbox in ENGINES and not answers(sandbox):  # the first engine has answered
        raise JudgeMissing(
            f"{sandbox} does not answer",
            reason="no-sandbox",
            remedy="Install and start it, or choose another with --sandbox",
        )
    return sandbox


def variables_given(names: Sequence[str]) -> dict[str, str]:
    """The variables of this environment that were named; `UsageError` for one that is not set."""
    for name in names:
        if name not in os.environ:
            raise UsageError(
                f"the variable {name} is not set",
                reason="unset-variable",
                remedy=f"Set it, or leave out --pass {name}",
            )
    return {name: os.environ[name] for name in names}
