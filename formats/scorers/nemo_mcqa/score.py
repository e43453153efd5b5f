"""A letter, or the text of an option, found in the answer and compared with the expected letter.

`output_regex` of the row's `template_metadata` is tried first; then `grading_mode`, of the config
or else of the row, says where the letter stands. As `mcqa` of NeMo Gym 0.7.0. A pattern of the row
may run for ever: only `grade.py` limits its time.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterator
from typing import Any

STRICT, LENIENT, COLON = "strict_single_letter_boxed", "lenient_boxed", "lenient_answer_colon"
MARKDOWN = "lenient_answer_colon_md"
BOX = "\\boxed{"
ONLY = re.compile("[^A-Za-z]*([A-Z])[^A-Za-z]*")
LABEL = re.compile(r"\s*([A-Z])\s*[:).\-]")
ANSWER = re.compile(r"answer\s*:\s*(.+)", re.IGNORECASE)
MARKED_ANSWER = re.compile(r"[*_]{0,2}answer[*_]{0,2}\s*:[*_\s]{0,2}(.+)", re.IGNORECASE)
ALONE = re.compile(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])")
BETWEEN = re.compile(r"\s*[/|&,;]\s*|\s+(?:or|and)\s+|\s+", re.IGNORECASE)
FIRST = re.compile("[a-zA-Z](?![a-zA-Z0-9])")
WORD = re.compile(r"\b[A-Z]\b")
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
    if mode is not None and mode not in (STRICT, LENIENT, COLON, MARKDOWN):
        return "there is no such grading_mode of the config"
    if row.get("grading_mode", STRICT) not in (STRICT, LENIENT, COLON):
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


def pairs(row: dict[str, Any]) -> list[tuple[str, str | None]]:
    """The options: key and text."""
    return [pair for option in row.get("options") or () for pair in option.items()]


def letters_of(options: list[tuple[str, str | None]]) -> set[str]:
    """The letters that may be chosen."""
    return {
        key.upper() for key, text in options if len(key) == 1 and key.isalpha() and text is not None
    }


def plain(text: str) -> str:
    return " ".join(text.lower().split())


def latin(text: str) -> str:
    """Letters of other alphabets that stand for A to D."""
    return unicodedata.normalize("NFKC", text).translate(OTHER_ALPHABETS).strip()


def unwrapped(text: str) -> str:
    """What is within any number of `\\text{...}`."""
    start, end = 0, len(text)
    while end - start >= 7 and text.startswith("\\text{", start) and text[end - 1] == "}":
        start, end = start + 6, end - 1
        while start < end and text[start].isspace():
            start += 1
        while start < end and text[end - 1].isspace():
            end -= 1
    return text[start:end]


def boxed(text: str) -> str | None:
    """What is in the last box, if that is closed."""
    start = text.rfind(BOX)
    depth = 1
    for brace in re.compile("[{}]").finditer(text, start + len(BOX)) if start >= 0 else ():
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return text[start + len(BOX) : brace.start()].strip()
    return None


def by_letter(text: str, letters: set[str]) -> str | None:
    """The only letter in the box, or the one that labels what is in it."""
    inner = boxed(text)
    if inner is None:
        return None
    inner = unwrapped(inner)
    found = ONLY.fullmatch(inner) or LABEL.match(inner)
    return found[1] if found and found[1] in letters else None


def by_text(text: str, options: list[tuple[str, str | None]], letters: set[str]) -> str | None:
    """The only option whose text is in the box."""
    inner = boxed(text)
    if inner is None:
        return None
    both = plain(inner), plain(unwrapped(inner))
    found = {
        key.upper()
        for key, option in options
        if option is not None and len(key) == 1 and key.upper() in letters and plain(option)
        if any(plain(option) in each for each in both)
    }
    return found.pop() if len(found) == 1 else None


def by_pattern(
    pattern: Any, text: str, options: list[tuple[str, str | None]], letters: set[str]
) -> str | None:
    """What the last match of a pattern of the row says."""
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


def by_colon(text: str, options: list[tuple[str, str | None]], letters: set[str]) -> str | None:
    """A letter or the text of an option behind the first `answer:`."""
    answer = ANSWER.search(text)
    if answer is None:
        return None
    chosen = unwrapped(answer[1]).strip()
    if len(chosen) == 1 and chosen.isalpha() and chosen.upper() in letters:
        return chosen.upper()
    for key, option in options:
        if key.upper() in letters:
            if option is None:
                raise BadTask("an option is null, and another has its letter")
            if plain(option) == plain(chosen):
                return key.upper()
    return None


def payloads(text: str, prefix: str) -> Iterator[str]:
    """What stands behind each `answer:` and each `prefix`, the last first."""
    text = unicodedata.normalize("NFKC", text)
    found = [(match.start(), 0, match.start(1)) for match in MARKED_ANSWER.finditer(text)]
    if prefix:
        pattern = re.compile(
            re.escape(unicodedata.normalize("NFKC", prefix)) + r"\s*", re.IGNORECASE
        )
        found += [(match.start(), 1, match.end()) for match in pattern.finditer(text)]
    for _, _, start in sorted(found, reverse=True):
        end = text.find("\n", start)
        yield text[start:] if end < 0 else text[start:end]


def is_list(text: str, letters: set[str]) -> bool:
    """Whether two letters that may be chosen stand side by side."""
    found = [match for match in ALONE.finditer(text) if match[0].upper() in letters]
    return any(
        one[0].upper() != other[0].upper()
        and BETWEEN.fullmatch(text, one.end(), other.start()) is not None
        for one, other in zip(found, found[1:])
    )


def in_payload(text: str, letters: set[str]) -> str | None:
    """The letter that begins it, or the last that stands by itself."""
    text = latin(text).strip("*_` \t\n\r.,;:")
    if is_list(text, letters):
        return None
    if len(text) == 1:
        letter = text
    else:
        first = FIRST.match(text)
        letter = first[0] if first else (WORD.findall(text) or [""])[-1]
    return letter.upper() if letter.upper() in letters else None


def by_markdown(text: str, template: dict[str, Any], letters: set[str]) -> str | None:
    """A letter behind the last `answer:`, or behind the row's own prefix, or else boxed."""
    prefix = template.get("answer_prefix") or ""
    if not isinstance(prefix, str):
        raise BadTask("answer_prefix of template_metadata")
    found = (in_payload(payload, letters) for payload in payloads(text, prefix))
    chosen = next((letter for letter in found if letter is not None), None)
    return by_letter(text, letters) if chosen is None and prefix else chosen


