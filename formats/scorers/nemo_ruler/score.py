"""RULER: how many of the reference strings the answer contains.

The share of `outputs` that stand in the text, in any case; for the subsets `qa_1` and `qa_2` one of
them is enough. As `ruler` of NeMo Gym 0.7.0, which also fails on a `subset` that is named like a
field of its own answer.
"""

from __future__ import annotations

import re
from typing import Any

ONE_IS_ENOUGH = ("qa_1", "qa_2")
TAKEN = ("responses_create_params", "response", "outputs", "length", "subset", "reward")
NO_NUMBERS = ("failure_kind", "failure_reason", "_ng_rollout_id", "capture_rollout_id")
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
    outputs, subset = row.get("outputs"), row.get("subset")
    if not isinstance(outputs, list) or not all(isinstance(output, str) for output in outputs):
        return "outputs is not a list of strings"
    if not outputs:
        return "outputs is empty"
    if not isinstance(subset, str):
        return "subset is not a string"
    if subset in TAKEN or subset in NO_NUMBERS:
        return "subset has the name of another field"
    if not is_whole(row.get("length")):
        return "length is not a whole number"
    return ""


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    row = params["row"]
    wrong = fault(row)
    if wrong:
        return result("invalid task", None, wrong)
    text = submission["text"].strip().lower()
    found = [1.0 if output.lower() in text else 0.0 for output in row["outputs"]]
    reward = max(found) if row["subset"] in ONE_IS_ENOUGH else sum(found) / len(found)
    if row["subset"] == "mask_sample" and reward not in (0.0, 1.0):
        return result("not extractable", None, "the original fails: mask_sample is no truth value")
    return result("graded", reward, f"{sum(found):.0f} of {len(found)}")


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    if fault(params["row"]):
        return None
    answer = {"text": ", ".join(params["row"]["outputs"]), "calls": []}
    return answer if score(params, answer)["reward"] == 1.0 else None
