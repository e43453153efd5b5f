"""One strict comparison for what is read: types, given keys, NaN and the sign of zero count."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import cast

from pydantic import BaseModel


def exact(value: object) -> object:
    """A form that is equal for the same values only: not for 1, 1.0 and True."""
    if isinstance(value, BaseModel):
        keys = type(value).model_fields
        known = {key: exact(getattr(value, key)) for key in keys}
        return (type(value).__name__, sorted(value.model_fields_set), known)
    if is_dataclass(value):
        return {one.name: exact(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, dict):
        return {key: exact(item) for key, item in cast("dict[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [exact(item) for item in cast("list[object]", value)]
    return (type(value).__name__, repr(value))
