"""A letter, or the text of an option, in any of many places; the last that can be read counts.

Places are tags (`<choice>`, `<answer>`, ...), boxes, what stands behind `answer:` or `the answer
is`, and then the last and the first line. `options` of the row names the letters, or else `choices`
does. As `bunsenbench_chemistry_mcq` of NeMo Gym 0.7.0, whose `grading_mode` decides nothing.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

ROW_MODES = ("strict_single_letter_boxed", "lenient_boxed", "lenient_answer_colon")
MODES = (*ROW_MODES, "lenient_answer_colon_md")
STRINGS = ("expected_answer", "uuid", "bunsen_id", "source", "bct_field", "bct_subfield")
OPENING = re.compile(
    r"<\s*(answer|choices|choice|response|final_answer|final-answer)\b", re.IGNORECASE
)
CLOSING = re.compile(r"<\s*/\s*([^\W\d]+(?:-[^\W\d]+)?)\s*>")
BOX, BRACE = re.compile(r"\\boxed\s*\{"), re.compile(r"\\.|[{}]", re.DOTALL)
COLON = re.compile(r"answer(?:\*\*)?\s*:\s*", re.IGNORECASE)
INLINE = re.compile(r"(?:\*\*)?answer(?:\*\*)?\s*:\s*(.+?)(?=\Z|[\r\n])", re.IGNORECASE | re.DOTALL)
PHRASE = re.compile(
    r"(?:the\s+(?:correct\s+)?answer\s+is|my\s+answer\s+is|i\s+(?:choose|select))\s+"
    r"(.+?)(?:\n|\Z)",
    re.IGNORECASE | re.DOTALL,
)
NAMED = re.compile(r"(?:option|choice)\s+([A-Z])\s*[)\].:]?", re.IGNORECASE)
LABEL = re.compile(r"([A-Z])[)\].:](?:\s|$)", re.IGNORECASE)
ONLY = re.compile("[^A-Za-z]*([A-Za-z])[^A-Za-z]*")
WRAPPERS = ("\\text{", "\\mathrm{", "\\operatorname{")
BLANKS = " \t\r\n`*_\"'"
SIGNS = {
    **dict.fromkeys(map(ord, "\u2212\u2012\u2013\u2014"), "-"),
    **dict.fromkeys(map(ord, "\u00d7\u2715"), "x"),
    **dict.fromkeys(map(ord, "\u00b7\u2219\u22c5\u2022"), "."),
    **dict.fromkeys(map(ord, "\u2044\u2215"), "/"),
    0x03BC: "u",
}
Options = list[tuple[str, str]]


def result(outcome: str, reward: float | None, detail: str = "") -> dict[str, Any]:
    return {"outcome": outcome, "reward": reward, "parts": {}, "detail": detail[:200]}


def fault(params: dict[str, Any]) -> str:
    """Why nothing can be graded."""
    row, mode = params["row"], params["config"].get("grading_mode")
    options, choices, metadata = row.get("options"), row.get("choices"), row.get("metadata")
    if mode is not None and mode not in MODES:
        return "there is no such grading_mode of the config"
    if row.get("grading_mode", ROW_MODES[0]) not in ROW_MODES:
        return "there is no such grading_mode of the row"
    for name, kind in (("metadata", dict), ("template_metadata", dict), ("choices", list)):
        if row.get(name) is not None and not isinstance(row[name], kind):
            return f"{name} is not of the right type"
    for name in STRINGS:
        value = row.get(name)
        if value is None and metadata and name not in STRINGS[:2]:
            value = metadata.get(name)
        if value is not None and not isinstance(value, str):
            return f"{name} is not a string"
    texts = (str, type(None))
    if options is not None and not (
        isinstance(options, list)
        and all(isinstance(option, dict) for option in options)
        and all(isinstance(text, texts) for option in options for text in option.values())
    ):
        return "options is not a list of objects with strings"
    if not all(isinstance(choice, (str, dict)) for choice in choices or ()):
        return "choices is not a list of strings and objects"
    return ""


def options_of(row: dict[str, Any]) -> Options:
    """Letters and texts."""
    if row.get("options"):
        pairs = (pair for option in row["options"] for pair in option.items())
        return [(letter, text) for letter, text in pairs if text is not None]
    found: Options = []
    for number, choice in enumerate((row.get("choices") or ())[:26]):
        letter: Any = chr(ord("A") + number)
        if isinstance(choice, str):
            found.append((letter, choice))
            continue
        for name in ("id", "key", "label", "letter"):
            letter = choice.get(name) or letter
        names = ("text", "content", "value", "choice")
        text = next((choice[name] for name in names if choice.get(name)), choice.get("choice"))
        if isinstance(letter, str) and isinstance(text, str) and len(letter.strip()) == 1:
            found.append((letter.strip().upper(), text))
    return found


def plain(text: str) -> str:
    """A formula or a name, however it is set."""
    text = unicodedata.normalize("NFKC", html.unescape(text))
    if not text.isascii():
        unseen = (char for char in set(text) if unicodedata.category(char) == "Cf")
        text = text.translate({**SIGNS, **dict.fromkeys(map(ord, unseen))})
    return " ".join(text.split())


def bare(text: str) -> str:
    """The text without what is only wrapped around it."""
    start, end = trimmed(text, 0, len(text), BLANKS)
    if end - start >= 8 and text.startswith("\\boxed{", start) and text[end - 1] == "}":
        start, end = trimmed(text, start + 7, end - 1)
    while wrapper := next((each for each in WRAPPERS if text.startswith(each, start, end)), ""):
        if end - start <= len(wrapper) or text[end - 1] != "}":
            break
        start, end = trimmed(text, start + len(wrapper), end - 1)
    while end - start >= 2 and text[start] in "([{\"'<" and text[end - 1] in ")]}\"'>":
        start, end = trimmed(text, start + 1, end - 1, BLANKS)
    return text[start:end].strip(BLANKS + ".;,")


def trimmed(text: str, start: int, end: int, what: str | None = None) -> tuple[int, int]:
    """The part of a text without blanks, or `what`, at its ends."""
    while start < end and (text[start] in what if what else text[start].isspace()):
        start += 1
    while start < end and (text[end - 1] in what if what else text[end - 1].isspace()):
        end -= 1
    return start, end


def as_letter(text: str, letters: set[str]) -> str | None:
    """The letter that a text names."""
    if len(text) == 1 and text.isalpha():
        return text.upper() if text.upper() in letters else None
    for found in (NAMED.fullmatch(text), LABEL.match(text), ONLY.fullmatch(text)):
        if found and found[1].upper() in letters:
            return found[1].upper()
    return None


def chosen_by(text: str, options: Options, letters: set[str]) -> str | None:
    """The letter that a text names, or whose option it is; as it is, and without wrapping."""
    text = text.strip()
    for form in (text, bare(text)):
        if not form:
            return None
        letter = as_letter(form, letters)
        if letter is not None:
            return letter
        same = plain(form)
        for key, option in options:
            if key.upper() in letters and plain(option) == same:
                return key.upper()
    return None


def folded(name: str) -> str:
    """A tag's name as the original compares an end with its beginning."""
    return name.replace("\u0130", "i").lower()


