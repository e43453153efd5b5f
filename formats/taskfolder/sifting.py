"""Sets apart, at every level, the keys that Harbor ignores, and puts them back.

Harbor 0.26.0 drops silently every key its models do not know, and some that they do (below). Here
they are kept, by RFC 6901 pointer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError

from .documents import Value
from .problems import CannotEncode, DocumentRefused, PathPart, Problem, Reason, RuleBroken, dotted
from .tables import TAG, ArtifactTable, EnvironmentTable, Table, TaskTable

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

T = TypeVar("T", bound=Table)
Path = tuple[PathPart, ...]
Tree = dict[str, Value]

_BOOL = TypeAdapter(bool)
_MB_PER_UNIT = {"G": 1024.0, "M": 1.0, "K": 1 / 1024}


@dataclass
class Findings:
    """What sifting found: ignored keys by pointer, and problems of legacy keys."""

    ignored: dict[str, Value] = field(default_factory=dict[str, Value])
    problems: list[Problem] = field(default_factory=list[Problem])

    def ignore(self, table: Tree, path: Path, key: str) -> None:
        """Move a key from its table to the ignored ones."""
        self.ignored[pointer((*path, key))] = table.pop(key)

    def blame(self, path: Path, reason: Reason, message: str) -> None:
        """Note a problem."""
        self.problems.append(Problem(reason, dotted(path), message))


def read(raw: Value, model: type[T], findings: Findings, path: Path = ()) -> T:
    """`raw` as `model`; ignored keys go to `findings`. Raises all problems at once."""
    known = sift(raw, model, findings, path) if isinstance(raw, dict) else raw
    table: T | None = None
    try:
        table = model.model_validate(known)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        findings.problems.extend(_problem(details, path) for details in found)
    if table is None or findings.problems:
        # The alternatives of one key fail one by one; the last is the widest.
        distinct = {(problem.where, problem.reason): problem for problem in findings.problems}
        raise DocumentRefused(list(distinct.values()))
    return table


def sift(raw: Tree, model: type[Table], findings: Findings, path: Path = ()) -> Tree:
    """A copy of `raw` with the keys of `model` only, legacy keys turned into current ones."""
    table = dict(raw)
    if legacy := _LEGACY.get(model):
        legacy(table, path, findings)
    known, nested = _shape(model)
    if not known.issuperset(table):
        for key in [key for key in table if key not in known]:
            findings.ignore(table, path, key)
    for key, inner in nested.items():
        value = table.get(key)
        if isinstance(value, dict):
            table[key] = sift(value, inner, findings, (*path, key))
        elif isinstance(value, list | tuple):
            table[key] = [
                sift(item, inner, findings, (*path, key, i)) if isinstance(item, dict) else item
                for i, item in enumerate(value)
            ]
    return table


def merge(table: Table, ignored: Mapping[str, Value], *, nulls: bool = False) -> Tree:
    """The set keys of a table, with the ignored keys in their places.

    Refuses (`CannotEncode`) an ignored key that has no place, and one that would not be ignored.
    """
    tree = table.model_dump(exclude_unset=True, exclude_none=not nulls)
    _graft(tree, ignored)
    check = Findings()
    sift(tree, type(table), check)
    if check.ignored != ignored:
        heeded = sorted(ignored.keys() - check.ignored.keys())
        raise CannotEncode(f"would not be read back as ignored: {', '.join(heeded)}")
    return tree


def _graft(tree: Value, ignored: Mapping[str, Value]) -> None:
    """Put ignored keys back where they were. A missing table on the way is made, a missing entry
    of an array is not."""
    for parts in sorted(map(parse_pointer, ignored)):
        node = tree
        for part, after in pairwise(parts):
            if isinstance(node, dict) and (part in node or not after.isdigit()):
                node = node.setdefault(part, {})
            elif isinstance(node, list | tuple) and part.isdigit() and int(part) < len(node):
                node = node[int(part)]
            else:
                node = None
        if not isinstance(node, dict) or parts[-1] in node:
            raise CannotEncode(f"no place for the ignored key {pointer(parts)}")
        node[parts[-1]] = ignored[pointer(parts)]


def pointer(path: Sequence[PathPart]) -> str:
    """The RFC 6901 pointer of a path."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def parse_pointer(text: str) -> tuple[str, ...]:
    """The parts of an RFC 6901 pointer to a key, in its one normal spelling."""
    parts = tuple(part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:])
    if not parts or pointer(parts) != text:
        raise CannotEncode(f"not a pointer to a key: {text!r}")
    return parts


