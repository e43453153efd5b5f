"""The expected calls, more or less."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from scorers.changing import call, rearranged
from scorers.generating import Case, Row, noise, one_of, spoiled_row


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row = {**random.choice(rows)}
        expected = row.get("expected_answers", [])
        if random.random() < 0.2:
            names = one_of(random, ["f"], ["f", "f"], ["f", "g"])
            expected = [{"name": name, "arguments": {"a": 1, "b": [1.0]}} for name in names]
            row["expected_answers"] = expected
        calls = [
            call(random, each.get("name", "f"), each.get("arguments", {})) for each in expected
        ]
        if random.random() < 0.1:
            row = {**spoiled_row(random, row, ["expected_answers"])}
        yield Case({}, row, one_of(random, "", noise(random)), rearranged(random, calls))
