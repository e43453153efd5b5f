"""Asks the real NeMo Gym about rows that are tasks themselves, and the configs that list them.

Facts: nemo-gym 0.7.0. A row is a request that a rollout takes; it fits the row schema of the server
that grades it, which NeMo Gym itself applies only where a server, not an agent, lists the rows; and
no part of its messages is lost on the way in: NeMo Gym takes many a message in as nothing, without
a word. Keys that a schema does not know are a warning: servers pass them over.

A row without a server has no reward, and no rollout takes it. A config of the repo names one, or
the row itself does: `agent_ref` or `task_source`, by the name that a config of NeMo Gym's own has.
What its fields look like names none, nor does the card.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
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
    route: str | None
    grader: str | None

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
    """What NeMo Gym says of rows; without any, nobody was asked. `graders` are their servers."""

    versions: dict[str, str] = field(default_factory=dict)
    python: str = ""
    tasks: list[TaskVerdict] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    graders: set[str] = field(default_factory=set)


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
    theirs = _theirs(said)
    verdict.faults += _contradicted(found, theirs)
    verdict.warnings += _not_asked(found, theirs, brought)
    verdict.graders |= {_shown(each, brought) for each in theirs.values() if each is not None}
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
            {
                "path": f"{root}/{file.path}",
                "components": [known for known in [shipped.get(file.path)] if known is not None],
                "routed": not file.declared,
            }
            for file in found.files.values()
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


def _theirs(said: _Said) -> dict[tuple[str, str], str | None]:
    """Who grades the rows of a path, for NeMo Gym, by the config that lists them."""
    return {
        (config.config, dataset.path): dataset.component
        for config in said.configs
        for dataset in config.datasets
        if config.config
    }


def _shown(component: str, brought: set[str]) -> str:
    home = _home(component)
    return f"{home} (code of the repo, which was not run)" if home in brought else home


def _contradicted(
    found: RowFiles, theirs: Mapping[tuple[str, str], str | None]
) -> Iterator[str]:  # fmt: skip
    """Rows without a server for NeMo Gym, or with another than for us."""
    for (config, path), component in theirs.items():
        if component is None:
            yield f"{config}: nothing names the server that grades the rows of {path}"
    for taskset in found.tasksets:
        ours = taskset.extras[FORMAT]
        key = (str(ours.get("/config")), str(ours.get("/path")))
        other, mine = theirs.get(key), ours.get("/component")
        if other is not None and mine not in (None, other):
            yield f"{key[0]}: for NeMo Gym the rows of {key[1]} are graded by {other}, not {mine}"


def _not_asked(
    found: RowFiles, theirs: Mapping[tuple[str, str], str | None], brought: set[str]
) -> Iterator[str]:
    by_path: dict[str, set[str]] = {}
    for (_, path), component in theirs.items():
        by_path.setdefault(path, set()).update([component] if component else [])
    for file in found.files.values():
        known = by_path.get(file.path) or {each for each in [file.component] if each is not None}
        if homes := sorted(brought & set(map(_home, known))):
            yield (
                f"{file.path}: only the requests were asked about: the repo brings the code of "
                f"{', '.join(homes)}, which is not run"
            )
        if file.component is None:
            yield f"{file.path}: {file.because}"
        if not file.declared:
            yield f"{file.path}: no config of the repo lists its rows"


def _take_rows(hearing: Hearing, found: RowFiles, rows: list[bytes], verdict: RowVerdict) -> None:
    """A task for each row, and what NeMo Gym says of it."""
    root = hearing.source.root
    reasons: dict[tuple[str, int], str] = {}
    judged: Counter[str] = Counter()
    nobodys: dict[str, list[_Row]] = {}
    unknown: dict[str, set[str]] = {}
    for row in answers(_Row, rows):
        path = row.path.removeprefix(f"{root}/")
        judged[path] += 1
        unknown.setdefault(path, set()).update(row.unknown)
        if row.fault is not None:
            reasons[path, row.line] = f"{path}:{row.line}: {row.fault}"
        if row.grader is not None:
            verdict.graders.add(_home(row.grader))
        elif row.accepted and not found.files[path].declared:
            nobodys.setdefault(path, []).append(row)
    ours: Counter[str] = Counter()
    for name, row_ref in RowIndex(hearing.source, list(found.files)):
        ours[row_ref.path] += 1
        verdict.tasks.append(TaskVerdict(name, reasons.get((row_ref.path, row_ref.number))))
    for path in found.files:
        if judged[path] != ours[path]:
            verdict.faults.append(f"{path}: {ours[path]} lines, NeMo Gym reads {judged[path]} rows")
        if path in nobodys:
            verdict.faults.append(_nobodys(path, nobodys[path], judged[path]))
        if keys := sorted(unknown.get(path, ())):
            known = found.files[path].component or "their server"
            listed = ", ".join(keys[:_MOST]) + (", ..." if len(keys) > _MOST else "")
            verdict.warnings.append(f"{path}: keys that {known} does not declare: {listed}")


def _nobodys(path: str, rows: list[_Row], of: int) -> str:
    """That rows have no server, and what to do about it."""
    routes = sorted({row.route for row in rows if row.route is not None})
    why = "they have neither agent_ref nor task_source"
    if routes:
        why = f"NeMo Gym's own configs have no agent or server {', '.join(routes[:_MOST])}"
    return (
        f"{path}: nothing names the server that grades {len(rows):,} of its {of:,} rows: no config "
        f"of the repo lists them, and {why}; name it in environments/NAME/config.yaml, with an "
        "agent that refers to the server and lists the rows"
    )
