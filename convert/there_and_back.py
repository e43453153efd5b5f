"""A -> B -> A, as a check that people run on their own repo.

Two comparisons. With the sidecar every converted task must come back byte for byte, with modes,
links and empty folders, and so must the files of no task. Without it the task must come back with
the same meaning: every field of the model equal, but those the report says are lost. Where the
other format has the same meaning in another form, that is seen once the task is back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .errors import ExitCode, RlconvertError, RoundTripDiffers
from .files import FileTree
from .format import Fate, FieldFate, Format, Options, get_format
from .model import Task, TaskRef, differing_fields
from .pipe import Conversion, Settings, convert
from .sidecar import MANIFEST, TaskRecord, parse
from .sink import OURS
from .source import FolderSource, Source


@dataclass(frozen=True, slots=True)
class Difference:
    """What did not come back: paths of a task (or of no task, `task` empty), or fields of it."""

    task: str
    paths: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()

    def as_error(self) -> RlconvertError:
        """The difference as an error."""
        what = ", ".join((*self.paths[:5], *self.fields[:5]))
        return RoundTripDiffers(
            f"it did not come back as it was: {what}",
            reason="round-trip-differs",
            task=self.task or None,
        )


@dataclass(slots=True, kw_only=True)
class RoundTrip:
    """What a round trip came to."""

    there: Conversion
    via: str
    same_bytes: int = 0
    same_meaning: int = 0
    differences: list[Difference] = field(default_factory=list)
    error: RlconvertError | None = None

    def exit_code(self, *, strict: bool, allow_refused: bool) -> ExitCode:
        """53 when something differs, else what the way there came to."""
        if self.error is not None:
            return self.error.code
        if self.differences:
            return ExitCode.ROUND_TRIP_DIFFERS
        return self.there.exit_code(strict=strict, allow_refused=allow_refused)

    def facts(self) -> dict[str, object]:
        """Everything counted, for ``--json``."""
        return {
            "via": self.via,
            "there": self.there.report.facts(),
            "same_bytes": self.same_bytes,
            "same_meaning": self.same_meaning,
            "differences": [
                {"task": each.task, "paths": list(each.paths), "fields": list(each.fields)}
                for each in self.differences
            ],
        }


OnCompared = Callable[[str, Difference | None], None]


def roundtrip(
    source: Source,
    source_format: Format,
    via: str,
    work: str,
    settings: Settings,
    on_compared: OnCompared | None = None,
) -> RoundTrip:
    """Convert `source` to `via` and back under the folder `work`, and compare."""
    there_at, back_at = f"{work}/there", f"{work}/back"
    there = convert(source, source_format, [via], there_at, settings)
    result = RoundTrip(there=there, via=via)
    if there.error is not None:
        result.error = there.error
        return result
    middle = get_format(via)
    back_settings = Settings(options=settings.options, jobs=settings.jobs)
    middle_source = FolderSource(there_at, name=source.name)
    back = convert(middle_source, middle, [source_format.name], back_at, back_settings)
    if back.error is not None:
        result.error = back.error
        return result
    run = _Comparison(source, source_format, middle, there_at, back_at, settings.options, result)
    run.shared(everything=settings.selection.everything and not there.report.any_refused)
    for task, difference in run.tasks():
        if on_compared is not None:
            on_compared(task, difference)
    return result


class _Comparison:
    """The source, what it became, and what came back."""

    def __init__(
        self,
        source: Source,
        source_format: Format,
        middle: Format,
        there_at: str,
        back_at: str,
        options: Options,
        result: RoundTrip,
    ) -> None:
        self._formats = source_format, middle
        self._there_at, self._options = there_at, options
        self._reader = source_format.reader(source, options)
        there = FolderSource(there_at, name=source.name)
        back = FolderSource(back_at, name=source.name)
        self._there_reader = middle.reader(there, options)
        self._back_reader = source_format.reader(back, options)
        self._became = {
            record.task: record.targets[middle.name]
            for record in (parse(TaskRecord, line, MANIFEST) for line in there.lines(MANIFEST))
            if middle.name in record.targets
        }
        self._ways = middle.ways
        self._result = result
        self._name = source_format.name
        self._source_name = source.name

    def shared(self, *, everything: bool) -> None:
        """The files of no task. A registry may have lost the tasks that were left out."""
        if not everything:
            return
        before, after = self._reader.repo().shared, self._back_reader.repo().shared
        if paths := _different(before, after):
            self._result.differences.append(Difference("", paths))

    def tasks(self) -> Iterator[tuple[str, Difference | None]]:
        """Each converted task, and what of it did not come back; last those in another form."""
        there = {ref.id: ref for ref in self._there_reader.refs()}
        back = {ref.id: ref for ref in self._back_reader.refs()}
        later: list[tuple[TaskRef, tuple[str, ...]]] = []
        for ref in self._reader.refs():
            if ref.id not in self._became:
                continue
            task = self._reader.load(ref)
            returned, middle = back.get(ref.id), there.get(self._became[ref.id].id)
            paths: tuple[str, ...] = (ref.path,)
            if returned is not None and returned.path == ref.path:
                paths = self._changed_bytes(task, self._back_reader.load(returned))
            lost: tuple[str, ...] = ("steps",)
            if middle is not None:
                fates = self._ways[self._became[ref.id].way]
                lost = self._changed_meaning(task, self._there_reader.load(middle), fates)
                if any(fates[path].fate is Fate.TRANSLATED for path in lost if path in fates):
                    later.append((ref, paths))
                    continue
            yield self._compared(ref.id, paths, lost)
        if later:
            yield from self._in_another_form(later)

    def _compared(
        self, task: str, paths: tuple[str, ...], lost: tuple[str, ...]
    ) -> tuple[str, Difference | None]:
        self._result.same_bytes += not paths
        self._result.same_meaning += not lost
        difference = Difference(task, paths, lost) if paths or lost else None
        if difference is not None:
            self._result.differences.append(difference)
        return task, difference

    def _in_another_form(
        self, refs: list[tuple[TaskRef, tuple[str, ...]]]
    ) -> Iterator[tuple[str, Difference | None]]:
        """The tasks as they come back without the sidecar, which is gone after this."""
        source_format, middle = self._formats
        Path(self._there_at, OURS).rename(f"{self._there_at}{OURS}")
        out = f"{self._there_at}-alone"
        there = FolderSource(self._there_at, name=self._source_name)
        back = convert(there, middle, [source_format.name], out, Settings(options=self._options))
        if back.error is not None:
            for ref, paths in refs:
                yield self._compared(ref.id, paths, ("steps",))
            return
        alone = FolderSource(out, name=self._source_name)
        reader = source_format.reader(alone, self._options)
        after = {ref.id: ref for ref in reader.refs()}
        records = [parse(TaskRecord, line, MANIFEST) for line in alone.lines(MANIFEST)]
        returned = {record.task: record.targets[source_format.name] for record in records}
        for ref, paths in refs:
            target = returned.get(self._became[ref.id].id)
            lost: tuple[str, ...] = ("steps",)
            if target is not None and target.id in after:
                fates = source_format.ways[target.way]
                task = reader.load(after[target.id])
                lost = self._changed_meaning(self._reader.load(ref), task, fates)
            yield self._compared(ref.id, paths, lost)

    def _changed_bytes(self, before: Task, after: Task) -> tuple[str, ...]:
        mine, theirs = before.native[self._name], after.native[self._name]
        rows = () if mine.rows == theirs.rows else tuple(row.path for row in mine.rows)
        return (*_different(mine.tree, theirs.tree), *rows)

    def _changed_meaning(
        self, before: Task, after: Task, fates: Mapping[str, FieldFate]
    ) -> tuple[str, ...]:
        """Fields that differ, read without the sidecar, and that the report does not speak of.

        It speaks of what the task's way drops, and in notes of what is special to tasks.
        """
        said = {path for path, fate in fates.items() if fate.fate is Fate.DROPPED}
        said |= {
            field
            for _, field, fate, _ in self._result.there.report.notes
            if fate in (Fate.DROPPED, Fate.TRANSLATED)
        }
        return tuple(sorted(differing_fields(before, after) - said))


def _different(before: FileTree, after: FileTree) -> tuple[str, ...]:
    """Paths whose bytes, mode, link target or presence differ."""
    paths = {
        path
        for path in before.entries.keys() | after.entries.keys()
        if before.entries.get(path) != after.entries.get(path)
    }
    return tuple(sorted(paths | (set(before.empty_folders) ^ set(after.empty_folders))))
