"""What NeMo Gym's request model takes: its parameters, and input items and tools by their `type`.

The table `requests.json` is made by `scripts/nemo_servers` from the model of NeMo Gym 0.7.0, its
types as in `servers.json`. A value that the model would only coerce (a number in a string) does not
fit: stricter, on purpose.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from .rowtypes import Type


@dataclass(frozen=True, slots=True)
class RequestTypes:
    """The types of parameters (but `input` and `tools`), of input items and of tools."""

    params: Mapping[str, Type]
    items: Mapping[str, Type]
    tools: Mapping[str, Type]


@cache
def request_types() -> RequestTypes:
    """The table."""
    table = json.loads(files(__package__).joinpath("requests.json").read_text(encoding="utf-8"))
    return RequestTypes(table["params"], table["items"], table["tools"])
