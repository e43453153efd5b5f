"""A toy format: `toys/<id>/toy.json` holds what little it has words for, and drops the rest.

    {"id": ..., "steps": [{"name": "", "prompt": ...}], "metadata": {...},
     "tests": {"test.sh": {"text": ..., "executable": true}},
     "reward": {"command": "test.sh", "keys": []}}

It exists to show that a format is one folder of code and one line in the registry, and to put a
target that loses something through the laws.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, time
from types import MappingProxyType
from typing import Any

from rlconvert.data import Data
from rlconvert.errors import Malformed
from rlconvert.files import Blob, File, FileTree, make_tree, name_fault
from rlconvert.format import (
    Aim,
    Fate,
    FieldFate,
    Finding,
    Format,
    Note,
    Options,
    Outcome,
    PutTree,
    Refusal,
    RepoNote,
    Written,
)
from rlconvert.model import Native, Repo, Step, Task, TaskRef, Taskset, field_paths
from rlconvert.prompt import Messages
from rlconvert.reward import Script
from rlconvert.source import BOOKKEEPING, Kind, Source

NAME, HOME, FILE = "toy", "toys", "toy.json"
_MAX_BYTES = 1 << 20
_HELD = ("steps.prompt", "tests", "reward", "metadata")

REFUSALS = {
    "prompt-not-text": "the prompt is not plain text",
    "no-script": "the reward is not one script for the whole task",
    "tests-not-text": "the tests are not text files alone",
    "not-json": "a value of the metadata is no JSON",
    "id-not-a-name": "the id cannot be the name of a folder",
    "folder-taken": "another task stands where its folder would go",
}

_DROPPED = FieldFate(fate=Fate.DROPPED, reason="a toy has no word for it")
_EXACT = FieldFate(fate=Fate.EXACT)


class ToyReader:
    """One toy at the root, or those in `toys/`."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def repo(self) -> Repo:
        source = self._source
        places = {ref.path for ref in self.refs()}
        taskset = Taskset(key=source.name, name=source.name)
        faults: list[Any] = []
        shared = FileTree()
        if places != {""}:
            shared = source.tree("", skip=places | BOOKKEEPING, on_fault=faults.append)
        return Repo(
            format=NAME,
            name=source.name,
            origin=source.origin,
            tasksets=(taskset,),
            shared=shared,
            faults=tuple(faults),
        )

    def refs(self) -> Iterator[TaskRef]:
        source = self._source
        if source.kind(FILE) is Kind.FILE:
            yield TaskRef(id=source.name, path="", tasksets=(source.name,))
            return
        for item in source.items(HOME):
            path = f"{HOME}/{item.name}"
            if source.kind(f"{path}/{FILE}") is Kind.FILE:
                yield TaskRef(id=item.name, path=path, tasksets=(source.name,))

    def load(self, ref: TaskRef) -> Task:
        tree = self._source.tree(ref.path, skip=() if ref.path else BOOKKEEPING)
        file = tree.file(FILE)
        assert file is not None
        try:
            held = json.loads(file.blob.read())
        except ValueError as error:
            raise Malformed("it is not JSON", reason="bad-toy", file=FILE) from error
        return task_from_toy(ref.id, ref.path, tree, held)


def task_from_toy(task: str, path: str, tree: FileTree, held: Mapping[str, Any]) -> Task:
    """The task that a toy says."""
    tests = {
        name: File(Blob(one["text"].encode()), one["executable"])
        for name, one in held["tests"].items()
    }
    keys = held["reward"]["keys"]
    return Task(
        id=task,
        steps=tuple(
            Step(name=step["name"], prompt=Messages.user(step["prompt"])) for step in held["steps"]
        ),
        metadata=held["metadata"],
        tests=make_tree(tests),
        reward=Script(held["reward"]["command"], None if keys is None else tuple(keys)),
        native={NAME: Native(path, tree)},
    )


