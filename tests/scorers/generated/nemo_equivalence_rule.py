"""The expected text, more or less, under every rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from scorers.generating import Case, Row, damaged, noise, one_of, spoiled, spoiled_row, wrapped

RULES = ("exact", "seq_match", "weighted_seq_match")


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row = {**random.choice(rows)}
        if random.random() < 0.5:
            row["expected_answer"] = wrapped(random, wrapped(random, noise(random)))
        expected = str(row["expected_answer"])[:3000]
        text = one_of(
            random,
            expected,
            f" {expected.upper()} \n",
            damaged(random, expected),
            damaged(random, damaged(random, expected)),
            wrapped(random, expected),
            expected[: random.randint(0, 20)],
            noise(random),
        )
        config: dict[str, object] = {"grading_rule": random.choice(RULES)}
        if random.random() < 0.03:
            config["grading_rule"] = one_of(random, spoiled(random, "exact"), "EXACT")
        if random.random() < 0.05:
            fields = ("expected_answer", "reward", "equivalence_score")
            row = {**spoiled_row(random, row, fields)}
        yield Case(config, row, text)
