"""Running the tasks of a repo: the oracle has to earn full reward, doing nothing less.

Running a task is running a stranger's code. It happens in containers of the framework, of which
each run leaves nothing; the code gets no variable and no file of the user's but what was named.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rlconvert import __version__
from rlconvert.archives.view import unpacked
from rlconvert.errors import ExitCode, JudgeMissing, SourceChanged
from rlconvert.files import printable
from rlconvert.format import Format, Options, choose_format, format_names, get_format, sniff
from rlconvert.judge import LOCAL
from rlconvert.model import TaskRef
from rlconvert.proof.proofs import recorded_checks, recorded_runs, write_proofs
from rlconvert.proof.published import layout_digest
from rlconvert.proof.runs import MOST, RunRecord, VerdictRecord
from rlconvert.selection import Selection
from rlconvert.source import FolderSource

from .engines import NO_DIGEST
from .orders import Prepared, Sample, Side
from .sandboxes import Machine, Question, machine
from .verdicts import Outcome, TaskRun, not_run

_AT_ONCE = 64
"""Tasks whose folders are laid out at a time."""

OnStart = Callable[[str], None]
OnRun = Callable[[int, TaskRun], None]
"""Called with how many tasks are done, and the last verdict."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One task on both sides. `same_files`: its folders are equal, so it was run once."""

    here: TaskRun
    there: TaskRun
    same_files: bool

    @property
    def equal(self) -> bool:
        """Whether both earn the same: every named reward, of every step, by both agents."""
        return self.here.said == self.there.said


@dataclass(slots=True, kw_only=True)
class Ran:
    """What came of one framework running the tasks, or that it cannot be had."""

    name: str
    title: str
    sandbox: str
    versions: Mapping[str, str] = field(default_factory=dict)
    python: str = ""
    images: Mapping[str, str] = field(default_factory=dict)
    networks: set[str] = field(default_factory=set)
    runs: list[TaskRun] = field(default_factory=list)
    compared: list[Compared] = field(default_factory=list)
    missing: JudgeMissing | None = None
    seconds: float = 0.0

    def count(self, outcome: Outcome) -> int:
        """How many tasks came out so."""
        return sum(run.outcome is outcome for run in self.runs)

    @property
    def base(self) -> Literal["published", "substitute", "unknown"]:
        """Whether the images came from a registry."""
        if self.sandbox == LOCAL:
            return "substitute"
        if not self.images:
            return "unknown"
        return "substitute" if NO_DIGEST in self.images.values() else "published"

    def facts(self) -> dict[str, object]:
        """The outcome for ``--json``."""
        if self.missing is not None:
            return {"outcome": "not available", "problem": self.missing.problem}
        return {
            "versions": dict(self.versions),
            "python": self.python,
            "sandbox": self.sandbox,
            "images": dict(self.images),
            "base": self.base,
            "network": sorted(self.networks),
            "total": len(self.runs),
            "counts": {each.value: self.count(each) for each in Outcome},
            "tasks": [_facts(run) for run in self.runs],
            "compared": [
                {
                    "task": each.here.task,
                    "as": each.there.task,
                    "equal": each.equal,
                    "same_files": each.same_files,
                    "there": _facts(each.there),
                }
                for each in self.compared
            ],
            "seconds": round(self.seconds, 1),
        }


