"""NeMo Gym `single_step_tool_use_with_argument_comparison`: the expected action was taken.

The row's `expected_action` is a message, one call or several. Where a message is expected, any
message without a call is right, but for an empty one: nobody can tell it from none. Where calls
are, each expected one is matched with a call of its own: equal name, arguments of equal shape and
type, numbers within `floating_point_comparison_threshold`, texts of at least two words by the share
of words in common against `word_count_similarity_threshold` (that share is at most one half). The
number of calls matters only with `parallel_tool_call_rewarding`: then fewer or more are 0 unless
`allow_subset` or `allow_superset`, and `parallel_tool_call_reward_mode` says what a part of the
calls is worth.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

MODES = ("binary_strict", "fractional", "f1")
FLAGS = ("parallel_tool_call_rewarding", "allow_subset", "allow_superset")


class BadRow(Exception):
    """The original raises, and the submission is not to blame."""


class BadCall(Exception):
    """The original raises, and the submission is to blame."""


def submission_of(params: dict[str, Any]) -> str:
    """What of the work is scored: a message where the row expects one, else calls."""
    action = params["row"].get("expected_action")
    spoken = isinstance(action, dict) and action.get("type") == "message"
    return "final message" if spoken else "tool calls"


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    """The reward that the original gives; a message is one only where it has a text."""
    try:
        compared = _comparison(params["config"])
        expected = _expected(params["row"].get("expected_action"))
        calls = submission["calls"]
        if not calls and not submission["text"]:
            return _result("not extractable", 0.0, "neither a call nor a message")
        if expected is None or not calls:
            right = expected is None and not calls
            return _result("graded", float(right), "a call" if calls else "a message")
        reward, matched = _reward(expected, calls, compared)
    except BadRow as fault:
        return _result("invalid task", None, str(fault))
    except BadCall as fault:
        return _result("not extractable", None, f"the original fails: {fault}")
    detail = f"{len(expected)} expected, {len(calls)} made, {matched} right"
    return _result("graded", reward, detail)


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    """The expected calls, or the expected message."""
    try:
        expected = _expected(params["row"].get("expected_action"))
    except BadRow:
        return None
    if expected is None:
        answer = {"text": params["row"]["expected_action"]["content"], "calls": []}
    else:
        answer = {"text": "", "calls": expected}
    return answer if score(params, answer)["reward"] == 1.0 else None


def _comparison(config: dict[str, Any]) -> dict[str, Any]:
    """The settings with the framework's defaults; one has none."""
    given = config.get("tool_call_comparator_config")
    if not isinstance(given, dict):
        raise BadRow("the config has no `tool_call_comparator_config`")
    found = {
        "word_count_similarity_threshold": given.get("word_count_similarity_threshold"),
        "floating_point_comparison_threshold": given.get(
            "floating_point_comparison_threshold", 1e-6
        ),
        "parallel_tool_call_reward_mode": given.get(
            "parallel_tool_call_reward_mode", "binary_strict"
        ),
        **{flag: given.get(flag, False) for flag in FLAGS},
    }
    for key, value in found.items():
        number = key.endswith("threshold") and isinstance(value, (int, float))
        if not (number or (key in FLAGS and isinstance(value, bool)) or value in MODES):
            raise BadRow(f"`{key}` of the config is {str(value)[:80]!r}")
    return found


def _expected(action: object) -> list[dict[str, str]] | None:
    """The expected calls; None where a message is expected."""
    if not isinstance(action, dict):
        raise BadRow("the row has no object `expected_action`")
    if action.get("type") == "message" and isinstance(action.get("content"), str):
        return None
    calls = action.get("calls") if action.get("type") == "function_call_batch" else [action]
    if not isinstance(calls, list) or not calls or not all(_is_call(call) for call in calls):
        raise BadRow("`expected_action` is no message, call or list of calls")
    return [{"name": call["name"], "arguments": call["arguments"]} for call in calls]


