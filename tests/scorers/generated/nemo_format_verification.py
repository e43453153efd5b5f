"""Lines and markers, some of them right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from scorers.generating import Case, Row, damaged, noise, one_of, spoiled, spoiled_row

LINES = ('1. "Name": x', '2. "B": y', "key = value", "Alpha=1", "**B**: c", "- item", "# H", "x: y")
MARKERS = ("[ref:2]", "[ref:3]", "[4]", "[5]", "[1]", "【4】", "a", "b")


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row = {**random.choice(rows)}
        verifier = {**row["verifier"]}
        if random.random() < 0.15:
            name = random.choice([*verifier, "verify_min_matches", "patterns"])
            verifier[name] = spoiled(random, verifier.get(name))
            row["verifier"] = verifier
        markers = verifier.get("expected_markers")
        known = [*MARKERS, *(markers if isinstance(markers, list) else [])]
        pieces = [one_of(random, *LINES, *map(str, known), noise(random)) for _ in range(8)]
        joint = one_of(random, "\n", " ", "", "\r\n")
        text = joint.join(damaged(random, piece) for piece in pieces[: random.randint(0, 8)])
        if random.random() < 0.04:
            row = {**spoiled_row(random, row, ["verifier"])}
        yield Case({}, row, text)
