"""Events at their times, or nearly. No text on which the original's pattern takes for ever."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from scorers.generating import Case, Row, noise, one_of, spoiled_row, wrapped

TIMES = ("10:00", "10am", "11:30am", "12pm", "12:30pm", "12am", "1pm", " 2pm ", "15:00", "x", "10")
TEXTS = ("[]", "[{]", "[{}]", "{[{}]}", "[[{}]]", "[{]}]", "[a{b[c]d}e]", "[{a}b]c]", "no change")
CONSTRAINTS = (None, "before 12pm", "after 1pm", "at 12:30pm", "between 11am and 2pm", "whenever")


def events(random: Random, expected: dict[str, Any]) -> list[dict[str, Any]]:
    """Those that are expected, one after the other or anywhere."""
    made, clock = [], 600
    for key, event in expected.items():
        length = event.get("duration") if isinstance(event, dict) else 60
        time = f"{clock // 60}:{clock % 60:02d}"
        made.append(
            {
                "event_id": int(key) if key.isdigit() else key,
                "start_time": time if random.random() < 0.6 else random.choice(TIMES),
                "duration": length if random.random() < 0.95 else one_of(random, 0, -5, "60", 60.0),
            }
        )
        clock += length if isinstance(length, int) and abs(length) < 1000 else 60
    return made


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row = {**random.choice(rows)}
        if random.random() < 0.5:
            hours = {"min_time": "10:00", "max_time": "16:00"}
            row["exp_cal_state"] = {
                str(number): {"duration": 60, "constraint": random.choice(CONSTRAINTS), **hours}
                for number in range(random.randint(0, 3))
            }
        listed = events(random, row["exp_cal_state"])
        if listed and random.random() < 0.15:
            listed.append({**random.choice(listed), "name": one_of(random, "a", "[b]", "}")})
        if listed and random.random() < 0.1:
            listed.pop()
        text = json.dumps(listed)
        strange = one_of(random, random.choice(TEXTS), noise(random), text[: len(text) // 2])
        text = one_of(random, text, text, wrapped(random, text), f"[ok] {text} [x]", strange)
        if random.random() < 0.05:
            row = {**spoiled_row(random, row, ["exp_cal_state"])}
        yield Case({}, row, text)
