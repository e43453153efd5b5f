"""What a repo claims to hold for a framework, by the record of its conversion.

A framework may load all it finds and still not find what should be there, or find a task that was
refused for it because it would mean something else there. Neither is its fault, and both are red.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from rlconvert.judge import TaskVerdict, Verdict
from rlconvert.sidecar import MANIFEST, PROVENANCE, TaskRecord, parse, parse_provenance
from rlconvert.source import Kind, Source

_MAX_RECORD = 64 << 20
_GONE = "the record of the conversion lists it, and it is not here"
_REFUSED = "it was refused for this framework when it was converted, and the framework finds it"


@dataclass(slots=True)
class _Names:
    """Tasks by what they are called and by where they stand."""

    ids: set[str] = field(default_factory=set)
    places: set[str] = field(default_factory=set)

    def add(self, task: str, place: str | None) -> None:
        self.ids.add(task)
        if place is not None:
            self.places.add(place)

    def has(self, task: TaskVerdict) -> bool:
        return task.task in self.ids or task.place in self.places


def with_claims(verdict: Verdict, source: Source, name: str) -> Verdict:
    """The verdict on the format `name`, held against the record of the conversion, if there is one.

    Tasks that the record does not know were added later: a warning tells how many.
    """
    if source.kind(PROVENANCE) is not Kind.FILE or source.kind(MANIFEST) is not Kind.FILE:
        return verdict
    run = parse_provenance(source.read(PROVENANCE, _MAX_RECORD))
    found, claimed, refused = _Names(), _Names(), _Names()
    for task in verdict.tasks:
        found.add(task.task, task.place)
    missing: list[TaskVerdict] = []
    for line in source.lines(MANIFEST):
        record = parse(TaskRecord, line, MANIFEST)
        if name in record.targets:
            claim = TaskVerdict(record.targets[name].id, _GONE, record.folder)
        elif name in run.targets:
            for target in record.targets.values():
                refused.add(target.id, record.folder)
            continue
        elif name == run.source.format and record.folder is not None:
            claim = TaskVerdict(record.task, _GONE, record.folder)
        else:
            continue
        claimed.add(claim.task, claim.place)
        if not found.has(claim):
            missing.append(claim)
    tasks: list[TaskVerdict] = []
    more = 0
    for task in verdict.tasks:
        if claimed.has(task):
            tasks.append(task)
        elif refused.has(task):
            tasks.append(replace(task, reason=task.reason or _REFUSED))
        else:
            tasks.append(task)
            more += 1
    warnings = verdict.warnings
    if more and claimed.ids:
        warnings += (f"tasks that the record of the conversion does not list: {more}",)
    return replace(verdict, tasks=(*tasks, *missing), warnings=warnings)
