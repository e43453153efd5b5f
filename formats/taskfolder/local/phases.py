"""One trial: the agent's phase, the verifier's, and the reward, step by step, as Harbor 0.26.0."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rlconvert.files import FileTree
from rlconvert.formats.taskfolder.demands import IGNORE_FILE, is_ignored
from rlconvert.formats.taskfolder.folder import FORMAT
from rlconvert.model import Step, Task
from rlconvert.reward import StepRewards
from rlconvert.running.runner import ORACLE, AgentName, ErrorKind, StepTrial, TrialError

from .dockerfile import Recipe
from .machine import Done, Machine, MachineFault, OutOfTime
from .rewards import RewardFault, read_rewards, tail_of

LOGS = "/logs"
VERIFIER_SECONDS = 600.0
BUILD_SECONDS = 600.0

_TEMPLATE = re.compile(r"\$\{([^}:]+)(?::-(.*))?\}")
_PARTS = ("agent", "verifier", "artifacts")


class TrialFault(Exception):
    """Why a trial, or a step of it, has no reward."""

    def __init__(self, kind: ErrorKind, problem: str) -> None:
        super().__init__(problem)
        self.kind = kind


@dataclass
class Held:
    """What came of a trial."""

    rewards: dict[str, float] | None = None
    steps: list[StepTrial] = field(default_factory=list)
    error: TrialError | None = None
    log: str = ""

    def blame(self, fault: TrialFault) -> None:
        """Remember the first fault."""
        if self.error is None:
            self.error = TrialError(kind=fault.kind, message=str(fault))


@dataclass(frozen=True)
class Envs:
    """The variables of a task's phases, their templates resolved."""

    machine: Mapping[str, str]
    oracle: Mapping[str, str]
    verifier: Mapping[str, Mapping[str, str]]
    """By the name of the step."""


def envs_of(task: Task, agent: AgentName, variables: Mapping[str, str]) -> Envs:
    """What `task` sets for each phase; `TrialFault` where a variable it asks for is not given."""

    def resolved(*maps: Mapping[str, str] | None) -> dict[str, str]:
        merged = {name: value for each in maps for name, value in (each or {}).items()}
        return {name: _resolve(value, variables) for name, value in merged.items()}

    oracle = task.oracle.env if task.oracle is not None and agent == ORACLE else None
    return Envs(
        machine=resolved(task.runtime.env),
        oracle=resolved(oracle),
        verifier={step.name: resolved(task.verifier.env, step.verifier.env) for step in task.steps},
    )


def _resolve(value: str, variables: Mapping[str, str]) -> str:
    found = _TEMPLATE.fullmatch(value)
    if found is None:
        return value
    name, default = found.groups()
    if name in variables:
        return variables[name]
    if default is None:
        raise TrialFault(ErrorKind.UNSET_VARIABLE, f"the variable {name} is not set")
    return str(default)


@dataclass(frozen=True)
class Site:
    """Where trials are held: a folder for each, the layers below, and the longest phase."""

    folder: Path
    layers: Sequence[Path]
    seconds: float


def hold(task: Task, recipe: Recipe, site: Site, agent: AgentName, envs: Envs) -> Held:
    """Hold one trial; whatever goes wrong in it is in what comes back."""
    logs = site.folder.with_name(f"{site.folder.name}-logs")
    mounts = {f"{LOGS}/{part}": logs / part for part in _PARTS}
    for folder in mounts.values():
        folder.mkdir(parents=True)
        folder.chmod(0o777)
    network = task.runtime.network is None or task.runtime.network.access.value != "none"
    held = Held()
    try:
        with Machine(site.folder, site.layers, network=network, mounts=mounts) as machine:
            _Trial(task, recipe, site.seconds, agent, envs, machine, logs, held).run()
    except MachineFault as fault:
        held.blame(TrialFault(ErrorKind.ENVIRONMENT, fault.problem))
    return held


