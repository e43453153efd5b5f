"""Short answers of all kinds: words, numbers, units, lists, states, LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from scorers.generating import Case, Row, damaged, noise, one_of, spoiled_row, wrapped

FIELDS = ("expected_answer", "extraction_mode", "case_sensitive", "metadata")
MODES = ("boxed", "final_answer", "last_line", "full_response")
ANSWERS = (
    "Paris", "New York", "West Virginia, Kansas and Ohio", "apples, oranges; pears or plums",
    "1,234,567", "1,23,4", "80", "80.0", "3.14159", "-0.5", "1e3", "50\\%", "$12", "€ 7", "12 cm²",
    "90°", "90^\\circ", "90^{\\circ}", "5 km", "x²", "\\sqrt{2}", "√2", "\\text{cat}", "π", "\\pi",
    "\\textbf{\\mathrm{a}}b", "\\te\\text{}xt{a}", "'quoted'", '"Hi!"', "yes.", "a..", "inf", "nan",
    "１２３", "٣", "Answer: 3", "and", "or, or", "\\text{a", "\\(x\\)", "{a}", "A \\boxed{b} c",
    "5 m³ kg mm", "", " ", "1_000", "0x10", "Straße", "STRASSE",
)  # fmt: skip


def numbers(random: Random) -> str:
    """A number, perhaps near another one."""
    value = one_of(random, 80.0, 1234567.0, -0.5, 100.0, 1e-9) * (1 + random.uniform(-0.02, 0.02))
    return one_of(
        random, f"{value:.3f}", f"{value:,.0f}", str(value), f"{value:.1f} km", f"${value}"
    )


def an_answer(random: Random) -> str:
    return one_of(random, random.choice(ANSWERS), random.choice(ANSWERS), numbers(random))


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row = {**random.choice(rows)}
        if random.random() < 0.7:
            row["expected_answer"] = an_answer(random)
            row["extraction_mode"] = random.choice(MODES)
            row["case_sensitive"] = one_of(random, False, False, False, True, "no", 0, "ON")
        expected = row["expected_answer"]
        given = one_of(random, expected, expected, expected, an_answer(random))
        given = damaged(random, given) if random.random() < 0.5 else given
        given = one_of(random, given, given, f"\\text{{{given}}}", f"${given}$", f"{given} km")
        text = one_of(
            random,
            given,
            f"So\n\\boxed{{{given}}}",
            f"Final answer: {given}",
            f"Answer: x\nfinal  ANSWER ： {given}",
            wrapped(random, given),
            wrapped(random, wrapped(random, given)),
            damaged(random, wrapped(random, given)),
            noise(random),
        )
        if random.random() < 0.4:
            forms = {"boxed": "\\boxed{%s}", "final_answer": "Answer: %s", "last_line": "x\n%s"}
            text = forms.get(str(row.get("extraction_mode")), "%s").replace("%s", given)
        if random.random() < 0.05:
            row = {**spoiled_row(random, row, FIELDS)}
        yield Case({}, row, text)