def chosen_in(text: str, params: dict[str, Any]) -> str | None:
    """The letter that the answer chooses."""
    row, template = params["row"], params["row"].get("template_metadata") or {}
    options = pairs(row)
    letters = letters_of(options)
    if "output_regex" in template:
        patterns = template["output_regex"]
        patterns = [patterns] if isinstance(patterns, str) else patterns
        if not isinstance(patterns, (list, dict)):
            raise BadTask("output_regex of template_metadata")
        for pattern in patterns:
            chosen = by_pattern(pattern, text, options, letters)
            if chosen is not None:
                return chosen
    mode = params["config"].get("grading_mode") or row.get("grading_mode", STRICT)
    if mode == COLON:
        return by_colon(text, options, letters)
    if mode == MARKDOWN:
        return by_markdown(text, template, letters)
    chosen = by_letter(text, letters)
    return by_text(text, options, letters) if chosen is None and mode == LENIENT else chosen


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    wrong = fault(params)
    if wrong:
        return result("invalid task", None, wrong)
    text = submission["text"].strip()
    try:
        chosen = chosen_in(text, params) if text else None
    except BadTask as error:
        return result("invalid task", None, f"the original fails: {error}")
    if chosen is None:
        return result("not extractable", 0.0)
    expected = (params["row"].get("expected_answer") or "").strip().upper()
    return result("graded", float(bool(expected) and chosen == expected), chosen)


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    if fault(params):
        return None
    letter = (params["row"].get("expected_answer") or "").strip().upper()
    prefix = (params["row"].get("template_metadata") or {}).get("answer_prefix")
    for text in (f"\\boxed{{{letter}}}", f"Answer: {letter}", f"{prefix} {letter}", letter):
        answer: dict[str, Any] = {"text": text, "calls": []}
        if score(params, answer)["reward"] == 1.0:
            return answer
    return None
