"""Texts that may do all that the instructions of `verifif` want: to be tried, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

SAMPLES = {"ja": ["書く"], "zh": ["书"], "ko": ["나무"], "hi": ["यह"], "ar": ["هذا"]}
LATIN = ["".join(letters) for letters in product("bdmt", "aeiou", "lnrs", "aeiou")]
MOST = 2000


def drafts(asked: list[dict[str, Any]], language: str) -> Iterator[str]:
    """More and more words between what must stand at the start, within, and at the end."""
    wanted = {
        each["instruction_id"].partition(":")[2]: each
        for each in asked
        if not (each["source"] == "user" and each["is_misalignment_check"])
    }
    start, inside, end = (" ".join(some) for some in pieces(wanted))
    words = SAMPLES.get(language, LATIN)
    numbers = [n for each in wanted.values() for n in each.values() if type(n) is int and n > 0]
    sizes = {0, 1, 2, 4, 8, 16, *range(min(max(numbers, default=0), MOST) + 2)}
    for size in sorted(sizes):
        filler = " ".join(words[at % len(words)] for at in range(size))
        lines = [*blocks(wanted), " ".join(part for part in (start, inside, filler, end) if part)]
        text = "\n".join(lines)
        yield from changed(text, wanted)


def changed(text: str, wanted: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The text as it is, wrapped, and in other cases."""
    wrap = str(wanted.get("wrap_checker", {}).get("wrap_phrase", ""))
    if "quotation" in wanted:
        yield from (f'"{text}"', f"« {text} »")
    elif "json_format" in wanted:
        yield '{"a": "' + text.replace('"', "").replace("\n", " ") + '"}'
    else:
        yield from (f"{wrap}{text}{wrap}", text + ".")
    if any("cap" in kind or "case" in kind for kind in wanted):
        yield from (text.upper(), text.lower(), text.title())


def pieces(wanted: dict[str, dict[str, Any]]) -> tuple[list[str], list[str], list[str]]:
    """What stands at the start, within and at the end."""
    start: list[str] = []
    inside: list[str] = []
    end: list[str] = []
    for kind, each in wanted.items():
        if kind == "start_checker":
            start.append(str(each["start_phrase"]))
        elif kind == "end_checker":
            end.append(str(each["end_phrase"]))
        elif kind == "postscript":
            end.append(f"\n{each['postscript_marker']} x")
        elif kind == "existence" and isinstance(each["keywords"], list):
            inside += map(str, each["keywords"])
        elif kind.endswith("_target"):
            inside.append(str(each["target_string"]))
        elif kind in ("frequency", "letter_frequency", "number_placeholders"):
            piece = each.get("keyword") or each.get("letter") or "[a]"
            if str(each.get("relation", each.get("let_relation"))) != "less than":
                inside += [str(piece)] * number_of(each)
    return start, inside, end


def number_of(each: dict[str, Any]) -> int:
    """The number that an instruction counts to."""
    keys = ("frequency", "let_frequency", "num_placeholders", "num_sections", "num_bullets",
            "num_numbered_items", "min_rows")  # fmt: skip
    found = next((each[key] for key in keys if key in each), 0)
    return min(found, MOST) if isinstance(found, int) else 0


def blocks(wanted: dict[str, dict[str, Any]]) -> list[str]:
    """The lines that are asked for: a title, sections, items, rows of a table."""
    lines = ["<<a>>"] if "title" in wanted else []
    for kind, each in wanted.items():
        count = range(1, number_of(each) + 1) if each.get("relation") != "less than" else ()
        if kind == "multiple_sections":
            lines += [f"# {each['section_splitter']} {at}" for at in count]
        elif kind == "number_bullet_lists":
            lines += ["- a"] * len(count)
        elif kind == "numbered_list":
            lines += [f"{at}. a" for at in count]
        elif kind == "table" and isinstance(each["min_cols"], int):
            width = max(1, min(each["min_cols"], 100))
            lines += ["|" + cell * width for cell in ("a|", "-|", *["b|"] * len(count))]
        elif kind == "heading_depth" and isinstance(each["levels"], list):
            lines += ["#" * min(level, 99) + " a" for level in each["levels"] if type(level) is int]
    return lines
