"""Writes rows: as they were where they go home, else flat, one agent per file, with a config.

Facts: NeMo Gym 0.7.0. Rows are written without routing keys: which agent they are for is said by
the file they stand in and by the config that lists it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

from rlconvert.data import Data
from rlconvert.files import Blob
from rlconvert.format import (
    AppendRow,
    CardRows,
    Fate,
    Note,
    Outcome,
    PutFile,
    Refusal,
    RepoPart,
    Written,
)
from rlconvert.model import Native, Repo, RowLine, Step, Task, Taskset
from rlconvert.runtime import Runtime

from .fates import REFUSALS
from .jsonline import to_line
from .layout import AdoptedFrom, DatasetEntry, SplitType
from .licences import NEMO_LICENCES, UNKNOWN, nemo_licence
from .naming import slug, slugs
from .rowconfig import (
    POLICY,
    SIMPLE_AGENT,
    RowEnvironment,
    foreign_references,
    instance_name,
    row_config,
    row_manifest,
)
from .rowindex import digest_id
from .rownotes import notes_on, said_of, set_note, what_was_found
from .rows import row_from_task
from .rowshape import content_of, take_apart, usable_name
from .rules import hosted_rule
from .servers import schemas

FORMAT = "nemo"
_MARK = "row"
Listed = tuple[str, str, str, dict[str, Data]]
"""A row file that was written: its path, its taskset, who grades it and by which settings."""

_SPLITS: Mapping[str, SplitType] = {
    "validation": "validation",
    "example": "example",
    "benchmark": "validation",
}
"""What is not to be trained on stays so. Without a split rows are to be trained on."""
_LEARNT_FROM: tuple[SplitType, ...] = ("train", "validation", "example")
_BENCHMARK = (
    "a benchmark is written as validation: NeMo Gym's type benchmark demands a script that makes "
    "the rows"
)


def is_row_task(task: Task) -> bool:
    """Whether a task is a row of NeMo Gym, its own bytes or what the model knows of one."""
    native = task.native.get(FORMAT)
    if native is not None and not native.tree.entries:
        return True
    if hosted_rule(task) is not None:
        return True
    return native is None and task.reward is None and FORMAT in task.extras


class RowWriter:
    """One environment per agent of the source (and per server, where a file has rows of many)."""

    def __init__(self, repo: Repo, *, repo_id: str | None, licence: str | None) -> None:
        self._repo = repo
        self._repo_id = repo_id
        self._licence = licence
        self._tasksets = {taskset.key: taskset for taskset in repo.tasksets}
        self._names = _group_names(repo)

    # tasks

    def home(self, task: Task, *, normalise: bool) -> Written | Refusal:
        """The row where it stood: the very bytes, or what NeMo Gym reads without harm."""
        own = task.native[FORMAT]
        if not normalise:
            rows = tuple(AppendRow(row.path, row.line) for row in own.rows)
            return Written(
                way="identity", id=task.id, native=own, parts=rows,
                notes=tuple(notes_on(task, Fate.EXACT)),
            )  # fmt: skip
        line = self._line(task)
        if isinstance(line, Refusal):
            return line
        path = own.path
        name, counted = _id(task, line)
        return Written(
            way="row",
            id=name,
            counted=counted,
            native=Native(path, rows=(RowLine(path, line),)),
            parts=(AppendRow(path, line),),
            notes=tuple(notes_on(task, Fate.TRANSLATED)),
        )

    def task(
        self, task: Task, tasksets: tuple[str, ...], *, verbatim: bool = False
    ) -> Written | Refusal:
        """A flat row of the environment of its first taskset; `verbatim`: its own bytes."""
        line = task.native[FORMAT].rows[0].line if verbatim else self._line(task)
        if isinstance(line, Refusal):
            return line
        rule = hosted_rule(task)
        if rule is None:
            return self._unknown(task)
        key = tasksets[0]
        path = self._path(key, rule.component, rule.config)
        said = json.dumps([key, rule.component, rule.config], sort_keys=True)
        notes = list(notes_on(task, Fate.EXACT if verbatim else Fate.TRANSLATED))
        if len(tasksets) > 1:
            notes.append(
                Note(
                    field="reward",
                    fate=Fate.TRANSLATED,
                    reason="other configs list the row too; it is written for the first",
                    detail=", ".join(tasksets[1:6]),
                )
            )
        name, counted = _id(task, line)
        return Written(
            way="row",
            id=name,
            counted=counted,
            native=Native(path, rows=(RowLine(path, line),)),
            parts=(AppendRow(path, line, label=f"{_MARK}\n{said}"),),
            notes=tuple(notes),
        )

    def _line(self, task: Task) -> bytes | Refusal:
        rule = hosted_rule(task)
        if rule is None:
            return self._unknown(task)
        if more := _beyond_a_row(task):
            return Refusal(
                reason="not-a-row", problem=f"{REFUSALS['not-a-row']}: {more}", field=more
            )
        try:
            return to_line(row_from_task(task, rule))
        except ValueError as error:
            return Refusal(
                reason="row-cannot-say",
                problem=f"{REFUSALS['row-cannot-say']}: {error}",
                field="steps.prompt",
                remedy="Correct the row in the source",
            )

    def _unknown(self, task: Task) -> Refusal:
        remarks = task.native[FORMAT].remarks if FORMAT in task.native else ()
        doubt = next((each.detail for each in remarks if each.field == "reward"), "")
        return Refusal(
            reason="server-unknown",
            problem=REFUSALS["server-unknown"] + (f": {doubt}" if doubt else ""),
            field="reward",
            remedy="Name it with --nemo-server, or give its config with --nemo-config",
        )

    def _path(self, key: str, component: str, rule: Mapping[str, Data]) -> str:
        taskset = self._tasksets[key]
        agent, name = slug(_agent(taskset, component)), self._environment(taskset, component, rule)
        return f"data/{name}/{agent}-{self._part(taskset)}.jsonl"

    def _environment(self, taskset: Taskset, component: str, rule: Mapping[str, Data]) -> str:
        name = self._names[_group(taskset)]
        if FORMAT not in taskset.extras and rule:  # another such folder may have another rule
            said = json.dumps(rule, sort_keys=True).encode()
            return f"{name}-{slug(component)}-{hashlib.sha256(said).hexdigest()[:6]}"
        stated = said_of(taskset).get("/component")
        if stated in (None, component) and taskset.extras:
            several = "/config" not in said_of(taskset) and stated != component
            return f"{name}-{slug(component)}" if several and slug(component) != name else name
        return f"{name}-{slug(component)}"

    def _part(self, taskset: Taskset) -> str:
        """The split, or the name of the dataset where its agent has several of that split."""
        sisters = [each for each in self._tasksets.values() if _group(each) == _group(taskset)]
        split = taskset.split or "train"
        if sum((each.split or "train") == split for each in sisters) == 1:
            return slug(split)
        return slug(f"{split}-{said_of(taskset).get('/dataset')}")

    # the rest

    def close(self, outcome: Outcome) -> Iterator[RepoPart]:
        """Config and manifest of each environment, and how its rows' server was found."""
        written = self._written(outcome)
        if written:
            yield from self._add_empty(written)
        for name, files in written.items():
            yield from self._environment_parts(name, files)
        yield from what_was_found(self._repo.tasksets)

    def servers(self, outcome: Outcome) -> dict[str, tuple[str, SplitType]]:
        """The environments that were written: the server that grades each, and a split it has."""
        found: dict[str, tuple[str, SplitType]] = {}
        for name, files in self._written(outcome).items():
            types = {self._entry(path, self._tasksets[key]).type for path, key, _, _ in files}
            first: SplitType = next(each for each in _LEARNT_FROM if each in types)
            found[name] = (files[0][2], first)
        return found

    def _written(self, outcome: Outcome) -> dict[str, list[Listed]]:
        written: dict[str, list[Listed]] = {}
        for path, file in outcome.row_files.items():
            mark, _, said = file.label.partition("\n")
            if mark == _MARK and said:
                key, component, rule = json.loads(said)
                name = self._environment(self._tasksets[key], component, rule)
                written.setdefault(name, []).append((path, key, component, rule))
        return written

    def _add_empty(self, written: dict[str, list[Listed]]) -> Iterator[RepoPart]:
        """The files that had no rows, beside those of their environment that have some."""
        for taskset in self._repo.tasksets:
            said = said_of(taskset)
            if "/empty" not in said:
                continue
            component = str(said.get("/component"))
            sisters = written.get(self._environment(taskset, component, {}), [])
            rule = next((each[3] for each in sisters if each[2] == component), None)
            if rule is None:
                reason = "an environment whose row files have no rows is not written"
                yield set_note(reason, str(said["/empty"]), fate=Fate.DROPPED)
                continue
            path = self._path(taskset.key, component, {})
            sisters.append((path, taskset.key, component, rule))
            yield PutFile(path, Blob(b""))

    def _environment_parts(self, name: str, files: list[Listed]) -> Iterator[RepoPart]:
        _, key, component, rule = files[0]
        taskset = self._tasksets[key]
        said = said_of(taskset)
        entries = tuple(self._entry(path, self._tasksets[each]) for path, each, _, _ in files)
        schema = schemas().get(component)
        spec = RowEnvironment(
            name=name,
            component=component,
            rule=rule,
            datasets=entries,
            agent=_agent(taskset, component),
            agent_settings=_mapping(said.get("/agent_settings")),
            catalogue=_mapping(said.get("/catalogue")),
            domain=schema.domain if schema is not None else None,
        )
        known = frozenset({POLICY, instance_name(name), str(said.get("/server"))})
        if others := sorted(foreign_references([rule, dict(spec.agent_settings)], known)):
            yield set_note("its config refers to servers that another config must set up", *others)
        home = f"environments/{name}"
        yield PutFile(f"{home}/config.yaml", Blob(row_config(spec, list(map(_listed, entries)))))
        yield PutFile(f"{home}/manifest.yaml", Blob(self._manifest(spec, taskset)))
        for entry, (_, key, _, _) in zip(entries, files, strict=True):
            if self._tasksets[key].split == "benchmark":
                yield set_note(_BENCHMARK, entry.jsonl_fpath)
            if "/empty" not in said_of(self._tasksets[key]):
                yield CardRows(config=name, split=entry.type, path=entry.jsonl_fpath)
            if entry.licence == UNKNOWN:
                yield set_note(f"NeMo Gym has no words for the licence; its config says {UNKNOWN}")

    def _entry(self, path: str, taskset: Taskset) -> DatasetEntry:
        said = said_of(taskset)
        stated = said.get("/licence")
        words = stated if isinstance(stated, str) and stated in NEMO_LICENCES else None
        repeats = said.get("/num_repeats")
        return DatasetEntry(
            name=path.rpartition("/")[2].removesuffix(".jsonl"),
            type=_SPLITS.get(taskset.split or "", "train"),
            jsonl_fpath=path,
            licence=words or nemo_licence(self._licence or self._repo.licence)[0],
            hub_repo_id=self._repo_id,
            num_repeats=repeats if isinstance(repeats, int) else 1,
        )

    def _manifest(self, spec: RowEnvironment, taskset: Taskset) -> bytes:
        origin = self._repo.origin
        adopted = None
        if origin.url and origin.commit and origin.date:
            adopted = AdoptedFrom(origin.url, origin.commit, origin.date)
        return row_manifest(
            spec,
            version=taskset.version or "0",
            description=f"Rows of {taskset.name}, graded by {spec.component}",
            author=f"the authors of {origin.repo or self._repo.name}",
            licence=self._licence or self._repo.licence,
            adopted_from=adopted,
        )


