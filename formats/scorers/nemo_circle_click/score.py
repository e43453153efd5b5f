"""NeMo Gym `circle_click`: the first call of `click` lands in the first circle of the colour.

Only the first call named `click` counts, and of the row's `circles` only the first whose `color`
is `target_color`: a click into a second one of that colour earns nothing. Coordinates are made
whole numbers as Python's `int` does, so `"12"` and 12.9 are both 12. An infinite coordinate, one
too large for a float, or a circle without the field that is read makes the original raise.
"""

from __future__ import annotations

import json
import math
from typing import Any


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    """The reward that the original gives the calls of `submission`."""
    fault = _fault(params)
    if fault:
        return _result("invalid task", None, fault)
    try:
        point = _click(submission["calls"])
        if point is None:
            return _result("not extractable", 0.0, "no click with two coordinates")
        hit = _hit(point, params)
    except (OverflowError, RecursionError) as error:
        return _result("not extractable", None, f"the original fails: {error}")
    except Exception as error:  # noqa: BLE001  any value may stand in a row
        return _result("invalid task", None, f"`circles`: {type(error).__name__}: {error}")
    return _result("graded", float(hit), f"clicked {point}")


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    """A click on the centre of the circle."""
    if _fault(params):
        return None
    for circle in params["row"].get("circles", []):
        if circle.get("color") == params["row"].get("target_color", ""):
            where = json.dumps({"x": circle.get("x"), "y": circle.get("y")})
            answer = {"text": "", "calls": [{"name": "click", "arguments": where}]}
            return answer if score(params, answer)["reward"] == 1.0 else None
    return None


def _fault(params: dict[str, Any]) -> str:
    circles = params["row"].get("circles", [])
    if not isinstance(params["row"].get("target_color", ""), str):
        return "`target_color` is not text"
    if not isinstance(circles, list) or not all(isinstance(one, dict) for one in circles):
        return "`circles` is not a list of objects"
    return ""


def _click(calls: list[dict[str, str]]) -> tuple[int, int] | None:
    for call in calls:
        if call["name"] == "click":
            try:
                arguments = json.loads(call["arguments"])
                return int(arguments["x"]), int(arguments["y"])
            except (KeyError, TypeError, ValueError):
                return None
    return None


def _hit(point: tuple[int, int], params: dict[str, Any]) -> bool:
    color = params["row"].get("target_color", "")
    for circle in params["row"].get("circles", []):
        if circle["color"] == color:
            across, down = point[0] - circle["x"], point[1] - circle["y"]
            return bool(math.sqrt(across * across + down * down) <= circle["radius"])
    return False


def _result(outcome: str, reward: float | None, detail: str) -> dict[str, Any]:
    return {"outcome": outcome, "reward": reward, "parts": {}, "detail": detail[:200]}
