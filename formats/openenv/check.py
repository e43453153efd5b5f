"""Asks the real OpenEnv which tasks it finds in a repo: the same ones, in the same order.

Facts: openenv 0.10.0 with harbor 0.25.0. A task is known by its number, so the order is part of
the claim; every folder in `tasks/` counts, whatever it is.
"""

from __future__ import annotations

from pydantic import Field

from rlconvert.errors import RlconvertError
from rlconvert.judge import ANSWER, Hearing, TaskVerdict, Verdict
from rlconvert.proof.answers import Answer, answer

from .reader import find

_TASKS = "tasks/"


class _Task(Answer):
    name: str
    error: str | None


class _Said(Answer):
    openenv: str
    harbor: str
    python: str
    found: tuple[_Task, ...] = Field(alias="tasks")
    info: int | str | None
    error: str | None


def hear(hearing: Hearing) -> Verdict:
    """The verdict on every folder in `tasks/`."""
    try:
        layout = find(hearing.source)
    except RlconvertError as error:
        return Verdict(faults=(str(error),))
    said = answer(_Said, hearing.ask("openenv_loads.py", hearing.source.root, ANSWER))
    errors = {_TASKS + each.name: each.error for each in said.found}
    tasks = [TaskVerdict(ref.id, str(error), ref.path) for ref, error in layout.faults]
    for ref in layout.refs:
        reason = errors.get(ref.path, "OpenEnv does not find it")
        tasks.append(TaskVerdict(ref.id, reason, ref.path))
    faults = [said.error] if said.error is not None else []
    known = {task.place for task in tasks}
    faults += [f"{place}: OpenEnv counts it as a task" for place in errors if place not in known]
    order = [ref.path for ref in layout.refs if ref.path in errors]
    if order != [place for place in errors if place in set(order)]:
        faults.append("OpenEnv has the tasks in another order")
    if said.info != len(errors):
        faults.append(f"openenv harbor info counts {said.info}, and there are {len(errors)}")
    return Verdict(
        versions={"openenv": said.openenv, "harbor": said.harbor},
        python=said.python,
        tasks=tuple(tasks),
        faults=tuple(faults),
    )
