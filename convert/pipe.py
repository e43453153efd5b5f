"""The pipe: source -> reader -> model -> writers -> assembler -> sink, one task at a time."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version

from .assemble import Assembler
from .errors import ExitCode, NothingRepresentable, RlconvertError, UsageError
from .format import Aim, Fate, Format, Note, Options, Reader, get_format
from .model import TaskRef
from .provenance import Sidecar, SidecarWriter
from .report import Report
from .selection import Selection
from .sidecar import LOSS, SCHEMA, ProvenanceRecord, SourceRecord
from .sink import Sink, check_apart
from .source import FolderSource, Source
from .workers import Plan, Result, convert_tasks

Progress = Callable[[int], None]
"""Called with the number of tasks done so far."""

_MODES_INFERRED = Note(
    field="files",
    fate=Fate.TRANSLATED,
    reason="the Hub keeps no executable bit; files that begin with #! have it",
)

OnVerdict = Callable[[str, Sequence[RlconvertError]], None]
"""Called with each task's id and why it is not whole in every target: nothing when it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to convert. `jobs` None means as many processes as pay off."""

    options: Options = field(default_factory=dict)
    selection: Selection = Selection()
    jobs: int | None = None
    force: bool = False
    fail_fast: bool = False
    provenance: bool = True
    drop_refused: bool = False
    progress: Progress | None = None
    on_verdict: OnVerdict | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """What a run came to. `error` is why nothing was written, when nothing was."""

    report: Report
    source: Format
    formats: Mapping[str, Format]
    out: str
    error: RlconvertError | None = None

    @property
    def targets(self) -> tuple[str, ...]:
        """The target formats."""
        return tuple(self.formats)

    def exit_code(self, *, strict: bool = False, allow_refused: bool = False) -> ExitCode:
        """The code of the table that this run ends with."""
        if self.error is not None:
            return self.error.code
        if strict and self.report.any_loss:
            return ExitCode.LOSS
        if self.report.any_refused and not allow_refused:
            return ExitCode.REFUSED
        return ExitCode.DONE


def convert(
    source: Source, source_format: Format, targets: Sequence[str], out: str, settings: Settings
) -> Conversion:
    """Convert every task of `source` for `targets` and put the result at `out`.

    A task that cannot be read or carried is reported and left out. When not one can be carried,
    nothing is written and the `Conversion` has the error. Whatever ends the run early leaves
    nothing at `out`.
    """
    if not targets:
        raise UsageError("no target format", reason="no-target", remedy="Name one with --to")
    names = tuple(dict.fromkeys(targets))
    if isinstance(source, FolderSource):
        check_apart(source.root, out)
    formats = {name: get_format(name) for name in names}
    reader = source_format.reader(source, settings.options)
    sink = Sink(out, force=settings.force)
    try:
        run = _Run(source, source_format, reader, formats, settings, sink)
        conversion = run.convert()
        if conversion.error is None:
            sink.commit()
        else:
            sink.abort()
    except BaseException:
        sink.abort()
        raise
    return conversion