def _listed(entry: DatasetEntry) -> dict[str, str | int | Mapping[str, str]]:
    listed: dict[str, str | int | Mapping[str, str]] = {
        "name": entry.name,
        "type": entry.type,
        "jsonl_fpath": entry.jsonl_fpath,
    }
    if entry.num_repeats != 1:
        listed["num_repeats"] = entry.num_repeats
    if entry.licence is not None:
        listed["license"] = entry.licence
    if entry.hub_repo_id is not None:
        listed["source"] = {
            "type": "huggingface",
            "repo_id": entry.hub_repo_id,
            "artifact_fpath": entry.jsonl_fpath,
        }
    return listed


def _id(task: Task, line: bytes) -> tuple[str, bool]:
    """What the reader will call the row, and whether it counts those that are called so.

    Its own name where that is its id, else a digest, which rows that say the same share.
    """
    parts = take_apart(json.loads(line))
    if usable_name(parts.name) == task.id:
        return task.id, False
    return digest_id(content_of(parts)), True


def _beyond_a_row(task: Task) -> str | None:
    """The first field that a row has no place for."""
    step = task.steps[0]
    bare_step = Step(name="", prompt=step.prompt)
    if len(task.steps) != 1 or step != bare_step:
        return "steps"
    bare = Task(
        id=task.id,
        steps=task.steps,
        runtime=Runtime(tools=task.runtime.tools),
        reward=task.reward,
        extras=task.extras,
        native=task.native,
        metadata=task.metadata if FORMAT in task.extras else {},
    )
    for name in Task.__dataclass_fields__:
        if getattr(task, name) != getattr(bare, name):
            return name
    return None


def folder_tasksets(repo: Repo) -> tuple[Taskset, ...]:
    """The tasksets that are not of rows."""
    return tuple(each for each in repo.tasksets if "/group" not in said_of(each))


def is_row_label(label: str) -> bool:
    """Whether a row file was written here."""
    return label.startswith(f"{_MARK}\n")


def _group_names(repo: Repo) -> dict[str, str]:
    """A name per agent, unlike that of any other environment."""
    first: dict[str, Taskset] = {each.key: each for each in folder_tasksets(repo)}
    for taskset in repo.tasksets:
        first.setdefault(_group(taskset), taskset)
    names = slugs(replace(taskset, key=group) for group, taskset in first.items())
    return {group: names[group] for group in first}


def _group(taskset: Taskset) -> str:
    return str(said_of(taskset).get("/group", taskset.key))


def _agent(taskset: Taskset, component: str) -> str:
    said = said_of(taskset).get("/agent")
    if component.startswith("responses_api_agents/"):
        return component.partition("/")[2]
    return said if isinstance(said, str) else SIMPLE_AGENT


def _mapping(value: Data) -> Mapping[str, Data]:
    return value if isinstance(value, Mapping) else {}
