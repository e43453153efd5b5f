"""NeMo Gym `structeval`: 0.2 for text that parses, 0.8 for the share of key paths in it.

The text is unescaped (`&lt;`, and Python's `\\n`, which spoils what is not ASCII), then the code is
taken out: the last thing found wins of what stands between `<|BEGIN_CODE|>` and `<|END_CODE|>` and
what the first fence holds; else it is the whole text. Both ends may be missing. An empty result
counts as not parsed. Paths of `raw_output_metric` are names with dots between them, `[3]`, `*` for
any item of a list, and `csv::header`; a name in back quotes may have dots. No `output_type` but
json, yaml, xml, toml and csv ever parses.
An empty `<|BEGIN_CODE|>` makes the original raise, and a `[` of a path that is not closed.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
import warnings
from importlib import import_module
from typing import Any

BEGIN = re.compile(r"<\|BEGIN_CODE\|>[ \t]*\n?", re.IGNORECASE)
END = re.compile(r"<\|END_CODE\|>", re.IGNORECASE)
FENCE = "```"
TEXTS = ("task_id", "task_name", "input_type", "output_type")


class BadRow(Exception):
    """The original raises, and the submission is not to blame."""


class BadCode(Exception):
    """The original raises, and the submission is to blame."""


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    """The reward that the original gives the text of `submission`."""
    try:
        kind, paths = _row(params["row"])
        if not submission["text"].strip():
            return _result("not extractable", 0.0, "no text")
        code = _code(_unescaped(submission["text"]))
        try:
            found = _parsed(code, kind)
        except ImportError:
            raise
        except Exception as error:  # noqa: BLE001  each parser has its own
            return _result("not extractable", 0.0, f"{type(error).__name__}: {error}")
        if not found:
            return _result("not extractable", 0.0, "nothing in it")
        share = sum(_has(found, _steps(path)) for path in paths) / len(paths) if paths else 0.0
    except BadRow as fault:
        return _result("invalid task", None, str(fault))
    except BadCode as fault:
        return _result("not extractable", None, f"the original fails: {fault}")
    parts = {"parsed": 1.0, "key_paths": share}
    return _result("graded", round(0.2 + 0.8 * share, 2), "parsed", parts)


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    """A structure with all the paths in it, where one can be made."""
    try:
        kind, paths = _row(params["row"])
        text = _written([_steps(path) for path in paths], kind)
    except (BadRow, LookupError, TypeError, ValueError):
        return None
    answer = {"text": f"{FENCE}\n{text}\n{FENCE}", "calls": []}
    return answer if score(params, answer)["reward"] == 1.0 else None


def _row(row: dict[str, Any]) -> tuple[str, list[str]]:
    for key in TEXTS:
        if not isinstance(row.get(key), str):
            raise BadRow(f"the row has no text `{key}`")
    paths = row.get("raw_output_metric")
    if not isinstance(paths, list) or not all(isinstance(one, str) for one in paths):
        raise BadRow("`raw_output_metric` is not a list of texts")
    return row["output_type"].lower(), paths


def _unescaped(text: str) -> str:
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("<think>\n\n</think>\n\n", "")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return codecs.decode(text, "unicode_escape")
    except ValueError:  # a backslash that escapes nothing it knows
        return text


def _code(text: str) -> str:
    """The code in a text; a fence may be cut off, and so may the end of the other marks."""
    fence = _fenced(text)
    if fence is not None:
        begins = BEGIN.search(text)
        if begins and begins.start() < text.index(FENCE) and not _until(text, begins.end(), END):
            raise BadCode("nothing between its marks")
        return fence.strip()
    begins = BEGIN.search(text)
    if begins is None:
        return text.strip()
    code = _until(text, begins.end(), END)
    if not code:
        raise BadCode("nothing between its marks")
    return code.strip()


def _fenced(text: str) -> str | None:
    """What the first fence holds, from the line after it on; None where no line follows."""
    start = text.find(FENCE)
    line = text.find("\n", start + len(FENCE)) if start >= 0 else -1
    return _until(text, line + 1, re.compile(FENCE)) if line >= 0 else None


def _until(text: str, start: int, mark: re.Pattern[str]) -> str:
    """From `start` to the mark; without one to the end, less a last line feed."""
    found = mark.search(text, start)
    if found:
        return text[start : found.start()]
    return text[start:-1] if text.endswith("\n") and start < len(text) else text[start:]


def _parsed(code: str, kind: str) -> Any:
    """The content of a text, by the parser that the original uses."""
    if kind == "json":
        return json.loads(code)
    if kind == "yaml":
        return import_module("yaml").safe_load(code)
    if kind == "toml":
        return import_module("toml").loads(code)
    if kind == "xml":
        return import_module("xmltodict").parse(code)
    if kind == "csv":
        reader = csv.DictReader(io.StringIO(code))
        return {"csv_headers": reader.fieldnames, "csv_rows": list(reader)}
    raise ValueError(f"no parser for {kind[:80]!r}")


def _steps(path: str) -> list[str]:
    """The names and indices of a path."""
    if path.startswith("csv::"):
        return [path]
    steps, name, quoted, at = [], "", False, 0
    while at < len(path):
        sign = path[at]
        if sign == "`":
            quoted = not quoted
        elif quoted or sign not in ".[":
            name += sign
        else:
            if name:
                steps.append(name)
            name = ""
            if sign == "[":
                end = path.find("]", at)
                if end < 0:
                    raise BadRow(f"a `[` of the path {path[:80]!r} is not closed")
                steps.append(path[at : end + 1])
                at = end
        at += 1
    return [*steps, name] if name else steps


def _has(node: Any, steps: list[str]) -> bool:
    """Whether the path leads anywhere."""
    if not steps:
        return True
    step, rest = steps[0], steps[1:]
    if isinstance(node, dict) and "csv_headers" in node and step.startswith("csv::"):
        try:
            return step[len("csv::") :] in (node["csv_headers"] or []) and not rest
        except TypeError as error:
            raise BadCode("`csv_headers` is no list") from error
    if step == "*":
        return isinstance(node, list) and any(_has(item, rest) for item in node)
    if step.startswith("[") and step.endswith("]"):
        try:
            index = int(step[1:-1])
        except ValueError:
            return False
        return isinstance(node, list) and 0 <= index < len(node) and _has(node[index], rest)
    if not isinstance(node, dict):
        return False
    if step in node:
        return _has(node[step], rest)
    return step.startswith("@") and step[1:] in node and _has(node[step[1:]], rest)


def _written(paths: list[list[str]], kind: str) -> str:
    """Text of the kind with all the paths in it."""
    if kind == "csv":
        out = io.StringIO()
        csv.writer(out).writerow([path[0][len("csv::") :] for path in paths])
        return out.getvalue()
    tree: dict[str, Any] = {}
    for path in paths:
        node = tree
        for step in path:
            node = node.setdefault("[0]" if step == "*" else step, {})
    value = _valued(tree)
    if kind == "xml":
        return _xml(value)
    return str(import_module("toml").dumps(value)) if kind == "toml" else json.dumps(value)


def _valued(tree: dict[str, Any]) -> Any:
    if not tree:
        return "x"
    if not all(step.startswith("[") for step in tree):
        return {step: _valued(inner) for step, inner in tree.items()}
    indices = {int(step[1:-1]): _valued(inner) for step, inner in tree.items()}
    if max(indices) > 1000:
        raise ValueError("too long a list")
    return [indices.get(index, next(iter(indices.values()))) for index in range(max(indices) + 1)]


def _xml(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)
    parts = []
    for key, inner in value.items():
        if key.startswith("@"):
            continue
        for one in inner if isinstance(inner, list) else [inner]:
            marks = one if isinstance(one, dict) else {}
            marked = "".join(f' {mark[1:]}="x"' for mark in marks if mark.startswith("@"))
            parts.append(f"<{key}{marked}>{_xml(one)}</{key}>")
    return "".join(parts)


def _result(
    outcome: str, reward: float | None, detail: str, parts: dict[str, float] | None = None
) -> dict[str, Any]:
    return {"outcome": outcome, "reward": reward, "parts": parts or {}, "detail": detail[:200]}
