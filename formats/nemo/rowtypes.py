"""The coarse types in which the shipped schemas are kept, and what is of such a type.

A type is a word (`str`, `int`, `num`, `bool`, `null`, `any`) or one of `{"one": [types]}`,
`{"is": [values]}`, `{"list": type}`, `{"map": type}` and `{"object": {name: type}, "required":
[names], "closed": true}`. Every field of every row is held against one: a place is only spelled
where something is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias, cast

from .jsonline import Json

Type: TypeAlias = "str | Mapping[str, object]"
_Wrong: TypeAlias = "tuple[str, str]"
"""Where, from the value on, and what is wrong there."""

_OBJECT = (dict, Mapping)
"""What a row was parsed into first: asking an abstract class takes ten times as long."""


def forms_of(kind: Type) -> list[Type]:
    """The types of which a value may be any."""
    if not isinstance(kind, str) and "one" in kind:
        return cast("list[Type]", kind["one"])
    return [kind]


def fields_of(form: Type) -> Mapping[str, Type]:
    """The fields of an object; none of anything else."""
    if isinstance(form, str):
        return {}
    return cast("Mapping[str, Type]", form.get("object", {}))


def takes_null(kind: Type) -> bool:
    """Whether a type allows null."""
    return any(
        form in ("null", "any") if isinstance(form, str) else None in _words(form)
        for form in forms_of(kind)
    )


def _words(form: Mapping[str, object]) -> list[Json]:
    return cast("list[Json]", form.get("is", []))


def misfit(value: Json, kind: Type, place: str = "") -> str | None:
    """Where a value is not of a type: the place, and what is wrong there."""
    wrong = _wrong(value, kind)
    return None if wrong is None else f"{place + wrong[0] or '/'} {wrong[1]}"


def _wrong(value: Json, kind: Type) -> _Wrong | None:
    if isinstance(kind, str):
        return None if _IS[kind](value) else ("", f"is not {kind}")
    if "one" not in kind:
        return _wrong_in(value, kind)
    found = []
    for form in cast("list[Type]", kind["one"]):
        wrong = _wrong(value, form)
        if wrong is None:
            return None
        found.append(wrong)
    return max(found, key=lambda each: (each[0] + each[1]).count("/"))


def _wrong_in(value: Json, form: Mapping[str, object]) -> _Wrong | None:
    if "is" in form:
        return None if value in _words(form) else ("", "is none of the known words")
    if "list" in form:
        if not isinstance(value, list):
            return "", "is not a list"
        return _wrong_with_any(value, cast("Type", form["list"]))
    if not isinstance(value, _OBJECT):
        return "", "is not an object"
    if "map" in form:
        return _wrong_with_any(value.values(), cast("Type", form["map"]))
    fields = fields_of(form)
    if form.get("closed") and (more := sorted(value.keys() - fields.keys())):
        return f"/{more[0]}", "is not known"
    for name in cast("list[str]", form["required"]):
        if name not in value:
            return f"/{name}", "is missing"
    for name, kind in fields.items():
        if name in value and (wrong := _wrong(value[name], kind)) is not None:
            return f"/{name}{wrong[0]}", wrong[1]
    return None


def _wrong_with_any(values: Iterable[Json], kind: Type) -> _Wrong | None:
    for value in values:
        if (wrong := _wrong(value, kind)) is not None:
            return f"/*{wrong[0]}", wrong[1]
    return None


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Json) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


_IS: Mapping[str, Callable[[Json], bool]] = {
    "any": lambda _: True,
    "str": lambda value: isinstance(value, str),
    "int": _is_whole,
    "num": _is_number,
    "bool": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
