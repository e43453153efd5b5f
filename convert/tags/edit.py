"""The tags of a dataset card: read, and edited in place, every other byte kept.

The header is located, and never written anew: the client's own way of editing loses comments,
quotes and values (``no`` becomes false). What cannot be edited safely is refused, by its line.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rlconvert.errors import Malformed

from .header import BREAK, CARD, Form, Header, find_header, line_start, refused

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")
_DASH = re.compile(r" *-[ \t]+")
_COMMA_BEFORE = re.compile(r",[ \t]*$")
_COMMA_AFTER = re.compile(r"[ \t]*,")


def tags_of(card: bytes) -> tuple[str, ...]:
    """The tags in the header of a card, in their order; none where it has none.

    `Malformed` when the header cannot be read, or the tags are not plainly there.
    """
    return find_header(_decoded(card)).names


def with_tags(card: bytes, *, add: Sequence[str] = (), remove: Collection[str] = ()) -> bytes:
    """The card with the tags `add` and without the tags `remove`; all else keeps its bytes.

    Identical bytes when there is nothing to do. A tag to add is one word. `Malformed`, with the
    line, where an edit would not be safe: YAML that is none, tags that are there twice, or behind
    aliases, anchors and types, and keys that are no words.
    """
    if not all(_WORD.fullmatch(tag) for tag in add):
        raise ValueError(f"not one word each: {add}")
    text = _decoded(card)
    header = find_header(text)
    for tag in remove:
        while tag in header.names:
            header = _changed(header, _without(header, tag))
    new = [tag for tag in dict.fromkeys(add) if tag not in header.names]
    if new:
        header = _changed(header, _added(header, new))
    return header.text.encode()


def _decoded(card: bytes) -> str:
    try:
        return card.decode()
    except UnicodeDecodeError as error:
        raise Malformed(
            "it is not UTF-8",
            reason="card-not-utf8",
            file=CARD,
            where=f"line {card.count(bytes([10]), 0, error.start) + 1}",
            remedy="Save it as UTF-8",
        ) from error


@dataclass(frozen=True, slots=True)
class _Edit:
    """Characters to replace, and the tags there are to be then."""

    start: int
    end: int
    text: str
    tags: tuple[str, ...]


def _changed(header: Header, edit: _Edit) -> Header:
    """The header after an edit, if all but the tags means what it meant."""
    text = header.text[: edit.start] + edit.text + header.text[edit.end :]
    try:
        fresh = find_header(text)
    except Malformed:
        fresh = None
    if fresh is None or fresh.others != header.others or fresh.names != edit.tags:
        raise refused(
            header.text,
            header.tags.key.start or header.lines.start,
            "its tags cannot be edited where they stand",
            "card-tags-odd",
        )
    return fresh


def _added(header: Header, new: list[str]) -> _Edit:
    text, found = header.text, header.tags
    tags = (*header.names, *new)
    column = header.column
    if found.form is Form.BLOCK:
        column = found.value.start - line_start(text, found.value.start)
    lines = "".join(f"{header.line_end}{' ' * column}- {tag}" for tag in new)
    match found.form:
        case Form.ABSENT:
            return _Edit(*_with_key(header, f"{' ' * column}tags:{lines}"), tags)
        case Form.BLOCK:
            at = _line_end(header, found.items[-1].end)
            return _Edit(at, at, lines, tags)
        case Form.FLOW if found.items:
            at = found.items[-1].end
            return _Edit(at, at, "".join(f", {tag}" for tag in new), tags)
        case Form.FLOW:
            at = found.value.start + 1
            return _Edit(at, at, ", ".join(new), tags)
        case Form.NULL if found.value.start == found.value.end:
            at = _line_end(header, found.value.end)
            return _Edit(at, at, lines, tags)
        case Form.NULL:
            return _Edit(found.value.start, found.value.end, lines, tags)
        case Form.SCALAR:
            (only,) = found.items
            first = f"{header.line_end}{' ' * column}- {text[only.start : only.end]}"
            return _Edit(only.start, only.end, first + lines, tags)


def _with_key(header: Header, block: str) -> tuple[int, int, str]:
    """Where the new key goes: below the others, or above them when they end in a block of text."""
    at, line_end = header.lines.end, header.line_end
    if not header.present:
        return at, at, f"---{line_end}{block}{line_end}---{line_end}"
    if header.ends_in_text and header.keys is not None:
        return header.keys, header.keys, block + line_end
    if not BREAK.match(header.text, at):  # the marks are on neighbouring lines
        return at, at, block + line_end
    inside = header.text[header.lines.start : at]
    return at, at, block if not inside or inside[-1] in "\r\n" else line_end + block


def _without(header: Header, tag: str) -> _Edit:
    """A tag taken out where it stands first; the list stays, and empty it is ``[]``."""
    text, found = header.text, header.tags
    number = next(n for n, item in enumerate(found.items) if item.tag == tag)
    item = found.items[number]
    tags = tuple(each.tag for each in found.items if each is not item and each.tag is not None)
    if found.form is Form.SCALAR:
        return _Edit(item.start, item.end, "[]", tags)
    if found.form is Form.FLOW:
        if number + 1 < len(found.items):
            return _Edit(item.start, found.items[number + 1].start, "", tags)
        if comma := _COMMA_BEFORE.search(text, 0, item.start):
            return _Edit(comma.start(), item.end, "", tags)
        comma = _COMMA_AFTER.match(text, item.end)
        return _Edit(item.start, comma.end() if comma else item.end, "", tags)
    start, end = line_start(text, item.start), _line_end(header, item.end)
    if not _DASH.fullmatch(text, start, item.start):
        raise refused(text, item.start, "a tag is not on the line of its dash", "card-tags-odd")
    if len(found.items) > 1:
        after = BREAK.match(text, end)
        return _Edit(start, after.end() if after else end, "", tags)
    colon = text.index(":", found.key.end) + 1
    return _Edit(colon, end, " []" + text[colon:start].rstrip("\r\n"), tags)


def _line_end(header: Header, at: int) -> int:
    """The end of a line of the header, before its line break."""
    match = BREAK.search(header.text, at, header.lines.end)
    return match.start() if match else header.lines.end
