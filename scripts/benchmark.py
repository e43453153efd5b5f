"""Measure the speed and the memory of rlconvert beside the targets it has.

    scripts/benchmark [--tasks N] [--runs N] [--large] [--rows N] [--archives N] [--dir DIR]

A made-up set of Harbor tasks (2,000 with six small files each) is converted by the command line,
whole processes, in turn with `cp -r` of the same set; shown are medians. So are NeMo Gym rows.
--large also converts 100,000 tasks and 1,000,000 rows and watches the memory; --rows N converts N
rows and nothing else; --archives N only packs N tasks into parquet files of archives and unpacks
them. DIR is where everything is written: by default /dev/shm where there is room
(so that the disk is not what is measured), else the folder for temporary files.

"Peak memory" is the sum, over all processes of the command, of the most each has had in RAM; pages
that they share count in each. Beside it stands what they had at one time, such pages counted once.
It is measured on a run of its own, on Linux only.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from .benchmark_rows import MANY_ROWS, ROWS, ROWS_PER_SECOND, make_rows
from .benchmark_tasks import FILES, make_tasks

ROOT = Path(__file__).resolve().parent.parent
SMALL = ROOT / "fixtures" / "harbor" / "hello"
LARGE = 100_000
SHM = Path("/dev/shm")  # noqa: S108 - a folder in RAM, not a fixed name in a shared one
_ENTRIES = FILES + 4  # of a task: its files and folders, each a page at most

TASKS_PER_SECOND = 1000
TIMES_CP = 2.0
MEGABYTES = 200
HELP_SECONDS = 0.3
INSPECT_SECONDS = 1.0
CONVERSIONS = (("harbor", "nemo"), ("harbor", "harbor"), ("nemo", "harbor"))


@dataclass
class Timings:
    """Wall-clock and processor seconds of the runs of one command."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def add(self, command: Sequence[str]) -> None:
        """Run the command once."""
        before, begin = os.times(), time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wall.append(time.perf_counter() - begin)
        after = os.times()
        self.cpu.append(
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )

    @property
    def seconds(self) -> float:
        """The median of the wall clock."""
        return median(self.wall)


@dataclass
class Peaks:
    """The peak resident size (kB) of each process of a command.

    `at_once` is the most that all had at one time, what they share counted once.
    """

    each: list[int]
    at_once: int


class Table:
    """The figures beside their targets."""

    def __init__(self) -> None:
        self.missed = 0
        print("| figure | target | measured | |\n|---|---|---|---|")

    def row(self, figure: str, target: str, measured: str, ok: bool | None = None) -> None:
        """One figure; `ok` is None where there is no target."""
        said = "" if ok is None else "ok" if ok else "missed"
        self.missed += ok is False
        print(f"| {figure} | {target} | {measured} | {said} |", flush=True)

    def memory(self, figure: str, peaks: Peaks) -> None:
        """The peak of a command."""
        each = peaks.each
        total, one = sum(each) / 1000, max(each) / 1000
        measured = (
            f"{total:.0f} MB in {len(each)} processes, the largest {one:.0f} MB; "
            f"{peaks.at_once / 1000:.0f} MB at one time"
        )
        self.row(figure, f"< {MEGABYTES} MB", measured, total < MEGABYTES)


def rlconvert(*arguments: str) -> list[str]:
    """The command line, in this Python."""
    return [sys.executable, "-m", "rlconvert", *arguments]


def conversion(source: Path, read_as: str, target: str, out: Path, jobs: int | None) -> list[str]:
    """The command for one conversion."""
    chosen = [] if jobs is None else ["--jobs", str(jobs)]
    asked = ["convert", str(source), str(out), "--from", read_as, "--to", target]
    return rlconvert(*asked, *chosen)


