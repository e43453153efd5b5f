"""The task model: what an RL task is, whatever framework published it.

Frozen data, no IO. A reader builds it, a writer reads it, nothing else happens in between. Unset
is None and never a framework's default: what a source does not say, the model does not say.

Three trees are kept apart so that a wrong join cannot show an agent what it must not see: `seed`
(the agent sees it), `tests` and the oracle's files (it does not).

    Repo ── Taskset ── TaskRef        what a source is, and where its tasks stand
    Task ─┬─ Step ── Prompt           prompt.py
          ├─ Runtime                  runtime.py
          ├─ Verifier, Reward         reward.py
          └─ seed, tests, oracle      files.py
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace

from .data import Data
from .errors import RlconvertError
from .files import File, FileTree
from .prompt import Prompt
from .reward import Reward, StepRewards
from .runtime import Healthcheck, Network, Runtime


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectHook:
    """A command run in `service` after the agent and before the verifier. Timeout in seconds."""

    command: str
    service: str | None = None
    timeout: float | None = None
    user: str | int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A path of the agent's runtime that outlives it, for the verifier and for the record."""

    source: str
    destination: str | None = None
    exclude: tuple[str, ...] | None = None
    service: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifier:
    """The program that applies the reward rule: where and as whom it runs. Timeout in seconds.

    `separate` is what the source states (None: it states nothing); `runtime` is the verifier's
    own machine where it has one.
    """

    separate: bool | None = None
    runtime: Runtime | None = None
    env: Mapping[str, str] | None = None
    user: str | int | None = None
    network: Network | None = None
    collect: tuple[CollectHook, ...] | None = None
    timeout: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """The limits of the agent's phase: seconds, user and network."""

    timeout: float | None = None
    user: str | int | None = None
    network: Network | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle:
    """A reference solution that must earn full reward."""

    files: FileTree = FileTree()
    env: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One exchange with the agent. Its trees are laid over those of the task.

    `seed` lands in the working directory before the step; `min_reward` ends the task early, by
    reward name or (a number) for the reward without one. `prior` is a trajectory given to the
    agent as what happened before.
    """

    name: str
    prompt: Prompt
    seed: FileTree = FileTree()
    tests: FileTree = FileTree()
    oracle: FileTree = FileTree()
    prior: FileTree = FileTree()
    agent: Agent = Agent()
    verifier: Verifier = Verifier()
    reward: Reward | None = None
    min_reward: float | Mapping[str, float] | None = None
    healthcheck: Healthcheck | None = None
    artifacts: tuple[Artifact, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """A person to credit."""

    name: str
    email: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The published name of a task (``org/name``), its version and what people read about it."""

    name: str
    version: str | None = None
    description: str | None = None
    keywords: tuple[str, ...] | None = None
    authors: tuple[Author, ...] | None = None


@dataclass(frozen=True, slots=True)
class RowLine:
    """A line of a row file, with its line end, and the file it stands in.

    `at` is the first byte's place in that file, where the order of its rows must be kept.
    """

    path: str
    line: bytes
    at: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Remark:
    """What a reader noticed about a task's own bytes, at a field path of the model.

    `harm`: the source's own framework refuses them, or does not take all of them in; the model
    holds what they mean, so that only writing them again as they are repeats the harm.
    """

    field: str
    reason: str
    detail: str = ""
    harm: bool = False


