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

from .searched import texts
from .secretshapes import SHAPES, is_made_up

_WINDOW = 1 << 20
_OVERLAP = 1 << 12
"""More than any shape needs to be known by."""

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


def find_secrets(source: FolderSource) -> Iterator[Secret]:
    """What looks like a secret in the files of a repo and in its records, in their order.

    In a packed file it is the line of what is unpacked.
    """
    batch: list[_Window] = []
    size = 0
    for path, pieces in texts(source):
        for window in _windows(path, pieces):
            batch.append(window)
            size += len(window.data)
            if size >= _BATCH:
                yield from _in_batch(batch)
                batch, size = [], 0
    yield from _in_batch(batch)


def refuse_secrets(source: FolderSource, allow: Sequence[str] = ()) -> None:
    """`SecretFound` unless every finding is allowed.

    An allowance is ``RULE:PATH``; in the path, ``*`` stands for anything. `UsageError` for one
    that names no rule.
    """
    allowed = [_allowance(each) for each in allow]
    found = [
        secret
        for secret in find_secrets(source)
        if not any(
            rule == secret.rule and fnmatchcase(secret.path, pattern) for rule, pattern in allowed
        )
    ]
    if not found:
        return
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
    """The findings; the first in each window by an engine that reads every byte but once."""
    if not batch:
        return
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pa.array([window.data for window in batch], type=pa.large_binary())
    for window, first in zip(
        batch, pc.find_substring_regex(column, pattern=_QUICK).to_pylist(), strict=True
    ):
        if first >= 0:
            yield from _in_window(window, first)


def _in_window(window: _Window, at: int) -> Iterator[Secret]:
    line, counted = window.line, 0
    while (match := _EXACT.search(window.data, at)) and match.start() < window.own:
        rule = _RULES[match.lastgroup or ""]
        if is_made_up(rule, match[0]):
            at = match.start() + 1
            continue
        at = match.end()
        line += window.data.count(b"\n", counted, match.start())
        counted = match.start()
        yield Secret(rule, window.path, line)


_RULES = {rule.replace("-", "_"): rule for rule in SHAPES}
_EXACT = re.compile(
    "|".join(f"(?P<{group}>{SHAPES[rule]})" for group, rule in _RULES.items()).encode()
)
_QUICK = re.sub(r"\{(\d+),\d+\}", r"{\1,}", "|".join(SHAPES.values()))
"""The same without upper bounds, which cost that engine memory: it finds no less."""
