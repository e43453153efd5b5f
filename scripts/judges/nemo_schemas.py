"""The row schemas that NeMo Gym ships (`task_data.py` of each server and agent), as one table.

Run by NeMo Gym's own Python with the file to write. Beside it comes `requests.json`: the parameters
of a request, its input items and its tools, by the words of their `type`.

A type is a word (`str`, `int`, `num`, `bool`, `null`, `any`) or one of `{"list": T}`, `{"map": T}`,
`{"is": [...]}`, `{"one": [T, ...]}`, `{"object": {name: T}, "required": [...]}`; `closed` marks an
object that takes no other keys.
"""

# The framework is no dependency, and not in the type checkers' environment.
# mypy: disable-error-code="import-not-found"
# pyright: basic, reportMissingImports=false
# ruff: noqa: ANN401, TID251

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nemo_gym
import yaml
from nemo_gym.openai_utils import NeMoGymResponseCreateParamsNonStreaming
from nemo_gym.task_data import legacy_metadata_fields, load_task_data_schema

Table = dict[str, Any]
ROOT = Path(nemo_gym.__file__).parent.parent
WORDS = {"string": "str", "integer": "int", "number": "num", "boolean": "bool", "null": "null"}
MAX_DEPTH = 8


def coarse(schema: Any, named: Table, depth: int = 0) -> Any:
    """A JSON Schema without its texts, its references followed, cut off where it repeats itself."""
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        return "any"
    if "$ref" in schema:
        return coarse(named[schema["$ref"].rpartition("/")[2]], named, depth + 1)
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return one([coarse(each, named, depth + 1) for each in schema[several]])
    if "const" in schema:
        return {"is": [schema["const"]]}
    if "enum" in schema:
        return {"is": schema["enum"]}
    match schema.get("type"):
        case "array":
            return {"list": coarse(schema.get("items"), named, depth + 1)}
        case "object":
            return mapping(schema, named, depth)
        case str(word):
            return WORDS[word]
    return "any"


def one(types: list[Any]) -> Any:
    """A union: flat, each member once."""
    flat: list[Any] = []
    for each in types:
        for member in each["one"] if isinstance(each, dict) and "one" in each else [each]:
            if member not in flat:
                flat.append(member)
    if "any" in flat:
        return "any"
    return flat[0] if len(flat) == 1 else {"one": flat}


def mapping(schema: Table, named: Table, depth: int) -> Any:
    """An object with named fields, or one whose keys are data."""
    fields = schema.get("properties")
    if not fields:
        value = schema.get("additionalProperties")
        return {"map": coarse(value, named, depth + 1)}
    found: Table = {
        "object": {name: coarse(each, named, depth + 1) for name, each in sorted(fields.items())},
        "required": sorted(schema.get("required", [])),
    }
    if schema.get("additionalProperties") is False:
        found["closed"] = True
    return found


def entry(folder: Path) -> Table | None:
    """What the table says of a server or agent; None where it ships no schema."""
    adapter = load_task_data_schema(folder)
    if adapter is None:
        return None
    schema = adapter.json_schema()
    found: Table = {"row": coarse(schema, schema.get("$defs", {}))}
    if legacy := sorted(legacy_metadata_fields(adapter)):
        found["verifier_metadata"] = legacy
    return found


def domains(folder: Path) -> set[str]:
    """The domains that the shipped configs of a server state."""
    found = set()
    for path in sorted(folder.glob("configs/*.yaml")):
        for instance in (yaml.safe_load(path.read_text(encoding="utf-8")) or {}).values():
            servers = instance.get("resources_servers") if isinstance(instance, dict) else None
            settings = servers.get(folder.name) if isinstance(servers, dict) else None
            if isinstance(settings, dict) and isinstance(settings.get("domain"), str):
                found.add(settings["domain"])
    return found


def table(kind: str) -> Table:
    """Every component of a kind that has a schema."""
    found: Table = {}
    for path in sorted((ROOT / kind).rglob("task_data.py")):
        folder = path.parent
        one_entry = entry(folder)
        if one_entry is None:
            continue
        stated = domains(folder)
        if len(stated) == 1:
            one_entry["domain"] = stated.pop()
        found[str(folder.relative_to(ROOT / kind))] = one_entry
    return found


def by_word(schema: Any, named: Table) -> Table:
    """The members of a union by the words of their `type`, those of one word as a union."""
    found: dict[str, list[Any]] = {}
    for member in members(schema, named):
        said = member["properties"]["type"]
        for word in [said["const"]] if "const" in said else said["enum"]:
            form = coarse(member, named)
            form["object"]["type"] = {"is": [word]}
            found.setdefault(word, []).append(form)
    return {word: one(forms) for word, forms in found.items()}


def members(schema: Any, named: Table) -> list[Any]:
    """The members of a union, references followed."""
    if "$ref" in schema:
        return members(named[schema["$ref"].rpartition("/")[2]], named)
    inner = schema.get("anyOf") or schema.get("oneOf")
    return [schema] if inner is None else [each for one in inner for each in members(one, named)]


def requests() -> Table:
    """What the request model takes."""
    schema = NeMoGymResponseCreateParamsNonStreaming.model_json_schema()
    named, params = schema["$defs"], schema["properties"]
    (items,) = (each["items"] for each in params["input"]["anyOf"] if "items" in each)
    plain = {name: coarse(each, named) for name, each in params.items()}
    plain["model"] = {"one": ["str", "null"]}  # the words beside `str` are mere names of models
    del plain["input"], plain["tools"]
    return {
        "items": by_word(items, named),
        "params": plain,
        "tools": by_word(params["tools"]["items"], named),
    }


def text(kind: Table) -> str:
    """A line per component, so that the next release shows as a readable difference."""
    lines = [f"    {json.dumps(name)}: {json.dumps(each)}" for name, each in sorted(kind.items())]
    return "{\n" + ",\n".join(lines) + "\n  }"


def main() -> None:
    kinds = ("resources_servers", "responses_api_agents")
    out = Path(sys.argv[1])
    write(out, {kind: table(kind) for kind in kinds})
    write(out.with_name("requests.json"), requests())


def write(path: Path, kinds: Table) -> None:
    """The tables of a file, below the release that they are of."""
    parts = [f'  "version": {json.dumps(version("nemo-gym"))}']
    parts += [f"  {json.dumps(kind)}: {text(each)}" for kind, each in kinds.items()]
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
