"""As for `mcqa`, whose rows these are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from scorers.generated.nemo_mcqa import FIELDS, MODES, PATTERNS, a_row, answer, choice
from scorers.generating import Case, Row, one_of, spoiled, spoiled_row


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row = a_row(random, rows)
        if random.random() < 0.3:
            row["template_metadata"] = {"output_regex": random.choice(PATTERNS)}
        config: dict[str, object] = {"grading_mode": random.choice(MODES)}
        if random.random() < 0.02:
            config["grading_mode"] = spoiled(random, "x")
        text = answer(random, row)
        if random.random() < 0.3:
            text = one_of(random, "Answer: %s", "\\boxed{%s}").replace("%s", choice(random, row))
        if random.random() < 0.05:
            row = {**spoiled_row(random, row, FIELDS)}
        yield Case(config, row, text)
