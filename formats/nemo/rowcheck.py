"""Asks the real NeMo Gym about rows that are tasks themselves, and the configs that list them.

Facts: nemo-gym 0.7.0. A row is a request that a rollout takes; it fits the row schema of the server
that grades it, which NeMo Gym itself applies only where a server, not an agent, lists the rows; and
no part of its messages is lost on the way in: NeMo Gym takes many a message in as nothing, without
a word. Keys that a schema does not know are a warning: servers pass them over.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import Field

from rlconvert.errors import CheckFailed
from rlconvert.judge import ANSWER, Hearing, TaskVerdict
from rlconvert.proof.answers import Answer, answer, answers
from rlconvert.source import Kind

from .rowfiles import FORMAT, RowFiles, row_files
from .rowindex import RowIndex
from .servers import AGENTS, SERVERS

_CODE = ("app.py", "task_data.py")
_MOST = 8


class _Row(Answer):
    path: str
    line: int
    accepted: bool
    why: str | None
    lost: tuple[str, ...]
    misfit: str | None = Field(alias="schema")
    unknown: tuple[str, ...]

    @property
    def fault(self) -> str | None:
        """Why the row is not taken in whole."""
        if not self.accepted:
            return self.why or "NeMo Gym refuses it"
        if self.lost:
            return f"accepted, and a part of it is lost: {', '.join(self.lost)}"
        return self.misfit


class _Dataset(Answer):
    path: str
    component: str | None


class _Config(Answer):
    config: str
    faults: tuple[str, ...]
    warnings: tuple[str, ...]
    datasets: tuple[_Dataset, ...]


class _Said(Answer):
    python: str
    nemo_gym: str = Field(alias="nemo-gym")
    configs: tuple[_Config, ...]


@dataclass(slots=True)
class RowVerdict:
    """What NeMo Gym says of rows; without any, nobody was asked."""

    versions: dict[str, str] = field(default_factory=dict)
    python: str = ""
    tasks: list[TaskVerdict] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def hear_rows(hearing: Hearing) -> RowVerdict:
    """The verdict on every row that the reader of this format has as a task, by its name there."""
    found = row_files(hearing.source, {})
    verdict = RowVerdict(faults=list(map(str, found.faults)))
    configs = _configs(found)
    if not found.files and not configs:
        return verdict
    brought = _brought(hearing, found, configs)
    said, rows = _ask(hearing, found, configs, brought)
    verdict.versions, verdict.python = {"nemo-gym": said.nemo_gym}, said.python
    for each in said.configs:
        at = f"{each.config}: " if each.config else ""
        verdict.faults += [at + fault for fault in each.faults]
        verdict.warnings += [at + warning for warning in each.warnings]
    verdict.faults += _contradicted(found, said)
    verdict.warnings += _not_asked(found, brought)
    _take_rows(hearing, found, rows, verdict)
    return verdict


def _configs(found: RowFiles) -> list[str]:
    """The configs that list rows."""
    said = [taskset.extras[FORMAT] for taskset in found.tasksets]
    return sorted({str(each["/config"]) for each in said if "/config" in each})


def _home(component: str) -> str:
    return component if component.startswith(f"{AGENTS}/") else f"{SERVERS}/{component}"


def _brought(hearing: Hearing, found: RowFiles, configs: list[str]) -> set[str]:
    """The components whose code stands in the repo: it hides NeMo Gym's own, and is not run."""
    homes = {_home(file.component) for file in found.files.values() if file.component}
    for kind in (SERVERS, AGENTS) if configs else ():
        homes |= {f"{kind}/{item.name}" for item in hearing.source.items(kind)}
    kind_of = hearing.source.kind
    return {home for home in homes if any(kind_of(f"{home}/{name}") is Kind.FILE for name in _CODE)}


def _ask(
    hearing: Hearing, found: RowFiles, configs: list[str], brought: set[str]
) -> tuple[_Said, list[bytes]]:
    root = hearing.source.root
    shipped = {
        file.path: None if _home(file.component) in brought else file.component
        for file in found.files.values()
        if file.component is not None
    }
    undeclared = [
        {"path": path, "component": component}
        for path, component in shipped.items()
        if component is not None and not found.files[path].declared
    ]
    job = {
        "repo": root,
        "configs": configs,
        "brought": sorted(brought),
        "undeclared": undeclared,
        "rows": [
            {"path": f"{root}/{path}", "component": shipped.get(path)} for path in found.files
        ],
    }
    note = hearing.note("rows.json", json.dumps(job))
    first, *rows = hearing.ask("nemo_environments.py", note, ANSWER).splitlines()
    said = answer(_Said, first)
    if [each.config for each in said.configs] != configs + [""] * bool(undeclared):
        raise CheckFailed(
            f"of the configs {configs}, {[each.config for each in said.configs]} were judged",
            reason="garbled-verdict",
        )
    return said, rows


def _contradicted(found: RowFiles, said: _Said) -> Iterator[str]:
    """Rows whose server is another for NeMo Gym than for us."""
    theirs = {
        (config.config, dataset.path): dataset.component
        for config in said.configs
        for dataset in config.datasets
        if config.config
    }
    for taskset in found.tasksets:
        ours = taskset.extras[FORMAT]
        key = (str(ours.get("/config")), str(ours.get("/path")))
        if key in theirs and theirs[key] != ours["/component"]:
            who = f"{theirs[key]}, not {ours['/component']}"
            yield f"{key[0]}: for NeMo Gym the rows of {key[1]} are graded by {who}"


def _not_asked(found: RowFiles, brought: set[str]) -> Iterator[str]:
    for file in found.files.values():
        if file.component is None:
            yield f"{file.path}: only the requests were asked about: {file.because}"
        elif _home(file.component) in brought:
            yield (
                f"{file.path}: only the requests were asked about: the repo brings the code of "
                f"{_home(file.component)}, which is not run"
            )
        elif not file.declared:
            yield f"{file.path}: no config lists its rows, so only data tools load them"


def _take_rows(hearing: Hearing, found: RowFiles, rows: list[bytes], verdict: RowVerdict) -> None:
    """A task for each row, and what NeMo Gym says of it."""
    root = hearing.source.root
    reasons: dict[tuple[str, int], str] = {}
    judged: Counter[str] = Counter()
    unknown: dict[str, set[str]] = {}
    for row in answers(_Row, rows):
        path = row.path.removeprefix(f"{root}/")
        judged[path] += 1
        unknown.setdefault(path, set()).update(row.unknown)
        if row.fault is not None:
            reasons[path, row.line] = f"{path}:{row.line}: {row.fault}"
    ours: Counter[str] = Counter()
    for name, row_ref in RowIndex(hearing.source, list(found.files)):
        ours[row_ref.path] += 1
        verdict.tasks.append(TaskVerdict(name, reasons.get((row_ref.path, row_ref.number))))
    for path in found.files:
        if judged[path] != ours[path]:
            verdict.faults.append(f"{path}: {ours[path]} lines, NeMo Gym reads {judged[path]} rows")
        if keys := sorted(unknown.get(path, ())):
            known = found.files[path].component
            listed = ", ".join(keys[:_MOST]) + (", ..." if len(keys) > _MOST else "")
            verdict.warnings.append(f"{path}: keys that {known} does not declare: {listed}")
