"""What is weak about how a task is graded, as far as its files tell without running them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Weakness:
    """One thing for which a reward may not mean what it says.

    `reason` is a stable slug and `problem` its sentence, the same for every task, so that they can
    be counted. `field` is a field path of the model; `file` and `where` say the place.
    """

    reason: str
    problem: str
    field: str
    file: str = ""
    where: str = ""

    @property
    def place(self) -> str:
        """The file and the place in it, for people."""
        return ", ".join(part for part in (self.file, self.where) if part)
