"""A grid of numbers found in the text, and equal to the expected one.

The first `\\boxed{[[...]]}` that holds a grid counts; where nothing is boxed so, the first bare
`[[...]]`. As `arc_agi` of NeMo Gym 0.7.0, which fails on a number of more than 4300 digits.
"""

from __future__ import annotations

import re
from typing import Any

BOXED = re.compile(r"\\boxed\{([\d\s,\[\]]+)\}")
BARE = re.compile(r"[\d\s,\[\]]+")
START, END = re.compile(r"\[\s*\["), re.compile(r"\](?=\s*\])")
PART = re.compile(r"[0-9]+|.", re.DOTALL)
MOST_DIGITS = 4300
WHOLE = re.compile(r"[+-]?[0-9]+(?:_[0-9]+)*(?:\.0+)?")
BLANK = " \t\n\x0b\x0c\r\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)


class TooManyDigits(Exception):
    """Python refuses such a number, and the original with it."""


def result(outcome: str, reward: float | None, detail: str = "") -> dict[str, Any]:
    return {"outcome": outcome, "reward": reward, "parts": {}, "detail": detail}


def whole(value: Any) -> int:
    """A whole number, as the original's model takes it; `ValueError` for anything else."""
    if isinstance(value, str):
        text = value.strip(BLANK)
        if len(text) <= MOST_DIGITS and WHOLE.fullmatch(text):
            return int(text.partition(".")[0])
    elif isinstance(value, int) or (
        isinstance(value, float) and value.is_integer() and abs(value) < 2**63
    ):
        return int(value)
    raise ValueError(value)


def grid(value: Any) -> list[list[int]]:
    """A grid of a row; `ValueError` for anything else."""
    if not isinstance(value, list) or not all(isinstance(line, list) for line in value):
        raise ValueError(value)
    return [[whole(cell) for cell in line] for line in value]


def fault(row: dict[str, Any]) -> str:
    """Why the row cannot be graded."""
    for name in ("expected_output", "test_input"):
        try:
            grid(row.get(name, []))
        except ValueError:
            return f"{name} is not a grid of whole numbers"
    train, task = row.get("train", []), row.get("task_id")
    if not isinstance(train, list) or not all(isinstance(pair, dict) for pair in train):
        return "train is not a list of objects"
    if task is not None and not isinstance(task, str):
        return "task_id is not a string"
    return ""


def tail(text: str, start: int) -> int | None:
    """Where the last `]]` begins that can close what was opened by `[[` before `start`."""
    found = [each.start() for each in END.finditer(text, start + 1)]
    return found[-1] if found else None


def candidates(text: str) -> list[str]:
    """What may be a grid: all that is boxed, or else all that is not."""
    found = []
    for box in BOXED.finditer(text):
        inner = box[1]
        opened = START.match(inner)
        closed = tail(inner, opened.end()) if opened else None
        if closed is not None and inner[closed + 1 :].lstrip() == "]":
            found.append(inner)
    if found:
        return found
    for run in BARE.finditer(text):
        opened = START.search(run[0])
        closed = tail(run[0], opened.end()) if opened else None
        if opened and closed is not None:
            found.append(run[0][opened.start() : run[0].index("]", closed + 1) + 1])
    return found


def read(text: str) -> list[list[int]] | None:
    """The grid that a text is as JSON; None where it is not JSON, or another list."""
    lists: list[list[Any]] = []
    outer: list[Any] = []
    flat, state = True, "value"
    for part in PART.findall(text):
        if state in ("value", "first") and part == "[":
            inner: list[Any] = []
            if lists:
                lists[-1].append(inner)
            lists.append(inner)
            flat, state = flat and len(lists) <= 2, "first"
        elif part == "]" and state in ("first", "after") and lists:
            outer = lists.pop()
            state = "after" if lists else "end"
        elif part == "," and state == "after":
            state = "value"
        elif part[0] in "0123456789" and state in ("value", "first") and lists:
            if len(part) > 1 and part[0] == "0":
                return None
            if len(part) > MOST_DIGITS:
                raise TooManyDigits
            lists[-1].append(int(part))
            flat, state = flat and len(lists) == 2, "after"
        else:
            return None
    return outer if state == "end" and flat and outer and outer[0] else None


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    row = params["row"]
    wrong = fault(row)
    if wrong:
        return result("invalid task", None, wrong)
    try:
        grids = (read("".join(text.split())) for text in candidates(submission["text"]))
        found = next((each for each in grids if each is not None), None)
    except TooManyDigits:
        return result("not extractable", None, "the original fails: a number is too long")
    if found is None:
        return result("not extractable", 0.0)
    return result("graded", float(found == grid(row.get("expected_output", []))))


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    if fault(params["row"]):
        return None
    expected = str(grid(params["row"].get("expected_output", []))).replace(" ", "")
    answer = {"text": f"\\boxed{{{expected}}}", "calls": []}
    return answer if score(params, answer)["reward"] == 1.0 else None
