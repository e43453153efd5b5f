"""The expected text behind its prefix, more or less."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from scorers.generating import Case, Row, damaged, noise, one_of, spoiled_row, wrapped

FIELDS = ("expected_answer", "random_string_to_prepend", "n_needles", "n_tokens")


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row = {**random.choice(rows)}
        if random.random() < 0.4:
            row["random_string_to_prepend"] = one_of(random, "aB3x", "", " a", "x ", "\n", "ÄÖ")
            start = one_of(random, row["random_string_to_prepend"], "")
            row["expected_answer"] = start + wrapped(random, noise(random) * random.randint(1, 9))
        start, expected = row["random_string_to_prepend"], row["expected_answer"][:2000]
        bare = expected.removeprefix(start)
        text = one_of(
            random,
            start + bare,
            start + damaged(random, bare),
            f"\n{start}{bare}\n",
            start + start + bare,
            start + bare[: random.randint(0, 40)],
            bare,
            start,
            damaged(random, start + bare),
            wrapped(random, start + bare),
            noise(random),
        )
        if random.random() < 0.08:
            row = {**spoiled_row(random, row, FIELDS)}
        yield Case({}, row, text)
