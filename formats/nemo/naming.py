"""Names of environments and of the instances in their configs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rlconvert.model import Taskset


def slug(text: str) -> str:
    """A name that can stand in paths and on command lines."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")
    return plain or "tasks"


def slugs(tasksets: Iterable[Taskset]) -> dict[str, str]:
    """A name for each taskset that can stand in paths and config keys; all differ."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    tasksets = tuple(tasksets)
    names = [taskset.name for taskset in tasksets]
    for taskset in tasksets:
        several = names.count(taskset.name) > 1 and taskset.version is not None
        name = slug(f"{taskset.name}-{taskset.version}" if several else taskset.name)
        while name.lower() in taken:
            name += "-2"
        taken.add(name.lower())
        found[taskset.key] = name
    return found


def harbor_instance(environment: str) -> str:
    """The config key of an environment's Harbor agent."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", environment)
    return f"{'_' if plain[0].isdigit() or plain[0] == '-' else ''}{plain}_harbor_agent"