def tags(text: str, wanted: bool) -> Iterator[tuple[int, int, str, str]]:
    """Start, end, name and content of tags: those called `choices`, or the others."""
    ends: dict[str, list[re.Match[str]]] = {}
    for closing in reversed(list(CLOSING.finditer(text))):
        name = folded(closing[1])
        ends.setdefault(as_choices(name) if wanted else name, []).append(closing)
    place, bracket = 0, -1
    while opening := OPENING.search(text, place):
        place = opening.start() + 1
        name = folded(opening[1])
        if (as_choices(name) == "choices") != wanted:
            continue
        if bracket < opening.end():
            bracket = text.find(">", opening.end())
            if bracket < 0:
                return
        left = ends.get(as_choices(name) if wanted else name, [])
        while left and left[-1].start() <= bracket:
            left.pop()
        if left:
            yield opening.start(), left[-1].end(), opening[1], text[bracket + 1 : left[-1].start()]
            place = left[-1].end()


def as_choices(name: str) -> str:
    """The name, where case is not all that is not looked at."""
    return name.replace("\u017f", "s").replace("\u0131", "i")


def in_tags(text: str) -> Iterator[tuple[int, str]]:
    """What tags hold, but for a `choice` among `choices`."""
    blocks = [(start, end) for start, end, _, _ in tags(text, wanted=True)][::-1]
    for start, _, name, content in tags(text, wanted=False):
        while blocks and blocks[-1][1] <= start:
            blocks.pop()
        if name.lower() != "choice" or not blocks or start < blocks[-1][0]:
            yield start, content.strip()


