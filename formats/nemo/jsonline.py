"""One line of JSONL as an object, strictly: what readers disagree about is refused by line.

NeMo Gym 0.7.0 reads rows with Python's `json` in text mode (`train_data_utils`,
`rollout_collection`) and sends them on with orjson; it takes a repeated key's last value, NaN, and
text that cannot be encoded, and fails later or elsewhere. Integers beyond 64 bits are taken as they
are: nothing here changes a digit of them, though orjson makes floats of them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from rlconvert.errors import Malformed, RlconvertError, TooBig

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"
Object: TypeAlias = Mapping[str, Json]

MAX_DEPTH = 200
"""Nesting of one row, far beyond any that was published and far below what Python can follow."""

_BOM = b"\xef\xbb\xbf"
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def parse_line(line: bytes, file: str, number: int) -> dict[str, Json]:
    """The object on a line; `Malformed` or `TooBig` names the file, the line and the remedy."""
    try:
        return _parse(line)
    except RlconvertError as error:
        error.file, error.where = file, f"line {number}"
        raise


def _parse(line: bytes) -> dict[str, Json]:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _fault("not-utf8", f"byte {error.start} is not UTF-8", "Save it as UTF-8") from error
    if "\0" in text:
        raise _fault("nul-character", "there is a NUL character in it", "Remove it")
    if line.startswith(_BOM):
        raise _fault("byte-order-mark", "it begins with a byte order mark", "Remove the mark")
    bare = text.removesuffix("\n").removesuffix("\r")
    if not bare.strip():
        raise _fault("blank-line", "the line is blank; NeMo Gym's collate ends there", "Remove it")
    if "\r" in bare:
        raise _fault("carriage-return", "a carriage return ends the line for some", "Remove it")
    try:
        row = _DECODER.decode(bare)
    except json.JSONDecodeError as error:
        what = f"not JSON: {error.msg}, column {error.colno}"
        raise _fault("bad-json", what, "Correct the line, or complete it") from error
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:  # Python limits how long an integer it reads
        raise TooBig(str(error).partition(";")[0], reason="number-too-long") from error
    if not isinstance(row, dict):
        raise _fault("row-not-object", "a row must be a JSON object", "Make it one")
    if bare.count("{") + bare.count("[") > MAX_DEPTH:
        check_depth(row)
    if ("\\ud" in bare or "\\uD" in bare) and (found := _SURROGATE.search(_all_text(row))):
        what = f"half of a surrogate pair, U+{ord(found[0]):04X}, which no UTF-8 can hold"
        raise _fault("lone-surrogate", what, "Replace it")
    return cast("dict[str, Json]", row)


def _no_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _fault("duplicate-key", f"the key {twice!r} stands twice", "Keep one of them")
    return found


def _no_constant(name: str) -> object:
    raise _fault("not-a-number", f"{name} is not JSON", "Use null or a number")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _fault("not-a-number", f"{text[:40]} is beyond any float", "Use a smaller number")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_no_repeats, parse_constant=_no_constant, parse_float=_finite
)


def check_depth(value: object) -> None:
    """`TooBig` for a value that is nested beyond `MAX_DEPTH`."""
    level = [value]
    for _ in range(MAX_DEPTH):
        below: list[object] = []
        for each in level:
            if isinstance(each, dict):
                below += each.values()
            elif isinstance(each, list):
                below += each
        level = [each for each in below if isinstance(each, dict | list)]
        if not level:
            return
    raise _too_deep()


def _too_deep() -> TooBig:
    return TooBig(
        f"it is nested more than {MAX_DEPTH} deep", reason="too-deep", remedy="Flatten it"
    )


def beyond_64_bits(value: Json) -> bool:
    """Whether there is an integer in it that has no place in 64 bits, signed or not."""
    if isinstance(value, Mapping):
        return any(map(beyond_64_bits, value.values()))
    if isinstance(value, list):
        return any(map(beyond_64_bits, value))
    return isinstance(value, int) and not -(2**63) <= value < 2**64


def _all_text(row: object) -> str:
    return json.dumps(row, ensure_ascii=False)


def _fault(reason: str, problem: str, remedy: str) -> Malformed:
    return Malformed(problem, reason=reason, remedy=remedy)


def to_line(row: Mapping[str, object]) -> bytes:
    """A row as one line. ASCII, since NeMo Gym 0.7.0 reads the file in the user's locale."""
    return json.dumps(row, allow_nan=False).encode("ascii") + b"\n"


def canonical(row: Mapping[str, object]) -> bytes:
    """The same bytes for the same values, however they are spaced and ordered."""
    return json.dumps(row, sort_keys=True, separators=(",", ":")).encode("ascii")
