"""GraphWalks: F1 between the nodes in the last line and the expected ones.

The last line that is not blank must hold `Final Answer: [a, b]`; names are split at commas and
stripped. Both sets empty is 1. `expected_answer` is a JSON list; anything else that JSON is is
taken as Python makes a set of it, and what is no JSON is the empty set. As `graphwalks` of NeMo Gym
0.7.0.
"""

from __future__ import annotations

import json
import re
from typing import Any

ANSWER = re.compile(r"Final Answer:\s*\[")
WHOLE = re.compile(r"[+-]?[0-9]+(?:_[0-9]+)*(?:\.0+)?")
BLANK = " \t\n\x0b\x0c\r\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)


def result(outcome: str, reward: float | None, detail: str = "") -> dict[str, Any]:
    return {"outcome": outcome, "reward": reward, "parts": {}, "detail": detail}


def is_whole(value: Any) -> bool:
    """What the original's model takes for a whole number."""
    if isinstance(value, float):
        return value.is_integer() and abs(value) < 2**63
    if isinstance(value, str):
        return len(value) <= 4300 and WHOLE.fullmatch(value.strip(BLANK)) is not None
    return isinstance(value, int)


def fault(row: dict[str, Any]) -> str:
    """Why the row cannot be graded."""
    for name in ("expected_answer", "problem_type"):
        if not isinstance(row.get(name), str):
            return f"{name} is not a string"
    for name in ("n_tokens", "prompt_chars"):
        if row.get(name) is not None and not is_whole(row[name]):
            return f"{name} is not a whole number"
    try:
        expected(row)
    except (ValueError, RecursionError):
        return "expected_answer is JSON that Python does not read"
    return ""


def expected(row: dict[str, Any]) -> set[Any]:
    """The nodes of the row; raises where the original does."""
    try:
        return set(json.loads(row["expected_answer"]))
    except (json.JSONDecodeError, TypeError):
        return set()


def found_in(text: str) -> set[str] | None:
    """The nodes of the last line."""
    lines = [line for line in text.strip().split("\n") if line.strip()]
    last = lines[-1] if lines else ""
    opened, end = ANSWER.search(last), last.rfind("]")
    if opened is None or end < opened.end():
        return None
    return {name.strip() for name in last[opened.end() : end].split(",") if name.strip()}


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    wrong = fault(params["row"])
    if wrong:
        return result("invalid task", None, wrong)
    found, wanted = found_in(submission["text"]), expected(params["row"])
    if found is None:
        return result("not extractable", 0.0)
    if not found and not wanted:
        return result("graded", 1.0)
    common = len(found & wanted)
    if not common:
        return result("graded", 0.0)
    precision, recall = common / len(found), common / len(wanted)
    return result("graded", 2 * precision * recall / (precision + recall))


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    if fault(params["row"]):
        return None
    names = sorted(map(str, expected(params["row"])))
    answer = {"text": f"Final Answer: [{', '.join(names)}]", "calls": []}
    return answer if score(params, answer)["reward"] == 1.0 else None