def in_boxes(text: str) -> Iterator[tuple[int, str]]:
    """What boxes hold, up to the first that is not closed."""
    place = 0
    while box := BOX.search(text, place):
        depth = 1
        for brace in BRACE.finditer(text, box.end()):
            depth += {"{": 1, "}": -1}.get(brace[0], 0)
            if not depth:
                yield box.start(), text[box.end() : brace.start()]
                place = brace.end()
                break
        if depth:
            return


def in_lines(text: str) -> Iterator[tuple[int, str]]:
    """What stands behind `answer:` that begins its line, or follows the sign of an item."""
    place = 0
    for colon in COLON.finditer(text):
        if colon.start() < place or colon.end() == len(text):
            continue
        begins = [
            line_start(text, start, place) for start in item_starts(text, colon.start(), place)
        ]
        start = min((begin for begin in begins if begin is not None), default=None)
        if start is None:
            continue
        end = text.find("\n", colon.end())
        end = len(text) if end < 0 else end
        _, last = trimmed(text, colon.end(), end)
        yield start, text[colon.end() : last]
        place = line_end(text, last)


def item_starts(text: str, answer: int, least: int) -> Iterator[int]:
    """Where the item may start that `answer` at this place belongs to."""
    for place in (answer, answer - 2) if text.endswith("**", least, answer) else (answer,):
        yield place
        sign = back(text, place, least)
        if sign > least and text[sign - 1] in "-*\u2022":
            yield sign - 1
        elif sign > least and text[sign - 1] in ".)":
            digits = sign - 1
            while digits > least and text[digits - 1].isdecimal():
                digits -= 1
            if digits < sign - 1:
                yield digits


def back(text: str, place: int, least: int) -> int:
    """The start of the blanks before a place."""
    while place > least and text[place - 1].isspace():
        place -= 1
    return place


def line_start(text: str, place: int, least: int) -> int | None:
    """The first line that starts in the blanks before a place, or at it."""
    start = back(text, place, least)
    if start == 0 or text[start - 1] == "\n":
        return start
    end = text.find("\n", start, place)
    return None if end < 0 else end + 1


def line_end(text: str, place: int) -> int:
    """The last line that ends in the blanks behind a place."""
    end = place
    while end < len(text) and text[end].isspace():
        end += 1
    return end if end == len(text) else text.rfind("\n", place, end)


def chosen_in(text: str, options: Options, letters: set[str]) -> str | None:
    """The letter that the answer chooses."""
    places = [*in_tags(text), *in_boxes(text), *in_lines(text)]
    for pattern in (INLINE, PHRASE):
        places += [(match.start(), match[1]) for match in pattern.finditer(text)]
    lines = text.splitlines()
    for part in [part for _, part in sorted(places, reverse=True)] + [*lines[-1:], *lines[:1]]:
        letter = chosen_by(part, options, letters)
        if letter is not None:
            return letter
    return None


def expected_in(row: dict[str, Any], options: Options, letters: set[str]) -> str:
    """The letter that is right."""
    expected = row.get("expected_answer") or ""
    letter = bare(expected).upper()
    if len(letter) == 1 and letter.isalpha():
        return letter
    return chosen_by(expected, options, letters) or letter


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    wrong = fault(params)
    if wrong:
        return result("invalid task", None, wrong)
    options = options_of(params["row"])
    letters = {key.upper() for key, _ in options if len(key) == 1 and key.isalpha()}
    expected = expected_in(params["row"], options, letters)
    if len(expected) == 1 and expected.isalpha():
        letters.add(expected)
    chosen = chosen_in(submission["text"].strip(), options, letters)
    if chosen is None:
        return result("not extractable", 0.0)
    return result("graded", float(chosen == expected), chosen)


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    if fault(params):
        return None
    expected = params["row"].get("expected_answer") or ""
    options = dict(options_of(params["row"]))
    for text in (options.get(expected.strip().upper(), expected), expected):
        answer: dict[str, Any] = {"text": f"<choice>{text}</choice>", "calls": []}
        if score(params, answer)["reward"] == 1.0:
            return answer
    return None
