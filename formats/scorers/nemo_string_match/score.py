"""A short answer found in the text, compared with the expected one in many ways.

`extraction_mode` says where the answer stands. Unless `case_sensitive`, the two are equal when any
of several simplifications makes them so, and numbers that are nearly equal earn 0.98. As
`string_match` of NeMo Gym 0.7.0.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

MODES = ("boxed", "final_answer", "last_line", "full_response")
TRUE, FALSE = ("1", "true", "t", "yes", "y", "on"), ("0", "false", "f", "no", "n", "off")
ANSWER = re.compile(r"answer\s*[:\uff1a]\s*(.+)", re.IGNORECASE)
DIGITS = re.compile(r"\d+")
BRACE = re.compile(r"\\boxed\{|[{}]")
UNIT = re.compile(r"\^\{?\\circ\}?|\\circ|°|cm[²³]?|mm|km|m[²³]?|kg")
COMMANDS = (
    "boxed text textbf textit texttt mathrm mathbf mathit mathsf mathbb mathcal emph url".split()
)
SIGNS = {
    "°": "^\\circ",
    **{sign: f"^{digit}" for digit, sign in enumerate("²³⁴⁵⁶⁷⁸⁹", 2)},
    "√": "\\sqrt",
    "\ufe63": "-",
    "\ufe62": "+",
    "\ufe66": "=",
    "\ufe64": "<",
    "\ufe65": ">",
    "\uff1a": ":",
    "π": "\\pi",
}
# Names that hold another's stand before it.
STATES = [
    (pair[:-2].strip(), pair[-2:])
    for pair in (
        "district of columbia DC|new hampshire NH|new jersey NJ|new mexico NM|new york NY|"
        "north carolina NC|north dakota ND|rhode island RI|south carolina SC|south dakota SD|"
        "west virginia WV|alabama AL|alaska AK|arizona AZ|arkansas AR|california CA|colorado CO|"
        "connecticut CT|delaware DE|florida FL|georgia GA|hawaii HI|idaho ID|illinois IL|"
        "indiana IN|iowa IA|kansas KS|kentucky KY|louisiana LA|maine ME|maryland MD|"
        "massachusetts MA|michigan MI|minnesota MN|mississippi MS|missouri MO|montana MT|"
        "nebraska NE|nevada NV|ohio OH|oklahoma OK|oregon OR|pennsylvania PA|tennessee TN|"
        "texas TX|utah UT|vermont VT|virginia VA|washington WA|wisconsin WI|wyoming WY"
    ).split("|")
]


def result(outcome: str, reward: float | None, detail: str = "") -> dict[str, Any]:
    return {"outcome": outcome, "reward": reward, "parts": {}, "detail": detail[:200]}


def truth(value: Any) -> bool | None:
    """What the original's model takes for true or false; None for neither."""
    if isinstance(value, str):
        low = value.lower() if value.isascii() else ""
        return True if low in TRUE else False if low in FALSE else None
    return bool(value) if isinstance(value, (bool, int, float)) and value in (0, 1) else None


def fault(row: dict[str, Any]) -> str:
    """Why the row cannot be graded."""
    expected, metadata = row.get("expected_answer"), row.get("metadata")
    if not isinstance(expected, str):
        return "expected_answer is not a string"
    if row.get("extraction_mode", "final_answer") not in MODES:
        return "there is no such extraction_mode"
    if truth(row.get("case_sensitive", False)) is None:
        return "case_sensitive is neither true nor false"
    if metadata is not None and not isinstance(metadata, dict):
        return "metadata is not an object"
    return ""


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
    """What is in the last box that is closed."""
    open_braces: list[int | None] = []
    last: tuple[int, int] | None = None
    for brace in BRACE.finditer(text):
        if brace[0] != "}":
            open_braces.append(None if brace[0] == "{" else brace.end())
        elif open_braces:
            start = open_braces.pop()
            if start is not None and (last is None or start > last[0]):
                last = start, brace.start()
    return None if last is None else unwrapped(text[last[0] : last[1]].strip()).strip()


def after_colon(text: str) -> str | None:
    """What stands behind the last `answer:`, in its line."""
    found = ANSWER.findall(text)
    if not found:
        return None
    last: str = found[-1].strip()
    return last[:-1].strip().rstrip(".") if last.endswith(".") else last


