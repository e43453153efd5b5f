"""The pipe: source -> reader -> model -> writers -> assembler -> sink, one task at a time."""

from __future__ import annotations

import posixpath
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path

from .archives.packing import Layout, Packing
from .archives.view import ArchiveSource
from .assemble import Assembler
from .errors import ExitCode, NothingRepresentable, RlconvertError, UsageError
from .files import FileTree
from .format import Aim, Format, Options, get_format
from .journal import Journal, Key, Shards, numbered
from .model import TaskRef
from .pointers import NOT_FETCHED
from .provenance import Sidecar, SidecarWriter
from .report import Report
from .selection import Selection
from .sidecar import LOSS, SCHEMA, ProvenanceRecord, SourceRecord
from .sink import Sink, check_apart
from .source import FolderSource, Source
from .sourcenotes import notes_on
from .staging import Copied, Moved, Staging
from .workers import Plan, Result, convert_tasks

Progress = Callable[[int], None]
"""Called with the number of tasks done so far."""

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
    layout: Layout = Layout.FOLDERS
    resume: bool = False
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
    nothing at `out`; with `resume` it leaves a journal beside it, to go on from.
    """
    run = _Run(source, source_format, targets, out, settings)
    if not settings.resume:
        with _sink(out, settings) as sink, closing(run.tasks(sink.work)) as tasks:
            staging = Moved(sink.work)
            return run.assemble(sink, ((result, staging) for _, result in tasks))
    final = Path(out).absolute()
    with _sink(out, settings) as sink:
        journal = Journal.start(str(final.with_name(f".{final.name}.unfinished")), run.key())
        run.fill(journal)
        staged = Moved(journal.work)
        results = ((journal.result(index, ref), staged) for index, ref in enumerate(run.selected()))
        conversion = run.assemble(sink, results)
    shutil.rmtree(journal.folder)
    return conversion


def convert_shard(
    source: Source,
    source_format: Format,
    targets: Sequence[str],
    out: str,
    settings: Settings,
    shard: tuple[int, int],
) -> int:
    """The first half of a conversion for every n-th task, at `out`; how many tasks that were.

    `shard` is which one of how many, from 1. A shard that was interrupted goes on when the same
    call is made again; `merge` makes the output of all of them.
    """
    number, of = shard
    if not 1 <= number <= of:
        raise UsageError(
            f"there is no shard {number} of {of}",
            reason="no-such-shard",
            remedy="Write --shard 1/4, 2/4, 3/4 and 4/4 for four",
        )
    run = _Run(source, source_format, targets, out, settings)
    journal = Journal.start(str(Path(out).absolute()), run.key(shard))
    run.fill(journal)
    return len(journal)


def merge(
    source: Source, source_format: Format, out: str, shards: Sequence[str], settings: Settings
) -> Conversion:
    """The output of a conversion whose shards are all there: the same bytes as one run's.

    Targets, options and selection are those of the shards. They stay as they are.
    """
    journals = [Journal.read(each) for each in shards]
    if not journals:
        raise UsageError("no shards to merge", reason="shard-missing")
    key = journals[0].key
    chosen = replace(
        settings,
        options=key.options,
        selection=Selection(include=key.include, exclude=key.exclude, limit=key.limit),
        drop_refused=key.drop_refused,
        provenance=key.provenance,
        layout=key.layout,
        resume=False,
    )
    run = _Run(source, source_format, key.targets, out, chosen)
    together = Shards(journals, run.key())
    with _sink(out, chosen) as sink:

        def results() -> Iterator[tuple[Result, Staging]]:
            for index, ref in enumerate(run.selected()):
                journal = together.of(index)
                yield journal.result(index, ref), Copied(journal.work, sink.work)

        return run.assemble(sink, results())


@contextmanager
def _sink(out: str, settings: Settings) -> Iterator[Sink]:
    """A sink that is gone without a trace unless it was committed."""
    sink = Sink(out, force=settings.force)
    try:
        yield sink
    finally:
        sink.abort()


class _Run:
    """The moving parts of one conversion."""

    def __init__(
        self,
        source: Source,
        source_format: Format,
        targets: Sequence[str],
        out: str,
        settings: Settings,
    ) -> None:
        if not targets:
            raise UsageError("no target format", reason="no-target", remedy="Name one with --to")
        if isinstance(source, FolderSource | ArchiveSource) and source.root is not None:
            check_apart(source.root, out)
        self._source = source
        self._format = source_format
        self._settings = settings
        self._formats = {name: get_format(name) for name in dict.fromkeys(targets)}
        self._reader = source_format.reader(source, settings.options)
        self._repo = self._reader.repo()
        self._sidecar = Sidecar.of(source, source_format.name, self._formats)
        self._alone = len(self._formats) == 1
        going_home = self._sidecar is not None or source_format.name in self._formats
        self._home = self._alone and going_home
        aim = Aim(options=settings.options, alone=self._alone, home=self._home)
        self._writers = {name: each.writer(self._repo, aim) for name, each in self._formats.items()}
        self._archive = settings.layout is Layout.ARCHIVE
        self._skipped = 0

    # the first half: every task by itself

    def tasks(
        self, work: str, numbered: Iterable[tuple[int, TaskRef]] | None = None
    ) -> Generator[tuple[int, Result], None, None]:
        """What becomes of each task (None: of all that are selected), folders staged in `work`.

        Close it before what is in `work` is removed: workers may be writing there.
        """
        plan = Plan(
            source_format=self._format.name,
            reader=self._reader,
            sidecar=self._sidecar,
            writers=tuple(self._writers.items()),
            work=work,
            archive=self._archive,
            weaknesses=self._format.weaknesses,
        )
        wanted = enumerate(self.selected()) if numbered is None else numbered
        lay_out = self._source.lay_out if isinstance(self._source, ArchiveSource) else None
        yield from convert_tasks(plan, wanted, self._settings.jobs, lay_out)

    def selected(self) -> Iterator[TaskRef]:
        """The tasks to convert, in order; counts those that are left out by choice."""
        refs: Iterable[TaskRef] = self._reader.refs()
        if self._sidecar is not None and self._home:
            refs = self._sidecar.in_order(refs)
        selection, taken = self._settings.selection, 0
        self._skipped = 0
        for ref in refs:
            full = selection.limit is not None and taken >= selection.limit
            if full or not selection.wants(ref.id):
                self._skipped += 1
                continue
            taken += 1
            yield ref

    def key(self, shard: tuple[int, int] = (1, 1)) -> Key:
        """What a journal of this conversion must say that it is of."""
        settings, selection = self._settings, self._settings.selection
        return Key(
            version=version("rlconvert"),
            source=self._source.origin.label,
            commit=self._source.origin.commit,
            source_format=self._format.name,
            targets=tuple(self._formats),
            options=dict(sorted(settings.options.items())),
            include=selection.include,
            exclude=selection.exclude,
            limit=selection.limit,
            drop_refused=settings.drop_refused,
            provenance=settings.provenance,
            layout=settings.layout,
            shard=shard[0],
            shards=shard[1],
        )

    def fill(self, journal: Journal) -> None:
        """Convert the tasks of a journal that it does not have yet."""
        todo = (
            (index, ref)
            for index, ref in numbered(self.selected(), journal.key)
            if index not in journal
        )
        with closing(journal), closing(self.tasks(journal.work, todo)) as tasks:
            for index, result in tasks:
                journal.write(index, result)
                if self._settings.progress is not None:
                    self._settings.progress(len(journal))
                if self._settings.fail_fast and (faults := result.faults()):
                    raise faults[0]

    # the second half: the output, in the source's order

    def assemble(self, sink: Sink, results: Iterable[tuple[Result, Staging]]) -> Conversion:
        """Put every task in its place, then all that belongs to none, and commit."""
        settings = self._settings
        write = _sidecar_lines(sink) if settings.provenance else _nowhere
        report = Report(self._source.origin.label, tuple(self._formats), write)
        sidecar = SidecarWriter(sink if settings.provenance else None)
        ways = {name: each.ways for name, each in self._formats.items()}
        assembler = Assembler(
            sink,
            report,
            ways,
            sidecar,
            drop_refused=settings.drop_refused,
            packing=Packing(sink) if self._archive else None,
        )
        for result, staging in results:
            report.read += 1
            faults = assembler.take(result, staging)
            if settings.progress is not None:
                settings.progress(report.read)
            if settings.on_verdict is not None:
                settings.on_verdict(result.ref.id, faults)
            if faults and settings.fail_fast:
                raise faults[0]
        assembler.skip(self._skipped)
        error = self._nothing_done(report)
        if error is None:
            for fault in self._repo.faults:
                report.fault(fault)
            for note in notes_on(self._source, self._format.name, self._formats):
                for name in self._formats:
                    report.note(name, "", note)
            assembler.close(self._repo, self._shared(), self._writers, self._intro())
            sidecar.finish(self._provenance(report, complete=assembler.complete))
            sink.commit()
        return Conversion(
            report=report, source=self._format, formats=self._formats, out=sink.out, error=error
        )

    def _shared(self) -> FileTree:
        if self._sidecar is not None and self._alone:
            return self._sidecar.shared()
        return self._repo.shared

    def _nothing_done(self, report: Report) -> RlconvertError | None:
        if report.any_converted:
            return None
        if report.read == 1 and report.first_fault is not None:
            return report.first_fault
        missing = (fault for fault in self._repo.faults if fault.reason == NOT_FETCHED)
        if not report.read and (fault := next(missing, None)) is not None:
            return fault
        if report.read:
            said, remedy = "not one task can be carried", "The reasons are in the report"
        elif self._settings.selection.everything:
            said, remedy = "the source has no tasks", None
        else:
            said, remedy = "no task fits the selection", "Change --include, --exclude or --limit"
        return NothingRepresentable(said, reason="nothing-representable", remedy=remedy)

    def _intro(self) -> str:
        *titles, last = (each.title for each in self._formats.values())
        goal = f"{', '.join(titles)} and {last}" if titles else last
        origin = self._repo.origin
        what = f"{origin.repo} at {origin.commit}" if origin.repo else origin.label
        return (
            f"Converted from {self._format.title} for {goal} by "
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

    def _provenance(self, report: Report, *, complete: bool) -> ProvenanceRecord:
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
            complete=complete,
            tasks=report.read,
            options=dict(sorted(self._options())),
        )


def _sidecar_lines(sink: Sink) -> Callable[[bytes], None]:
    return lambda line: sink.append(LOSS, line)


def _nowhere(_: bytes) -> None:
    return None
