"""The last letter in a box, or behind the last `Answer:`, compared with the expected letter.

`output_regex` of the row's `template_metadata` is tried first. As `gpqa_diamond` of NeMo Gym 0.7.0,
which does not take a list of patterns there, and whose `grading_mode` decides nothing. A pattern of
the row may run for ever: only `grade.py` limits its time.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from typing import Any

ROW_MODES = ("strict_single_letter_boxed", "lenient_boxed", "lenient_answer_colon")
MODES = (*ROW_MODES, "lenient_answer_colon_md")
BOX = "\\boxed{"
WORD = re.compile(r"\b[A-Z]\b")
ANSWER = re.compile(r"answer[*_]{0,2}\s*:[\s*_]{0,2}\s*([A-Z])(?![a-zA-Z0-9])", re.IGNORECASE)
OTHER_ALPHABETS = {
    ord(letter): " " + latin
    for latin, letters in {
        "A": "\u0623\u0985",
        "B": "\u0628\u09ac",
        "C": "\u062c\u09a1",
        "D": "\u062f\u09a2",
    }.items()
    for letter in letters
}


class BadTask(Exception):
    """The original raises over what the row says."""


def result(outcome: str, reward: float | None, detail: str = "") -> dict[str, Any]:
    return {"outcome": outcome, "reward": reward, "parts": {}, "detail": detail[:200]}


def fault(params: dict[str, Any]) -> str:
    """Why nothing can be graded."""
    row, mode = params["row"], params["config"].get("grading_mode")
    options = row.get("options")
    if mode is not None and mode not in MODES:
        return "there is no such grading_mode of the config"
    if row.get("grading_mode", ROW_MODES[0]) not in ROW_MODES:
        return "there is no such grading_mode of the row"
    for name, kind in (("expected_answer", str), ("uuid", str), ("metadata", dict)):
        if row.get(name) is not None and not isinstance(row[name], kind):
            return f"{name} is not of the right type"
    if row.get("template_metadata") is not None and not isinstance(row["template_metadata"], dict):
        return "template_metadata is not an object"
    texts = (str, type(None))
    if options is not None and not (
        isinstance(options, list)
        and all(isinstance(option, dict) for option in options)
        and all(isinstance(text, texts) for option in options for text in option.values())
    ):
        return "options is not a list of objects with strings"
    return ""


def plain(text: str) -> str:
    return " ".join(text.lower().split())


def latin(text: str) -> str:
    """Letters of other alphabets that stand for A to D."""
    return unicodedata.normalize("NFKC", text).translate(OTHER_ALPHABETS).strip()


def by_pattern(
    pattern: Any, text: str, options: list[tuple[str, str | None]], letters: set[str]
) -> str | None:
    """What the last match of the row's pattern says."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = re.findall(pattern, text, re.IGNORECASE)
        if not found:
            return None
        chosen = latin(found[-1].strip()).upper()
    except re.error:
        return None
    except (TypeError, AttributeError, OverflowError, RecursionError, ValueError) as error:
        raise BadTask("output_regex of template_metadata") from error
    if len(chosen) == 1 and chosen.isalpha():
        return chosen
    for key, option in options:
        if option is not None and key.upper() in letters and plain(option) == plain(chosen):
            return key.upper()
    return None


def boxed(text: str) -> str | None:
    """What is in the last box, up to its first closing brace."""
    last, place = None, 0
    while (start := text.find(BOX, place)) >= 0:
        end = text.find("}", start)
        if end < 0:
            break
        last, place = text[start + len(BOX) : end].strip(), end + 1
    return last


def by_form(text: str) -> str | None:
    """A letter in a box, or else behind `Answer:`."""
    inner = boxed(text)
    if inner is not None:
        if len(inner) == 1 and inner.isupper():
            return inner
        found = WORD.findall(inner)
        if found:
            return str(found[-1])
    found = ANSWER.findall(text)
    return str(found[-1]).upper() if found else None


def chosen_in(text: str, row: dict[str, Any]) -> str | None:
    """The letter that the answer chooses."""
    template = row.get("template_metadata") or {}
    options = [pair for option in row.get("options") or () for pair in option.items()]
    letters = {
        key.upper()
        for key, option in options
        if len(key) == 1 and key.isalpha() and option is not None
    }
    if "output_regex" in template:
        chosen = by_pattern(template["output_regex"], text, options, letters)
        if chosen is not None:
            return chosen
    chosen = by_form(text)
    return None if letters and chosen is not None and chosen.upper() not in letters else chosen


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    wrong = fault(params)
    if wrong:
        return result("invalid task", None, wrong)
    try:
        chosen = chosen_in(submission["text"].strip(), params["row"])
    except BadTask as error:
        return result("invalid task", None, f"the original fails: {error}")
    if chosen is None:
        return result("not extractable", 0.0)
    expected = (params["row"].get("expected_answer") or "").strip().upper()
    return result("graded", float(bool(expected) and chosen.upper() == expected), chosen)


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    if fault(params):
        return None
    letter = (params["row"].get("expected_answer") or "").strip().upper()
    for text in (f"Answer: {letter}", f"\\boxed{{{letter}}}", letter):
        answer: dict[str, Any] = {"text": text, "calls": []}
        if score(params, answer)["reward"] == 1.0:
            return answer
    return None
