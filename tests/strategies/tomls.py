"""`task.toml`: random keys from the manual of them, all valid together, in odd spellings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from hypothesis import strategies as st

from rlconvert.formats.taskfolder.naming import step_key
from strategies.words import coin, one_in
from taskfolder.toml_keys import TABLES
from taskfolder.toml_texts import NAMES, UNKNOWN

Draw = st.DrawFn
Table = dict[str, "Value"]
Value = str | Table | list[Table]
"""A TOML literal, a table, or an array of tables."""

_HOSTS = ("'a.org'", "'*.b.org'", "'::1'", "'10.0.0.0/8'", "'A.'")
_hosts = st.lists(st.sampled_from(_HOSTS), min_size=1, max_size=2)
STEP_NAMES = ("one", "two", "ONE more", "\u00e9", "e\u0301x", ".a", " a", "COM10", "-x", "'")
_step_names = st.lists(st.sampled_from(STEP_NAMES), min_size=1, max_size=3, unique_by=step_key)
_unknown_keys = st.sampled_from(NAMES)
_unknown = st.sampled_from(UNKNOWN)


@dataclass(frozen=True)
class Spelling:
    """How a document is written down; none of it means anything."""

    newline: str = "\n"
    equals: str = " = "
    dotted: bool = False
    inline: bool = False
    quoted: bool = False
    comment: str = ""


_spellings = st.builds(
    Spelling,
    newline=st.sampled_from(["\n", "\r\n"]),
    equals=st.sampled_from([" = ", "=", "\t=  "]),
    dotted=st.booleans(),
    inline=st.booleans(),
    quoted=st.booleans(),
    comment=st.sampled_from(["", "# \u00e9 canary", "#"]),
)


@cache
@st.composite
def _tables(draw: Draw, name: str, at_most: int = 3) -> Table:
    """A table of the manual: its required keys, some others, perhaps one that nobody knows."""
    known = TABLES[name]
    chosen = draw(_keys(name, at_most))
    table: Table = {}
    for key in dict.fromkeys([*(k for k in known if known[k].required), *chosen]):
        kind = known[key]
        if kind.of and (not kind.good or draw(coin)):
            table[key] = draw(_several(kind.of) if kind.many else _tables(kind.of, 2))
        else:
            table[key] = draw(_literals(name, key))
    if draw(one_in(8)):
        table[draw(_unknown_keys)] = draw(_unknown)
    if "network_mode" in known and draw(one_in(8)):
        hosts = draw(_hosts)
        table |= {"network_mode": "'allowlist'", "allowed_hosts": f"[{', '.join(hosts)}]"}
    if name == "mcp" and draw(one_in(4)):
        table = {key: table[key] for key in table if key not in ("url", "headers")}
        table |= {"transport": "'stdio'", "command": "'serve'"}
    _settle(table)
    return table


@cache
def _keys(name: str, at_most: int) -> st.SearchStrategy[list[str]]:
    usable = sorted(key for key, kind in TABLES[name].items() if kind.good or kind.of)
    return st.lists(st.sampled_from(usable), max_size=at_most, unique=True)


@cache
def _literals(name: str, key: str) -> st.SearchStrategy[str]:
    return st.sampled_from(TABLES[name][key].good)


@cache
def _several(name: str) -> st.SearchStrategy[list[Table]]:
    return st.lists(_tables(name, 2), min_size=1, max_size=2)


def _settle(table: Table) -> None:
    """Take out what contradicts another key."""
    for old in ("memory", "storage"):
        if f"{old}_mb" in table and str(table.get(old, "")).startswith('"'):
            del table[old]
    if isinstance(table.get("environment"), dict) and table.get("environment_mode") == '"shared"':
        del table["environment_mode"]


@cache
@st.composite
def task_tables(draw: Draw, declared: str | None = None) -> Table:
    """The whole `task.toml`, less its steps; `declared` is the name it must state."""
    table: Table = draw(_tables("root", 5))
    table.pop("steps", None)
    task = table.get("task")
    if declared is not None:
        known = task if isinstance(task, dict) else {}
        table["task"] = {**known, "name": f'"{declared}"'}
    if draw(one_in(10)):
        table["steps"] = "[]"
    return table


@cache
@st.composite
def step_tables(draw: Draw) -> list[Table]:
    """Some steps, with names that differ on every file system."""
    names = draw(_step_names)
    steps: list[Table] = []
    for name in names:
        table = draw(_tables("step", 2))
        table["name"] = '"' + name + '"'
        steps.append(table)
    return steps


def text_of(table: Table) -> st.SearchStrategy[str]:
    """The table as a document, spelled somehow."""
    return _spellings.map(lambda spelling: render(table, spelling))


def render(table: Table, spelling: Spelling) -> str:
    """The table as a document."""
    lines: list[str] = [spelling.comment] if spelling.comment else []
    late: list[tuple[str, Table | list[Table]]] = []
    for key, value in table.items():
        if isinstance(value, str):
            lines.append(_pair(key, value, spelling))
        elif isinstance(value, dict) and spelling.dotted and value:
            lines += [
                _pair(f"{_key(key, spelling)}.{_key(inner, spelling)}", _inline(one), spelling)
                for inner, one in value.items()
            ]
        elif spelling.inline:
            lines.append(_pair(key, _inline(value), spelling))
        else:
            late.append((key, value))
    for key, value in late:
        for one in value if isinstance(value, list) else [value]:
            lines += _block([key], one, isinstance(value, list), spelling)
    return (
        spelling.newline.join(lines)
        .replace("\n", spelling.newline)
        .replace("\r" + spelling.newline, spelling.newline)
        + spelling.newline
    )


def _block(path: Sequence[str], table: Table, many: bool, spelling: Spelling) -> list[str]:
    head = ".".join(_key(part, spelling) for part in path)
    lines = ["", f"[[{head}]]" if many else f"[ {head} ] {spelling.comment}"]
    lines += [_pair(key, one, spelling) for key, one in table.items() if isinstance(one, str)]
    for key, value in table.items():
        if isinstance(value, str):
            continue
        for one in value if isinstance(value, list) else [value]:
            lines += _block([*path, key], one, isinstance(value, list), spelling)
    return lines


def _pair(key: str, literal: str, spelling: Spelling) -> str:
    name = key if "." in key else _key(key, spelling)
    return f"{name}{spelling.equals}{literal}"


def _key(key: str, spelling: Spelling) -> str:
    return f'"{key}"' if spelling.quoted and key.isidentifier() and key.isascii() else key


def _inline(value: Value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{key} = {_inline(one)}" for key, one in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    return f"[{', '.join(map(_inline, value))}]"
