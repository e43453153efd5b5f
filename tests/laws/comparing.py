"""What counts as the same task: every field, types and NaN included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum

from rlconvert.files import Blob
from rlconvert.model import Step, Task

EMPTY_STEP = Step(name="", prompt=None)  # type: ignore[arg-type]
EMPTY = Task(id="", steps=(EMPTY_STEP,))


def exact(value: object) -> object:
    """A form that is equal for the same values only: not for 1, 1.0 and True; but for NaN."""
    if isinstance(value, Blob):
        return value.read()
    if is_dataclass(value):
        return (
            type(value).__name__,
            {one.name: exact(getattr(value, one.name)) for one in fields(value)},
        )
    if isinstance(value, Mapping):
        return {key: exact(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [exact(item) for item in value]
    if isinstance(value, Enum):
        return (type(value).__name__, value.name)
    return (type(value).__name__, repr(value))


def values_of(task: Task) -> dict[str, object]:
    """Every field path of a task with its value; the steps' as one list over the steps."""
    found = {
        one.name: exact(getattr(task, one.name))
        for one in fields(Task)
        if one.name not in ("id", "native", "steps")
    }
    for one in fields(Step):
        if one.name != "name":
            found[f"steps.{one.name}"] = [exact(getattr(step, one.name)) for step in task.steps]
    return found


def differing(left: Task, right: Task) -> set[str]:
    """The field paths in which two tasks differ; `steps` where their steps are not the same."""
    mine, theirs = values_of(left), values_of(right)
    found = {path for path in mine if mine[path] != theirs[path]}
    if [step.name for step in left.steps] != [step.name for step in right.steps]:
        found.add("steps")
    return found


def held(task: Task) -> set[str]:
    """The field paths in which a task says something."""
    mine, nothing = values_of(task), values_of(EMPTY)
    found = {path for path, value in mine.items() if "." not in path and value != nothing[path]}
    return found | {
        f"steps.{one.name}"
        for one in fields(Step)
        if any(getattr(step, one.name) != getattr(EMPTY_STEP, one.name) for step in task.steps)
        and one.name != "name"
    }
