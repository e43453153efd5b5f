"""From the tasks of a repo to orders for a runner: which, laid out how, and why some are not.

A runner gets copies of the task folders and nothing else of the repo: neither what a task's compose
file may point at beside it, nor the repo itself to write to.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from rlconvert.errors import RlconvertError
from rlconvert.files import Entry, File, FileTree, Link, check_path, unreadable
from rlconvert.format import Format, Options
from rlconvert.model import Task, TaskRef
from rlconvert.selection import Selection
from rlconvert.sidecar import MANIFEST, TaskRecord, parse
from rlconvert.sink import write_tree
from rlconvert.source import Kind, Source

from .images import images_of
from .runner import NOP, ORACLE, AgentName, TaskOrder
from .verdicts import TaskRun, not_run

_VARIABLE = re.compile(r"\$\{([^}:]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """`count` tasks drawn by `seed`, among those a selection lets through; 0 is all."""

    count: int = 0
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A task that can be run. `twin` is what its source called it, `digest` is of its folder."""

    task: str
    twin: str
    folder: str
    tree: FileTree
    agents: tuple[AgentName, ...]
    digest: str
    images: frozenset[str]
    network: str
    asks: tuple[str, ...]
    """What it asks of the machine it is run on, beyond its own containers."""
    variables: frozenset[str]
    """The variables of that machine without which it cannot start."""


class Side:
    """A repo whose tasks are to be run, read as `format`."""

    def __init__(self, source: Source, chosen: Format, options: Options) -> None:
        self.source = source
        self.format = chosen
        self._reader = chosen.reader(source, options)
        self._twins = _Twins(source, chosen.name)

    def refs(self, selection: Selection, sample: Sample) -> list[TaskRef]:
        """The tasks chosen, in the repo's order."""
        refs = [ref for ref in self._reader.refs() if selection.wants(ref.id)]
        refs = refs[: selection.limit]
        if not 0 < sample.count < len(refs):
            return refs
        drawn = random.Random(sample.seed).sample(range(len(refs)), sample.count)  # noqa: S311
        return [refs[number] for number in sorted(drawn)]

    def twin(self, ref: TaskRef) -> str:
        """What the source of the conversion calls a task."""
        return self._twins.of(ref)

    def prepare(self, ref: TaskRef) -> Prepared | TaskRun:
        """A task that can be run, or why not."""
        try:
            task = self._reader.load(ref)
        except RlconvertError as error:
            return not_run(ref.id, error.reason, f"it cannot be read: {error}")
        except OSError as error:
            return not_run(ref.id, "unreadable", str(unreadable(ref.path, error)))
        native = task.native.get(self.format.name)
        if native is None or not native.tree:
            problem = "it has no folder to run: its reward is computed by a server"
            return not_run(ref.id, "no-task-folder", problem)
        name = native.path.rpartition("/")[2] or self.source.name
        return Prepared(
            task=ref.id,
            twin=self.twin(ref),
            folder=check_path(name),
            tree=native.tree,
            agents=(ORACLE, NOP) if _has_oracle(task) else (NOP,),
            digest=folder_digest(native.tree),
            images=frozenset(images_of(task)),
            network="not stated" if (net := task.runtime.network) is None else net.access.value,
            asks=self.format.host_access(task),
            variables=frozenset(_variables(task)),
        )


def folder_digest(tree: FileTree) -> str:
    """A digest of names, bytes, modes, links and empty folders: of all that a run can see."""
    whole = hashlib.sha256()
    for path, entry in tree:
        whole.update(f"{path}\0{_said(entry)}\n".encode())
    for path in tree.empty_folders:
        whole.update(f"{path}/\n".encode())
    return whole.hexdigest()


def _said(entry: Entry) -> str:
    match entry:
        case File(blob=blob, executable=executable):
            return f"{'x' if executable else '-'} {blob.sha256}"
        case Link(target=target):
            return f"-> {target}"
    assert_never(entry)


def lay_out(prepared: Sequence[Prepared], above: str) -> Iterator[tuple[Prepared, str]]:
    """Write each task's folder below `above`, and give its place.

    A folder keeps its name, for frameworks call tasks by it; two of one name stand apart.
    """
    seen: dict[str, int] = {}
    for each in prepared:
        key = each.folder.casefold()
        number = seen[key] = seen.get(key, 0) + 1
        place = Path(above, f"tasks-{number}")
        place.mkdir(parents=True, exist_ok=True)
        write_tree(f"{place}/{each.folder}", each.tree)
        yield each, f"{place}/{each.folder}"


def order_of(prepared: Prepared, place: str, reward_key: str | None) -> TaskOrder:
    """What a runner is told of one task."""
    return TaskOrder(
        task=prepared.task, folder=place, agents=prepared.agents, reward_key=reward_key
    )


def _variables(task: Task) -> Iterator[str]:
    """Names in values that are ``${NAME}`` as a whole; with a default none is needed."""
    envs = [task.runtime.env]
    for each in (task.verifier, *(step.verifier for step in task.steps)):
        envs += [each.env, None if each.runtime is None else each.runtime.env]
    if task.oracle is not None:
        envs.append(task.oracle.env)
    for env in envs:
        for value in (env or {}).values():
            if found := _VARIABLE.fullmatch(value):
                yield found[1]


def _has_oracle(task: Task) -> bool:
    shared = task.oracle is not None and bool(task.oracle.files)
    return shared or any(step.oracle for step in task.steps)


class _Twins:
    """What the source of a conversion called its tasks, by the record of that."""

    def __init__(self, source: Source, name: str) -> None:
        self._by_id: dict[str, str] = {}
        self._by_folder: dict[str, str] = {}
        if source.kind(MANIFEST) is not Kind.FILE:
            return
        for line in source.lines(MANIFEST):
            record = parse(TaskRecord, line, MANIFEST)
            if name in record.targets:
                self._by_id[record.targets[name].id] = record.task
            if record.folder is not None:
                self._by_folder[record.folder] = record.task

    def of(self, ref: TaskRef) -> str:
        """A task may be read as another format than it was written for: its folder tells."""
        return self._by_folder.get(ref.path) or self._by_id.get(ref.id, ref.id)
