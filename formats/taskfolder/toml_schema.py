"""`task.toml`: bytes to typed tables and back.

Accepts exactly what Harbor 0.26.0 accepts (`TaskConfig` on Python 3.12), less the rules marked as
ours alone in `problems`. What Harbor reads and what it ignores are kept apart, and both are kept:

    decode_task_toml(encode_task_toml(toml)) == toml

Not kept: comments, the order of keys, the spelling of numbers and strings (`"30"` for 30), and the
legacy spelling of keys (`version`, `memory`, `storage`, `allow_internet`), sizes being cut to whole
megabytes as Harbor does. The bytes are the reader's to keep.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .documents import Value, format_toml, parse_toml
from .sifting import Findings, merge, read
from .tables import TaskTable


@dataclass(frozen=True, slots=True)
class TaskToml:
    """A `task.toml`: what Harbor reads, and what it ignores.

    `unknown` maps RFC 6901 pointers (``/environment/definition``, ``/steps/0/foo``) to raw values:
    keys that no table has, and keys that Harbor reads and discards: `version` beside
    `schema_version`, a `memory` or `storage` that is not a string, `allow_internet` beside
    `network_mode` or `allowed_hosts`, an empty `destination` of an artifact. ``[metadata]`` is
    free-form, so nothing in it is unknown.
    """

    config: TaskTable
    unknown: Mapping[str, Value] = field(default_factory=dict[str, Value])


def decode_task_toml(data: bytes) -> TaskToml:
    """Read a `task.toml`, or raise `DocumentRefused` with every problem found."""
    findings = Findings()
    config = read(parse_toml(data), TaskTable, findings)
    return TaskToml(config, findings.ignored)


def encode_task_toml(toml: TaskToml) -> bytes:
    """Write a `task.toml`: the keys that are set, then the unknown ones, in a fixed order.

    Refuses (`CannotEncode`) an unknown key that has no place, or that Harbor would not ignore,
    and values that TOML cannot say.
    """
    return format_toml(merge(toml.config, toml.unknown), blocks=("steps",))