@dataclass(frozen=True)
class ToyWriter:
    """Alone in its output, a toy goes back to where it stood."""

    repo: Repo
    alone: bool
    home: bool

    def task(self, task: Task, _: tuple[str, ...]) -> Written | Refusal:
        native = task.native.get(NAME)
        if native is not None:
            path = native.path if self.alone else f"{HOME}/{task.id}"
            return Written(
                way="identity",
                id=task.id,
                native=Native(path, native.tree),
                parts=(PutTree(path, native.tree),),
            )
        if name_fault(task.id):
            return _refuse("id-not-a-name", "identity")
        held = _held(task)
        if isinstance(held, Refusal):
            return held
        data = json.dumps(held, indent=1).encode() + b"\n"
        tree = FileTree({FILE: File(Blob(data))})
        path = f"{HOME}/{task.id}"
        return Written(
            way="made",
            id=task.id,
            native=Native(path, tree),
            parts=(PutTree(path, tree),),
            notes=tuple(_notes(task)),
        )

    def close(self, outcome: Outcome) -> Iterator[RepoNote]:
        if self.repo.explicit:
            yield RepoNote(
                Note(field="tasksets", fate=Fate.DROPPED, reason="toys form one set, of all")
            )

    def owns(self, path: str, outcome: Outcome) -> bool:
        return not self.home and path.startswith(f"{HOME}/")


def _held(task: Task) -> dict[str, Any] | Refusal:
    """What a toy holds of a task."""
    steps = []
    for step in task.steps:
        if not isinstance(step.prompt, Messages) or step.prompt.plain is None:
            return _refuse("prompt-not-text", "steps.prompt")
        if step.tests or step.reward is not None:
            return _refuse("no-script", "steps.reward")
        steps.append({"name": step.name, "prompt": step.prompt.plain})
    if not isinstance(task.reward, Script):
        return _refuse("no-script", "reward")
    tests: dict[str, Any] = {}
    for path, entry in task.tests:
        text = _text(entry.blob) if isinstance(entry, File) else None
        if text is None or not isinstance(entry, File):
            return _refuse("tests-not-text", "tests")
        tests[path] = {"text": text, "executable": entry.executable}
    if task.tests.empty_folders:
        return _refuse("tests-not-text", "tests")
    if not _is_json(task.metadata):
        return _refuse("not-json", "metadata")
    return {
        "id": task.id,
        "steps": steps,
        "metadata": _plain(task.metadata),
        "tests": tests,
        "reward": {"command": task.reward.command, "keys": task.reward.keys},
    }


def _text(blob: Blob) -> str | None:
    try:
        return blob.read().decode()
    except UnicodeDecodeError:
        return None


def _is_json(value: Data) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_json, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_json, value))
    return not isinstance(value, float) or math.isfinite(value)


def _plain(value: Data) -> Data:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value.isoformat() if isinstance(value, date | time) else value


def _notes(task: Task) -> Iterator[Note]:
    if _plain(task.metadata) != task.metadata:
        yield Note(field="metadata", fate=Fate.TRANSLATED, reason="dates and times as text")


def _refuse(reason: str, field: str) -> Refusal:
    return Refusal(reason=reason, problem=REFUSALS[reason], field=field)


def _sniff(source: Source) -> Finding | None:
    first = next(ToyReader(source).refs(), None)
    if first is None:
        return None
    return Finding(format=NAME, layout="toys", because=f"{first.path}/{FILE}".lstrip("/"))


def _reader(source: Source, _: Options) -> ToyReader:
    return ToyReader(source)


def _writer(repo: Repo, aim: Aim) -> ToyWriter:
    return ToyWriter(repo, aim.alone, aim.home)


FORMAT = Format(
    name=NAME,
    title="Toy",
    version="1",
    sniff=_sniff,
    reader=_reader,
    writer=_writer,
    ways=MappingProxyType(
        {
            "identity": dict.fromkeys(field_paths(), _EXACT),
            "made": {path: _EXACT if path in _HELD else _DROPPED for path in field_paths()},
        }
    ),
    refusals=MappingProxyType(REFUSALS),
)
