"""RULER: some of the strings, or all, or others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from scorers.generating import Case, Row, damaged, noise, one_of, spoiled_row, wrapped

SUBSETS = ("qa_1", "qa_2", "vt", "cwe", "niah_single_1", "x", "", "mask_sample", "reward", "length")


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row = {**random.choice(rows)}
        if random.random() < 0.5:
            row["subset"] = random.choice(SUBSETS)
        if random.random() < 0.3:
            row["outputs"] = [noise(random) for _ in range(random.randint(0, 4))]
        outputs = row["outputs"] if isinstance(row["outputs"], list) else []
        some = [text for text in outputs if isinstance(text, str) and random.random() < 0.7]
        random.shuffle(some)
        text = one_of(random, " ", ", ", "\n", "").join(damaged(random, each) for each in some)
        if random.random() < 0.1:
            row = {**spoiled_row(random, row, ("outputs", "length", "subset"))}
        yield Case({}, row, one_of(random, text, wrapped(random, text), noise(random)))
