"""Which tasks of a source a run is about."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which tasks to convert, by shell patterns on their ids; the first `limit` of them."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    limit: int | None = None

    @property
    def everything(self) -> bool:
        """Whether no task is left out."""
        return not (self.include or self.exclude or self.limit is not None)

    def wants(self, task: str) -> bool:
        """Whether the patterns let a task through."""
        wanted = not self.include or any(fnmatchcase(task, each) for each in self.include)
        return wanted and not any(fnmatchcase(task, each) for each in self.exclude)
