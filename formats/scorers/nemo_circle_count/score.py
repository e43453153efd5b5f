r"""NeMo Gym `circle_count`: the number in the first `\boxed{digits}` is that of the right circles.

The right ones are the row's `circles` whose `color` is its `target_color`. Only the first box of
digits counts; later ones and boxes of anything else are passed over. A circle without `color`
makes the original raise, and so does a number too long for Python: no reward.
"""

from __future__ import annotations

import re
from typing import Any


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    """The reward that the original gives the text of `submission`."""
    expected = _count(params)
    if isinstance(expected, str):
        return _result("invalid task", None, expected)
    match = re.search(r"\\boxed\{(\d+)\}", submission["text"])
    if match is None:
        return _result("not extractable", 0.0, "no box of digits")
    try:
        answer = int(match.group(1))
    except ValueError:
        return _result("not extractable", None, "the original fails on so many digits")
    return _result("graded", float(answer == expected), f"{answer} of {expected}")


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    """The count in a box."""
    expected = _count(params)
    if isinstance(expected, str):
        return None
    return {"text": f"\\boxed{{{expected}}}", "calls": []}


def _count(params: dict[str, Any]) -> int | str:
    """How many circles have the colour, or what is wrong with the row."""
    circles = params["row"].get("circles", [])
    color = params["row"].get("target_color", "")
    if not isinstance(color, str):
        return "`target_color` is not text"
    if not isinstance(circles, list) or not all(isinstance(one, dict) for one in circles):
        return "`circles` is not a list of objects"
    if not all("color" in one for one in circles):
        return "a circle has no `color`"
    return len([one for one in circles if one["color"] == color])


def _result(outcome: str, reward: float | None, detail: str) -> dict[str, Any]:
    return {"outcome": outcome, "reward": reward, "parts": {}, "detail": detail[:200]}
