"""Free-form values that sources attach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import TypeAlias

Data: TypeAlias = (
    "bool | int | float | str | datetime | date | time | Sequence[Data] | Mapping[str, Data] | None"
)
"""JSON and TOML values. Where a value must be JSON, whoever writes it checks."""