class _Run:
    """The moving parts of one conversion."""

    def __init__(
        self,
        source: Source,
        source_format: Format,
        reader: Reader,
        formats: Mapping[str, Format],
        settings: Settings,
        sink: Sink,
    ) -> None:
        self._source = source
        self._format = source_format
        self._reader = reader
        self._formats = formats
        self._settings = settings
        self._sink = sink
        self._repo = reader.repo()
        write = _sidecar_lines(sink) if settings.provenance else _nowhere
        self._report = Report(source.origin.label, tuple(formats), write)
        self._sidecar = SidecarWriter(sink if settings.provenance else None)
        ways = {name: each.ways for name, each in formats.items()}
        self._assembler = Assembler(
            sink, self._report, ways, self._sidecar, drop_refused=settings.drop_refused
        )

    def convert(self) -> Conversion:
        sidecar = Sidecar.of(self._source)
        going_home = sidecar is not None and sidecar.format in self._formats
        alone = len(self._formats) == 1
        home = alone and (going_home or self._format.name in self._formats)
        aim = Aim(options=self._settings.options, alone=alone, home=home)
        writers = {name: each.writer(self._repo, aim) for name, each in self._formats.items()}
        plan = Plan(
            source_format=self._format.name,
            reader=self._reader,
            sidecar=sidecar if going_home else None,
            writers=tuple(writers.items()),
            work=self._sink.work,
        )
        refs: Iterable[TaskRef] = self._reader.refs()
        if sidecar is not None and home and going_home:
            refs = sidecar.in_order(refs, self._format.name)
        self._each(convert_tasks(plan, self._selected(refs), self._settings.jobs))
        error = self._nothing_done()
        if error is None:
            shared = self._repo.shared
            if sidecar is not None and going_home and alone:
                shared = sidecar.shared()
            for fault in self._repo.faults:
                self._report.fault(fault)
            if self._repo.origin.modes_inferred:
                for name in self._formats:
                    self._report.note(name, "", _MODES_INFERRED)
            self._assembler.close(self._repo, shared, writers, self._intro())
            self._sidecar.finish(self._provenance())
        return Conversion(
            report=self._report,
            source=self._format,
            formats=self._formats,
            out=self._sink.out,
            error=error,
        )

    def _selected(self, refs: Iterable[TaskRef]) -> Iterator[TaskRef]:
        selection, taken = self._settings.selection, 0
        for ref in refs:
            full = selection.limit is not None and taken >= selection.limit
            if full or not selection.wants(ref.id):
                self._assembler.skip()
                continue
            taken += 1
            yield ref

    def _each(self, results: Iterator[Result]) -> None:
        for result in results:
            self._report.read += 1
            faults = self._assembler.take(result)
            if self._settings.progress is not None:
                self._settings.progress(self._report.read)
            if self._settings.on_verdict is not None:
                self._settings.on_verdict(result.ref.id, faults)
            if faults and self._settings.fail_fast:
                raise faults[0]

    def _nothing_done(self) -> RlconvertError | None:
        if self._report.any_converted:
            return None
        if self._report.read == 1 and self._report.first_fault is not None:
            return self._report.first_fault
        if self._report.read:
            said, remedy = "not one task can be carried", "The reasons are in the report"
        elif self._settings.selection.everything:
            said, remedy = "the source has no tasks", None
        else:
            said, remedy = "no task fits the selection", "Change --include, --exclude or --limit"
        return NothingRepresentable(said, reason="nothing-representable", remedy=remedy)

    def _intro(self) -> str:
        titles = " and ".join(each.title for each in self._formats.values())
        origin = self._repo.origin
        what = f"{origin.repo} at {origin.commit}" if origin.repo else origin.label
        return (
            f"Converted from {self._format.title} for {titles} by "
            f"rlconvert {version('rlconvert')}. Source: {what}."
        )

    def _options(self) -> Iterator[tuple[str, str]]:
        """The options, without the folders of this machine that files stand in."""
        offered = [*self._format.reader_options]
        for each in self._formats.values():
            offered += each.writer_options
        files = {option.name for option in offered if option.file}
        for name, value in self._settings.options.items():
            yield name, posixpath.basename(value) if name in files else value

    def _provenance(self) -> ProvenanceRecord:
        origin = self._repo.origin
        return ProvenanceRecord(
            schema=SCHEMA,
            version=version("rlconvert"),
            source=SourceRecord(
                format=self._format.name,
                label=origin.label,
                repo=origin.repo,
                commit=origin.commit,
            ),
            targets=tuple(self._formats),
            complete=self._assembler.complete,
            tasks=self._report.read,
            options=dict(sorted(self._options())),
        )


def _sidecar_lines(sink: Sink) -> Callable[[bytes], None]:
    return lambda line: sink.append(LOSS, line)


def _nowhere(_: bytes) -> None:
    return None
