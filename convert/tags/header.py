"""Where the header of a dataset card stands, and in it the tags.

The header is read as a stream of events, never as a tree: nothing is expanded, however aliases
are nested, and every event knows its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from rlconvert.card import HEADER, MAX_DEPTH, MAX_HEADER
from rlconvert.errors import Malformed

if TYPE_CHECKING:
    import yaml

CARD = "README.md"
BREAK = re.compile(r"\r\n|\r|\n")

_BOM = "\ufeff"
_EMPTY = re.compile(r"(\s*---(\r\n|\n))---[ \t]*(?:\r\n|\n|$)")
"""A header without a line, which the Hub's client does not find."""

_BEGINS = re.compile(r"\s*---[ \t]*(?:\r\n|\r|\n|$)")
_NULLS = ("", "~", "null", "Null", "NULL")


class Form(Enum):
    """How the tags are written."""

    ABSENT = auto()
    NULL = auto()
    SCALAR = auto()
    BLOCK = auto()
    FLOW = auto()


@dataclass(frozen=True, slots=True)
class Span:
    """Characters of the card, from `start` to before `end`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Item(Span):
    """A tag where it is spelled; None for one that is null."""

    tag: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tags:
    """The key `tags`, its value and its items; all places are of the card."""

    form: Form = Form.ABSENT
    key: Span = Span(0, 0)
    value: Span = Span(0, 0)
    items: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The header of a card.

    `lines` are what stands between the two marks, empty where there is no header; `present` tells
    the difference. `keys` is where the line of the first key begins, `column` where the keys stand
    in their lines. `others` is what all but the tags mean; `ends_in_text` that the last value is a
    block of text, which would grow if a line came after it.
    """

    text: str
    lines: Span
    present: bool
    line_end: str
    tags: Tags = Tags()
    keys: int | None = None
    column: int = 0
    others: tuple[tuple[object, ...], ...] = ()
    ends_in_text: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The tags, in their order."""
        return tuple(item.tag for item in self.tags.items if item.tag is not None)


def refused(text: str, at: int, problem: str, reason: str, remedy: str = "") -> Malformed:
    """The fault of a card at one of its characters."""
    return Malformed(
        problem,
        reason=reason,
        file=CARD,
        where=f"line {1 + sum(match.end() <= at for match in BREAK.finditer(text))}",
        remedy=remedy or "Correct it, or edit the tags by hand",
    )


def find_header(text: str) -> Header:
    """The header of a card; `Malformed` when it has no end, is no YAML, or its tags are hidden."""
    begin = len(_BOM) if text.startswith(_BOM) else 0
    if match := HEADER.match(text[begin:]):
        lines = Span(begin + match.start(2), begin + match.end(2))
        line_end = str(BREAK.findall(match[1])[-1])
    elif match := _EMPTY.match(text, begin):
        return Header(
            text=text, lines=Span(match.end(1), match.end(1)), present=True, line_end=match[2]
        )
    elif _BEGINS.match(text, begin):
        raise refused(
            text,
            begin,
            "its header begins and has no end that the Hub would find",
            "card-header-open",
            "End the header with a line ---, and every line with LF or CRLF",
        )
    else:
        first = BREAK.search(text)
        line_end = "\r\n" if first and first[0] == "\r\n" else "\n"
        return Header(text=text, lines=Span(begin, begin), present=False, line_end=line_end)
    if lines.end - lines.start > MAX_HEADER:
        raise refused(text, begin, "its header is too long", "card-header-long", "Shorten it")
    return _read(text, lines, line_end)


def _read(text: str, lines: Span, line_end: str) -> Header:
    import yaml

    found = Header(text=text, lines=lines, present=True, line_end=line_end)
    events = list(_events(text, lines))
    marks = [each for each in events if isinstance(each, yaml.DocumentStartEvent)]
    ends = [each for each in events if isinstance(each, yaml.DocumentEndEvent)]
    if not marks:
        return found
    if len(marks) > 1 or marks[0].explicit or ends[0].explicit:
        at = _place(ends[0], lines).start
        raise refused(text, at, "its header has marks of documents", "card-documents")
    top, *inner = events[2:-2]
    if not isinstance(top, yaml.MappingStartEvent) or top.flow_style:
        at = _place(top, lines).start
        raise refused(text, at, "its header is no block of keys", "card-no-keys")
    tags = Tags()
    others: list[tuple[object, ...]] = []
    for name, *value in _pairs(inner[:-1]):
        at = _place(name, lines).start
        if not isinstance(name, yaml.ScalarEvent) or name.value == "<<":
            raise refused(text, at, "a key of its header is no plain word", "card-odd-key")
        if name.value != "tags":
            others += [_meaning(event) for event in (name, *value)]
        elif tags.form is not Form.ABSENT:
            raise refused(text, at, "its header has tags twice", "card-tags-twice")
        else:
            tags = _tags(text, lines, name, value)
    last = inner[-2] if len(inner) > 1 else top
    at = _place(top, lines).start
    column = at - line_start(text, at)
    return Header(
        text=text,
        lines=lines,
        present=True,
        line_end=line_end,
        tags=tags,
        keys=at - column,
        column=column,
        others=tuple(others),
        ends_in_text=isinstance(last, yaml.ScalarEvent) and last.style in ("|", ">"),
    )


def _events(text: str, lines: Span) -> Iterator[yaml.Event]:
    import yaml

    depth = 0
    try:
        # With the line break that follows: without it, a block of text would lose its last one.
        for event in yaml.parse(text[lines.start : lines.end] + "\n", yaml.SafeLoader):
            depth += _step(event)
            if depth > MAX_DEPTH:
                at = _place(event, lines).start
                raise refused(text, at, "its header is nested too deeply", "card-yaml")
            yield event
    except yaml.MarkedYAMLError as error:
        at = min(lines.start + (error.problem_mark.index if error.problem_mark else 0), lines.end)
        raise refused(text, at, f"its header is no YAML: {error.problem}", "card-yaml") from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        problem = "its header is no YAML: it has a character that does not exist there"
        raise refused(text, lines.start, problem, "card-yaml") from error


def _step(event: yaml.Event) -> int:
    import yaml

    return isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)


def _pairs(events: list[yaml.Event]) -> Iterator[list[yaml.Event]]:
    """The pairs of a mapping; a key that is no word has more events, and is refused anyway."""
    pair: list[yaml.Event] = []
    depth = nodes = 0
    for event in events:
        pair.append(event)
        depth += _step(event)
        nodes += not depth
        if nodes == 2:
            yield pair
            pair, nodes = [], 0


def _place(event: yaml.Event, lines: Span) -> Span:
    start, end = event.start_mark, event.end_mark
    return Span(
        lines.start + (start.index if start else 0), lines.start + (end.index if end else 0)
    )


def _meaning(event: yaml.Event) -> tuple[object, ...]:
    """What an event says, wherever it stands."""
    names = ("anchor", "tag", "implicit", "value")
    return (type(event).__name__, *(getattr(event, name, None) for name in names))


def _tags(text: str, lines: Span, key: yaml.ScalarEvent, value: list[yaml.Event]) -> Tags:
    import yaml

    for event in (key, *value):
        at = _place(event, lines).start
        if isinstance(event, yaml.AliasEvent):
            raise refused(text, at, "a tag is an alias", "card-tags-alias")
        if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            raise refused(text, at, "an anchor is at the tags", "card-tags-anchor")
        if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) and event.tag:
            raise refused(text, at, "a type is given to the tags", "card-tags-type")
    head, nodes = value[0], value
    if isinstance(head, yaml.SequenceStartEvent):
        form = Form.FLOW if head.flow_style else Form.BLOCK
        nodes = value[1:-1]
    else:
        form = Form.SCALAR
    items: list[Item] = []
    for event in nodes:
        place = _place(event, lines)
        if not isinstance(event, yaml.ScalarEvent) or event.style in ("|", ">"):
            raise refused(text, place.start, "a tag is no plain string", "card-tags-odd")
        null = event.style is None and event.value in _NULLS
        items.append(Item(place.start, place.end, None if null else event.value))
    if form is Form.SCALAR and items[0].tag is None:
        form, items = Form.NULL, []
    whole = Span(_place(head, lines).start, _place(value[-1], lines).end)
    return Tags(form=form, key=_place(key, lines), value=whole, items=tuple(items))


def line_start(text: str, at: int) -> int:
    """Where the line of a character begins."""
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
