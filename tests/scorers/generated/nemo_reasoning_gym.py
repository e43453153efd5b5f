"""The row's answer, more or less, where the server looks for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from scorers.generating import Case, Row, damaged, noise, one_of, spoiled_row, wrapped


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row = {**random.choice(rows)}
        right = row["answer"] if isinstance(row["answer"], str) else "1"
        answer = one_of(random, right, right, damaged(random, right), noise(random))
        tagged = f"<answer>{one_of(random, '', ' ', chr(10))}{answer}</answer>"
        text = one_of(
            random, tagged, f"<answer>0</answer>{tagged}", f"\\boxed{{{answer}}}", f"{tagged}x",
            f"<answer>{answer}", f"\\boxed{{}} \\boxed{{{answer}}}", wrapped(random, answer),
        )  # fmt: skip
        if random.random() < 0.06:
            row = {**spoiled_row(random, row, ("question", "answer", "metadata"))}
        yield Case({}, row, text)
