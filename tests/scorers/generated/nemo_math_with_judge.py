"""Numbers and formulas in boxes. Each takes a process, and so they are plain ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from scorers.generating import Case, Row, one_of, spoiled_row

ANSWERS = (
    "1/2", "0.5", "\\frac{1}{2}", "$3$", "3.0", "\\(x^2+1\\)", "1 + x^2", "1,000", "1000", "\\pi",
    "\\{1,2\\}", "\\{2, 1\\}", "(1,2)", "x=5", "5", "5\\%", "0.05", "\\sqrt{2}", "A", "\\text{yes}",
    "", "[0,1)", "-3", "\\infty", "{", "3 \\text{ cm}", "$", "half", "2^{-1}",
)  # fmt: skip
SHAPES = (
    "\\boxed{ANSWER}", "So $x$ and thus $\\boxed{ANSWER}$.", "\\boxed{7} then \\boxed{ANSWER}",
    "The answer is ANSWER", "\\boxed{ANSWER", "```\n\\boxed{ANSWER}\n```", "\\boxed{ } ANSWER",
    "ANSWER \\boxed{no}", "\\boxed{x = ANSWER}",
)  # fmt: skip


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row = {**random.choice(rows)}
        if random.random() < 0.7:
            row["expected_answer"] = random.choice(ANSWERS)
        answer = one_of(random, str(row["expected_answer"]), random.choice(ANSWERS))
        text = random.choice(SHAPES).replace("ANSWER", answer)
        if random.random() < 0.05:
            row = {**spoiled_row(random, row, ("question", "expected_answer"))}
        yield Case({"should_use_judge": random.random() < 0.1}, row, text)
