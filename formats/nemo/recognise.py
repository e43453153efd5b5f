"""Which server grades rows that no config speaks of.

By the shape of their fields, when just one shipped schema fits; else by the name in `agent_ref`,
which older releases of NeMo Gym wrote and which goes stale; else it stays unknown, and says why.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .rowshape import RowParts
from .servers import VERSION, candidates, lifted, schemas

_ENDINGS = ("_simple_agent", "_agent", "_gymnasium_agent", "")
_MOST_NAMES = 8


@dataclass(frozen=True, slots=True)
class Grader:
    """The component that grades rows, or None; and how that is known, or why it is not."""

    component: str | None
    because: str


def recognise(rows: Iterable[RowParts]) -> Grader:
    """The one server that all these rows fit."""
    seen = list(rows)
    fitting = candidates([lifted(row.fields) for row in seen]) if seen else ()
    if len(fitting) == 1:
        return Grader(
            fitting[0], f"the server was told by the fields: none other of NeMo Gym {VERSION} fits"
        )
    agents = {row.agent for row in seen}
    named = _named(agents.pop() or "") if len(agents) == 1 else None
    if named is not None and (named in fitting or not fitting):
        return Grader(named, "the server was told by agent_ref, which goes stale")
    if not fitting:
        return Grader(None, f"no one server of NeMo Gym {VERSION} has rows with these fields")
    listed = ", ".join(fitting[:_MOST_NAMES]) + (", ..." if len(fitting) > _MOST_NAMES else "")
    return Grader(None, f"its rows could be graded by any of {listed}")


def _named(agent: str) -> str | None:
    for ending in _ENDINGS:
        name = agent.removesuffix(ending) if agent.endswith(ending) else ""
        if name in schemas():
            return name
    return None
