"""HotpotQA: the expected answer, or another way to write it, stands in the answer given.

The answer given is `answer` of the last JSON object in a fence, or else of the last one anywhere,
or else the whole text. A short answer must stand by itself, and in a long text it must stand early.
As `hotpotqa_qa` of NeMo Gym 0.7.0 with its reward, the strict match; it cannot answer for a row
with a field named like one of its answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

TAKEN = (
    "reward",
    "extracted_answer",
    "answer_em",
    "answer_f1",
    "is_correct",
    "is_correct_strict",
    "gt_should_remove",
    "gt_remove_reason",
)
FENCE = re.compile(r"```(?:json)?\s*(?=\{)")
FENCE_END = re.compile(r"\}\s*```")
NUMBERS = dict(
    pair.split()
    for pair in (
        "one 1|two 2|three 3|four 4|five 5|six 6|seven 7|eight 8|nine 9|ten 10|eleven 11|twelve 12|"
        "thirteen 13|fourteen 14|fifteen 15|sixteen 16|seventeen 17|eighteen 18|nineteen 19|"
        "twenty 20|first 1st|second 2nd|third 3rd|fourth 4th|fifth 5th|nineteenth 19th|"
        "twentieth 20th|twenty-first 21st"
    ).split("|")
)
WORDS = {number: name for name, number in NUMBERS.items()}
ARTICLES = ("the ", "a ", "an ")
SPACES = dict.fromkeys(map(ord, "\u202f\u00a0\u2009\u200a\u2002\u2003"), " ")
DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015"), "-")
QUOTES = {0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'}


def result(outcome: str, reward: float | None, detail: str = "") -> dict[str, Any]:
    return {"outcome": outcome, "reward": reward, "parts": {}, "detail": detail[:200]}


def fault(row: dict[str, Any]) -> str:
    """Why the row cannot be graded."""
    expected = row.get("expected_answer")
    if not isinstance(expected, str):
        return "expected_answer is not a string"
    return next((f"the row has a field {name}" for name in TAKEN if name in row), "")


def fenced(text: str) -> Iterator[str]:
    """The fences that hold something in braces."""
    ends = list(FENCE_END.finditer(text))
    place = number = 0
    while opened := FENCE.search(text, place):
        while number < len(ends) and ends[number].start() <= opened.end():
            number += 1
        if number == len(ends):
            return
        yield text[opened.end() : ends[number].start() + 1]
        place = ends[number].end()


def braced(text: str) -> Iterator[str]:
    """What stands in braces, the outermost ones."""
    depth = start = 0
    for brace in re.finditer("[{}]", text):
        if brace[0] == "{":
            start = start if depth else brace.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield text[start : brace.end()]


def answer_in(text: str) -> str | None:
    """`answer` of a JSON object. What it raises, the original raises or fails over later."""
    try:
        found = json.loads(text)
        if not isinstance(found, dict) or "answer" not in found:
            return None
        answer = str(found["answer"])
    except ValueError:
        return None
    facts = found.get("supporting_facts", [])
    for fact in facts if isinstance(facts, list) else ():
        if isinstance(fact, list) and len(fact) == 2 and fact[1] in (float("inf"), -float("inf")):
            raise OverflowError("a supporting fact is infinite")
    return answer


def given(text: str) -> str:
    """The answer in a text."""
    text = text.strip()
    for parts in (fenced(text), braced(text)):
        for part in reversed(list(parts)):
            answer = answer_in(part)
            if answer is not None:
                return answer
    return text


def in_other_words(expected: str) -> set[str]:
    """The answer as it may be written, too."""
    low = expected.lower()
    ways = {expected, *without_article(expected)}
    ways.add(re.sub('["\u201c\u201d]', "", expected).strip())
    if "(" in expected:
        ways.add(re.sub(r"\s+", " ", re.sub(r"\s*\([^)]*\)\s*", " ", expected).strip()))
        inner = (part.strip() for part in re.findall(r"\(([^)]+)\)", expected))
        ways |= {part for part in inner if len(part) > 1}
    for table in (NUMBERS, WORDS):
        ways.add(table.get(low.strip(), expected))
    plain = expected
    while (shorter := re.sub(r"(\d),(\d{3})", r"\1\2", plain)) != plain:
        plain = shorter
    ways.add(plain)
    if expected[-1:] and expected[-1] in ".,;:!?":
        ways.add(expected[:-1].rstrip())
    dotless = re.sub(r"(?<!\d)\.(?!\d)", "", expected)
    if len(dotless) > 1:
        ways.add(dotless)
    if not expected.startswith("-") and "-" in expected:
        ways.add(re.sub(r"\s+", " ", expected.replace("-", " ")).strip())
    ways.add(expected.replace(" & ", " and "))
    if " and " in low:
        place = low.index(" and ")
        ways.add(expected[:place] + " & " + expected[place + 5 :])
    ways |= {shorter for way in list(ways) for shorter in without_article(way)}
    tidy = {re.sub(r"\s+", " ", way.strip()) for way in ways}
    return {
        way for way in tidy if way and (len(way) >= 3 or way == expected.strip() or way.isdigit())
    }


def without_article(text: str) -> list[str]:
    """The text behind each article that it begins with: one at most."""
    return [text[len(article) :] for article in ARTICLES if text.lower().startswith(article)]


def plain(text: str) -> str:
    """In small letters, with plain blanks, dashes and quotes."""
    text = text.lower().translate({**SPACES, **DASHES, **QUOTES})
    return re.sub(" +", " ", text).strip()


def stands_in(way: str, text: str) -> bool:
    """Whether it stands there; both are plain."""
    place = text.find(way)
    if not way or place < 0 or (len(text) > 80 and place > 40):
        return False
    return len(way) > 4 or re.search(rf"(?<!\w){re.escape(way)}(?!\w)", text) is not None


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    row = params["row"]
    wrong = fault(row)
    if wrong:
        return result("invalid task", None, wrong)
    try:
        answer = given(submission["text"])
    except (OverflowError, RecursionError) as error:
        return result("not extractable", None, f"the original fails: {type(error).__name__}")
    if not answer:
        return result("not extractable", 0.0)
    text = plain(answer)
    right = any(stands_in(plain(way), text) for way in in_other_words(row["expected_answer"]))
    return result("graded", float(right), answer)


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    if fault(params["row"]):
        return None
    text = json.dumps({"answer": params["row"]["expected_answer"]}, ensure_ascii=False)
    answer = {"text": text, "calls": []}
    return answer if score(params, answer)["reward"] == 1.0 else None
