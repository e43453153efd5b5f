"""Environments whose tasks Harbor runs: config, rows, and the folders they name.

Facts: NeMo Gym 0.7.0, agent `harbor_agent_general` (README.md). The datasets are those a config
declares, never whatever JSONL lies about. Rows of other agents are tasks themselves: `rows.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from posixpath import normpath

from rlconvert.data import Data
from rlconvert.errors import Malformed, RlconvertError
from rlconvert.files import check_path
from rlconvert.formats.taskfolder.folder import task_from_folder
from rlconvert.model import Native, RowLine, RowRef, Task, TaskRef, Taskset
from rlconvert.source import Kind, Source

from .layout import AGENT, LayoutError, Row, row_extras
from .parse import HarborAgent, parse_config, parse_manifest, parse_row

FORMAT = "nemo"
_ENVIRONMENTS = "environments"
_CONFIG, _MANIFEST = "config.yaml", "manifest.yaml"
_DEFAULT_TASKS = "tasks"
_MAX_YAML = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """One environment folder: its agent, and the row files its config declares."""

    name: str
    agent: HarborAgent
    tasks: str
    row_files: tuple[str, ...]


class HarborFolders:
    """The tasks of a repo that are folders, each named by rows of its environments."""

    def __init__(self, source: Source) -> None:
        self._source = source

    @cached_property
    def environments(self) -> tuple[Environment, ...]:
        """The environments whose rows name task folders; none is fine."""
        return tuple(_environments(self._source))

    @property
    def row_files(self) -> set[str]:
        """The paths of their rows."""
        return {path for each in self.environments for path in each.row_files}

    @property
    def tasksets(self) -> tuple[Taskset, ...]:
        """A taskset per environment."""
        return tuple(self._taskset(each) for each in self.environments)

    @property
    def licences(self) -> set[str]:
        """What the configs say, in NeMo Gym's words."""
        entries = [entry for each in self.environments for entry in each.agent.datasets]
        return {entry.licence for entry in entries if entry.licence}

    def _taskset(self, environment: Environment) -> Taskset:
        path = f"{_ENVIRONMENTS}/{environment.name}/{_MANIFEST}"
        if self._source.kind(path) is not Kind.FILE:
            return Taskset(key=environment.name, name=environment.name)
        manifest = parse_manifest(self._source.read(path, _MAX_YAML))
        return Taskset(
            key=environment.name,
            name=environment.name,
            version=manifest.version,
            description=manifest.description,
        )

    def refs(self) -> Iterator[TaskRef]:
        """Tasks in the order of their rows; a row that cannot be read is a task that cannot."""
        yield from self.all

    @cached_property
    def all(self) -> tuple[TaskRef, ...]:
        """The same at once."""
        # As many as there are task folders, so they fit. A task of two environments is one task.
        merged: dict[str, TaskRef] = {}
        for ref in self._rows():
            before = merged.setdefault(ref.id, ref)
            if before is ref:
                continue
            if ref.tasksets[0] in before.tasksets:  # a second row for the task: a fault of its own
                again = f"{ref.rows[0].path}:{ref.rows[0].start}"
                merged[again] = replace(ref, id=again)
                continue
            merged[ref.id] = replace(
                before, tasksets=before.tasksets + ref.tasksets, rows=before.rows + ref.rows
            )
        return tuple(merged.values())

    def _rows(self) -> Iterator[TaskRef]:
        for environment in self.environments:
            for path in environment.row_files:
                start = 0
                for number, line in enumerate(self._source.lines(path)):
                    row = RowRef(path=path, start=start, size=len(line), number=number + 1)
                    start += len(line)
                    try:
                        name = parse_row(line).task_name
                        place = check_path(f"{environment.tasks}/{name}")
                    except (LayoutError, RlconvertError):
                        name, place = f"{path}:{number + 1}", path
                    yield TaskRef(id=name, path=place, tasksets=(environment.name,), rows=(row,))

    def load(self, ref: TaskRef) -> Task:
        """The task a row names: its folder, and the row beside it."""
        rows = tuple(
            RowLine(row.path, self._source.read_at(row.path, row.start, row.size), at=row.start)
            for row in ref.rows
        )
        extras: dict[str, Data] = {}
        for row in rows:
            extras |= row_extras(_parsed(row))
        if self._source.kind(f"{ref.path}/task.toml") is None:
            raise Malformed(
                "the row names a task whose folder is not in this repo",
                reason="task-missing",
                file=ref.path,
                remedy="Convert the repo that has the folder",
            )
        tree = self._source.tree(ref.path)
        task = task_from_folder(ref.id, ref.path, tree)
        native = {**task.native, FORMAT: Native(ref.path, tree, rows)}
        more = {FORMAT: extras} if extras else {}
        return replace(task, native=native, extras={**task.extras, **more})


def _parsed(row: RowLine) -> Row:
    try:
        return parse_row(row.line)
    except LayoutError as error:
        raise Malformed(
            str(error), reason="bad-row", file=row.path, remedy="Correct the row"
        ) from error


def _environments(source: Source) -> Iterator[Environment]:
    for item in source.items(_ENVIRONMENTS):
        path = f"{_ENVIRONMENTS}/{item.name}/{_CONFIG}"
        if item.kind is not Kind.FOLDER or source.kind(path) is not Kind.FILE:
            continue
        data = source.read(path, _MAX_YAML)
        if AGENT.encode() not in data:
            continue
        try:
            config = parse_config(data)
        except LayoutError as error:
            raise Malformed(
                str(error), reason="bad-config", file=path, remedy="Correct the config"
            ) from error
        for agent in config.agents:
            name = item.name if len(config.agents) == 1 else f"{item.name}.{agent.name}"
            yield Environment(
                name=name,
                agent=agent,
                tasks=_tasks_folder(agent, path),
                row_files=tuple(
                    _row_file(source, entry.jsonl_fpath, path) for entry in agent.datasets
                ),
            )


def _tasks_folder(agent: HarborAgent, config: str) -> str:
    if agent.harbor_dataset.get("name"):
        raise Malformed(
            "its tasks stand in a registry elsewhere, not in this repo",
            reason="foreign-dataset",
            file=config,
            where=f"{agent.name}.harbor_dataset.name",
            remedy="Convert the dataset it names",
        )
    return normpath(check_path(agent.tasks_path or _DEFAULT_TASKS))


def _row_file(source: Source, path: str, config: str) -> str:
    if source.kind(check_path(path)) is not Kind.FILE:
        raise Malformed(
            f"the config declares rows in {path}, which is not there",
            reason="rows-missing",
            file=config,
            remedy="Add the file, or take it out of the config",
        )
    return path
