"""NeMo Gym `calendar`: the listed events are those expected, at times that fit, without overlaps.

The row's `exp_cal_state` maps ids to `duration`, `min_time`, `max_time` and `constraint` (`before`,
`after`, `at` a time, `between` two, or null; any other text is no constraint). Of the text the
first JSON list with an object in it is read: objects with `event_id`, `start_time`, `duration`; of
one id the last counts. Their number must be the expected one. Where nothing is expected every text
is right, but a text with `<think>`, or none, earns nothing. Whatever cannot be read, in the row
too, is worth 0: the original never fails.

The list is found without backtracking, so that no text takes longer than its length; where the
original comes to an end, it finds the same.
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_left
from typing import Any

SIGN = re.compile(r"[][{}]")
MOST_TRIED = 100_000  # placings, in the search for a right one


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    """The reward that the original gives the text of `submission`."""
    expected = params["row"].get("exp_cal_state")
    if not isinstance(expected, dict):
        return _result("invalid task", None, "the row has no object `exp_cal_state`")
    text = submission["text"]
    if not text:
        return _result("not extractable", 0.0, "no text")
    if "<think>" in text:
        return _result("graded", 0.0, "<think> in the text")
    if not expected:
        return _result("graded", 1.0, "nothing is expected")
    try:
        listed = json.loads(_list_in(text))
    except (ValueError, RecursionError) as error:
        return _result("not extractable", 0.0, f"no list of events: {error}")
    try:
        fault = _fault(listed, expected)
    except Exception as error:  # noqa: BLE001  as the original: whatever it is, no reward
        fault = f"{type(error).__name__}: {error}"
    return _result("graded", 0.0 if fault else 1.0, fault or "every event fits")


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    """The events at the earliest times that fit, where such times are found."""
    expected = params["row"].get("exp_cal_state")
    if not isinstance(expected, dict):
        return None
    try:
        windows = {key: _window(event) for key, event in expected.items()}
        starts = _placed(windows, {key: event["duration"] for key, event in expected.items()})
    except (AttributeError, LookupError, TypeError, ValueError):
        return None
    events = [
        {
            "event_id": key,
            "start_time": f"{start // 60:02d}:{start % 60:02d}",
            "duration": expected[key]["duration"],
        }
        for key, start in starts.items()
    ]
    answer = {"text": json.dumps(events), "calls": []}
    return answer if score(params, answer)["reward"] == 1.0 else None


def _list_in(text: str) -> str:
    """The first list with an object in it; "" where there is none.

    As of the pattern `\\[ A* { A* } A* \\]`, where an A is a sign but no bracket, or all from a `{`
    to the next `}`; the first way of these that leads to an end is taken, in that order. The place
    in the text and in the pattern decide what can follow, so what has failed is not tried again.
    """
    text = text[: text.rfind("]") + 1]
    marks, failed = "{}]", bytearray(3 * len(text))
    closing = array("q", (at for at, sign in enumerate(text) if sign == "}"))
    start = text.find("[")
    while start >= 0:
        todo = [3 * (start + 1)]  # 3 * place + how many of the marks are passed
        while todo:
            place, passed = divmod(todo.pop(), 3)
            found = SIGN.search(text, place)  # up to it there is one way only
            if found is None or failed[3 * found.start() + passed]:
                continue
            at = found.start()
            failed[3 * at + passed] = 1
            sign = text[at]
            if sign == marks[passed]:
                if passed == 2:
                    return text[start : at + 1]
                todo.append(3 * (at + 1) + passed + 1)
            if sign == "{":
                after = bisect_left(closing, at)
                if after < len(closing):
                    todo.append(3 * (closing[after] + 1) + passed)
            if sign not in "[]":
                todo.append(3 * (at + 1) + passed)
        start = text.find("[", start + 1)
    return ""


def _fault(listed: Any, expected: dict[str, Any]) -> str:
    """What is wrong with the events, or ""; an exception where the original has one."""
    if len(listed) == 0:
        return "no events"
    by_id = {str(event["event_id"]): event for event in listed}
    if len(by_id) != len(expected):
        return f"{len(by_id)} events, {len(expected)} expected"
    if _overlap(listed):
        return "two events at one time"
    for key, event in expected.items():
        if not _fits(by_id[key], event):
            return f"event {key[:80]} is not as it should be"
    return ""


def _overlap(events: list[dict[str, Any]]) -> bool:
    """Whether two events that are not equal share some time."""
    by_time: dict[tuple[Any, Any], dict[str, Any]] = {}
    for event in events:
        start = _minutes(event["start_time"])
        end = start + event["duration"]
        same = by_time.setdefault((start, end), event)
        if same != event and start < end:
            return True
    if any(not start <= end for start, end in by_time):
        return _overlap_of_any(list(by_time))
    latest = float("-inf")
    for start, end in sorted(by_time):
        if start < latest:
            return True
        latest = max(latest, end)
    return False


def _overlap_of_any(times: list[tuple[Any, Any]]) -> bool:
    """The same for times of which some end before they start, or never."""
    return any(
        not (end <= other_start or start >= other_end)
        for index, (start, end) in enumerate(times)
        for other_start, other_end in times[:index]
    )


def _fits(event: dict[str, Any], expected: dict[str, Any]) -> bool:
    if event["duration"] != expected["duration"]:
        return False
    start = _minutes(event["start_time"])
    end = start + event["duration"]
    earliest, latest = _bounds(expected)
    return bool(
        _minutes(expected["min_time"]) <= start
        and end <= _minutes(expected["max_time"])
        and (earliest is None or earliest <= start)
        and (latest is None or end <= latest)
        and not (_is_at(expected) and start != earliest)
    )


def _is_at(expected: dict[str, Any]) -> bool:
    return expected["constraint"] is not None and expected["constraint"].startswith("at ")


def _bounds(expected: dict[str, Any]) -> tuple[int | None, int | None]:
    """When the constraint lets an event start, and end."""
    constraint = expected["constraint"]
    if constraint is None:
        return None, None
    for word in ("before ", "after ", "between ", "at "):
        if constraint.startswith(word):
            times = constraint.replace(word, "")
            if word == "between ":
                first, second = times.split(" and ")
                return _minutes(first), _minutes(second)
            when = _minutes(times)
            return (None, when) if word == "before " else (when, None)
    return None, None


def _minutes(time: str) -> int:
    """Minutes from midnight of `10am`, `10:30pm` or `22:30`."""
    time = time.strip()
    half = next((one for one in ("am", "pm") if one in time), None)
    if half is None:
        hours, minutes = time.split(":")
        return int(hours) * 60 + int(minutes)
    time = time.replace(half, "")
    if ":" in time:
        hours, minutes = time.split(":")
    else:
        hours, minutes = time, "0"
    hour = int(hours)
    return (0 if hour == 12 else hour) * 60 + int(minutes) + (720 if half == "pm" else 0)


def _window(expected: dict[str, Any]) -> tuple[int, int]:
    """The first and the last minute at which the event may start."""
    first, last = _minutes(expected["min_time"]), _minutes(expected["max_time"])
    earliest, latest = _bounds(expected)
    if _is_at(expected) and earliest is not None:
        return max(first, earliest), min(last - expected["duration"], earliest)
    first = first if earliest is None else max(first, earliest)
    last = last if latest is None else min(last, latest)
    return first, last - expected["duration"]


def _placed(windows: dict[str, tuple[int, int]], lasts: dict[str, int]) -> dict[str, int]:
    """A start for each event, one after the other; LookupError where none is found."""
    tried = 0

    def placed(left: list[str], clock: int) -> dict[str, int] | None:
        nonlocal tried
        tried += 1
        if tried > MOST_TRIED or any(max(clock, windows[key][0]) > windows[key][1] for key in left):
            return None
        if not left:
            return {}
        for key in sorted(left, key=lambda one: windows[one][1]):
            start = max(clock, windows[key][0])
            rest = placed([one for one in left if one != key], start + lasts[key])
            if rest is not None:
                return {key: start, **rest}
        return None

    found = placed(list(windows), 0)
    if found is None:
        raise LookupError("no such times")
    return found


def _result(outcome: str, reward: float | None, detail: str) -> dict[str, Any]:
    return {"outcome": outcome, "reward": reward, "parts": {}, "detail": detail[:200]}
