"""A row's shape: what NeMo Gym owns, what it asks of the model, what the server reads.

Facts: NeMo Gym 0.7.0, `task_data.normalize_task_fields` and `episode_types`. Three shapes: flat;
flat with the task's fields inside `task_data`; an envelope `{task_id: {taskset, task_id},
task_input: {...}}`. Many servers read some fields from inside `verifier_metadata` only: that is
where they stand in the model too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rlconvert.files import folded

from .jsonline import Json, Object, canonical
from .layout import PARAMS
from .noticing import bad
from .servers import METADATA, Schema

TASK_DATA = "task_data"
ROUTING = frozenset({"agent_ref", "task_source", "skills_ref"})
NAMES = ("task_id", "problem_id", "instance_id")
"""Where NeMo Gym looks for the name of a task, in its order."""
MAX_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RowParts:
    """A row taken apart. `name` is what the row calls its task; `migrated`: it had `task_data`."""

    params: Object
    fields: Mapping[str, Json]
    routing: Mapping[str, Json]
    name: str | None
    migrated: bool

    @property
    def agent(self) -> str | None:
        """The agent that an older release wrote into the row."""
        reference = self.routing.get("agent_ref")
        name = reference.get("name") if isinstance(reference, Mapping) else None
        return name if isinstance(name, str) else None


def is_routing(key: str) -> bool:
    """Whether a key belongs to NeMo Gym and never to the task."""
    return key in ROUTING or key.startswith("_ng_")


def take_apart(row: Mapping[str, Json]) -> RowParts:
    """The parts; `Malformed` for a rollout, a row without parameters, or contradicting fields."""
    inner, name = _opened(row)
    params = inner.get(PARAMS)
    if not isinstance(params, Mapping):
        raise bad(
            "no-request",
            f"the row has no {PARAMS}, so NeMo Gym can do nothing with it",
            "Add it, or leave the row out",
        )
    if isinstance(inner.get("response"), Mapping) and "reward" in inner:
        raise bad("rollout", "this is a rollout, not a task: it has a response and a reward")
    fields = {key: inner[key] for key in inner if key != PARAMS and not is_routing(key)}
    data = fields.pop(TASK_DATA, None)
    if data is not None:
        fields = _merged(fields, data)
    metadata = fields.get(METADATA)
    if metadata is not None and not isinstance(metadata, Mapping):
        raise bad("bad-metadata", f"{METADATA} is no object", "Correct it")
    for key in (metadata or {}).keys() & fields.keys():
        if metadata is not None and metadata[key] != fields[key]:
            raise _contradiction(key, METADATA)
    return RowParts(
        params=params,
        fields=fields,
        routing={key: inner[key] for key in inner if is_routing(key)},
        name=name or _name(fields),
        migrated=data is not None,
    )


def _opened(row: Mapping[str, Json]) -> tuple[Mapping[str, Json], str | None]:
    """What is inside an envelope, and the name on it."""
    label = row.get("task_id")
    if not isinstance(label, Mapping) or "task_input" not in row:
        return row, None
    inner, name, taskset = row["task_input"], label.get("task_id"), label.get("taskset")
    named = isinstance(name, str) and isinstance(taskset, str) and name and taskset
    if len(row) != 2 or len(label) != 2 or not named or not isinstance(inner, Mapping):
        raise bad(
            "bad-envelope",
            "a row with task_input holds exactly that and task_id: {taskset, task_id}",
            "Correct it",
        )
    return inner, str(name)


def _merged(fields: dict[str, Json], data: Json) -> dict[str, Json]:
    if not isinstance(data, Mapping):
        raise bad("bad-metadata", f"{TASK_DATA} is no object", "Correct it")
    for key in data.keys() & fields.keys():
        if data[key] != fields[key]:
            raise _contradiction(key, TASK_DATA)
    return {**fields, **data}


def _contradiction(key: str, place: str) -> Exception:
    return bad(
        "contradictory-fields",
        f"{key!r} stands in {place} and beside it, with different values",
        "Keep one of them",
    )


def _name(fields: Mapping[str, Json]) -> str | None:
    for key in NAMES:
        if isinstance(value := fields.get(key), str) and value:
            return value
    return None


def usable_name(name: str | None) -> str | None:
    """The name, if it can be an id: short, printable, no space at its ends."""
    if name is None or len(name) > MAX_NAME or not name.isprintable() or name.strip() != name:
        return None
    return name


def name_key(name: str) -> str:
    """Names with the same key are one name."""
    return folded(name)


def content_of(parts: RowParts) -> bytes:
    """What makes the row the task it is, apart from spacing, order and routing."""
    return canonical({**parts.fields, PARAMS: parts.params})


def placed(fields: Mapping[str, Json], schema: Schema) -> dict[str, Json]:
    """The fields of a migrated row where today's server looks for them."""
    before = fields.get(METADATA)
    known = before if isinstance(before, Mapping) else {}
    inner = {key: fields[key] for key in fields if key in schema.legacy and key not in known}
    kept = {key: value for key, value in fields.items() if key not in inner}
    return {**kept, METADATA: {**known, **inner}} if inner else kept