@dataclass(frozen=True, slots=True)
class Native:
    """A task's own bytes in one format: `tree` below `path` in its repo, and the `rows` of it."""

    path: str
    tree: FileTree = FileTree()
    rows: tuple[RowLine, ...] = ()
    remarks: tuple[Remark, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 over names, contents and link targets: what an edit changes.

        The executable bit is left out: the Hub does not keep it.
        """
        digest = hashlib.sha256()
        for path, entry in self.tree:
            said = entry.blob.sha256 if isinstance(entry, File) else f"-> {entry.target}"
            digest.update(f"{path}\0{said}\n".encode())
        for row in self.rows:
            digest.update(b"row " + hashlib.sha256(row.line).digest())
        return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One problem: prompt, runtime, tests and reward rule.

    `id` is a stable string, never a position. A task of a single exchange has one step, whose
    name is empty. `reward` is None where every step has a rule of its own. `extras` holds, by
    framework, the keys the model has no word for, under JSON pointers into the source's own file.
    `files` are files of the task that no part of the model owns; `schema` is the version of its
    own layout that the source states. `native` holds, by framework,
    the verbatim source; `stripped` is the task without it. `place` is where an edited task stood
    in the repo that it goes home to.
    """

    id: str
    steps: tuple[Step, ...]
    identity: Identity | None = None
    origin: str | None = None
    metadata: Mapping[str, Data] = field(default_factory=dict)
    step_rewards: StepRewards | None = None
    runtime: Runtime = Runtime()
    seed: FileTree = FileTree()
    tests: FileTree = FileTree()
    oracle: Oracle | None = None
    agent: Agent = Agent()
    verifier: Verifier = Verifier()
    reward: Reward | None = None
    artifacts: tuple[Artifact, ...] | None = None
    files: FileTree = FileTree()
    schema: str | None = None
    extras: Mapping[str, Mapping[str, Data]] = field(default_factory=dict)
    native: Mapping[str, Native] = field(default_factory=dict)
    place: str | None = None

    @property
    def stripped(self) -> Task:
        """The task as the model alone knows it."""
        return replace(self, native={})


# --- taskset and repo --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RowRef:
    """Where a row stands: its file, the first byte, how many there are, and its line from 1 on."""

    path: str
    start: int
    size: int
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRef:
    """Where a task stands in a source: enough to load it, small enough for a million of them."""

    id: str
    path: str
    tasksets: tuple[str, ...] = ()
    rows: tuple[RowRef, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Taskset:
    """An ordered set of tasks under one name and version.

    `key` is unique in its repo. `split` says which part of a larger set it is (``train``). `order`
    lists task ids where the set states an order of its own; None means the repo's order. `extras`
    as in `Task`.
    """

    key: str
    name: str
    version: str | None = None
    description: str | None = None
    split: str | None = None
    order: tuple[str, ...] | None = None
    extras: Mapping[str, Mapping[str, Data]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What was read: a label people know, and for a Hub repo where it is, its commit and the
    day (``2026-01-31``) of that commit.

    `modes_inferred`: executable bits were not kept there and are told by ``#!``.
    """

    label: str
    repo: str | None = None
    commit: str | None = None
    url: str | None = None
    date: str | None = None
    modes_inferred: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Repo:
    """What a source holds besides its tasks. `licence` is what its card states, as it states it.

    `shared` are the files that belong to no task; `faults` are those of them that could not be
    read. `explicit` says whether the source names its tasksets itself (else there is one, named
    after the source).
    """

    format: str
    name: str
    origin: Origin
    tasksets: tuple[Taskset, ...]
    licence: str | None = None
    shared: FileTree = FileTree()
    explicit: bool = False
    faults: tuple[RlconvertError, ...] = ()


def field_paths(of: type = Task, above: str = "") -> tuple[str, ...]:
    """Every field of the model that can have a fate: ``runtime``, ``steps.prompt``, ...

    Fields of `Task` and of `Step`; deeper structure has the fate of the field that holds it.
    """
    paths: list[str] = []
    for each in fields(of):
        if each.name in ("id", "native", "place") or (above and each.name == "name"):
            continue
        if each.name == "steps":
            paths += field_paths(Step, "steps.")
        else:
            paths.append(above + each.name)
    return tuple(paths)


def differing_fields(left: Task, right: Task) -> set[str]:
    """The field paths in which two tasks differ; `id`, `native` and `place` belong to a layout.

    Not a number is the same as not a number: a task that holds it is the same as itself.
    """
    found: set[str] = set()
    for each in fields(Task):
        if each.name in ("id", "native", "place", "steps"):
            continue
        if not _same(getattr(left, each.name), getattr(right, each.name)):
            found.add(each.name)
    if len(left.steps) != len(right.steps):
        return found | {"steps"}
    for mine, theirs in zip(left.steps, right.steps, strict=True):
        found |= {
            f"steps.{each.name}"
            for each in fields(Step)
            if not _same(getattr(mine, each.name), getattr(theirs, each.name))
        }
    return found


def _same(left: object, right: object) -> bool:
    if left == right:
        return True
    if type(left) is not type(right):
        return False
    match left, right:
        case float(), float():
            return math.isnan(left) and math.isnan(right)
        case Mapping(), Mapping():
            return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
        case (list() | tuple(), list() | tuple()):
            return len(left) == len(right) and all(map(_same, left, right))
    return is_dataclass(left) and all(
        _same(getattr(left, each.name), getattr(right, each.name)) for each in fields(left)
    )