def speed(work: Path, tasks: int, runs: int, table: Table) -> None:
    """Conversions in turn with `cp -r`, each run from the start."""
    source, nemo, out = work / "bench", work / "nemo", work / "out"
    make_tasks(source, tasks)
    subprocess.run(
        conversion(source, "harbor", "nemo", nemo, None), check=True, capture_output=True
    )
    copying, start = Timings(), Timings()
    timings = {(way, jobs): Timings() for way in CONVERSIONS for jobs in (None, 1)}
    for _ in range(runs):
        copying.add(["cp", "-r", str(source), str(out)])
        shutil.rmtree(out)
        start.add(conversion(SMALL, "harbor", "nemo", out, 1))
        shutil.rmtree(out)
        for (way, jobs), timing in timings.items():
            timing.add(conversion(nemo if way[0] == "nemo" else source, *way, out, jobs))
            shutil.rmtree(out)
    copied = f"{copying.seconds:.2f} s, {tasks / copying.seconds:,.0f} tasks/s"
    table.row(f"`cp -r` of {tasks:,} tasks", "for scale", copied)
    table.row("a conversion of one task, start included", "for scale", f"{start.seconds:.2f} s")
    for ((read_as, target), jobs), timing in timings.items():
        rate, ratio = tasks / timing.seconds, timing.seconds / copying.seconds
        what = f"{read_as} -> {target}, {'default' if jobs is None else f'{jobs} job'}"
        measured = f"{rate:,.0f} tasks/s ({median(timing.cpu) / tasks * 1000:.2f} ms CPU a task)"
        if jobs is None:
            table.row(what, f">= {TASKS_PER_SECOND:,} tasks/s", measured, rate >= TASKS_PER_SECOND)
            bare = (timing.seconds - start.seconds) / copying.seconds
            beside = f"{ratio:.1f} times; {bare:.1f} without the start"
            table.row("the same, beside `cp -r`", "<= 2 times", beside, ratio <= TIMES_CP)
        else:
            table.row(what, "", measured)


def row_speed(work: Path, rows: int, runs: int, table: Table) -> None:
    """NeMo Gym rows by one process: home as they are, and rewritten."""
    source, out = work / "rows", work / "rows-out"
    make_rows(source, rows)
    for what, more in (("home as they are", []), ("rewritten", ["--normalise"])):
        timing = Timings()
        for _ in range(runs):
            timing.add([*conversion(source, "nemo", "nemo", out, 1), *more])
            shutil.rmtree(out)
        rate = rows / median(timing.cpu)
        measured = f"{rate:,.0f} rows/s of CPU, {rows / timing.seconds:,.0f} of wall clock"
        target = f">= {ROWS_PER_SECOND:,} rows/s per core, in and out"
        table.row(f"{rows:,} NeMo Gym rows, {what}", target, measured, rate >= ROWS_PER_SECOND)
    shutil.rmtree(source)


_JSON_ALONE = "import json, sys; [json.loads(line) and None for line in open(sys.argv[1], 'rb')]"


def many_rows(work: Path, rows: int, table: Table) -> None:
    """Speed and peak of one command, on very many rows."""
    source, out = work / "rows", work / "rows-out"
    make_rows(source, rows)
    reading = Timings()
    reading.add([sys.executable, "-c", _JSON_ALONE, str(source / "data" / "train.jsonl")])
    alone = f"{rows / reading.seconds:,.0f} rows/s"
    table.row(f"`json.loads` of {rows:,} rows", "for scale", alone)
    cpu, wall, peaks = watched(conversion(source, "nemo", "nemo", out, None))
    rate = rows / cpu
    measured = f"{rate:,.0f} rows/s of CPU, {rows / wall:,.0f} of wall clock"
    target = f">= {ROWS_PER_SECOND:,} rows/s per core, in and out"
    table.row(
        f"{rows:,} NeMo Gym rows, home as they are", target, measured, rate >= ROWS_PER_SECOND
    )
    table.memory("the same, peak memory", peaks)
    shutil.rmtree(source)
    shutil.rmtree(out)


def archives(work: Path, tasks: int, table: Table) -> None:
    """Speed and peak of a set that is packed into archives, and of the way back."""
    source, packed, out = work / "many", work / "many-packed", work / "many-out"
    make_tasks(source, tasks)
    packing = [*conversion(source, "harbor", "harbor", packed, None), "--layout", "archive"]
    for what, command in (
        ("into archives", packing),
        ("out of archives", conversion(packed, "harbor", "harbor", out, None)),
    ):
        cpu, wall, peaks = watched(command)
        rate = tasks / wall
        measured = f"{rate:,.0f} tasks/s ({cpu / tasks * 1000:.2f} ms CPU a task)"
        target = f">= {TASKS_PER_SECOND:,} tasks/s"
        table.row(f"{tasks:,} tasks, {what}", target, measured, rate >= TASKS_PER_SECOND)
        table.memory("the same, peak memory", peaks)
    subprocess.run(["diff", "-rq", "-x", ".rlconvert", str(source), str(out)], check=True)


def starting(runs: int, work: Path, table: Table) -> None:
    """Commands that do next to nothing."""
    helping, looking = Timings(), Timings()
    small = shutil.copytree(SMALL, work / "hello")
    for _ in range(max(runs, 5)):
        helping.add(rlconvert("--help"))
        looking.add(rlconvert("inspect", str(small)))
    for name, timing, target in (
        ("`rlconvert --help`", helping, HELP_SECONDS),
        ("`rlconvert inspect` of one task", looking, INSPECT_SECONDS),
    ):
        table.row(name, f"< {target} s", f"{timing.seconds:.2f} s", timing.seconds < target)


