"""Answers in JSON, in fences, in texts; in other words, too early, too late."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random

from scorers.generating import Case, Row, damaged, noise, one_of, spoiled_row, wrapped

FIELDS = ("expected_answer", "expected_answer", "expected_answer", "reward", "answer_em")
EXPECTED = ("The Beatles", "a cat", "An (old) man", "two", "21st", "Twenty-First", "1,234,567",
            "U.S.A.", "3.5", "rock-and-roll", "-5", "salt & pepper", "Simon and Garfunkel", '"It"',
            "yes", "no",
            "John (Jack) Kennedy", "end.", "what?!", "the a b", "O’Neil", "x", "", " ", "11", "A–B",
            "“Heroes”", "caffè\u00a0latte", "İzmir and co", "first", "(a)", "the", "1,2", "1,2345",
            "Mr. T.", "a - b", "((x) y)", "\u2009y", "New  York")  # fmt: skip
FACTS: tuple[object, ...] = (
    None, [], [["a", 1]], [["a", "x"]], [["a", float("inf")]], [["a", float("nan")]], [[1]],
    [["a", [1]]], [[float("-inf"), 1]], {"a": 1},
)  # fmt: skip


def reworded(random: Random, text: str) -> str:
    """The text with other signs, articles or numbers."""
    changes = (("the ", ""), (",", ""), ("-", " "), (" & ", " and "), (" and ", " & "), (".", ""),
               ("two", "2"), ("21st", "twenty-first"), (" ", "\u00a0"), ("'", "’"), ("-", "–"),
               ('"', ""), ("(", ""), (")", ""), (" ", "  "))  # fmt: skip
    for _ in range(random.randint(0, 2)):
        text = text.replace(*random.choice(changes))
    return one_of(random, text, text, text.lower(), text.upper(), damaged(random, text))


def spelled(random: Random, answer: str) -> str:
    """The answer as a model may put it."""
    found: dict[str, object] = {"answer": answer, "supporting_facts": random.choice(FACTS)}
    if random.random() < 0.15:
        found["answer"] = one_of(random, [answer], {"x": answer}, None, 2, 1.5, True, "\ud800x")
    if random.random() < 0.3:
        del found["supporting_facts"]
    text = json.dumps(found, ensure_ascii=random.random() < 0.5 or "\ud800" in str(found))
    if random.random() < 0.1:
        text = damaged(random, text)
    return one_of(random, text, text, f"```json\n{text}\n```", f"``` {text}```", f"````{text}\n```")


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row = {**random.choice(rows)}
        if random.random() < 0.7:
            row["expected_answer"] = random.choice(EXPECTED)
        expected = row["expected_answer"]
        answer = reworded(random, one_of(random, expected, expected, random.choice(EXPECTED)))
        pad = "x y " * random.randint(0, 30)
        answer = one_of(
            random, answer, answer, pad + answer, answer + pad, f"{answer}s", f"({answer})"
        )
        parts = [
            one_of(random, spelled(random, answer), answer, wrapped(random, answer), noise(random))
            for _ in range(random.randint(1, 3))
        ]
        if random.random() < 0.05:
            row = {**spoiled_row(random, row, FIELDS)}
        yield Case({}, row, one_of(random, "\n", " ", "{", "}", "```").join(parts))
