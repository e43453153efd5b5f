"""Secrets in what is about to be published: found by the shapes that well-known tokens have.

A finding names rule, path and line, never the value. Guessing at every long string would find
thousands in a task set and soon be switched off: so only shapes with a mark of their own count,
and of those no value that is plainly made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from rlconvert.errors import SecretFound, UsageError
from rlconvert.files import printable
from rlconvert.source import FolderSource

from .packed import Unseen
from .searched import texts
from .secretshapes import SHAPES, is_made_up

_WINDOW = 1 << 20
_OVERLAP = 1 << 13
"""More than any shape needs to be known by, in two bytes for a character."""

_BATCH = 1 << 22
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Secret:
    """Something that looks like a secret: by which rule, in which file, on which line."""

    rule: str
    path: str
    line: int

    def __str__(self) -> str:
        return f"{printable(self.path)}:{self.line} ({self.rule})"


def find_secrets(source: FolderSource) -> Iterator[Secret | Unseen]:
    """What looks like a secret in the files of a repo and in its records, in their order.

    In a packed file it is the line of what is unpacked; what cannot be unpacked is told.
    """
    batch: list[_Window] = []
    size = 0
    for text in texts(source):
        if isinstance(text, Unseen):
            yield text
            continue
        for window in _windows(*text):
            batch.append(window)
            size += len(window.data)
            if size >= _BATCH:
                yield from _in_batch(batch)
                batch, size = [], 0
    yield from _in_batch(batch)


def refuse_secrets(source: FolderSource, allow: Sequence[str] = ()) -> tuple[Unseen, ...]:
    """`SecretFound` unless every finding is allowed; given back is what was not looked into.

    An allowance is ``RULE:PATH``; in the path, ``*`` stands for anything. `UsageError` for one
    that names no rule.
    """
    allowed = [_allowance(each) for each in allow]
    unseen: list[Unseen] = []
    found: list[Secret] = []
    for each in find_secrets(source):
        if isinstance(each, Unseen):
            unseen.append(each)
        elif not any(
            rule == each.rule and fnmatchcase(each.path, pattern) for rule, pattern in allowed
        ):
            found.append(each)
    if not found:
        return tuple(unseen)
    more = f", and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
    first = found[0]
    raise SecretFound(
        f"there are what look like secrets: {', '.join(map(str, found[:_NAMED]))}{more}",
        reason="secret",
        file=printable(first.path),
        where=f"line {first.line}",
        remedy="Take them out, and revoke those that are real; what is made up is let through "
        f"with --allow-secret {first.rule}:{printable(first.path)}",
    )


def _allowance(text: str) -> tuple[str, str]:
    rule, colon, pattern = text.partition(":")
    if not colon or not pattern or rule not in SHAPES:
        raise UsageError(
            f"--allow-secret takes RULE:PATH, not {text!r}",
            reason="bad-allowance",
            remedy=f"The rules are {', '.join(SHAPES)}",
        )
    return rule, pattern


# --- reading ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Window:
    """A piece of a file. What begins at `own` or later begins in the next one, too."""

    path: str
    data: bytes
    line: int
    own: int


def _windows(path: str, pieces: Iterator[bytes]) -> Iterator[_Window]:
    data, line = b"", 1
    for piece in pieces:
        data += piece
        own = len(data) - _OVERLAP
        if own >= _WINDOW:
            yield _Window(path, data, line, own)
            line += data.count(b"\n", 0, own)
            data = data[own:]
    if data:
        yield _Window(path, data, line, len(data))


def _in_batch(batch: list[_Window]) -> Iterator[Secret]:
    """The findings; in those windows alone where an engine that reads every byte but once has any.

    A run of text in UTF-16 is searched as the text that it is.
    """
    found: list[dict[int, str]] = [{} for _ in batch]
    every = [window.data for window in batch]
    for number, first in _firsts(_QUICK, every):
        found[number] |= _in_bytes(every[number], first)
    wide = [
        (number, run.start() + skip, run[0][skip::2])
        for number, first in _firsts(_QUICK_WIDE, every)
        for skip, form in enumerate(_WIDE)
        for run in form.finditer(every[number], max(0, first - 1))
    ]
    for run, first in _firsts(_QUICK, [text for _, _, text in wide]):
        number, start, text = wide[run]
        found[number] |= {start + 2 * at: rule for at, rule in _in_bytes(text, first).items()}
    for window, places in zip(batch, found, strict=True):
        line, counted = window.line, 0
        for at in sorted(places):
            if at < window.own:
                line += window.data.count(b"\n", counted, at)
                counted = at
                yield Secret(places[at], window.path, line)


def _firsts(pattern: str, texts: list[bytes]) -> Iterator[tuple[int, int]]:
    """The texts, by their numbers, that match, and where the first match is in each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pa.array(texts, type=pa.large_binary())
    for number, first in enumerate(pc.find_substring_regex(column, pattern=pattern).to_pylist()):
        if first >= 0:
            yield number, first


def _in_bytes(data: bytes, at: int) -> dict[int, str]:
    """Where in some bytes secrets begin, from a place on, and by which rules."""
    found: dict[int, str] = {}
    while match := _EXACT.search(data, at):
        rule = _RULES[match.lastgroup or ""]
        if is_made_up(rule, match[0]):
            at = match.start() + 1
        else:
            at = match.end()
            found[match.start()] = rule
    return found


_QUICK_WIDE = r"(?:[\x01-\x7f]\x00){15}"
_WIDE = (re.compile(rb"(?:[\x01-\x7f]\0){16,}"), re.compile(rb"(?:\0[\x01-\x7f]){16,}"))
"""Text in UTF-16, by the place of the byte that says something."""

_RULES = {rule.replace("-", "_"): rule for rule in SHAPES}
_EXACT = re.compile(
    "|".join(f"(?P<{group}>{SHAPES[rule]})" for group, rule in _RULES.items()).encode()
)
_QUICK = re.sub(r"\{(\d+),\d+\}", r"{\1,}", "|".join(SHAPES.values()))
"""The same without upper bounds, which cost that engine memory: it finds no less."""
