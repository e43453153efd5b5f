"""MRCR: how like the expected answer the text is, if it begins as it must.

0 unless the text begins with `random_string_to_prepend`; behind that, the ratio of
`difflib.SequenceMatcher`. As `mrcr` of NeMo Gym 0.7.0. Likeness takes time that grows with the
product of the lengths.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Any

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
    for name in ("expected_answer", "random_string_to_prepend"):
        if not isinstance(row.get(name), str):
            return f"{name} is not a string"
    for name in ("n_needles", "n_tokens"):
        if not is_whole(row.get(name)):
            return f"{name} is not a whole number"
    return ""


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    row = params["row"]
    wrong = fault(row)
    if wrong:
        return result("invalid task", None, wrong)
    text, start = submission["text"].strip(), row["random_string_to_prepend"]
    if not text.startswith(start):
        return result("not extractable", 0.0, "the text does not begin as it must")
    expected = row["expected_answer"].removeprefix(start)
    ratio = SequenceMatcher(None, text.removeprefix(start), expected).ratio()
    return result("graded", float(ratio))


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    row = params["row"]
    if fault(row):
        return None
    start = row["random_string_to_prepend"]
    answer = {"text": start + row["expected_answer"].removeprefix(start), "calls": []}
    return answer if score(params, answer)["reward"] == 1.0 else None
