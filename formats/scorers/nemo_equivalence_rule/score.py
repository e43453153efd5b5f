"""The whole text compared with the expected one, in any case and with any blanks.

`grading_rule` of the config is `exact`, `seq_match` (how alike the two are) or
`weighted_seq_match` (85 parts of that, 15 of how alike the first 10 characters are). As
`equivalence_rule` of NeMo Gym 0.7.0, which cannot answer for a row with a field named like one of
its answer. Likeness takes time that grows with the product of the lengths.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

RULES = ("exact", "seq_match", "weighted_seq_match")
TAKEN = ("reward", "equivalence_score")


def result(outcome: str, reward: float | None, detail: str = "") -> dict[str, Any]:
    return {"outcome": outcome, "reward": reward, "parts": {}, "detail": detail}


def fault(params: dict[str, Any]) -> str:
    """Why nothing can be graded."""
    row = params["row"]
    expected = row.get("expected_answer")
    if params["config"].get("grading_rule", "exact") not in RULES:
        return "there is no such grading_rule"
    if not isinstance(expected, str):
        return "expected_answer is not a string"
    return "".join(f"the row has a field {name}" for name in TAKEN if name in row)


def plain(text: str) -> str:
    return " ".join(text.lower().split())


def likeness(one: str, other: str) -> float:
    return float(SequenceMatcher(None, one, other).ratio())


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    wrong = fault(params)
    if wrong:
        return result("invalid task", None, wrong)
    text, expected = plain(submission["text"]), plain(params["row"]["expected_answer"])
    rule = params["config"].get("grading_rule", "exact")
    if rule == "exact":
        return result("graded", float(text == expected))
    whole = likeness(text, expected)
    if rule == "seq_match":
        return result("graded", whole)
    start = expected[:10]
    mixed = 0.85 * whole + 0.15 * likeness(text[: len(start)], start)
    return result("graded", max(0.0, min(1.0, mixed)))


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    if fault(params):
        return None
    return {"text": params["row"]["expected_answer"], "calls": []}