def _is_call(call: object) -> bool:
    return (
        isinstance(call, dict)
        and call.get("type") == "function_call"
        and isinstance(call.get("name"), str)
        and isinstance(call.get("arguments"), str)
    )


def _reward(
    expected: list[dict[str, str]], calls: list[dict[str, str]], compared: dict[str, Any]
) -> tuple[float, int]:
    """The reward, and how many expected calls are matched."""
    wanted, made = len(expected), len(calls)
    if compared["parallel_tool_call_rewarding"]:
        if made < wanted and not compared["allow_subset"]:
            return 0.0, 0
        if made > wanted and not compared["allow_superset"]:
            return 0.0, 0
    fits = [
        [index for index, call in enumerate(calls) if _same_call(one, call, compared)]
        for one in expected
    ]
    matched = _most_pairs(fits)
    # One call for one is compared as such, and then no mode changes what it is worth.
    if not compared["parallel_tool_call_rewarding"] or wanted == made == 1:
        return float(matched == wanted), matched
    if compared["parallel_tool_call_reward_mode"] == "f1":
        return 2 * matched / (wanted + made), matched
    needed = min(wanted, made) if compared["allow_subset"] else wanted
    if compared["parallel_tool_call_reward_mode"] == "fractional":
        return matched / needed, matched
    return float(matched == needed), matched


def _most_pairs(fits: list[list[int]]) -> int:
    """How many expected calls can have a call of their own at the same time."""
    taken: dict[int, int] = {}  # call -> the expected one that has it
    for start in range(len(fits)):
        came: dict[int, tuple[int, int | None]] = {}  # call -> who asked, and giving up which
        queue: list[tuple[int, int | None]] = [(start, None)]
        for asking, given_up in queue:
            news = [call for call in fits[asking] if call not in came]
            came.update(dict.fromkeys(news, (asking, given_up)))
            free: int | None = next((call for call in news if call not in taken), None)
            if free is not None:
                while free is not None:
                    taken[free], free = came[free]
                break
            queue += [(taken[call], call) for call in news]
    return len(taken)


def _same_call(expected: dict[str, str], call: dict[str, str], compared: dict[str, Any]) -> bool:
    if expected["name"] != call["name"]:
        return False
    try:
        wanted = json.loads(expected["arguments"])
    except (ValueError, RecursionError) as fault:
        raise BadRow("the arguments of an expected call are no JSON") from fault
    try:
        made = json.loads(call["arguments"])
    except json.JSONDecodeError:
        return False
    except (ValueError, RecursionError) as fault:
        raise BadCall("arguments too long or too deep for its parser") from fault
    try:
        return _same(wanted, made, compared)
    except (OverflowError, RecursionError) as fault:
        raise BadCall("arguments it cannot compare") from fault


def _same(wanted: Any, made: Any, compared: dict[str, Any]) -> bool:
    if not isinstance(made, type(wanted)):  # a truth value is a whole number too
        return False
    if isinstance(wanted, dict):
        same_keys = wanted.keys() == made.keys()
        return same_keys and all(_same(wanted[key], made[key], compared) for key in wanted)
    if isinstance(wanted, list):
        return len(wanted) == len(made) and all(
            _same(one, made[index], compared) for index, one in enumerate(wanted)
        )
    if isinstance(wanted, float):
        return bool(abs(made - wanted) < compared["floating_point_comparison_threshold"])
    if isinstance(wanted, str):
        return _alike(wanted, made, compared["word_count_similarity_threshold"])
    return bool(wanted == made)


def _alike(wanted: str, made: str, threshold: float) -> bool:
    first, second = Counter(wanted.lower().split()), Counter(made.lower().split())
    total, other_total = sum(first.values()), sum(second.values())
    if total < 2 or other_total < 2:
        return wanted == made
    return not sum((first & second).values()) / (total + other_total) < threshold


def _result(outcome: str, reward: float | None, detail: str) -> dict[str, Any]:
    return {"outcome": outcome, "reward": reward, "parts": {}, "detail": detail[:200]}
