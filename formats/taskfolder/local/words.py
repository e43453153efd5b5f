"""Words of a Dockerfile: quotes, escapes and ``$VARIABLES``, as BuildKit 0.13 reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPERATORS = (":-", ":+", "-", "+")


class BadWord(ValueError):
    """A word that a builder would not take either."""


class UnknownWord(ValueError):
    """A word that a builder may take, and this one does not know."""


def split_words(text: str) -> list[str]:
    """The words of `text` as they are written; white space in quotes parts nothing."""
    words: list[str] = []
    word, quote, place = "", "", 0
    while place < len(text):
        char = text[place]
        if char == "\\" and quote != "'":
            char = text[place : place + 2]
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        if char.isspace() and not quote:
            words += [word] if word else []
            word = ""
        else:
            word += char
        place += len(char)
    return words + ([word] if word else [])


def expand(word: str, variables: Mapping[str, str]) -> str:
    """What `word` means: quotes and escapes are gone, unset variables are empty."""
    reading = _Reading(word, variables)
    return reading.until("")


class _Reading:
    def __init__(self, text: str, variables: Mapping[str, str]) -> None:
        self.text = text
        self.place = 0
        self.variables = variables

    def until(self, end: str) -> str:
        """What stands before the unquoted character `end`; "" is the end of the word."""
        out = ""
        while self.place < len(self.text):
            char = self.take()
            if char == end:
                return out
            match char:
                case "'":
                    out += self.single()
                case '"':
                    out += self.double()
                case "$":
                    out += self.variable()
                case "\\":
                    out += self.take() or "\\"
                case _:
                    out += char
        if end:
            raise BadWord(f"{self.text!r} lacks a {end}")
        return out

    def take(self) -> str:
        char = self.text[self.place : self.place + 1]
        self.place += 1
        return char

    def single(self) -> str:
        at = self.text.find("'", self.place)
        if at < 0:
            raise BadWord(f"{self.text!r} lacks a '")
        inside = self.text[self.place : at]
        self.place = at + 1
        return inside

    def double(self) -> str:
        out = ""
        while self.place < len(self.text):
            char = self.take()
            if char == '"':
                return out
            if char == "$":
                out += self.variable()
            elif char == "\\":
                after = self.take()
                out += after if after and after in '"$\\' else f"\\{after}"
            else:
                out += char
        raise BadWord(f'{self.text!r} lacks a "')

    def variable(self) -> str:
        braces = self.text[self.place : self.place + 1] == "{"
        found = _NAME.match(self.text, self.place + braces)
        if found is None:
            if braces:
                raise UnknownWord(f"{self.text!r} has a variable of an unknown form")
            return "$"
        self.place = found.end()
        value = self.variables.get(found[0])
        if not braces or self.text[self.place : self.place + 1] == "}":
            self.place += braces
            return value or ""
        operator = next((each for each in _OPERATORS if self.text.startswith(each, self.place)), "")
        if not operator:
            raise UnknownWord(f"{self.text!r} changes a variable in an unknown way")
        self.place += len(operator)
        word = self.until("}")
        there = value is not None and (bool(value) or operator[0] != ":")
        if operator[-1] == "-":
            return (value or "") if there else word
        return word if there else ""
