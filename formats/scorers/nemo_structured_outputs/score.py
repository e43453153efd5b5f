"""NeMo Gym `structured_outputs`: the answer parses, and the schema made strict takes it.

`schema_type` of the row is json, yaml, xml, toml or csv; the WHOLE text must parse, so a fenced
block fails where a fence is no part of the format. With `response_mode` `tool_call` the arguments
of exactly one call are the answer (of the tool `tool_name`, under `tool_payload_key`, where given).
Before validation every object with `properties` in `schema_str` requires all of them and allows no
others. That walk goes through objects only, so what stands in a list (`anyOf`) stays as it was,
and what is no schema (an example, a property called `properties`) is changed as well. XML and CSV
know only text: their values are made numbers and truth values where the schema asks for those.
A schema that is none gives every submission 0.
"""

from __future__ import annotations

import csv
import io
import json
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from xml.sax.saxutils import escape

TYPES = ("json", "yaml", "xml", "toml", "csv")


class BadRow(Exception):
    """The original raises, whatever is submitted."""


class BadCall(Exception):
    """The original raises, and the submission is to blame."""


def submission_of(params: dict[str, Any]) -> str:
    """What of the work is scored: the row says which."""
    called = params["row"].get("response_mode", "text") == "tool_call"
    return "tool calls" if called else "final message"


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    """The reward that the original gives the text, or the call."""
    row = params["row"]
    try:
        _check(row)
        if submission_of(params) == "tool calls":
            answer, fault = _argument(row, submission["calls"])
        else:
            answer, fault = submission["text"], ""
            if not answer.strip():
                fault = "no text"
        if fault:
            return _result("not extractable", 0.0, fault)
        try:
            schema = json.loads(row["schema_str"])
        except Exception as error:  # noqa: BLE001  as the original
            return _result("graded", 0.0, f"`schema_str` is no JSON: {error}")
        try:
            _make_strict(schema)
        except (TypeError, RecursionError) as error:
            raise BadRow(f"`schema_str`: {error}") from error
        if submission_of(params) == "final message":
            try:
                answer = _parsed(answer, row.get("schema_type", "json"))
            except ImportError:
                raise
            except Exception as error:  # noqa: BLE001  each parser has its own
                return _result("not extractable", 0.0, f"{type(error).__name__}: {error}")
        return _validated(answer, schema, params)
    except BadRow as fault:
        return _result("invalid task", None, str(fault))
    except BadCall as fault:
        return _result("not extractable", None, f"the original fails: {fault}")


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    """An answer made up from the schema, where one could be made that earns the full reward."""
    row = params["row"]
    called = submission_of(params) == "tool calls"
    try:
        _check(row)
        schema = json.loads(row["schema_str"])
        _make_strict(schema)
        made = _example(schema, schema, 0)
        kind = "json" if called else row.get("schema_type", "json")
        text = _written(made, kind)
        if called:
            key = row.get("tool_payload_key")
            arguments = json.dumps({key: made}) if key else text
            call = {"name": row.get("tool_name") or "submit", "arguments": arguments}
            answer = {"text": "", "calls": [call]}
        else:
            answer = {"text": text, "calls": []}
    except (BadRow, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return None  # what it is made of is data: a schema may hold anything
    return answer if score(params, answer)["reward"] == 1.0 else None


def _example(schema: Any, root: Any, depth: int) -> Any:
    """A value for the plain kinds of schema; what it does not know it passes over."""
    if depth > 50:
        raise ValueError("a schema without an end")
    for key in ("const", "enum"):
        if key in schema:
            return schema[key] if key == "const" else schema[key][0]
    if "$ref" in schema:
        found = root
        for step in schema["$ref"].split("/")[1:]:
            found = found[step]
        return _example(found, root, depth + 1)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return _example(schema[key][0], root, depth + 1)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    if kind == "object":
        inner = schema.get("properties", {})
        return {key: _example(one, root, depth + 1) for key, one in inner.items()}
    if kind == "array":
        count = max(1, schema.get("minItems", 1))
        return [_example(schema.get("items", {}), root, depth + 1)] * min(count, 100)
    if kind in ("integer", "number"):
        return max(1, schema.get("minimum", 1))
    if kind == "string":
        known = {"date": "2000-01-01", "date-time": "2000-01-01T00:00:00Z"}
        return known.get(schema.get("format"), "a" * max(1, schema.get("minLength", 1)))
    return True if kind == "boolean" else None


def _written(value: Any, kind: str) -> str:
    if kind == "toml":
        return "\n".join(f"{json.dumps(key)} = {_toml(one)}" for key, one in value.items())
    if kind == "xml":
        ((name, content),) = value.items()
        return f"<{name}>{_xml(content)}</{name}>"
    if kind == "csv":
        out = io.StringIO()
        csv.writer(out).writerows([list(value[0]), *(one.values() for one in value)])
        return out.getvalue()
    return json.dumps(value)  # which is YAML too


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(key)} = {_toml(one)}" for key, one in value.items())
        return "{" + inner + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def _xml(value: Any) -> str:
    if isinstance(value, dict):
        return "".join(f"<{key}>{_xml(one)}</{key}>" for key, one in value.items())
    if isinstance(value, list):
        return "".join(f"<item>{_xml(one)}</item>" for one in value)
    return escape(value) if isinstance(value, str) else json.dumps(value)


