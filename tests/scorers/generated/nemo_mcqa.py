"""Choices: letters, texts of options, boxes, patterns of the row, other alphabets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from scorers.generating import Case, Row, damaged, noise, one_of, spoiled, spoiled_row, wrapped

FIELDS = (
    "options",
    "options",
    "expected_answer",
    "grading_mode",
    "template_metadata",
    "uuid",
    "metadata",
)
ROW_MODES = ("strict_single_letter_boxed", "lenient_boxed", "lenient_answer_colon")
MODES = (None, None, *ROW_MODES, "lenient_answer_colon_md", "lenient_answer_colon_md")
OPTIONS: tuple[object, ...] = (
    [{"A": "Ketone"}, {"B": "Ketone group"}, {"C": "x"}, {"D": "ß  Y"}],
    [{"A": "1", "B": "2"}, {"C": None}, {"AB": "x"}, {"é": "e"}],
    [{"a": "one"}, {"b": "two"}, {"1": "three"}],
    [{"A": None}, {"A": "x"}, {"B": "x"}],
    [{"A": ""}, {"B": " "}, {"ß": "s"}],
    [],
    None,
)
PATTERNS: tuple[object, ...] = (
    r"Answer:\s*([A-D])",
    r"\(([a-z])\)",
    r"(A)|(B)",
    r"answer is (.+)",
    "[",
    r"a{99999999999}",
    "",
    r"[[a]",
    r"(.)$",
    r"\\boxed\{(.*?)\}",
    [r"x: (.)", r"Answer: (.+)"],
    ["[", "(.)$"],
    [],
    {},
    None,
    5,
    [None],
    [["x"]],
    {"(.)$": 1},
    "(?i)b",
    r"\w+",
    r"(\s)",
    ["no", 5],
)
PREFIXES: tuple[object, ...] = ("الجواب:", "উত্তর:", "Respuesta:", "", None, 5, "answer", " ", "Ａ:")
OTHER = "أبجدঅবডঢＡＢ"
FORMS = (
    "\\boxed{%s}",
    "\\boxed{\\text{%s}}",
    "\\boxed{ (%s) }",
    "\\boxed{%s: because}",
    "\\boxed{%s}.}",
    "Answer: %s",
    "**Answer:** %s",
    "answer : \\text{%s}",
    "_Answer_: *%s* because",
    "%s",
    "(%s)",
    "الجواب: %s",
    "Respuesta: %s.",
    "Answer: %s or B",
    "Answer: A, %s",
    "Answer: A/A %s",
    "The answer is %s",
    "x: %s",
    "Answer: not B but %s",
    "Answer: the %s one",
    "\\boxed{%s",
    "Answer:\n%s",
    "Ａｎｓｗｅｒ： %s",
    "Respuesta: %s\nAnswer: C",
    "\\boxed{A}\\boxed{%s}",
    "\\boxed{{%s}}",
    "answer answer: %s x",
)


def choice(random: Random, row: Row) -> str:
    """A letter, a text of an option, or neither."""
    options = row.get("options")
    pairs = [
        pair
        for option in (options if isinstance(options, list) else [])
        for pair in (option.items() if isinstance(option, dict) else ())
    ]
    key, text = random.choice(pairs) if pairs else ("A", "x")
    expected = str(row.get("expected_answer"))
    letter = one_of(random, expected, expected, str(key), random.choice("ABCDabcXéß"))
    return one_of(random, letter, letter, letter, str(text), f"{key}: {text}", random.choice(OTHER))


def a_row(random: Random, rows: Sequence[Row]) -> dict[str, object]:
    """A row that is shipped, or one with odd options."""
    row: dict[str, object] = {**random.choice(rows)}
    if random.random() < 0.5:
        row["options"] = random.choice(OPTIONS)
        row["expected_answer"] = one_of(random, "A", "B", "b ", "C", "", None, "É", "SS", "AB")
    return row


def answer(random: Random, row: Row) -> str:
    """One or two choices, as models put them."""
    parts = [random.choice(FORMS).replace("%s", choice(random, row)) for _ in range(2)]
    parts = parts[: random.choice((1, 1, 2))]
    if random.random() < 0.2:
        parts.append(one_of(random, noise(random), wrapped(random, choice(random, row))))
    text = one_of(random, "\n", " ", "").join(parts)
    return one_of(random, text, text, text, damaged(random, text), noise(random))


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row = a_row(random, rows)
        row["grading_mode"] = random.choice(ROW_MODES)
        template: dict[str, object] = {}
        if random.random() < 0.3:
            template["output_regex"] = random.choice(PATTERNS)
        if random.random() < 0.5:
            template["answer_prefix"] = random.choice(PREFIXES)
        if random.random() < 0.6:
            row["template_metadata"] = template
        config: dict[str, object] = {"grading_mode": random.choice(MODES)}
        if random.random() < 0.02:
            config["grading_mode"] = spoiled(random, "x")
        text = answer(random, row)
        if random.random() < 0.3:
            mode = str(config["grading_mode"] or row["grading_mode"])
            form = "Answer: %s" if "colon" in mode else "So \\boxed{%s}"
            text = form.replace("%s", choice(random, row))
        if random.random() < 0.05:
            row = {**spoiled_row(random, row, FIELDS)}
        yield Case(config, row, text)