def _facts(run: TaskRun) -> dict[str, object]:
    return {
        "task": run.task,
        "verdict": run.outcome.value,
        "reason": run.reason,
        "problem": run.problem,
        "oracle": None if run.oracle is None else run.oracle.facts(),
        "nop": None if run.nop is None else run.nop.facts(),
        "log": run.log,
        "seconds": round(run.seconds, 1),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRun:
    """One run of `verify`. `recorded`: the verdicts stand in the repo now."""

    source: str
    digest: str
    results: tuple[Ran, ...]
    recorded: bool

    def exit_code(self, *, allow_unverified: bool) -> ExitCode:
        """What was disproved matters more than what was not tried, and that than no oracle."""
        said = {run.outcome for each in self.results for run in each.runs}
        if Outcome.FAILED in said or not all(
            each.equal for result in self.results for each in result.compared
        ):
            return ExitCode.VERIFY_FAILED
        if any(each.missing is not None for each in self.results):
            return ExitCode.JUDGE_MISSING
        if Outcome.NOT_RUN in said or not said:
            return ExitCode.NOT_VERIFIED
        if Outcome.NO_ORACLE in said and not allow_unverified:
            return ExitCode.REFUSED
        return ExitCode.DONE

    def facts(self) -> dict[str, object]:
        """Everything for ``--json``."""
        return {
            "source": self.source,
            "digest": self.digest,
            "frameworks": {each.name: each.facts() for each in self.results},
            "recorded": self.recorded,
        }


def verify(
    source: FolderSource,
    *,
    against: FolderSource | None = None,
    read_as: str | None = None,
    options: Options | None = None,
    frameworks: Sequence[str] = (),
    using: Mapping[str, str] | None = None,
    question: Question | None = None,
    selection: Selection | None = None,
    sample: Sample | None = None,
    record: bool = True,
    resume: bool = False,
    on_start: OnStart | None = None,
    on_run: OnRun | None = None,
) -> VerifyRun:
    """Run the tasks of a repo by each framework, and record the verdicts in it.

    Without `frameworks` the first that runs tasks is asked. With `against` the tasks of another
    repo that were made from these, or these from them, are run as well and have to earn the same;
    where a task has the very same files there, it is not run again. A repo with several layouts is
    read as the framework's own, else as the first, unless `read_as` names one. `resume` goes on
    with a run that did not end.
    """
    using, question = using or {}, question or Question()
    chosen = [get_format(name) for name in dict.fromkeys(frameworks) or _default()]
    digest = layout_digest(source)
    selection, sample = selection or Selection(), sample or Sample()
    results = []
    what = ""
    for each in chosen:
        if on_start is not None:
            on_start(each.title)
        ran = Ran(name=each.name, title=each.title, sandbox=question.sandbox or "")
        results.append(ran)
        started = time.monotonic()
        try:
            found = machine(each, using.get(each.name), question, source.root, resume=resume)
        except JudgeMissing as missing:
            ran.missing = missing
            continue
        with found:
            side = _side(source, read_as, each, options)
            other = None if against is None else _side(against, None, each, options)
            refs = side.refs(selection, sample)
            what = _said(side, selection, sample, len(refs))
            _run_all(ran, found, _Pairs(side, other, refs), question, on_run)
        ran.seconds = time.monotonic() - started
    if layout_digest(source) != digest:
        raise SourceChanged(
            "the repo changed while its tasks were run: nothing was recorded",
            reason="changed-while-verified",
            remedy="Verify again when nothing writes to it",
        )
    record = record and any(each.missing is None for each in results)
    if record:
        _record(source, results, digest, what, question, against)
    return VerifyRun(source=source.root, digest=digest, results=tuple(results), recorded=record)


def _side(
    folder: FolderSource, read_as: str | None, framework: Format, given: Options | None
) -> Side:
    source = unpacked(folder)
    if read_as is None and any(each.format == framework.name for each in sniff(source)):
        read_as = framework.name
    chosen = choose_format(source, read_as, first_of_several=True)
    return Side(source, chosen, given or {})


def _default() -> list[str]:
    return [name for name in format_names() if _runs(get_format(name))][:1]


def _runs(each: Format) -> bool:
    return each.judge is not None and each.judge.runner is not None


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The tasks to run, some at a time, each with its twin in the other repo, if there is one."""

    side: Side
    against: Side | None
    refs: Sequence[TaskRef]

    def chunks(self) -> Iterator[list[tuple[Prepared | TaskRun, Prepared | TaskRun | None]]]:
        """Chunks of pairs, in the repo's order."""
        twins: dict[str, TaskRef] = {}
        if self.against is not None:
            every = self.against.refs(Selection(), Sample())
            twins = {self.against.twin(ref): ref for ref in every}
        for start in range(0, len(self.refs), _AT_ONCE):
            chunk: list[tuple[Prepared | TaskRun, Prepared | TaskRun | None]] = []
            for ref in self.refs[start : start + _AT_ONCE]:
                twin = twins.get(self.side.twin(ref))
                other = None
                if self.against is not None and twin is not None:
                    other = self.against.prepare(twin)
                chunk.append((self.side.prepare(ref), other))
            yield chunk


def _run_all(
    ran: Ran, found: Machine, pairs: _Pairs, question: Question, on_run: OnRun | None
) -> None:
    ran.sandbox = found.sandbox
    if found.sandbox == LOCAL:
        ran.name, ran.title = LOCAL, "rlconvert"
    for chunk in pairs.chunks():
        here = _run_some(ran, found, [mine for mine, _ in chunk], question)
        other = [twin for mine, twin in chunk if twin is not None and not _same_files(mine, twin)]
        there = iter(_run_some(ran, found, other, question))
        for (mine, twin), run in zip(chunk, here, strict=True):
            ran.runs.append(run)
            if twin is not None:
                same = _same_files(mine, twin)
                ran.compared.append(Compared(run, run if same else next(there), same))
            if on_run is not None:
                on_run(len(ran.runs), run)
    ran.images = found.images
    if found.head is not None:
        ran.versions, ran.python = found.head.versions, found.head.python


def _same_files(mine: Prepared | TaskRun, twin: Prepared | TaskRun) -> bool:
    if isinstance(mine, TaskRun) or isinstance(twin, TaskRun):
        return False
    return mine.digest == twin.digest and mine.folder == twin.folder


def _run_some(
    ran: Ran, found: Machine, tasks: Sequence[Prepared | TaskRun], question: Question
) -> list[TaskRun]:
    """Their verdicts, in the same order."""
    ready: list[Prepared] = []
    verdicts: list[TaskRun | None] = []
    for task in tasks:
        verdict = task if isinstance(task, TaskRun) else _forbidden(task, question)
        verdicts.append(verdict)
        if isinstance(task, Prepared):
            ran.networks.add(task.network)
            if verdict is None:
                ready.append(task)
    done = iter(found.run(ready))
    return [next(done) if verdict is None else verdict for verdict in verdicts]


def _forbidden(task: Prepared, question: Question) -> TaskRun | None:
    """Why a task is not even tried."""
    if task.asks and not question.allow_host:
        problem = f"{'; '.join(task.asks)}. Allow it with --allow-host if you trust it"
        return not_run(task.task, "asks-for-the-host", problem)
    if unset := task.variables.difference(question.variables):
        names = sorted(unset)
        passing = " ".join(f"--pass {name}" for name in names)
        problem = f"it needs {', '.join(names)} of your environment. Give them with {passing}"
        return not_run(task.task, "unset-variable", problem)
    return None


def _said(side: Side, selection: Selection, sample: Sample, count: int) -> str:
    """Which tasks were chosen, for the record."""
    if count == sum(1 for _ in side.refs(Selection(), Sample())):
        return "all"
    if sample.count:
        return f"a sample of {count}, seed {sample.seed}"
    return f"{count} chosen by name" if selection.include or selection.exclude else f"first {count}"


def _record(
    source: FolderSource,
    results: Sequence[Ran],
    digest: str,
    selection: str,
    question: Question,
    against: FolderSource | None,
) -> None:
    runs = recorded_runs(source)
    same_as = None if against is None else layout_digest(against)
    for ran in results:
        if ran.missing is not None:
            continue
        equal = bool(ran.compared) and all(each.equal for each in ran.compared)
        worst = sorted(ran.runs, key=lambda run: _WORST_FIRST.index(run.outcome))
        runs[ran.name] = RunRecord(
            by=__version__,
            versions=dict(ran.versions),
            python=ran.python,
            sandbox=ran.sandbox,
            images=dict(sorted(ran.images.items())),
            base=ran.base,
            network=tuple(sorted(ran.networks)),
            digest=digest,
            selection=selection,
            repeat=question.repeat,
            full=question.full,
            total=len(ran.runs),
            verified=ran.count(Outcome.VERIFIED),
            failed=ran.count(Outcome.FAILED),
            no_oracle=ran.count(Outcome.NO_ORACLE),
            not_run=ran.count(Outcome.NOT_RUN),
            same_as=same_as if equal else None,
            verdicts=tuple(_verdict_record(run) for run in worst[:MOST]),
        )
    write_proofs(source, digest, checks=recorded_checks(source), runs=runs)


_WORST_FIRST = (Outcome.FAILED, Outcome.NOT_RUN, Outcome.NO_ORACLE, Outcome.VERIFIED)


def _verdict_record(run: TaskRun) -> VerdictRecord:
    return VerdictRecord(
        task=printable(run.task),
        verdict=run.outcome.value,
        reason=run.reason,
        problem=run.problem,
        oracle=None if run.oracle is None else str(run.oracle),
        nop=None if run.nop is None else str(run.nop),
    )
