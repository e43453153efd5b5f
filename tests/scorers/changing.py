"""JSON that is nearly what was asked for: for tool calls and structured answers."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from rlconvert.formats.scorers import Call
from scorers.generating import damaged, one_of

STRANGE = (
    "",
    "{}",
    "[]",
    "5",
    "null",
    "true",
    "NaN",
    "{",
    '"a"',
    '"5"',
    '"{}"',
    '["a", "b"]',
    '{"a": 1, "a": 2}',
    '{"a": Infinity}',
    "[" * 60,
    "1" * 5000,
    '{"a": ' + "1" * 5000 + "}",
)
"""Arguments that are no object, or a strange one."""


def changed(random: Random, value: Any) -> Any:  # noqa: ANN401  JSON
    """The value, mostly; else something beside it of the same shape, or another."""
    kind = random.random()
    if isinstance(value, dict) and kind < 0.85:
        made = {key: changed(random, each) for key, each in value.items()}
        if made and random.random() < 0.1:
            del made[random.choice(list(made))]
        return {**made, "more": 1} if random.random() < 0.1 else made
    if isinstance(value, list) and kind < 0.85:
        return [changed(random, each) for each in value] * random.choice((1, 1, 1, 2, 0))
    if kind < 0.75:
        return value
    if isinstance(value, str):
        return one_of(random, damaged(random, value), value.lower(), " ".join(value.split()[::-1]))
    if isinstance(value, (int, float)) and abs(value) < 1e9 and random.random() < 0.6:
        return one_of(random, float(value), value + 1e-7, value + 1, str(value), bool(value))
    return one_of(random, None, True, 1, 1.5, "1", "x", "", [], {}, float("nan"), 10**400)


def call(random: Random, name: str, arguments: object) -> Call:
    """A call that is nearly the right one."""
    text = json.dumps(arguments)
    if random.random() < 0.6:
        text = json.dumps(changed(random, arguments))
    if random.random() < 0.1:
        text = one_of(random, random.choice(STRANGE), json.dumps(text), f"```\n{text}\n```")
    return {"name": name if random.random() < 0.95 else name + "x", "arguments": text}


def rearranged(random: Random, calls: list[Call]) -> list[Call]:
    """The calls in another order, one more or one fewer."""
    calls = [*calls]
    if random.random() < 0.4:
        random.shuffle(calls)
    if calls and random.random() < 0.15:
        calls.pop()
    if calls and random.random() < 0.15:
        calls.append(random.choice(calls))
    return calls