def memory(work: Path, tasks: int, table: Table) -> None:
    """The peak of whole commands, on a set of `tasks`."""
    if not Path("/proc/self/status").exists():
        table.row("peak memory", f"< {MEGABYTES} MB", "not measured: needs /proc")
        return
    source, nemo, out = work / "many", work / "many-nemo", work / "many-out"
    make_tasks(source, tasks)
    for read_as, target, place, made, gone in (
        ("harbor", "harbor", source, out, out),
        ("harbor", "nemo", source, nemo, source),  # never more than two copies
        ("nemo", "harbor", nemo, out, nemo),
    ):
        _, wall, peaks = watched(conversion(place, read_as, target, made, None))
        rate = tasks / wall
        what = f"peak memory, {tasks:,} tasks, {read_as} -> {target} ({rate:,.0f} tasks/s)"
        table.memory(what, peaks)
        shutil.rmtree(gone)
    shutil.rmtree(out)


def watched(command: Sequence[str]) -> tuple[float, float, Peaks]:
    """Seconds of CPU and of the wall clock of a command, and `peak_of` it."""
    before, begin = os.times(), time.perf_counter()
    peaks = peak_of(command)
    wall, after = time.perf_counter() - begin, os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system, wall, peaks


def peak_of(command: Sequence[str]) -> Peaks:
    """What a command has in RAM, by looking often."""
    peaks: dict[int, int] = {}
    at_once = [0]
    done = threading.Event()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:

        def watch() -> None:
            while not done.wait(0.05):
                pids = family(process.pid)
                at_once.append(sum(share(pid) for pid in pids))
                for pid in pids:
                    peaks[pid] = max(peaks.get(pid, 0), high_water(pid))

        watcher = threading.Thread(target=watch)
        watcher.start()
        status = process.wait()
        done.set()
        watcher.join()
    if status:
        raise subprocess.CalledProcessError(status, command)
    return Peaks([peak for peak in peaks.values() if peak], max(at_once))


def family(pid: int) -> list[int]:
    """A process and all below it that run a program of their own: a fork shares all it has."""
    program = _program(pid)
    found = [pid]
    for each in found:
        try:
            children = Path(f"/proc/{each}/task/{each}/children").read_text(encoding="ascii")
        except OSError:
            continue
        found += (child for child in map(int, children.split()) if _program(child) != program)
    return found


def _program(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def high_water(pid: int) -> int:
    """The most a process has had in RAM so far, in kB; 0 when it is gone."""
    return _said(f"/proc/{pid}/status", "VmHWM:")


def share(pid: int) -> int:
    """What a process has in RAM, in kB, less the others' shares of what it has with them."""
    return _said(f"/proc/{pid}/smaps_rollup", "Pss:")


def _said(file: str, name: str) -> int:
    try:
        text = Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith(name)), 0)


def chosen_folder(asked: Path | None, tasks: int) -> Path:
    """Where to write: what was asked for, else RAM where it has room for two copies and more."""
    if asked is not None:
        return asked
    if SHM.is_dir() and os.access(SHM, os.W_OK):
        room = os.statvfs(SHM)
        entries = 3 * _ENTRIES * tasks
        if room.f_favail > entries and room.f_bavail * room.f_frsize > 4096 * entries:
            return SHM
    return Path(tempfile.gettempdir())


def main() -> int:
    """Measure everything; the exit status is 0 whatever the figures, since machines differ."""
    parser = argparse.ArgumentParser(prog="scripts/benchmark", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--archives", type=int)
    parser.add_argument("--dir", type=Path)
    options = parser.parse_args()
    most = LARGE if options.large else options.tasks
    folder = chosen_folder(options.dir, most)
    load = os.getloadavg()[0]
    print(
        f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}, "
        f"load {load:.1f} before the start, files in {folder}\n"
    )
    with tempfile.TemporaryDirectory(prefix="benchmark-", dir=folder) as work:
        table = Table()
        if options.rows is not None:
            many_rows(Path(work), options.rows, table)
            return 0
        if options.archives is not None:
            archives(Path(work), options.archives, table)
            return 0
        speed(Path(work), options.tasks, options.runs, table)
        starting(options.runs, Path(work), table)
        memory(Path(work), most, table)
        row_speed(Path(work), ROWS, options.runs, table)
        if options.large:
            many_rows(Path(work), MANY_ROWS, table)
    table.row("peers, for scale", "", "`harbor task migrate` 4-14 tasks/s, BenchFlow 10-20 tasks/s")
    if load > 0.5:
        print("\nThe machine was busy with something else: wall-clock figures are too high.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
