"""What a run reports: counts for people, one line per fact for machines, in constant memory.

`loss.jsonl` starts with a header, then says for each way a task went what becomes of every field,
then has a line for each task that has something of its own to say, with the way that it went. A
field named in no line of a task has the fate of its way, which the manifest has for every task.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from .errors import RlconvertError
from .format import Fate, FieldFate, Note, Refusal
from .model import field_paths
from .soundness import Weakness

LOSS_SCHEMA = 1
_EXAMPLES = 3
_NAMED = 12


@dataclass(slots=True)
class Tally:
    """How often something was said, and of which tasks first."""

    count: int = 0
    examples: list[str] = field(default_factory=list)
    detail: str = ""
    remedy: str | None = None
    place: str = ""

    def add(self, task: str, detail: str, remedy: str | None = None, place: str = "") -> None:
        """Count one more; what is said of the first one stands for all."""
        self.count += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(task)
        if not self.detail:
            self.detail, self.remedy, self.place = detail, remedy, place

    def add_fault(self, error: RlconvertError) -> None:
        """Count one more task, or file of no task, that cannot be read."""
        place = ", ".join(part for part in (error.file, error.where) if part)
        self.add(error.task or error.file or "", error.problem, error.remedy, place)

    def facts(self) -> dict[str, object]:
        """The tally for ``--json``."""
        return {
            "tasks": self.count,
            "problem": self.detail,
            "remedy": self.remedy,
            "place": self.place,
            "examples": self.examples,
        }


def count_weaknesses(tallies: dict[str, Tally], task: str, weaknesses: Iterable[Weakness]) -> None:
    """Count a task once for each reason of its weaknesses; the first place stands for all."""
    counted: set[str] = set()
    for each in weaknesses:
        if each.reason not in counted:
            counted.add(each.reason)
            tallies.setdefault(each.reason, Tally()).add(task, each.problem, place=each.place)


@dataclass(frozen=True, slots=True)
class Key:
    """What a tally counts: `target` is empty for what belongs to the source."""

    target: str
    what: str


class Report:
    """The facts of one run.

    `write` receives the lines of `loss.jsonl` as they come.
    """

    def __init__(
        self, source: str, targets: tuple[str, ...], write: Callable[[bytes], None]
    ) -> None:
        self.source = source
        self.targets = targets
        self.read = 0
        self.unreadable: dict[Key, Tally] = {}
        self.refused: dict[Key, Tally] = {}
        self.notes: dict[tuple[str, str, Fate, str], Tally] = {}
        self.weaknesses: dict[str, Tally] = {}
        self.ways: dict[str, Counter[str]] = {target: Counter() for target in targets}
        self.first_fault: RlconvertError | None = None
        self._ways_drop = False
        self._write = write
        self._line({"schema": LOSS_SCHEMA, "source": source, "targets": list(targets)})

    def way(self, target: str, way: str, fates: Mapping[str, FieldFate]) -> None:
        """A task of `target` went by `way`; the first one writes the way's table."""
        if not self.ways[target][way]:
            table = {path: _fate_record(fates[path]) for path in field_paths() if path in fates}
            self._line({"target": target, "way": way, "fields": table})
            self._ways_drop |= any(fate.fate is Fate.DROPPED for fate in fates.values())
        self.ways[target][way] += 1

    def note(self, target: str, task: str, note: Note, *, way: str = "") -> None:
        """A field of one task, which went by `way`, has a fate of its own; or one of the repo."""
        key = (target, note.field, note.fate, note.reason)
        self.notes.setdefault(key, Tally()).add(task, note.reason)
        self._line(
            {"target": target, "task": task}
            | ({"way": way} if way else {})
            | {"field": note.field, "fate": note.fate.value, "reason": note.reason}
            | ({"detail": note.detail} if note.detail else {})
        )

    def refuse(self, target: str, task: str, refusal: Refusal) -> None:
        """A task cannot go to a target."""
        tally = self.refused.setdefault(Key(target, refusal.reason), Tally())
        tally.add(task, refusal.problem, refusal.remedy)
        self._line(
            {
                "target": target,
                "task": task,
                "refused": refusal.reason,
                "field": refusal.field,
                "problem": refusal.problem,
                "remedy": refusal.remedy,
            }
        )

    def weak(self, task: str, weaknesses: Iterable[Weakness]) -> None:
        """What is weak about how a task is graded that was converted."""
        count_weaknesses(self.weaknesses, task, weaknesses)

    def fault(self, error: RlconvertError) -> None:
        """A task, or a file that belongs to no task, cannot be read."""
        self.first_fault = self.first_fault or error
        self.unreadable.setdefault(Key("", error.reason), Tally()).add_fault(error)
        facts = {key: value for key, value in error.facts().items() if key != "reason" and value}
        self._line({"unreadable": error.reason, "problem": error.problem, **facts})

    def converted(self, target: str) -> int:
        """How many tasks went to a target."""
        return self.ways[target].total()

    @property
    def any_converted(self) -> bool:
        """Whether anything was converted at all."""
        return any(self.converted(target) for target in self.targets)

    @property
    def any_refused(self) -> bool:
        """Whether a task was left out, for whatever reason."""
        return bool(self.refused or self.unreadable)

    @property
    def any_loss(self) -> bool:
        """Whether something was dropped from a task that was converted, or by the way it went."""
        return self._ways_drop or any(fate is Fate.DROPPED for (_, _, fate, _) in self.notes)

    def facts(self) -> dict[str, object]:
        """Everything counted, for ``--json``."""
        return {
            "source": self.source,
            "tasks": self.read,
            "targets": {
                target: {
                    "converted": self.converted(target),
                    "ways": dict(sorted(self.ways[target].items())),
                    "refused": {
                        key.what: tally.facts()
                        for key, tally in sorted(self.refused.items(), key=_by_count)
                        if key.target == target
                    },
                }
                for target in self.targets
            },
            "unreadable": {
                key.what: tally.facts()
                for key, tally in sorted(self.unreadable.items(), key=_by_count)
            },
            "notes": [
                {
                    "target": target,
                    "field": path,
                    "fate": fate.value,
                    "reason": reason,
                    "tasks": tally.count,
                    "examples": tally.examples,
                }
                for (target, path, fate, reason), tally in self.sorted_notes()
            ],
            "weaknesses": tallied(self.weaknesses),
        }

    def sorted_notes(self) -> Iterator[tuple[tuple[str, str, Fate, str], Tally]]:
        """The notes, what is lost first."""
        order = list(Fate)[::-1]
        yield from sorted(
            self.notes.items(),
            key=lambda item: (item[0][0], order.index(item[0][2]), -item[1].count, item[0][1:]),
        )

    def fates(
        self, ways: Mapping[str, Mapping[str, Mapping[str, FieldFate]]], *, exact: bool
    ) -> Iterator[tuple[str, str, str, Fate, str]]:
        """Target, how many tasks, which fields, their fate and why, as a person reads it.

        By way first (`ways` has those of each target), then what is special to some tasks; of how
        many is empty where it is of the repo. Without `exact`, what a way leaves alone is not told.
        """
        for target, gone in self.ways.items():
            for way, count in sorted(gone.items()):
                fates = {
                    path: fate
                    for path, fate in ways[target][way].items()
                    if exact or fate.fate is not Fate.EXACT
                }
                for kind, reason, fields in _by_fate(fates):
                    yield target, f"{count:,}", fields, kind, reason
        for (target, path, kind, reason), tally in self.sorted_notes():
            yield target, f"{tally.count:,}" if tally.examples[0] else "", path, kind, reason

    def _line(self, record: Mapping[str, object]) -> None:
        self._write(json_line(record))


