"""A number in a box, or nearly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from scorers.generating import Case, Row, damaged, noise, one_of, spoiled_row, wrapped


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row = {**random.choice(rows)}
        if random.random() < 0.2:
            colors = [one_of(random, "red", "blue", "", 5) for _ in range(random.randint(0, 5))]
            row = {"circles": [{"color": color} for color in colors], "target_color": "red"}
        color = row.get("target_color", "")
        right = sum(circle.get("color") == color for circle in row.get("circles", []))
        number = str(right + random.choice((0, 0, 0, 1, -1, 10**30)))
        boxed = f"\\boxed{{{one_of(random, '', '0', ' ')}{number}}}"
        two = f"{boxed} {noise(random)} \\boxed{{{right}}}"
        text = one_of(random, boxed, two, damaged(random, boxed), wrapped(random, number))
        if random.random() < 0.02:
            text = "\\boxed{" + "9" * random.choice((4300, 4301)) + "}"
        if random.random() < 0.1:
            row = {**spoiled_row(random, row, ("circles", "target_color"))}
        yield Case({}, row, text)
