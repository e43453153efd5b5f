"""Grids: right ones, other ones, broken ones, and lists that are none."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random

from scorers.generating import Case, Row, damaged, noise, one_of, spoiled_row

FIELDS = ("expected_output", "expected_output", "train", "test_input", "task_id")
LISTS = ("[[]]", "[[[]]", "[[1],[]]", "[[01]]", "[[1],2]", "[[[1]]]", "[[1,]]", "[[ ]]", "[[1]]]",
         "[[1]],]", "[[-1]]", "[[1.0]]", "[[1 2]]", "[[٣]]", "[ [ 1 ] ]", "[],[[1]]", "[[1]\n]",
         "[[,]]", "[[1]],[[2]]", "[[" + "9" * 4300 + "]]", "[[" + "9" * 4301 + "]]",
         "[[01," + "9" * 5000 + "]]", "[[1,[" + "9" * 5000 + "]]]", "[[true]]")  # fmt: skip


def a_grid(random: Random) -> list[list[int]]:
    width = random.randint(1, 3)
    return [[random.randint(0, 3) for _ in range(width)] for _ in range(random.randint(1, 3))]


def spelled(random: Random, grid: object) -> str:
    """The grid as a model may put it."""
    text = json.dumps(grid)
    text = one_of(random, text, text.replace(" ", ""), text.replace(" ", "\n "), text)
    return one_of(random, text, text, text, text, damaged(random, text), random.choice(LISTS))


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row = {**random.choice(rows)}
        if random.random() < 0.6:
            row["expected_output"] = a_grid(random)
        if random.random() < 0.1:
            row["expected_output"] = [[str(cell) for cell in line] for line in a_grid(random)]
        parts = []
        for _ in range(random.randint(0, 3)):
            right = row.get("expected_output", [])
            grid = one_of(random, right, right, a_grid(random))
            text = spelled(random, grid)
            boxed = one_of(
                random, "\\boxed{%s}", "\\boxed{%s}", "\\boxed{ %s }", "\\boxed{%s", "%s"
            )
            parts.append(boxed.replace("%s", text))
        parts.insert(random.randint(0, len(parts)), noise(random))
        if random.random() < 0.06:
            row = {**spoiled_row(random, row, FIELDS)}
        yield Case({}, row, one_of(random, "\n", " ", "", "]").join(parts))
