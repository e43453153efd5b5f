"""A click into a circle, beside it, or nowhere."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random

from rlconvert.formats.scorers import Call
from scorers.changing import STRANGE, call, rearranged
from scorers.generating import Case, Row, noise, one_of, spoiled_row

ODD = (
    '{"x": Infinity, "y": 1}',
    '{"x": NaN, "y": 1}',
    '{"x": 1e400, "y": 1}',
    '{"x": ' + "9" * 400 + ', "y": 10}',
    '{"x": "1_0", "y": true}',
)


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row = {**random.choice(rows)}
        circles = row.get("circles") or [{"x": 10, "y": 10, "radius": 5}]
        circle = random.choice(circles)
        across, down, radius = (circle.get(key, 5) for key in ("x", "y", "radius"))
        if not all(type(one) is int for one in (across, down, radius)):
            across = down = radius = 10
        across += random.choice((0, 0, radius, radius + 1, -radius))
        point = {"x": one_of(random, across, str(across), across + 0.9), "y": down}
        made = call(random, "click", point)
        if random.random() < 0.1:
            made = {"name": "click", "arguments": random.choice((*STRANGE, *ODD))}
        calls: list[Call] = [made, {"name": "click", "arguments": json.dumps(point)}]
        if random.random() < 0.1:
            row = {**spoiled_row(random, row, ("circles", "target_color"))}
        calls = rearranged(random, calls[:1] if random.random() < 0.7 else calls)
        yield Case({}, row, one_of(random, "", noise(random)), calls)