def extracted(text: str, mode: str) -> str | None:
    """The answer in a text."""
    if mode == "boxed":
        return boxed(text)
    if mode == "final_answer":
        found = after_colon(text)
        return boxed(text) if found is None else found
    if mode == "last_line":
        lines = text.splitlines()
        return lines[-1].strip() if lines else None
    return text or None


def plain(text: str) -> str:
    """The form that all comparisons start from."""
    text = unicodedata.normalize("NFKC", text)
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    text = text.lower()
    return text.rstrip(".!?") or text


def as_float(text: str) -> str:
    cleaned = text.replace("\\%", "").replace("\\$", "").replace("$", "").strip()
    try:
        return str(float(cleaned))
    except ValueError:
        return text


def without_thousands(text: str) -> str:
    """No comma between digits; the digits behind one are not those before the next."""
    kept, done = [], 0
    for comma in re.finditer(",", text):
        place = comma.start()
        behind = DIGITS.match(text, place + 1)
        if behind and place > done and text[place - 1].isdecimal():
            kept += [text[done:place], behind[0]]
            done = behind.end()
    return "".join([*kept, text[done:]]).replace("\\%", "%")


def without_command(command: str, text: str) -> str:
    """The text without `command{` and the brace that closes it, again and again."""
    opening = command + "{"
    if opening not in text:
        return text
    partner: dict[int, int] = {}
    open_braces: list[int] = []
    for brace in re.finditer("[{}]", text):
        if brace[0] == "{":
            open_braces.append(brace.start())
        elif open_braces:
            partner[open_braces.pop()] = brace.start()
    gone: set[int] = set()
    kept: list[str] = []
    for place, char in enumerate(text):
        if place in gone:
            continue
        kept.append(char)
        if char == "{" and "".join(kept[-len(opening) :]) == opening:
            del kept[-len(opening) :]
            if place in partner:
                gone.add(partner[place])
    return "".join(kept)


def without_latex(text: str) -> str:
    for command in COMMANDS:
        text = without_command("\\" + command, text)
    for sign in ("\\(", "\\)", "\\[", "\\]", "$"):
        text = text.replace(sign, "")
    return " ".join(text.split())


def without_commas(text: str) -> str:
    """A list without what separates its items, unless too little would be left."""
    short = text.replace(",", " ").replace(";", " ").replace("and", " ").replace("or", " ")
    return text if len(short) < 0.9 * len(text) else " ".join(short.split())


def with_short_states(text: str) -> str:
    for name, short in STATES:
        text = text.replace(name, short)
    return without_commas(text).lower()


def with_signs(text: str) -> str:
    for sign, spelled in SIGNS.items():
        text = text.replace(sign, spelled)
    return text


def without_units(text: str) -> str:
    return UNIT.sub("", with_signs(without_latex(text))).strip()


def nearly(expected: str, found: str) -> bool:
    """Whether both are numbers, and close ones."""
    try:
        wanted, given = (
            float(UNIT.sub("", with_signs(re.sub("[$£€%,]", "", text))).strip())
            for text in (expected, found)
        )
    except ValueError:
        return False
    error = abs(given - wanted) / max(abs(wanted), 1e-9)
    return max(0.0, 1.0 - error) ** 2 > 0.98


def compare(expected: str, found: str) -> float:
    """1.0, 0.98 or 0.0."""
    expected, found = plain(expected), plain(found)
    forms = (str, as_float, without_thousands, without_latex, without_commas, with_short_states)
    if any(form(found) == form(expected) for form in forms):
        return 1.0
    if nearly(expected, found):
        return 0.98
    expected, found = without_units(expected), without_units(found)
    if expected == found:
        return 1.0
    return 0.98 if nearly(expected, found) else 0.0


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    row = params["row"]
    wrong = fault(row)
    if wrong:
        return result("invalid task", None, wrong)
    expected = row["expected_answer"]
    found = extracted(submission["text"].strip(), row.get("extraction_mode", "final_answer"))
    if found is None:
        return result("not extractable", 0.0)
    if not expected:
        return result("graded", 0.0, "no answer is expected, so none is right")
    if truth(row.get("case_sensitive", False)):
        return result("graded", float(found.strip() == expected.strip()), found)
    return result("graded", compare(expected, found), found)


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    if fault(params["row"]):
        return None
    expected = params["row"]["expected_answer"]
    for text in (f"Final answer: {expected}", f"\\boxed{{{expected}}}", expected):
        answer: dict[str, Any] = {"text": text, "calls": []}
        if score(params, answer)["reward"] == 1.0:
            return answer
    return None
