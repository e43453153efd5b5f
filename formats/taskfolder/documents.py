"""Bytes to plain values and back, for the TOML and JSON files of a task folder.

Reading follows Harbor 0.26.0: `Path.read_text()` (UTF-8, every line end becomes a line feed, so
that even a lone carriage return ends a line) and then `tomllib` of Python 3.12 (TOML 1.0) or
`json`. Stricter than Harbor: size, depth, numbers that cannot be written again; in JSON also
duplicate keys, NaN and infinities. `tomli` is held below 2.4, which took up TOML 1.1.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from datetime import date, datetime, time
from typing import NoReturn, TypeAlias

import tomli
import tomli_w

from .problems import CannotEncode, DocumentRefused, PathPart, Problem, Reason, dotted

Value: TypeAlias = (
    "bool | int | float | str | datetime | date | time | list[Value] | dict[str, Value] | None"
)
"""Anything that TOML or JSON can say: TOML has no null, JSON no dates."""

MAX_TOML_BYTES = 1 << 20
"""The largest `task.toml` in 3,592 published folders has 3.5 kB."""
MAX_JSON_BYTES = 64 << 20
"""A `registry.json` of half a million tasks."""
MAX_DEPTH = 100
"""Tables and arrays inside one another; Harbor's own keys need 7."""

_TOO_LONG = 10**4300  # Python (3.11 and later) neither reads nor writes longer decimals
_BOM = "\ufeff"


def parse_toml(data: bytes) -> dict[str, Value]:
    """The values of a TOML 1.0 document, or `DocumentRefused`."""
    text = _text(data, MAX_TOML_BYTES)
    try:
        tree: dict[str, Value] = tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        _refuse(Reason.BAD_TOML, error.msg, error.lineno, error.colno)
    except RecursionError:
        _refuse(Reason.TOO_DEEP, f"nested deeper than {MAX_DEPTH} levels")
    except ValueError as error:  # Python's limit on the digits of a decimal number
        _refuse(Reason.BAD_TOML, str(error))
    _check_limits(tree)
    return tree


def parse_json(data: bytes) -> Value:
    """The values of a JSON document, or `DocumentRefused`."""
    text = _text(data, MAX_JSON_BYTES)
    twice: list[str] = []

    def to_dict(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
        table = dict(pairs)
        if len(table) != len(pairs):
            keys = [key for key, _ in pairs]
            twice.extend(key for key in table if keys.count(key) > 1)
        return table

    try:
        tree: Value = json.loads(text, object_pairs_hook=to_dict, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        _refuse(Reason.BAD_JSON, error.msg, error.lineno, error.colno)
    except RecursionError:
        _refuse(Reason.TOO_DEEP, f"nested deeper than {MAX_DEPTH} levels")
    except DocumentRefused:
        raise
    except ValueError as error:
        _refuse(Reason.BAD_JSON, str(error))
    if twice:
        names = sorted(set(twice))
        raise DocumentRefused(
            [Problem(Reason.DUPLICATE_KEY, "", f"given twice: {name!r}") for name in names]
        )
    _check_limits(tree, finite=True)
    return tree


def format_toml(tree: dict[str, Value], blocks: Collection[str] = ()) -> bytes:
    """A TOML 1.0 document that `parse_toml` reads back as the same values.

    Deterministic: keys in the order given, but scalars and arrays of a table before its
    sub-tables, and last the root's arrays of tables named in `blocks`, as ``[[name]]``.
    Refuses (`CannotEncode`) what TOML has no word for and what `parse_toml` refuses.
    """
    try:
        _check_limits(tree)
        chunks = [tomli_w.dumps({key: tree[key] for key in tree if key not in blocks})]
        for key in blocks:
            items = _items(tree.get(key))
            chunks += [_block(key, item) for item in items]
            if key in tree and not items:
                chunks[0] = f"{key} = []\n{chunks[0]}"
        data = "\n".join(filter(None, chunks)).encode()
    except (TypeError, ValueError) as error:  # no such TOML type; a lone surrogate; a limit
        raise CannotEncode(str(error)) from error
    if len(data) > MAX_TOML_BYTES:
        raise CannotEncode(f"{len(data)} bytes; the limit is {MAX_TOML_BYTES}")
    return data


def format_json(tree: Value) -> bytes:
    """An indented JSON document that `parse_json` reads back as the same values.

    Keys in the order given. Characters stay as they are, unless one is a lone surrogate.
    """
    try:
        _check_limits(tree, finite=True)
        text = json.dumps(tree, indent=2, ensure_ascii=False, allow_nan=False)
        try:
            data = text.encode()
        except UnicodeEncodeError:
            data = json.dumps(tree, indent=2, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise CannotEncode(str(error)) from error
    if len(data) >= MAX_JSON_BYTES:
        raise CannotEncode(f"{len(data)} bytes; the limit is {MAX_JSON_BYTES}")
    return data + b"\n"


def _block(key: str, item: Value) -> str:
    text, header = tomli_w.dumps({key: item}), f"[{key}]\n"
    return f"[[{key}]]\n{text.removeprefix(header)}"


def _text(data: bytes, limit: int) -> str:
    if len(data) > limit:
        _refuse(Reason.TOO_BIG, f"{len(data)} bytes; the limit is {limit}")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        _refuse(Reason.NOT_UTF8, f"not UTF-8: byte 0x{data[error.start]:02x}", *_place(before))
    if text.startswith(_BOM):
        _refuse(Reason.BYTE_ORDER_MARK, "starts with a byte order mark", 1, 1)
    if (nul := text.find("\0")) >= 0:
        _refuse(Reason.NUL_CHARACTER, "contains a NUL character", *_place(text[:nul]))
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _place(before: str) -> tuple[int, int]:
    """Line and column, from 1, of the character after `before`."""
    lines = before.replace("\r\n", "\n").replace("\r", "\n")
    return lines.count("\n") + 1, len(lines) - lines.rfind("\n")


def _check_limits(tree: Value, *, finite: bool = False) -> None:
    """Refuse depth and numbers that would break whoever handles the values later."""
    rest: list[tuple[Value, tuple[PathPart, ...]]] = [(tree, ())]
    while rest:
        node, path = rest.pop()
        if len(path) >= MAX_DEPTH:
            where = dotted(path[:8]) + "..."
            raise DocumentRefused(
                [Problem(Reason.TOO_DEEP, where, f"nested deeper than {MAX_DEPTH} levels")]
            )
        items = node.items() if isinstance(node, dict) else enumerate(_items(node))
        for key, value in items:
            if isinstance(value, str):
                continue
            if isinstance(value, dict | list | tuple):
                rest.append((value, (*path, key)))
            elif isinstance(value, int) and not -_TOO_LONG < value < _TOO_LONG:
                message = "has more than 4300 decimal digits"
                raise DocumentRefused(
                    [Problem(Reason.NUMBER_TOO_LONG, dotted((*path, key)), message)]
                )
            elif finite and isinstance(value, float) and not math.isfinite(value):
                message = "JSON has no infinite numbers"
                raise DocumentRefused([Problem(Reason.NOT_FINITE, dotted((*path, key)), message)])


def _items(node: Value) -> Sequence[Value]:
    """Of an array, or none. Models are dumped with tuples for arrays."""
    return node if isinstance(node, list | tuple) else ()


def _refuse_constant(name: str) -> NoReturn:
    _refuse(Reason.NOT_FINITE, f"JSON has no {name}")


def _refuse(
    reason: Reason, message: str, line: int | None = None, column: int | None = None
) -> NoReturn:
    raise DocumentRefused([Problem(reason, "", message, line, column)])
