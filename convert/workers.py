"""One task from its source to the staged output: the part of a run that can go parallel.

A worker loads, restores, writes and stages tasks; it never decides about the output as a whole.
What comes home is small: rows, notes, digests, and folders that wait to be moved to their place.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from .archives.tarred import tar_of
from .errors import ReadError, RlconvertError, TooBig, WriteError
from .files import Blob, File, FileTree, unreadable
from .format import (
    AppendRow,
    ListItem,
    Note,
    PutTree,
    Reader,
    Refusal,
    Writer,
    Written,
    none_known,
)
from .model import RowLine, Task, TaskRef
from .provenance import Sidecar
from .sidecar import FileRecord, RowRecord, TargetRecord, TaskRecord, line_of, records_of
from .sink import write_tree, writing
from .soundness import Weakness

_SMALL = 4000
"""Sets up to this size are converted in this process: starting others would take longer."""

_CHUNK = 128
_CHUNKS_AHEAD = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All a worker needs to know. `archive`: folders are staged as archives, a file each."""

    source_format: str
    reader: Reader
    sidecar: Sidecar | None
    writers: tuple[tuple[str, Writer], ...]
    work: str
    archive: bool = False
    weaknesses: Callable[[Task], tuple[Weakness, ...]] = none_known


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A task as one target has it; `folders` are paths and the names they are staged under.

    `counted` is its id there, when other tasks may have the same.
    """

    target: str
    way: str
    rows: tuple[AppendRow, ...]
    items: tuple[ListItem, ...]
    notes: tuple[Note, ...]
    folders: tuple[tuple[str, str], ...]
    counted: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one task: a fault, or for each target what was made or why not.

    Its line in the manifest is written already when all its bytes are in the output; else
    `missing` are those that are not, and the line waits for their place.
    """

    ref: TaskRef
    fault: RlconvertError | None = None
    made: tuple[Made, ...] = ()
    refused: tuple[tuple[str, Refusal], ...] = ()
    line: bytes | None = None
    record: TaskRecord | None = None
    missing: dict[str, bytes] | None = None
    weaknesses: tuple[Weakness, ...] = ()

    def faults(self) -> list[RlconvertError]:
        """Why it is not whole in every target, as far as the task itself tells."""
        own = [] if self.fault is None else [self.fault]
        return own + [refusal.as_error(self.ref.id, target) for target, refusal in self.refused]


def convert_task(plan: Plan, index: int, ref: TaskRef) -> Result:
    """Load one task and stage it. A fault of the task comes back; a fault of the output raises."""
    try:
        task = plan.reader.load(ref)
        if plan.sidecar is not None:
            task = plan.sidecar.restore(task)
    except RlconvertError as error:
        return Result(ref=ref, fault=error.for_task(ref.id))
    except OSError as error:
        return Result(ref=ref, fault=unreadable(ref.path, error).for_task(ref.id))
    except RecursionError:
        return Result(
            ref=ref,
            fault=TooBig("it is nested too deeply to be read", reason="too-deep", task=ref.id),
        )
    trees: dict[str, tuple[FileTree, str]] = {}
    try:
        return _stage(plan, index, ref, task, trees)
    except (ReadError, TooBig) as error:  # a large file is only read now, and may have changed
        for number in range(len(trees) + 1):
            shutil.rmtree(f"{plan.work}/{index}-{number}", ignore_errors=True)
        return Result(ref=ref, fault=error.for_task(ref.id))


def _stage(
    plan: Plan, index: int, ref: TaskRef, task: Task, trees: dict[str, tuple[FileTree, str]]
) -> Result:
    """`trees` are the folders that were staged, by their place in the output."""
    made: list[Made] = []
    refused: list[tuple[str, Refusal]] = []
    targets: dict[str, TargetRecord] = {}
    for name, writer in plan.writers:
        written = writer.task(task, ref.tasksets)
        if isinstance(written, Refusal):
            refused.append((name, written))
            continue
        puts = [part for part in written.parts if isinstance(part, PutTree)]
        if plan.archive:  # a row needs a path, which a task at the root has not
            puts = [replace(part, path=part.path or f"tasks/{written.id}") for part in puts]
        folders = [(part.path, _stage_tree(plan, index, part, trees)) for part in puts]
        targets[name] = TargetRecord(
            id=written.id,
            digest=written.native.digest,
            way=written.way,
            rewritten={path: _digest(written.native.tree, path) for path in written.rewritten},
        )
        made.append(_made(name, written, tuple(folders)))
    verbatim = _verbatim(plan, made)
    record, missing = _record(plan, ref, task, targets, trees, verbatim)
    result = Result(
        ref=ref,
        made=tuple(made),
        refused=tuple(refused),
        weaknesses=plan.weaknesses(task) if made else (),
    )
    if not missing:
        return replace(result, line=line_of(record))
    return replace(result, record=record, missing=missing)


def _verbatim(plan: Plan, made: list[Made]) -> tuple[RowLine, ...]:
    """The rows that the output has as the source had them: where it has nothing but them."""
    alone = [each for each in made if each.target == plan.source_format and len(plan.writers) == 1]
    return tuple(RowLine(row.path, row.line) for each in alone for row in each.rows)


