"""Formulas and names in tags, boxes, lines and phrases; several of them, nested and broken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from scorers.generating import Case, Row, damaged, noise, one_of, spoiled, spoiled_row, wrapped

FIELDS = (
    "options",
    "choices",
    "choices",
    "expected_answer",
    "grading_mode",
    "metadata",
    "uuid",
    "bunsen_id",
    "source",
    "template_metadata",
)
CHOICES: tuple[object, ...] = (
    ["H2O", "H₂O₂", "5 × 10⁻³ µmol", "Na⁺"],
    ["α–D·x", "1/2", "&lt;b&gt;", "Ketone"],
    [
        {"text": "a"},
        {"label": "c", "content": "b"},
        {"id": "x", "value": "d"},
        {"key": 5, "text": "e"},
    ],
    [{"letter": " q ", "choice": "f"}, {"letter": "AB", "text": "g"}, {"choice": ""}, {}, "h"],
    [str(number) for number in range(30)],
    [],
    None,
)
EXPECTED = (
    "A",
    "b",
    "\\boxed{C}",
    "(D)",
    "H2O",
    "a",
    "",
    None,
    "AB",
    "option C",
    "é",
    "<B>",
    "Q",
    "f",
    "\\text{Ketone}",
)
NAMES = (
    "answer",
    "choice",
    "response",
    "final_answer",
    "final-answer",
    "Choice",
    "choices",
    "x",
    "an\u017fwer",
    "cho\u0131ce",
    "cho\u0130ce",
)
FORMS = (
    "Answer: %s",
    "**Answer**: %s",
    "- answer: %s",
    "1) Answer : %s  ",
    "the correct answer is %s.",
    "I choose %s\n",
    "my answer is  %s",
    "\\boxed{%s}",
    "\\boxed {\\text{%s}}",
    "\\boxed{\\{%s}",
    "%s",
    "**%s**",
    "(%s)",
    "Option %s",
    "choice %s.",
    "%s. x",
    "%s) y",
    "answer:\nanswer: %s",
    "\n \n* **answer: %s",
    "x answer:\n\n answer: %s\r y",
    "2. \n answer:%s",
    "answer:%s\n\n\n\nanswer: A",
    "\\boxed{%s",
    '(("%s"))',
    "\\mathrm{ %s }",
    "\u200b%s",
    "answer**:%s answer: B",
    "* * answer: %s",
    "***answer: %s",
)


def turned(random: Random, text: str) -> str:
    """The text with other signs for the same."""
    for one, other in random.sample(
        [
            ("2", "₂"),
            ("-", "−"),
            ("x", "×"),
            (".", "·"),
            ("u", "µ"),
            ("/", "⁄"),
            ("<", "&lt;"),
            (" ", "  "),
            ("3", "³"),
            ("+", "⁺"),
            ("–", "—"),
            ("a", "a\u00ad"),
        ],
        3,
    ):
        text = text.replace(one, other)
    return text


def choice(random: Random, row: Row) -> str:
    """A letter, or what stands for one."""
    texts: list[str] = []
    for name in ("options", "choices"):
        for option in row.get(name) or () if isinstance(row.get(name), list) else ():
            values = option.values() if isinstance(option, dict) else (option,)
            texts += [value for value in values if isinstance(value, str)]
    text = random.choice(texts) if texts else "x"
    letter = one_of(random, str(row.get("expected_answer")), random.choice("ABCDabcdZé"))
    return one_of(random, letter, letter, text, turned(random, text), wrapped(random, letter))


def tagged(random: Random, text: str) -> str:
    """The text in a tag, mostly one that is closed."""
    name = random.choice(NAMES)
    end = one_of(random, name, name, name, name.upper(), random.choice(NAMES))
    start = one_of(random, f"<{name}>", f"< {name} a='b'>", f"<{name}", f"<{name} <{name}>")
    return f"{start}{text}{one_of(random, f'</{end}>', f'< / {end} >', '', f'</{end}x>')}"


def answer(random: Random, row: Row) -> str:
    """A few choices."""
    parts = []
    for _ in range(random.choice((1, 1, 1, 2, 3, 4))):
        text = choice(random, row)
        form = random.choice(FORMS).replace("%s", text)
        parts.append(one_of(random, form, form, tagged(random, text), tagged(random, form)))
    if random.random() < 0.2:
        parts.insert(0, one_of(random, noise(random), "<choices>", "<think>"))
        parts.append(one_of(random, noise(random), "</choices>", "x"))
    text = one_of(random, "\n", "\n", " ", "", "\r\n").join(parts)
    return one_of(random, text, text, text, text, damaged(random, text), tagged(random, text))


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row: dict[str, object] = {**random.choice(rows)}
        if random.random() < 0.5:
            row["choices"] = random.choice(CHOICES)
            row["options"] = one_of(
                random, [], None, [{"A": None}], [{"A": "H2O", "b": "x"}, {"É": "z"}]
            )
            row["expected_answer"] = random.choice(EXPECTED)
        config: dict[str, object] = {}
        if random.random() < 0.02:
            config["grading_mode"] = spoiled(random, "x")
        text = answer(random, row)
        if random.random() < 0.05:
            row = {**spoiled_row(random, row, FIELDS)}
        yield Case(config, row, text)
