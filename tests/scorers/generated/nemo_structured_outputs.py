"""What fits the schema, or nearly, in every notation."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import tomli_w
import yaml

from scorers.changing import call, changed, rearranged
from scorers.generating import Case, Row, damaged, noise, one_of, spoiled_row, wrapped

FIELDS = ("schema_str", "schema_type", "response_mode", "tool_name", "tool_payload_key")
NUMBER, TEXT = {"type": "integer"}, {"type": "string"}
INNER = {"type": "object", "properties": {"zip": TEXT, "n": NUMBER}}
SCHEMAS: tuple[Any, ...] = (
    {"type": "object", "properties": {"a": NUMBER, "b": TEXT, "c": INNER, "d": {"type": "array"}}},
    {"type": "array", "items": {"type": "object", "properties": {"a": NUMBER, "b": TEXT}}},
    {"type": "object", "properties": {"r": {"type": "object", "properties": {"a": NUMBER}}}},
    {"anyOf": [{"type": "object", "properties": {"a": NUMBER}}, TEXT]},
    {"type": "object", "properties": {"properties": TEXT}},
    {"type": "object", "properties": 5},
    {"$ref": "#"},
    {"type": "objekt"},
    {},
    [],
)


def fitting(random: Random, schema: Any) -> Any:  # noqa: ANN401  JSON
    """A value as the schema wants it, if it is a plain one."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if isinstance(kind, list):
        kind = random.choice(kind)
    inner = schema.get("properties") if isinstance(schema, dict) else None
    if isinstance(inner, dict):
        return {key: fitting(random, each) for key, each in inner.items()}
    if kind == "array":
        return [fitting(random, schema.get("items", TEXT)) for _ in range(random.randint(1, 2))]
    if kind == "null":
        return None
    return {"integer": 3, "number": 1.5, "boolean": True}.get(str(kind), "2020-01-01")


def xml(value: Any) -> str:  # noqa: ANN401  JSON
    if isinstance(value, dict):
        return "".join(f"<{key}>{xml(each)}</{key}>" for key, each in value.items())
    if isinstance(value, list):
        return "".join(f"<item>{xml(each)}</item>" for each in value)
    return "" if value is None else str(value)


def noted(random: Random, value: Any, kind: str) -> str:  # noqa: ANN401  JSON
    """The value in a notation; JSON where it has none there."""
    try:
        if kind == "yaml" and random.random() < 0.6:
            return yaml.safe_dump(value)
        if kind == "toml":
            return tomli_w.dumps(value)
        if kind == "xml":
            return xml(value)
        if kind == "csv":
            out = io.StringIO()
            csv.writer(out).writerows([list(value[0]), *(each.values() for each in value)])
            return out.getvalue()
    except (AttributeError, LookupError, TypeError, ValueError):
        pass
    return json.dumps(value)


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row = {**random.choice(rows)}
        if random.random() < 0.4:
            kinds = ("json", "yaml", "xml", "toml", "csv")
            row["schema_str"] = json.dumps(random.choice(SCHEMAS))
            row["schema_type"] = random.choice(kinds)
        try:
            schema = json.loads(row["schema_str"])
        except ValueError:
            schema = {}
        value = fitting(random, schema)
        if random.random() < 0.5:
            value = changed(random, value)
        text = noted(random, value, row.get("schema_type", "json"))
        text = one_of(random, text, text, text, damaged(random, text), wrapped(random, text))
        key, name = row.get("tool_payload_key"), row.get("tool_name") or "f"
        calls = rearranged(random, [call(random, name, {key: value} if key else value)])
        if random.random() < 0.05:
            row = {**spoiled_row(random, row, FIELDS)}
        config = {"xml_coerce_types": False} if random.random() < 0.1 else {}
        if row.get("response_mode") == "tool_call":
            yield Case(config, row, "", calls)
        else:
            yield Case(config, row, text if random.random() < 0.95 else noise(random))
