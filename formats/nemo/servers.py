"""What NeMo Gym's servers and agents want of a row: the shipped schemas, and what fits them.

The table `servers.json` is made by `scripts/nemo_servers` from the `task_data.py` modules of NeMo
Gym 0.7.0. Its types are coarse: a row that does not fit is not one of the server's; a row that
fits is taken to be one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import cast

from .jsonline import Json, Object
from .rowtypes import Type, fields_of, forms_of, misfit, takes_null

VERSION = "0.7.0"
METADATA = "verifier_metadata"
SERVERS, AGENTS = "resources_servers", "responses_api_agents"


@dataclass(frozen=True, slots=True)
class Schema:
    """The row schema of one component.

    `legacy` are the fields that today's server reads from inside `verifier_metadata` only.
    """

    component: str
    row: Type
    legacy: frozenset[str]
    domain: str | None

    @property
    def fields(self) -> frozenset[str]:
        """Every field it declares, in any of its forms."""
        return frozenset(name for form in forms_of(self.row) for name in fields_of(form))

    def fits(self, fields: Object) -> str | None:
        """Why the fields (nested ones lifted) are no row of it; None: they are."""
        return misfit(fields, self.row)

    def declares(self, fields: Iterable[str]) -> bool:
        """Whether every one of these fields is declared."""
        return set(fields) <= self.fields


@cache
def schemas() -> Mapping[str, Schema]:
    """Every schema by component: a server by its name, an agent as `responses_api_agents/NAME`."""
    table = json.loads(files(__package__).joinpath("servers.json").read_text(encoding="utf-8"))
    found: dict[str, Schema] = {}
    for kind, above in ((SERVERS, ""), (AGENTS, f"{AGENTS}/")):
        for name, entry in table[kind].items():
            found[above + name] = Schema(
                above + name,
                entry["row"],
                frozenset(entry.get(METADATA, ())),
                entry.get("domain"),
            )
    return found


def lifted(fields: Object) -> dict[str, Json]:
    """The fields with those of `verifier_metadata` beside them, as the schemas are written."""
    inner = fields.get(METADATA)
    if not isinstance(inner, Mapping):
        return dict(fields)
    return {**{key: value for key, value in fields.items() if key != METADATA}, **inner}


def candidates(rows: list[dict[str, Json]]) -> tuple[str, ...]:
    """The servers of which every row could be one: each field declared, none missing or other.

    A server that declares nothing is never found this way.
    """
    found = []
    for name, schema in schemas().items():
        if name.startswith(AGENTS):
            continue
        if all(
            row and schema.declares(row) and _in_place(row, schema) and schema.fits(row) is None
            for row in map(lifted, rows)
        ):
            found.append(name)
    return tuple(found)


def _in_place(row: Object, schema: Schema) -> bool:
    return bool(row.keys() & schema.fields)


def without_padding(fields: Object, schema: Schema) -> dict[str, Json]:
    """The fields less each null at a place where the schema allows none.

    That is what a table leaves behind, which has every column in every row. Undeclared fields and
    places that may be null are kept as they are.
    """
    inner = fields.get(METADATA)
    flat = {key: value for key, value in fields.items() if key != METADATA or inner is not value}
    if METADATA in fields and inner is None:
        flat.pop(METADATA, None)
    cleaned = _cleaned(flat, schema.row)
    if isinstance(inner, Mapping):
        cleaned[METADATA] = _cleaned(inner, schema.row)
    return {key: cleaned[key] for key in fields if key in cleaned}


def _cleaned(fields: Object, row: Type) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, value in fields.items():
        kinds = [fields_of(form)[key] for form in forms_of(row) if key in fields_of(form)]
        if value is None and kinds and not any(takes_null(kind) for kind in kinds):
            continue
        found[key] = _clean(value, kinds[0]) if len(kinds) == 1 else value
    return found


def _clean(value: Json, kind: Type) -> Json:
    if isinstance(kind, str):
        return value
    forms = [form for form in forms_of(kind) if form != "null"]
    if len(forms) != 1 or isinstance(forms[0], str):
        return value
    form = forms[0]
    if isinstance(value, list) and "list" in form:
        return [_clean(each, cast("Type", form["list"])) for each in value]
    if isinstance(value, Mapping) and "map" in form:
        inner = cast("Type", form["map"])
        kept = {key: each for key, each in value.items() if each is not None or takes_null(inner)}
        return {key: _clean(each, inner) for key, each in kept.items()}
    if isinstance(value, Mapping) and "object" in form:
        return _cleaned(value, form)
    return value
