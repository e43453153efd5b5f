"""The formats, and what becomes of each field on the way into them: generated from the code."""

from __future__ import annotations

from rlconvert.format import Format, format_names, get_format
from rlconvert.model import field_paths

from .tables import show_rows

_ABREAST = 5
"""Ways that a line of 100 characters has room for."""


def formats_facts() -> dict[str, object]:
    """Everything the formats declare, for ``--json``."""
    return {name: _facts(get_format(name)) for name in format_names()}


def _facts(each: Format) -> dict[str, object]:
    return {
        "title": each.title,
        "version": each.version,
        "judge": None if each.judge is None else list(each.judge.requirements),
        "refusals": dict(each.refusals),
        "ways": {
            way: {
                path: {"fate": fate.fate.value, "reason": fate.reason}
                for path, fate in fates.items()
            }
            for way, fates in each.ways.items()
        },
    }


def _judge(each: Format) -> str:
    """The releases that `check` asks."""
    return each.version if each.judge is None else " ".join(each.judge.requirements)


def show_formats(*, matrix: bool) -> None:
    """A line per format, or the fate of each field by format and way."""
    every = [get_format(name) for name in format_names()]
    if not matrix:
        show_rows(
            ("format", "framework", "checked with"),
            ((each.name, each.title, _judge(each)) for each in every),
        )
        show_rows(
            ("a task is not written to", "because"),
            ((each.name, why) for each in every for why in each.refusals.values()),
        )
        return
    for each in every:
        ways = list(each.ways)
        for some in (ways[at : at + _ABREAST] for at in range(0, len(ways), _ABREAST)):
            show_rows(
                (f"into {each.name}", *some),
                (
                    (path, *(each.ways[way][path].fate.value for way in some))
                    for path in field_paths()
                ),
            )
