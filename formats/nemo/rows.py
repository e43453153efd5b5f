"""A row of NeMo Gym <-> a task. Its reward is `Scored` where a scorer is proved to give what the
server gives (`rules.py`); else the server's own: `Hosted`, never imitated.

The fields a server reads are the reward's payload, in the places where the server looks for them.
Without a known server nothing says what they mean: they are kept as extras, and only NeMo Gym can
have the row back. Routing keys are no part of the task.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from rlconvert.data import Data
from rlconvert.errors import RlconvertError
from rlconvert.model import Native, Remark, RowLine, Step, Task
from rlconvert.reward import Hosted, Scored
from rlconvert.runtime import Function, Runtime

from .jsonline import Json, beyond_64_bits, parse_line
from .layout import PARAMS
from .noticing import Notices
from .params import Request, params_from_request, request_from_params
from .recognise import recognise
from .rowfiles import FORMAT, NOT_KNOWN, RowSource
from .rowshape import RowParts, placed, take_apart
from .rules import known_rule
from .servers import METADATA, VERSION, Schema, lifted, schemas, without_padding

NOT_AS_DATA = "its rule is not known as data"
_LONG = re.compile(rb"[0-9]{19}")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row stands: its file and its line, from 1 on."""

    file: RowSource
    number: int


def task_from_row(name: str, line: bytes, place: Place) -> Task:
    """The task; `Malformed` or `TooBig`, by file and line, for a row that cannot be read."""
    try:
        return _task(name, line, place)
    except RlconvertError as error:
        error.file, error.where = place.file.path, f"line {place.number}"
        raise


def _task(name: str, line: bytes, place: Place) -> Task:
    path = place.file.path
    notices = Notices()
    parts = take_apart(parse_line(line, path, place.number))
    component, doubt = place.file.component, place.file.because
    if component is None and not place.file.declared:
        grader = recognise([parts])  # a file may mix the rows of several servers
        component, doubt = grader.component, doubt if grader.component is None else ""
    request = request_from_params(parts.params, notices)
    long = _LONG.search(line) is not None
    if long:
        for field, inside in (("reward", parts.fields), ("extras", parts.params)):
            if beyond_64_bits(inside):
                notices.lost(field, "an integer beyond 64 bits, which rollouts get as a float")
    extras: dict[str, Data] = dict(request.extras)
    reward: Hosted | Scored | None = None
    if component is None:
        extras |= {f"/{key}": cast("Data", value) for key, value in parts.fields.items()}
        notices.remarks.append(Remark("reward", NOT_KNOWN, doubt))
    else:
        fields, fits = _payload(parts, component, line, notices)
        reward = Hosted(
            framework=FORMAT,
            component=component,
            version=VERSION,
            config=place.file.rule,
            payload=cast("Mapping[str, Data]", fields),
        )
        known = known_rule(reward, place.file.agents, long=long) if fits else None
        if isinstance(known, str):
            notices.remarks.append(Remark("reward", NOT_AS_DATA, known))
        elif known is not None:
            reward, extras = known.rule, {**known.others, **extras}
    return Task(
        id=name,
        steps=(Step(name="", prompt=request.prompt),),
        runtime=Runtime(tools=request.tools),
        reward=reward,
        extras={FORMAT: extras} if extras else {},
        native={FORMAT: Native(path, rows=(RowLine(path, line),), remarks=tuple(notices.remarks))},
    )


def _payload(
    parts: RowParts, component: str, line: bytes, notices: Notices
) -> tuple[Mapping[str, Json], bool]:
    """What the server reads, less what tables left behind; and whether its schema takes that."""
    schema = schemas().get(component)
    if schema is None:
        return parts.fields, False
    fields = parts.fields
    inside = fields.get(METADATA)
    known = inside.keys() if isinstance(inside, Mapping) else set()
    if astray := sorted((fields.keys() & schema.legacy) - known):
        if not parts.migrated:
            detail = f"{', '.join(astray)}: {component} looks for it in {METADATA} only"
            notices.lost("reward", detail)
        fields = placed(fields, schema)
    if b"null" in line:
        fields = _unpadded(fields, schema, notices)
    if (misfit := schema.fits(lifted(fields))) is not None:
        notices.odd("reward", f"{misfit}, as {component} has it")
    return fields, misfit is None


def _unpadded(fields: Mapping[str, Json], schema: Schema, notices: Notices) -> Mapping[str, Json]:
    clean = without_padding(fields, schema)
    if clean != fields:
        notices.refused("reward", "nulls where the server's schema allows none")
    return clean


def row_from_task(task: Task, rule: Hosted) -> dict[str, object]:
    """A flat row without routing keys; `ValueError` says what a row cannot hold."""
    request = Request(
        prompt=task.steps[0].prompt,
        tools=_functions(task.runtime),
        extras=task.extras.get(FORMAT, {}),
    )
    return {**rule.payload, PARAMS: params_from_request(request)}


def _functions(runtime: Runtime) -> tuple[Function, ...] | None:
    if runtime.tools is None:
        return None
    functions = tuple(tool for tool in runtime.tools if isinstance(tool, Function))
    if len(functions) != len(runtime.tools):
        raise ValueError("a row holds functions, not servers of tools")
    return functions
