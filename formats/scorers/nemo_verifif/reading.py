r"""How the rules of `verifif` read a text: lines with a mark, tables, phrases, numbers.

`^\s*` of the original runs over blank lines, which takes it time that grows with their square;
here the first word of each line is found first.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import chain
from typing import Any

SIGNS = string.punctuation
HEAD = re.compile(r"\n\s*")
BLANK = re.compile(r"\s*")
TITLE = re.compile(r"<<.*>>")
HEADED = re.compile(r"#+[ \t]+.*")


def spans(text: str, mark: re.Pattern[str], to_end: bool = False) -> Iterator[tuple[int, int, int]]:
    r"""The matches of `^\s*` and the mark: start, where the mark begins, end.

    `to_end`: nothing but blanks may follow on the line, and they belong to it.
    """
    end, first = 0, blank_end(text, 0)
    heads = (found.span() for found in HEAD.finditer(text, first))
    for before, at in chain([(-1, first)], heads):
        start = before + 1
        if start < end:
            start = end if text[end - 1] == "\n" else text.find("\n", end, at) + 1
        found = mark.match(text, at) if end <= start <= at else None
        if found is None:
            continue
        stop = found.end()
        if to_end:
            blank = blank_end(text, stop)
            stop = blank if blank == len(text) else text.rfind("\n", stop, blank)
        if stop >= 0:
            yield start, at, stop
            end = stop


def blank_end(text: str, start: int) -> int:
    found = BLANK.match(text, start)
    return found.end() if found else start


def kept(text: str, gone: Iterable[tuple[int, int]]) -> list[str]:
    """What stands between these pieces."""
    edges = [0, *(edge for piece in gone for edge in piece), len(text)]
    return [text[start:end] for start, end in zip(edges[::2], edges[1::2])]


def without(text: str, mark: re.Pattern[str], to_end: bool = False) -> str:
    return "".join(kept(text, ((start, end) for start, _, end in spans(text, mark, to_end))))


def without_tables(text: str, row: re.Pattern[str]) -> str:
    """Less two or more rows in a row."""
    tables: list[list[int]] = []
    for start, _, end in spans(text, row):
        if tables and tables[-1][1] == start:
            tables[-1][1:] = [end, 2]
        else:
            tables.append([start, end, 1])
    return "".join(kept(text, ((start, end) for start, end, rows in tables if rows > 1)))


def tables(text: str) -> Iterator[tuple[int, int]]:
    """How many rows and columns each has, whatever its cells are."""
    lines, at = text.strip().split("\n"), 0
    while at + 1 < len(lines):
        head, line = lines[at].strip(), lines[at + 1].strip()
        at += 1
        if "|" not in head or "|" not in line or not re.fullmatch(r"[\s|: -]+", line):
            continue
        columns, parts = (sum(map(bool, map(str.strip, one.split("|")))) for one in (head, line))
        if columns == parts:
            first = at = at + 1
            while at < len(lines) and "|" in lines[at]:
                at += 1
            yield at - first, columns


def related(count: float, relation: Any, expected: Any) -> bool:
    if not isinstance(expected, (int, float)):
        return False
    if relation == "at least":
        return count >= expected
    if relation == "equal to":
        return count == expected
    return bool(relation == "less than") and count < expected


def ratio(value: Any) -> Any:
    """As `Fraction` of Python 3.13 reads it."""
    if isinstance(value, (int, float)):
        return value
    text = value.strip().lower()
    if text == "inf":
        return float("inf")
    if re.search(r"e[-+]?[\d_]{7}", text):
        raise TooLong("a fraction with an endless exponent")
    text = re.sub(r"\s*/\s*", "/", re.sub(r"(?<=\d)_(?=\d)", "", text))
    found = Fraction(text)
    if re.search(r"\d{4301}", text) or max(abs(found.numerator), found.denominator) >= 10**4300:
        raise ValueError("too many digits to be told")
    return found


class TooLong(BaseException):
    """What the original would not end with."""


def digits(text: str) -> int:
    """An integer of JSON, no longer than Python 3.13 reads it."""
    if len(text.lstrip("-")) > 4300:
        raise ValueError("too many digits")
    return int(text)


def folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def alternates(word: str) -> bool:
    cases = "".join("x" if not c.isalpha() else "U" if c.isupper() else "l" for c in word)
    return "UU" not in cases and "ll" not in cases


def phrase(text: str, around: str) -> str:
    """A pattern of its words, with none of these characters on either side."""
    return rf"(?<![{around}])" + r"\s+".join(map(re.escape, text.split())) + rf"(?![{around}])"