def _check(row: dict[str, Any]) -> None:
    if not isinstance(row.get("schema_str"), str):
        raise BadRow("the row has no text `schema_str`")
    if row.get("schema_type", "json") not in TYPES:
        raise BadRow(f"`schema_type` is {str(row.get('schema_type'))[:80]!r}")
    for key in ("response_mode", "tool_name", "tool_payload_key"):
        if not isinstance(row.get(key), (str, type(None))):
            raise BadRow(f"`{key}` is not text")


def _argument(row: dict[str, Any], calls: list[dict[str, str]]) -> tuple[Any, str]:
    """What the one call hands over, or why there is no such call."""
    name, key = row.get("tool_name"), row.get("tool_payload_key")
    if len(calls) != 1:
        return None, f"{len(calls)} calls"
    if name and calls[0]["name"] != name:
        return None, f"a call of {calls[0]['name'][:80]!r}"
    try:
        found = json.loads(calls[0]["arguments"])
    except json.JSONDecodeError as error:
        return None, f"arguments: {error}"
    except (ValueError, RecursionError) as error:
        raise BadCall("arguments too long or too deep for its parser") from error
    if not key:
        return found, ""
    if not isinstance(found, dict) or key not in found:
        return None, f"no argument {key[:80]!r}"
    return found[key], ""


def _make_strict(schema: object) -> None:
    if isinstance(schema, dict):
        if "properties" in schema:
            schema["required"] = list(schema["properties"])
            schema["additionalProperties"] = False
        for value in schema.values():
            _make_strict(value)


def _parsed(text: str, kind: str) -> Any:
    """The content of a text, by the parser that the original uses."""
    if kind == "json":
        return json.loads(text)
    if kind == "yaml":
        return import_module("yaml").safe_load(text)
    if kind == "xml":
        return import_module("xmltodict").parse(text)
    if kind == "toml":
        return import_module("tomllib" if find_spec("tomllib") else "tomli").loads(text)
    return list(csv.DictReader(io.StringIO(text)))


def _validated(answer: Any, schema: Any, params: dict[str, Any]) -> dict[str, Any]:
    validate = import_module("openapi_schema_validator").validate
    kind = params["row"].get("schema_type", "json")
    try:
        if submission_of(params) == "final message":
            if kind == "xml" and params["config"].get("xml_coerce_types", True):
                answer = _xml_typed(answer, schema)
            if kind == "csv":
                answer = _csv_typed(answer, schema)
        validate(answer, schema)
    except Exception as error:  # noqa: BLE001  as the original: a broken schema is no reward
        return _result("graded", 0.0, f"{type(error).__name__}: {error}")
    return _result("graded", 1.0, "valid")


def _xml_typed(value: Any, schema: Any) -> Any:
    """The content of an XML element as the schema wants it, as far as it can be."""
    if not isinstance(schema, dict) or "type" not in schema:
        return value
    kind = schema["type"]
    if kind == "object" and isinstance(value, dict):
        known = schema.get("properties", {})
        return {
            key: _xml_typed(each, known[key]) if key in known else each
            for key, each in value.items()
        }
    if kind == "array":
        if isinstance(value, dict) and len(value) == 1:  # the name of the repeated element
            (value,) = value.values()
        if not isinstance(value, list):
            value = [] if value is None else [value]
        inner = schema.get("items", {})
        return [_xml_typed(each, inner) for each in value]
    if value is None and kind == "string":  # an empty element
        return ""
    return _typed(value, kind) if isinstance(value, str) else value


def _csv_typed(rows: list[dict[str, Any]], schema: Any) -> list[dict[str, Any]]:
    """The cells as the properties of the schema's items want them (of the schema, without)."""
    properties = schema.get("items", schema).get("properties", {})
    return [
        {
            key: _cell(cell, properties.get(key, {}).get("type", "string"))
            for key, cell in row.items()
        }
        for row in rows
    ]


def _cell(cell: Any, kind: Any) -> Any:
    if isinstance(kind, list):
        if (cell is None or cell == "") and "null" in kind:
            return None
        for one in kind:
            if one != "null":
                found = _cell(cell, one)
                if not isinstance(found, str) or one == "string":
                    return found
        return cell
    return _typed(cell, kind) if cell and isinstance(cell, str) else cell


def _typed(text: str, kind: Any) -> Any:
    """A number or a truth value, if the text is one."""
    try:
        if kind == "integer":
            return int(text)
        if kind == "number":
            return float(text)
    except ValueError:
        return text
    if kind == "boolean":
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    return text


def _result(outcome: str, reward: float | None, detail: str) -> dict[str, Any]:
    return {"outcome": outcome, "reward": reward, "parts": {}, "detail": detail[:200]}
