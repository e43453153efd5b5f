"""Submissions to be scored: right ones, damaged ones, and texts that no rule expects.

A module of `generated/` is named like the folder of its scorer and defines
`cases(random, rows)`: an endless stream of `Case`s, from rows that the scorer's servers read. The
same seed gives the same cases.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from random import Random
from typing import Any, TypeAlias, TypeVar

from packaging.requirements import Requirement

from rlconvert.formats.scorers import Answer, Call, Scorer
from scorers.cases import cases_of

T = TypeVar("T")
Row: TypeAlias = Mapping[str, Any]

MARKS = (
    " \n\t.,:;!?-_*'\"`$%()[]{}<>\\/|&#0123456789aAbBéßİıſKＡ١²°’–\u00a0\u2009\u2028\r\x1c\u200b"
)

WRAPPINGS = (
    "{}",
    " {} ",
    "{}.",
    "**{}**",
    "`{}`",
    "```\n{}\n```",
    "```json\n{}\n```",
    "The answer is {}.",
    "Answer: {}",
    "Final answer: {}",
    "\n\n**Answer:** {}\n",
    "\\boxed{{{}}}",
    "\\boxed{{\\text{{{}}}}}",
    "$\\boxed{{ {} }}$",
    "<think>maybe {} or not</think>\n{}",
    "{}\n{}",
    "not {}\nbut this",
    '{{"answer": "{}"}}',
    "\\text{{ {} }}",
    "({})",
    "“{}”",
)

NASTY = (
    "",
    " ",
    "\n",
    "\x00",
    "\ufeff",
    "null",
    "NaN",
    "Infinity",
    "-0.0",
    "1e999",
    "{}",
    "[]",
    "[[]]",
    "\\boxed{",
    "\\boxed{}",
    "}{",
    "Answer:",
    "Final Answer: []",
    "ａｎｓｗｅｒ：Ａ",
    "İstanbul ı ſ K",
    "\u202eabc",
    "👩‍👩‍👧",
    "e\u0301",
)


@dataclass(frozen=True)
class Case:
    """One submission to one task."""

    config: Mapping[str, Any]
    row: Row
    text: str = ""
    calls: Sequence[Call] = field(default_factory=list)

    @property
    def answer(self) -> Answer:
        """The submission, as a scorer takes it."""
        return {"text": self.text, "calls": self.calls}

    def asked(self, server: str) -> str:
        """The question to the real server: the calls, the message, or both."""
        question: dict[str, Any] = {"server": server, "config": self.config, "row": self.row}
        if self.calls:
            question["calls"] = self.calls
        if self.text or not self.calls:
            question["text"] = self.text
        return json.dumps(question)


def lacking(scorer: Scorer) -> list[str]:
    """What the scorer needs, and this Python has not: then it cannot be asked here."""
    missing = []
    for line in scorer.requirements:
        needed = Requirement(line)
        if needed.marker is None or needed.marker.evaluate():
            try:
                found = version(needed.name)
            except PackageNotFoundError:
                found = ""
            if not found or found not in needed.specifier:
                missing.append(line)
    return missing


def generated(scorer: Scorer, rows: Sequence[Row], most: int, seed: int = 0) -> list[Case]:
    """So many cases for a scorer, from these rows."""
    module = importlib.import_module(f"scorers.generated.{scorer.folder.name}")
    stream: Iterator[Case] = module.cases(Random(seed), rows)  # noqa: S311
    return list(islice(stream, most))


def written(scorer: Scorer) -> list[tuple[Case, str, float | None]]:
    """The cases in the scorer's folder, with outcome and reward."""
    found = []
    for case in cases_of(scorer):
        params, answer = case["params"], case["submission"]
        made = Case(params["config"], params["row"], answer["text"], answer["calls"])
        found.append((made, case["outcome"], case["reward"]))
    return found


def sound_rows(scorer: Scorer) -> list[Row]:
    """The rows of the cases in its folder, but those that cannot be graded."""
    return [case.row for case, outcome, _ in written(scorer) if outcome != "invalid task"]


def one_of(random: Random, *choices: T) -> T:
    """One of these."""
    return random.choice(choices)


def wrapped(random: Random, text: str) -> str:
    """The text as a model may put it."""
    return (
        random.choice(WRAPPINGS)
        .replace("{{", "\0")
        .replace("}}", "\1")
        .replace("{}", text)
        .replace("\0", "{")
        .replace("\1", "}")
    )


def damaged(random: Random, text: str) -> str:
    """The text with a few small changes, or none."""
    for _ in range(random.choice((0, 1, 1, 2, 4))):
        place = random.randint(0, len(text))
        change = random.randrange(7)
        if change == 0:
            text = text[:place] + text[place + 1 :]
        elif change == 1:
            text = text[:place] + random.choice(MARKS) + text[place:]
        elif change == 2:
            text = text[:place] + text[place : place + 1].swapcase() + text[place + 1 :]
        elif change == 3:
            text = text[:place]
        elif change == 4:
            text = text[:place] + one_of(random, " ", "  ", "\n", " \n ") + text[place:]
        elif change == 5:
            text = random.choice((text.upper(), text.lower(), text.title()))
        else:
            text = text[place:] + text[:place]
    return text


def noise(random: Random) -> str:
    """A text that has nothing to do with anything."""
    if random.random() < 0.5:
        return random.choice(NASTY)
    return "".join(random.choice(MARKS) for _ in range(random.randint(0, 30)))


def spoiled(random: Random, value: object) -> object:
    """Another value where one is expected: of another type, missing in parts, or nasty."""
    others: tuple[object, ...] = (
        None, True, False, 0, 1, 33, 1.0, 1.5, -2.0, 1e300, float("nan"), float("inf"),
        "", "033", " 7 ", "1.0", "1_0", "x", "yes", "false", [], {}, [[]], [None], ["1", 2],
        {"a": None}, [{"A": "x"}], "\ud800", [1, [2]], [[1, "2"], [3.0, True]],
    )  # fmt: skip
    if isinstance(value, list) and value and random.random() < 0.3:
        return [*value[: random.randint(0, len(value))], random.choice(others)]
    if isinstance(value, str) and random.random() < 0.5:
        return damaged(random, value)
    return random.choice(others)


def spoiled_row(random: Random, row: Row, fields: Sequence[str]) -> Row:
    """The row with one of the fields missing, or with another value."""
    made = dict(row)
    name = random.choice(list(fields))
    if random.random() < 0.3:
        made.pop(name, None)
    else:
        made[name] = spoiled(random, made.get(name))
    return made
