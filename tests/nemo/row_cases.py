"""Rows, what we make of them, and what NeMo Gym 0.7.0 does: one table for us and for it.

`ours` is `taken`, `refused` or `lost` (it can be read, and that is said of NeMo Gym), or the reason
of a fault. `collate` and `rollout` are what NeMo Gym's own readers do. Where we refuse a row that
it takes, `because` says why.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from nemo.nemo_rows import row
from nemo.request_cases import CALL, said


@dataclass(frozen=True)
class RowCase:
    """One row, or several lines, of a file."""

    data: bytes
    ours: str = "taken"
    collate: str = "taken"
    rollout: str = "taken"
    because: str = ""


def value(text: bytes) -> bytes:
    """A row with a value that Python would not write."""
    return row(x=1).replace(b'"x": 1', b'"x": ' + text)


def param(**params: object) -> bytes:
    """A row with parameters."""
    return row(responses_create_params={"input": "hi", **params})


def nested(depth: int) -> bytes:
    """A row with a list in a list, and so on."""
    return value(b"[" * depth + b"]" * depth)


R = "refused"
LATER = "taken by one of its readers, refused by the other"
COERCED = "the value would be changed into one of the right type"

ROWS: dict[str, RowCase] = {
    # bytes
    "plain": RowCase(row()),
    "carriage return and line feed": RowCase(row().replace(b"\n", b"\r\n")),
    "no line end": RowCase(row().rstrip()),
    "U+2028 and U+0085 in a text": RowCase(
        json.dumps({"a": "\u2028\x85\u2029", **json.loads(row())}, ensure_ascii=False).encode()
    ),
    "NUL, escaped": RowCase(row(x="\0")),
    "50 MB": RowCase(row(x="a" * 50_000_000)),
    "cut off": RowCase(row()[:-10], "bad-json", R, R),
    "byte order mark": RowCase(b"\xef\xbb\xbf" + row(), "byte-order-mark", R, R),
    "NUL": RowCase(value(b'"\0"'), "nul-character", R, R),
    "not UTF-8": RowCase(value(b'"\xff"'), "not-utf8", R, R),
    "half a pair, as bytes": RowCase(value(b'"\xed\xa0\x80"'), "not-utf8", R, R),
    "blank line": RowCase(b"\n" + row(), "blank-line", R, R),
    "line of spaces": RowCase(b"  \r\n" + row(), "blank-line", R, R),
    "carriage return alone": RowCase(row().replace(b", ", b",\r ", 1), "carriage-return", R, R),
    # JSON
    "no object": RowCase(b"[1]\n", "row-not-object", R, R),
    "number": RowCase(b"5\n", "row-not-object", R, R),
    "null": RowCase(b"null\n", "row-not-object", R, R),
    "key twice": RowCase(b'{"x": 1, ' + row(x=2)[1:], "duplicate-key", because=(
        "the last one counts, and whoever wrote the row may have meant the first")),
    "key twice, inside": RowCase(value(b'{"y": 1, "y": 2}'), "duplicate-key", because=(
        "the last one counts, and whoever wrote the row may have meant the first")),
    "NaN": RowCase(value(b"NaN"), "not-a-number", "taken", R, LATER),
    "minus infinity": RowCase(value(b"-Infinity"), "not-a-number", "taken", R, LATER),
    "1e400": RowCase(value(b"1e400"), "not-a-number", "taken", R, LATER),
    "half a pair": RowCase(row(x="\ud800"), "lone-surrogate", "taken", R, LATER),
    "half a pair in a key": RowCase(
        row(x=1).replace(b'"x"', b'"\\uDfff"'), "lone-surrogate", "taken", R, LATER),
    "integer of 64 bits": RowCase(row(x=2**64 - 1, y=-(2**63))),
    "integer beyond 64 bits": RowCase(row(x=2**64), "lost", "taken", "changed"),
    "integer of 5,000 digits": RowCase(value(b"9" * 5000), "number-too-long", R, R),
    "nested 190 deep": RowCase(nested(190)),
    "nested 300 deep": RowCase(nested(300), "too-deep", because=(
        "a limit of ours, 200, for every program that will read the row")),
    "nested 100,000 deep": RowCase(nested(100_000), "too-deep", R, R),
    # the shape of a row
    "no request": RowCase(b'{"question": "x"}\n', "no-request", R, R),
    "request null": RowCase(row(responses_create_params=None), "no-request", R, R),
    "metrics of a dataset": RowCase(
        b'{"name": "x", "type": "train", "Number of examples": 5}\n', "no-request", R, R),
    "rollout": RowCase(row(response={"output": []}, reward=1.0), "rollout", because=(
        "it is no task: it holds somebody's answer and its reward")),
    "contradiction in verifier_metadata": RowCase(
        row(x=1, verifier_metadata={"x": 2}), "contradictory-fields", because=(
        "its own check of a server's rows reports it, and the server reads one of the two")),
    "contradiction in task_data": RowCase(
        row(x=1, task_data={"x": 2}), "contradictory-fields", because=(
        "its own check of a server's rows reports it, and the server reads one of the two")),
    "verifier_metadata is no object": RowCase(row(verifier_metadata=5), "bad-metadata", because=(
        "servers look for fields in it")),
    "task_data is no object": RowCase(row(task_data=5), "bad-metadata", because=(
        "servers look for fields in it")),
    "envelope": RowCase(
        json.dumps({"task_id": {"taskset": "t", "task_id": "a"},
                    "task_input": json.loads(row())}).encode()),
    "envelope without a name": RowCase(
        row(task_id={"taskset": "t"}, task_input={}), "bad-envelope", R, R),
    # requests
    "unknown item": RowCase(row(responses_create_params=said({"type": "smell"})),
                            "unknown-item", R, R),
    "arguments as object": RowCase(
        row(responses_create_params=said({**CALL, "arguments": {"a": 1}})), "refused", R, R),
    "arguments encoded twice": RowCase(
        row(responses_create_params=said({**CALL, "arguments": '"{\\"a\\": 1}"'}))),
    "unknown status": RowCase(
        row(responses_create_params=said({**CALL, "status": "gone"})), "refused", R, R),
    "unknown effort": RowCase(param(reasoning={"effort": "heroic"}), "bad-param", R, R),
    "unknown include": RowCase(param(include=["everything"]), "bad-param", R, R),
    "unknown key of text": RowCase(param(text={"colour": "red"}), "bad-param", R, R),
    "whole number as 5.0": RowCase(param(max_output_tokens=5.0)),
    "tool of type namespace": RowCase(
        param(tools=[{"type": "namespace", "name": "n", "description": "d",
                      "tools": [{"type": "function", "name": "f"}]}]), "refused", R),
    "number in a text": RowCase(param(temperature="0.5"), "bad-param", because=COERCED),
    "whole number in a text": RowCase(param(max_output_tokens="5"), "bad-param", because=COERCED),
    "flag in a text": RowCase(param(store="yes"), "bad-param", because=COERCED),
    "flag as number": RowCase(param(store=1), "bad-param", because=COERCED),
    "number as flag": RowCase(param(temperature=True), "bad-param", because=COERCED),
}  # fmt: skip


def stricter() -> str:
    """The table of `formats/nemo/README.md`: rows that NeMo Gym takes, at least in part."""
    lines = ["| row | collate | rollouts | here | because |", "|---|---|---|---|---|"]
    for name, case in ROWS.items():
        if case.because:
            lines.append(
                f"| {name} | {case.collate} | {case.rollout} | `{case.ours}` | {case.because} |"
            )
    return "\n".join(lines) + "\n"
