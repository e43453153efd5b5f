"""The expected action, more or less, under many settings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from scorers.changing import STRANGE, call, rearranged
from scorers.generating import Case, Row, one_of, spoiled_row


def settings(random: Random) -> dict[str, Any]:
    """A config of the server."""
    made: dict[str, Any] = {"word_count_similarity_threshold": random.choice((0.0, 0.1, 0.3, 0.5))}
    if random.random() < 0.5:
        made["parallel_tool_call_rewarding"] = True
        made["allow_subset"] = one_of(random, True, False)
        made["allow_superset"] = one_of(random, True, False)
        modes = ("binary_strict", "fractional", "f1")
        made["parallel_tool_call_reward_mode"] = random.choice(modes)
    if random.random() < 0.1:
        made["floating_point_comparison_threshold"] = 0.2
    return {"tool_call_comparator_config": made}


def expected_of(row: Row) -> list[Mapping[str, Any]]:
    """The calls that a row expects."""
    action = row["expected_action"]
    return [] if action["type"] == "message" else list(action.get("calls", [action]))


def parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return {}


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row = {**random.choice(rows)}
        expected = expected_of(row)
        if random.random() < 0.2:
            words = ("a b c d", "a b x y", "c d", "red fox in snow")
            arguments = [json.dumps({"q": random.choice(words), "n": 1.5}) for _ in range(3)]
            expected = [{"type": "function_call", "name": "f", "arguments": a} for a in arguments]
            row["expected_action"] = {"type": "function_call_batch", "calls": expected}
        calls = [call(random, each["name"], parsed(each["arguments"])) for each in expected]
        if random.random() < 0.05:
            calls = [{"name": "f", "arguments": random.choice(STRANGE)}]
        calls = rearranged(random, calls)
        if random.random() < 0.05:
            row = {**spoiled_row(random, row, ["expected_action"])}
        # An empty message is none here: a file of calls cannot tell the two apart.
        text = one_of(random, "I do it.", "\n") if not calls or random.random() < 0.3 else ""
        yield Case(settings(random), row, text, calls)