class _Trial:
    def __init__(
        self,
        task: Task,
        recipe: Recipe,
        seconds: float,
        agent: AgentName,
        envs: Envs,
        machine: Machine,
        logs: Path,
        held: Held,
    ) -> None:
        self.task = task
        self.tree = task.native[FORMAT].tree
        self.recipe = recipe
        self.seconds = seconds
        self.agent = agent
        self.envs = envs
        self.machine = machine
        self.logs = logs
        self.held = held
        self.workdir = task.runtime.workdir or recipe.workdir

    def run(self) -> None:
        """All steps, until one ends the trial."""
        self.put(self.task.seed, self.workdir, self.until(None))
        single = not self.task.steps[0].name
        earned = []
        for number, step in enumerate(self.task.steps):
            rewards, goes_on = self.step(step, first=not number)
            earned.append(rewards)
            if not single:
                self.held.steps.append(StepTrial(name=step.name, rewards=rewards))
            if not goes_on:
                break
        self.held.rewards = earned[0] if single else total(self.task.step_rewards, earned)

    def until(self, seconds: float | None) -> float:
        """When a phase of `seconds` has to be over."""
        return time.monotonic() + min(self.seconds if seconds is None else seconds, self.seconds)

    def step(self, step: Step, *, first: bool) -> tuple[dict[str, float] | None, bool]:
        """What one step earns, and whether another follows."""
        try:
            self.prepare(step, first=first)
        except TrialFault as fault:
            self.held.blame(fault)
            return None, False
        if self.agent == ORACLE:
            try:
                self.solve(step)
            except TrialFault as fault:
                # Harbor grades what there is all the same.
                self.held.blame(fault)
        try:
            rewards = self.verify(step)
        except TrialFault as fault:
            self.held.blame(fault)
            return None, False
        return rewards, passes(step.min_reward, rewards)

    # --- phases ------------------------------------------------------------------------------

    def prepare(self, step: Step, *, first: bool) -> None:
        """What a step puts into the machine before its agent."""
        if not first:
            self.empty("/tests", *(f"{LOGS}/{part}" for part in _PARTS))
        if not step.name:
            return
        self.put(step.seed, self.workdir, self.until(None))
        script = f"{self.workdir.rstrip('/')}/setup.sh"
        if step.seed.follow("setup.sh") is None:
            return
        try:
            done = self.command(
                f"bash {shlex.quote(script)}", self.agent_user(step), {}, self.until(None)
            )
        except OutOfTime:
            raise TrialFault(ErrorKind.ENVIRONMENT, "setup.sh took too long") from None
        if done.status:
            problem = f"setup.sh ended with status {done.status}: {done.output.strip()}"
            raise TrialFault(ErrorKind.CRASH, problem)

    def solve(self, step: Step) -> None:
        """The oracle's phase."""
        own = f"steps/{step.name}/solution"
        home = own if step.name and self.tree.has_folder(own) else "solution"
        script = f"{home}/solve.sh"
        if self.tree.follow(script) is None or is_ignored(self.tree, script):
            raise TrialFault(ErrorKind.AGENT_FAILED, f"there is no {script}")
        limit = step.agent.timeout if step.agent.timeout is not None else self.task.agent.timeout
        until = self.until(limit)
        env = {"DEBIAN_FRONTEND": "noninteractive", **self.envs.oracle}
        try:
            self.put(self.sent(home), "/solution", until)
            done = self.script("/solution/solve.sh", "agent/oracle.txt", env, step, until)
        except OutOfTime:
            raise TrialFault(ErrorKind.AGENT_TIMEOUT, "the solution took too long") from None
        finally:
            log = tail_of(self.logs / "agent", "oracle.txt")
        if done.status:
            self.held.log += log

    def verify(self, step: Step) -> dict[str, float]:
        """The verifier's phase, and what it left."""
        if step.name:
            self.empty("/tests", f"{LOGS}/verifier")
        limit = (step if step.name else self.task).verifier.timeout
        until = self.until(VERIFIER_SECONDS if limit is None else limit)
        folders = ["tests", f"steps/{step.name}/tests"] if step.name else ["tests"]
        try:
            self.root(f"rm -f -- {LOGS}/verifier/reward.txt {LOGS}/verifier/reward.json", until)
            for folder in folders:
                self.put(self.sent(folder), "/tests", until)
            env = self.envs.verifier[step.name]
            self.script("/tests/test.sh", "verifier/test-stdout.txt", env, step, until)
            return read_rewards(self.logs / "verifier")
        except OutOfTime:
            raise TrialFault(ErrorKind.VERIFIER_TIMEOUT, "the verifier took too long") from None
        except RewardFault as fault:
            raise TrialFault(fault.kind, str(fault)) from fault
        finally:
            self.held.log += tail_of(self.logs / "verifier", "test-stdout.txt")

    # --- in the machine ----------------------------------------------------------------------

    def script(self, path: str, log: str, env: Mapping[str, str], step: Step, until: float) -> Done:
        """Run a script of the task, which says by its first line what runs it."""
        user = self.agent_user(step) if log.startswith("agent") else self.verifier_user(step)
        self.root(f"chmod +x {path}", until)
        return self.command(f"({path}) > {LOGS}/{log} 2>&1", user, env, until)

    def command(
        self, text: str, user: str | int | None, env: Mapping[str, str], until: float
    ) -> Done:
        """Run a line of bash where and as the task says."""
        return self.machine.run(
            ["bash", "-c", text],
            env={**self.recipe.env, **self.envs.machine, **env},
            workdir=self.workdir,
            user=self.recipe.user if user is None else user,
            until=until,
        )

    def root(self, text: str, until: float) -> None:
        """Run a line of bash as root; `MachineFault` when it fails."""
        done = self.command(text, "root", {}, until)
        if done.status:
            raise MachineFault(f"{text}: {done.output.strip()}")

    def put(self, tree: FileTree, folder: str, until: float) -> None:
        """Lay files into the machine; where there are none, their folder is not made either."""
        if tree:
            self.machine.put(tree, folder, until=until)

    def empty(self, *folders: str) -> None:
        """Take everything out of folders of the machine."""
        lines = [f"mkdir -p {each} && find {each} -mindepth 1 -delete" for each in folders]
        self.root(" && ".join(lines), self.until(None))

    def sent(self, folder: str) -> FileTree:
        """What of a folder of the task goes into the machine."""
        tree = self.tree.below(folder)
        gone = [
            path
            for path in (*tree.entries, *tree.empty_folders)
            if path.split("/")[-1] == IGNORE_FILE or is_ignored(self.tree, f"{folder}/{path}")
        ]
        return tree.without(*gone)

    def agent_user(self, step: Step) -> str | int | None:
        """As whom the agent runs; None is whoever the Dockerfile says."""
        return self.task.agent.user if step.agent.user is None else step.agent.user

    def verifier_user(self, step: Step) -> str | int | None:
        """As whom the verifier runs."""
        return self.task.verifier.user if step.verifier.user is None else step.verifier.user


def passes(minimum: float | Mapping[str, float] | None, rewards: Mapping[str, float]) -> bool:
    """Whether a step's rewards are enough for the next one."""
    if minimum is None:
        return True
    wanted = minimum if isinstance(minimum, Mapping) else {"reward": minimum}
    return all(rewards.get(name, float("-inf")) >= least for name, least in wanted.items())


def total(
    rule: StepRewards | None, earned: Sequence[Mapping[str, float] | None]
) -> dict[str, float] | None:
    """The rewards of a trial from those of its steps, None for a step that earned nothing."""
    if rule is StepRewards.FINAL:
        last = earned[-1]
        return None if last is None else dict(last)
    there = [rewards for rewards in earned if rewards is not None]
    names = {name: None for rewards in there for name in rewards}
    means = {name: sum(each.get(name, 0) for each in there) / len(there) for name in names}
    return means or None
