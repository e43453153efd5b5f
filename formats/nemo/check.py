"""Asks the real NeMo Gym whether it accepts a repo, row by row: one verdict over all its rows.

Facts: nemo-gym 0.7.0 with harbor 0.25.0. `gym env validate` and `gym dataset collate` end with
status 0 in many a failure, and collate drops what it does not like; so what they report is compared
with the lines of the files, and every row goes through the models that a rollout would use. Rows
that name task folders for Harbor are asked about here, all others in `rowcheck.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import Field

from rlconvert.address import parse_hub_address
from rlconvert.errors import RlconvertError
from rlconvert.judge import ANSWER, Hearing, TaskVerdict, Verdict
from rlconvert.proof.answers import Answer, answer
from rlconvert.source import FolderSource, Kind

from .layout import AGENT, LayoutError
from .parse import HarborAgent, parse_config, parse_row
from .rowcheck import hear_rows
from .servers import AGENTS

_ENVIRONMENTS, _CONFIG = "environments", "config.yaml"
_DEFAULT_TASKS = "tasks"
_MAX_YAML = 1 << 20
_BY_HARBOR = f"{AGENTS}/{AGENT} (the tests of each task, run by Harbor)"


class _RowFault(Answer):
    line: int
    task_name: object = None
    fault: str


class _Dataset(Answer):
    name: str
    path: str
    rows: int
    faults: tuple[_RowFault, ...]


class _Agent(Answer):
    name: str
    faults: tuple[str, ...]
    datasets: tuple[_Dataset, ...]


class _Report(Answer):
    faults: tuple[str, ...]
    warnings: tuple[str, ...] = ()


class _Environment(Answer):
    name: str
    faults: tuple[str, ...]
    agents: tuple[_Agent, ...]
    validated: _Report | None = Field(None, alias="validate")
    collate: tuple[_Report, ...] = ()


class _Said(Answer):
    harbor: str
    python: str
    nemo_gym: str = Field(alias="nemo-gym")
    environments: tuple[_Environment, ...]
    faults: tuple[str, ...]
    accepted: bool


def hear(hearing: Hearing) -> Verdict:
    """The verdict on every row of every dataset that a config declares, and on rows without one."""
    source = hearing.source
    groups, faults = _environments(hearing)
    rows = hear_rows(hearing)
    warnings, graders = rows.warnings, rows.graders
    tasks: dict[str, TaskVerdict] = {}
    versions: Mapping[str, str] = rows.versions
    python = rows.python
    for folder, names in groups.items():
        said = _asked(hearing, folder, names)
        versions = {"nemo-gym": said.nemo_gym, "harbor": said.harbor}
        python = said.python
        graders.add(_BY_HARBOR)
        faults += said.faults
        for environment in said.environments:
            faults += _faults_of(environment)
            if environment.validated is not None:
                warnings += environment.validated.warnings
            for agent in environment.agents:
                for dataset in agent.datasets:
                    _take_rows(source, dataset, tasks, faults)
        if not said.accepted and not faults and all(each.reason is None for each in tasks.values()):
            faults.append("the judge does not accept it and names no fault")
    if not groups and not versions:
        faults.append("no config lists rows, and no file beside one holds any")
    return Verdict(
        versions=versions,
        python=python,
        tasks=(*tasks.values(), *rows.tasks),
        faults=(*faults, *rows.faults),
        warnings=tuple(warnings),
        graders=tuple(sorted(graders)),
    )


def _asked(hearing: Hearing, folder: str, names: list[str]) -> _Said:
    root = hearing.source.root
    chosen = [part for name in names for part in ("--environment", name)]
    tasks = ("--dataset-path", f"{root}/{folder}")
    return answer(_Said, hearing.ask("nemo_accepts.py", root, ANSWER, *tasks, *chosen))


def _environments(hearing: Hearing) -> tuple[dict[str, list[str]], list[str]]:
    """The environments whose rows are for Harbor's tasks, by the folder of these; and faults."""
    source = hearing.source
    groups: dict[str, list[str]] = {}
    faults: list[str] = []
    for item in source.items(_ENVIRONMENTS):
        path = f"{_ENVIRONMENTS}/{item.name}/{_CONFIG}"
        if item.kind is not Kind.FOLDER or source.kind(path) is not Kind.FILE:
            continue
        try:
            data = source.read(path, _MAX_YAML)
            if AGENT.encode() not in data:
                continue
            agents = parse_config(data).agents
        except (LayoutError, RlconvertError) as error:
            faults.append(f"{path}: {error}")
            continue
        if not agents:
            continue
        for agent in agents:
            _serve(hearing, agent)
        folder = agents[0].tasks_path or _DEFAULT_TASKS
        groups.setdefault(folder, []).append(item.name)
    return groups, faults


def _serve(hearing: Hearing, agent: HarborAgent) -> None:
    """Where a config names a repo of the Hub, the tasks are in this one: it is to be published."""
    repo = agent.harbor_dataset.get("repo")
    if not isinstance(repo, str):
        return
    try:
        address = parse_hub_address(repo)
    except RlconvertError:
        return  # the judge says what it makes of it
    if address is not None:
        hearing.serve(address.repo_id)


def _faults_of(environment: _Environment) -> Iterator[str]:
    at = f"{_ENVIRONMENTS}/{environment.name}"
    yield from (f"{at}: {fault}" for fault in environment.faults)
    for agent in environment.agents:
        yield from (f"{at}, {agent.name}: {fault}" for fault in agent.faults)
    if environment.validated is not None:
        yield from (f"{at}: gym env validate: {fault}" for fault in environment.validated.faults)
    for run in environment.collate:
        yield from (f"{at}: gym dataset collate: {fault}" for fault in run.faults)


def _take_rows(
    source: FolderSource, dataset: _Dataset, tasks: dict[str, TaskVerdict], faults: list[str]
) -> None:
    """A task for each name that rows have; what is wrong with one of them is wrong with it."""
    if source.kind(dataset.path) is not Kind.FILE:
        faults.append(f"{dataset.path}: the config declares these rows, and they are not here")
        return
    reasons = {fault.line: fault.fault for fault in dataset.faults}
    number = 0
    for number, line in enumerate(source.lines(dataset.path), 1):
        try:
            name = parse_row(line).task_name
        except LayoutError as error:
            name = f"{dataset.path}:{number}"
            reasons.setdefault(number, str(error))
        before = tasks.get(name)
        if before is None or before.reason is None:
            tasks[name] = TaskVerdict(name, reasons.get(number))
    if number != dataset.rows:
        faults.append(f"{dataset.path}: {number} lines, and NeMo Gym reads {dataset.rows} rows")