def _version(table: Tree, path: Path, findings: Findings) -> None:
    """`version` is `schema_version` where that is not given; else it is ignored."""
    if "version" not in table:
        return
    if "schema_version" in table:
        findings.ignore(table, path, "version")
        return
    version = table.pop("version")
    if isinstance(version, str):
        table["schema_version"] = version
    else:
        findings.blame((*path, "version"), Reason.WRONG_TYPE, "Input should be a valid string")


def _environment(table: Tree, path: Path, findings: Findings) -> None:
    """`memory`, `storage`: sizes in words, ignored unless strings. `allow_internet`: a mode,
    ignored where the current keys are given."""
    for old, new in (("memory", "memory_mb"), ("storage", "storage_mb")):
        if old not in table:
            continue
        size = table[old]
        if not isinstance(size, str):
            findings.ignore(table, path, old)
            continue
        del table[old]
        megabytes = _megabytes(size)
        if megabytes is None:
            message = f"not a number with G, M or K: {size!r}"
            findings.blame((*path, old), Reason.LEGACY_SIZE, message)
        elif table.setdefault(new, megabytes) != megabytes:
            message = f"{size!r} is {megabytes} MB, but {new} says {table[new]!r}"
            findings.blame((*path, old), Reason.LEGACY_CONFLICT, message)
    if "allow_internet" not in table:
        return
    try:
        allowed = _BOOL.validate_python(table["allow_internet"])
    except ValidationError as error:
        message = error.errors(include_url=False)[0]["msg"]
        findings.blame((*path, "allow_internet"), Reason.WRONG_TYPE, message)
        del table["allow_internet"]
        return
    if "network_mode" in table or "allowed_hosts" in table:
        findings.ignore(table, path, "allow_internet")
    else:
        del table["allow_internet"]
        table["network_mode"] = "public" if allowed else "no-network"


def _megabytes(size: str) -> int | None:
    """Whole megabytes, the rest cut off; `None` if Harbor cannot read it."""
    text = size.strip().upper()
    factor = _MB_PER_UNIT.get(text[-1:])
    if factor is None:
        return None
    try:
        return int(float(text[:-1]) * factor)
    except (ValueError, OverflowError):  # not a number; NaN; infinity
        return None


def _artifact(table: Tree, path: Path, findings: Findings) -> None:
    """An empty `destination` is none."""
    if table.get("destination") == "":
        findings.ignore(table, path, "destination")


_LEGACY: dict[type[Table], Callable[[Tree, Path, Findings], None]] = {
    TaskTable: _version,
    EnvironmentTable: _environment,
    ArtifactTable: _artifact,
}


@cache
def _shape(model: type[Table]) -> tuple[frozenset[str], dict[str, type[Table]]]:
    """The keys of a table, and which of them are tables or arrays of tables."""
    nested: dict[str, type[Table]] = {}
    for name, info in model.model_fields.items():
        if (inner := _table_in(info.annotation)) is not None:
            nested[name] = inner
    return frozenset(model.model_fields), nested


def _table_in(annotation: object) -> type[Table] | None:
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return annotation
    return next(filter(None, map(_table_in, get_args(annotation))), None)


def _problem(details: ErrorDetails, path: Path) -> Problem:
    inner = [part for part in details["loc"] if isinstance(part, int) or not part.startswith(TAG)]
    if "cpus" in inner:  # followed by the name of the alternative that did not fit
        inner = inner[: inner.index("cpus") + 1]
    cause = details.get("ctx", {}).get("error")
    if isinstance(cause, RuleBroken):
        return Problem(cause.reason, dotted((*path, *inner)), str(cause))
    return Problem(_reason(details["type"]), dotted((*path, *inner)), details["msg"])


def _reason(code: str) -> Reason:
    if code == "missing":
        return Reason.MISSING_KEY
    if code.endswith(("_type", "_parsing", "_from_float", "_parsing_size")):
        return Reason.WRONG_TYPE
    return Reason.BAD_VALUE