def _made(target: str, written: Written, folders: tuple[tuple[str, str], ...]) -> Made:
    return Made(
        target=target,
        way=written.way,
        rows=tuple(part for part in written.parts if isinstance(part, AppendRow)),
        items=tuple(part for part in written.parts if isinstance(part, ListItem)),
        notes=written.notes,
        folders=folders,
        counted=written.id if written.counted else None,
    )


def _stage_tree(
    plan: Plan, index: int, part: PutTree, trees: dict[str, tuple[FileTree, str]]
) -> str:
    if part.path in trees:
        tree, staged = trees[part.path]
        if tree != part.tree:
            raise WriteError(
                "two targets put different files at one place",
                reason="writers-disagree",
                file=part.path,
            )
        return staged
    name = f"{index}-{len(trees)}"
    staged = f"{plan.work}/{name}"
    with writing(part.path):
        if plan.archive:
            Path(staged).write_bytes(tar_of(part.tree))
        else:
            try:
                write_tree(staged, part.tree)
            except FileExistsError:  # left by a run that was killed
                shutil.rmtree(staged)
                write_tree(staged, part.tree)
    trees[part.path] = (part.tree, name)
    return name


def _record(
    plan: Plan,
    ref: TaskRef,
    task: Task,
    targets: dict[str, TargetRecord],
    trees: dict[str, tuple[FileTree, str]],
    verbatim: tuple[RowLine, ...],
) -> tuple[TaskRecord, dict[str, bytes]]:
    """The task's line in the manifest, and the bytes of its source that stand nowhere else."""
    native = task.native.get(plan.source_format)
    if native is None:
        return TaskRecord(task=ref.id, place=ref.path, targets=targets), {}
    files, links, empty = records_of(native.tree)
    missing: dict[str, bytes] = {}
    folder, lacks = _folder_of(native.tree, targets, trees)
    missing |= {blob.sha256: blob.read() for blob in lacks}
    rows = []
    for row in native.rows:
        blob = Blob(row.line)
        if row not in verbatim:
            missing[blob.sha256] = row.line
        rows.append(RowRecord(path=row.path, file=FileRecord(sha256=blob.sha256)))
    record = TaskRecord(
        task=ref.id,
        place=native.path,
        folder=folder,
        targets=targets,
        files=files,
        links=links,
        empty=empty,
        rows=tuple(rows),
    )
    return record, missing


def _folder_of(
    native: FileTree, targets: dict[str, TargetRecord], trees: dict[str, tuple[FileTree, str]]
) -> tuple[str | None, list[Blob]]:
    """Where a task's own bytes stand in the output, and those of them that do not stand there."""
    blobs = {path: entry.blob for path, entry in native if isinstance(entry, File)}
    rewritten = {path for record in targets.values() for path in record.rewritten}
    for path, (tree, _) in trees.items():
        if tree == native:
            return path, []
    kept = {path: entry for path, entry in native if path not in rewritten}
    for folder, (tree, _) in trees.items():
        if rewritten and kept == {path: each for path, each in tree if path not in rewritten}:
            return folder, [blobs[path] for path in sorted(rewritten & blobs.keys())]
    return None, list(blobs.values())


def _digest(tree: FileTree, path: str) -> str:
    file = tree.file(path)
    if file is None:
        raise TypeError(f"a target says that it rewrote {path}, which it did not write")
    return file.blob.sha256


# --- many at once ------------------------------------------------------------------------------


def convert_tasks(
    plan: Plan,
    numbered: Iterable[tuple[int, TaskRef]],
    jobs: int | None,
    lay_out: Callable[[Iterable[str]], None] | None = None,
) -> Iterator[tuple[int, Result]]:
    """Results in the order of the tasks, whatever the number of jobs (None: as many as fit).

    `lay_out` is called with the places of tasks before another process is given them.
    """
    stream = iter(numbered)
    many = os.cpu_count() or 1 if jobs is None else jobs
    first = list(islice(stream, _SMALL + 1)) if jobs is None else []
    if many == 1 or (jobs is None and len(first) <= _SMALL):
        for index, ref in chain(first, stream):
            yield index, convert_task(plan, index, ref)
        return
    yield from _in_processes(plan, chain(first, stream), many, lay_out)


def _in_processes(
    plan: Plan,
    stream: Iterator[tuple[int, TaskRef]],
    jobs: int,
    lay_out: Callable[[Iterable[str]], None] | None,
) -> Iterator[tuple[int, Result]]:
    # Spawned, not forked: the process may have threads, and a worker starts in a known state.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context, initializer=_start, initargs=(plan,))
    waiting: deque[Future[list[tuple[int, Result]]]] = deque()
    try:
        while True:
            while len(waiting) < jobs * _CHUNKS_AHEAD:
                chunk = list(islice(stream, _CHUNK))
                if not chunk:
                    break
                if lay_out is not None:
                    lay_out(ref.path for _, ref in chunk)
                waiting.append(pool.submit(_convert_chunk, chunk))
            if not waiting:
                return
            yield from waiting.popleft().result()
    except BrokenProcessPool as error:
        raise RlconvertError(
            "a worker process ended before its work was done",
            reason="worker-killed",
            remedy="Where memory is short, convert with --jobs 1",
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_plan: list[Plan] = []


def _start(plan: Plan) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the run and cleans up
    _plan.append(plan)


def _convert_chunk(chunk: list[tuple[int, TaskRef]]) -> list[tuple[int, Result]]:
    return [(index, convert_task(_plan[0], index, ref)) for index, ref in chunk]
