"""NeMo Gym `xlam_fc`: as many calls as expected, each expected one answered by one of its own.

A call answers an expected one when the names are equal and every expected argument is there with
an equal value; more arguments do no harm. Expected calls take, in their order, the first call
that answers them and is still free. With nothing expected, no call is the right answer. Arguments
that are no JSON object count as none; a text in JSON is read once more, and what is found there
and is neither object, list nor text makes the original raise when an argument is looked up in it.
"""

from __future__ import annotations

import json
from typing import Any


class BadRow(Exception):
    """The original raises, and the submission is not to blame."""


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    """The reward that the original gives the calls of `submission`."""
    expected = params["row"].get("expected_answers", [])
    if not isinstance(expected, list) or not all(isinstance(one, dict) for one in expected):
        return _result("invalid task", None, "`expected_answers` is not a list of objects")
    try:
        calls = [(call["name"], _read_twice(call["arguments"])) for call in submission["calls"]]
        right = _matched(expected, calls)
    except BadRow as fault:
        return _result("invalid task", None, f"`expected_answers`: {fault}")
    except Exception as fault:  # noqa: BLE001  any value may stand in an argument
        return _result("not extractable", None, f"the original fails: {type(fault).__name__}")
    detail = f"{len(expected)} expected, {len(calls)} made, {right} right"
    return _result("graded", float(right == len(expected) == len(calls)), detail)


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    """The expected calls."""
    expected = params["row"].get("expected_answers", [])
    if not isinstance(expected, list) or not all(isinstance(one, dict) for one in expected):
        return None
    calls = []
    for one in expected:
        arguments = one.get("arguments", {})
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        calls.append({"name": one.get("name"), "arguments": text})
    if not all(isinstance(call["name"], str) for call in calls):
        return None
    answer = {"text": "", "calls": calls}
    return answer if score(params, answer)["reward"] == 1.0 else None


def _matched(expected: list[dict[str, Any]], calls: list[tuple[str, Any]]) -> int:
    free = list(range(len(calls)))
    right = 0
    for one in expected:
        for index in free:
            if _answers(calls[index], one):
                free.remove(index)
                right += 1
                break
    return right


def _answers(call: tuple[str, Any], expected: dict[str, Any]) -> bool:
    name, arguments = call
    if name != expected.get("name"):
        return False
    try:
        wanted = _arguments(expected.get("arguments", {})).items()
    except (AttributeError, RecursionError, ValueError) as fault:
        raise BadRow("the arguments of a call are no JSON object") from fault
    return all(key in arguments and arguments[key] == value for key, value in wanted)


def _read_twice(arguments: str) -> Any:
    """As the original does: JSON in text in JSON is unwrapped, and what is no object is dropped."""
    return _arguments(_arguments(arguments))


def _arguments(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return json.loads(value)
        except json.JSONDecodeError:
            return {}
    return value if isinstance(value, dict) else {}


def _result(outcome: str, reward: float | None, detail: str) -> dict[str, Any]:
    return {"outcome": outcome, "reward": reward, "parts": {}, "detail": detail[:200]}
