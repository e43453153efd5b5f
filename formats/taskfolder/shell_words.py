"""Where a quoted or expanded part of a shell word ends, whatever stands inside it."""

from __future__ import annotations

import re

MAX_DEPTH = 40
"""Deeper nesting is not followed."""

_BACKQUOTED = re.compile(r"(?:[^`\\]|\\.)*`", re.DOTALL)
_C_STRING = re.compile(r"(?:[^'\\]|\\.)*'", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]?")
_ESCAPED = re.compile(r"\\([\"\\`\n])")


class Unreadable(Exception):
    """The script cannot be followed."""


def unescaped(text: str) -> str:
    """What stands in double quotes, less the backslashes that they take; one before ``$`` stays."""
    return _ESCAPED.sub(lambda match: match[1].replace("\n", ""), text)


def end_of_double(text: str, at: int, depth: int = 0) -> int:
    """Behind the double quote that closes the one at `at`."""
    at += 1
    while at < len(text):
        char = text[at]
        if char == '"':
            return at + 1
        if char == "\\":
            at += 2
        elif char in "$`":
            at = end_of_expansion(text, at, depth + 1)
        else:
            at += 1
    raise Unreadable


def end_of_expansion(text: str, at: int, depth: int = 0) -> int:
    """Behind the ``$NAME``, ``${...}``, ``$(...)`` or backquotes at `at`."""
    if depth > MAX_DEPTH:
        raise Unreadable
    if text[at] == "`":
        end = _BACKQUOTED.match(text, at + 1)
        if end is None:
            raise Unreadable
        return end.end()
    follows = text[at + 1 : at + 2]
    if follows == "(":
        return end_of_parens(text, at + 1, depth + 1)
    if follows == "{":
        return _end_of_brackets(text, at + 1, "{", "}", depth + 1)
    if follows == "'":  # $'...'
        end = _C_STRING.match(text, at + 2)
        if end is None:
            raise Unreadable
        return end.end()
    name = _NAME.match(text, at + 1)
    return at + 1 if name is None else name.end()


def end_of_parens(text: str, at: int, depth: int = 0) -> int:
    """Behind the parenthesis that closes the one at `at`."""
    return _end_of_brackets(text, at, "(", ")", depth)


def _end_of_brackets(text: str, at: int, left: str, right: str, depth: int) -> int:
    """Behind the bracket that closes the one at `at`, past what is quoted."""
    if depth > MAX_DEPTH:
        raise Unreadable
    level = 0
    while at < len(text):
        char = text[at]
        if char == left:
            level += 1
        elif char == right:
            level -= 1
            if not level:
                return at + 1
        elif char == "\\":
            at += 1
        elif char == "'" and left == "(":
            at = text.find("'", at + 1)
            if at < 0:
                raise Unreadable
        elif char == '"':
            at = end_of_double(text, at, depth + 1) - 1
        elif char in "$`":
            at = end_of_expansion(text, at, depth + 1) - 1
        elif char == "#" and left == "(" and text[at - 1] in " \t\n":
            newline = text.find("\n", at)
            at = len(text) if newline < 0 else newline
        at += 1
    raise Unreadable