def _by_fate(fates: Mapping[str, FieldFate]) -> Iterator[tuple[Fate, str, str]]:
    """The fates of a way, each with its reason and the fields that have it, in a few words.

    The fields of the largest group are called all others where they are many.
    """
    grouped: dict[tuple[Fate, str], list[str]] = {}
    for path, fate in fates.items():
        grouped.setdefault((fate.fate, fate.reason), []).append(path)
    most = max(grouped.values(), key=len, default=[])
    for (kind, reason), paths in grouped.items():
        rest = paths is most and len(paths) > _NAMED
        yield kind, reason, "all other fields" if rest else ", ".join(paths)


def json_line(record: Mapping[str, object]) -> bytes:
    """One record as a line of JSON: readable, in the given order, the same bytes every time."""
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def _fate_record(fate: FieldFate) -> dict[str, str]:
    return {"fate": fate.fate.value} | ({"reason": fate.reason} if fate.reason else {})


def tallied(tallies: Mapping[str, Tally]) -> dict[str, object]:
    """Tallies by their reason for ``--json``, the greatest first."""
    ordered = sorted(tallies.items(), key=lambda item: (-item[1].count, item[0]))
    return {reason: tally.facts() for reason, tally in ordered}


def _by_count(item: tuple[Key, Tally]) -> tuple[str, int, str]:
    return item[0].target, -item[1].count, item[0].what
