"""The results as tables for people."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rlconvert.files import printable
from rlconvert.inspection import Inspection
from rlconvert.pipe import Conversion
from rlconvert.report import Key, Report, Tally
from rlconvert.there_and_back import RoundTrip

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_WIDTH = 100
_MOST = 12


def show_conversion(run: Conversion) -> None:
    """Counts per target, what was left out and why, and what became of the rest."""
    console, report = _console(), run.report
    for target in run.targets:
        done = report.converted(target)
        console.print(
            f"{done:,} of {tasks(report.read)} converted from {run.source.name} to {target}"
        )
    _print(console, _left_out(report))
    _print(console, _fates(run))
    if run.error is None:
        console.print(f"Written to {run.out}")


def _left_out(report: Report) -> Table:
    table = _table("left out", "tasks", "because", "first")
    for key, tally in _sorted(report.unreadable):
        _tally_row(table, f"cannot be read: {key.what}", tally)
    for key, tally in _sorted(report.refused):
        _tally_row(table, f"not to {key.target}: {key.what}", tally)
    return table


def _sorted(tallies: Mapping[Key, Tally]) -> list[tuple[Key, Tally]]:
    return sorted(tallies.items(), key=lambda item: (-item[1].count, item[0].what))


def _tally_row(table: Table, title: str, tally: Tally) -> None:
    why = f"{tally.detail}. {tally.remedy}" if tally.remedy else tally.detail
    table.add_row(title, f"{tally.count:,}", why, _first(tally))


def _first(tally: Tally) -> str:
    """The first task counted, and where in it."""
    task = printable(tally.examples[0])
    return f"{task}: {printable(tally.place)}" if tally.place and tally.place != task else task


def _fates(run: Conversion) -> Table:
    """The fates that are not exact: by way first, then those that are special to some tasks."""
    table = _table("field", "fate", "tasks", "because")
    ways = {target: run.formats[target].ways for target in run.targets}
    for _, of, fields, fate, reason in run.report.fates(ways, exact=False):
        table.add_row(fields, fate.value, of, reason)
    return table


def show_inspection(found: Inspection, address: str) -> None:
    """Verdicts first, then what it is made of, then the next command."""
    console = _console()
    repo = found.repo
    name = printable(repo.origin.label)
    console.print(f"{found.title} task set {name}: {tasks(found.tasks)}")
    for each in found.findings:
        console.print(f"Recognised as {each.format}: {each.layout}, by {printable(each.because)}")
    if found.archives.read:
        rows, packed = "rows of parquet, by path and task_binary", "an archive, by its task.toml"
        where = rows if found.archives.tables else packed
        console.print(f"Its tasks stand in {where}: {_listed(found.archives.read)}")
    if found.archives.unread:
        beside = found.archives.beside
        console.print(f"Not read, for there are {beside}: {_listed(found.archives.unread)}")
        console.print("  An archive that is named as SRC is read")
    console.print(f"Licence: {printable(repo.licence) if repo.licence else 'not stated'}")
    verdicts = _table("target", "tasks", "left out", "because", "first")
    for target, verdict in found.verdicts.items():
        verdicts.add_row(target, f"{verdict.converted:,}", "", "", "")
        tallies = {**found.unreadable, **verdict.refused}
        for reason, tally in sorted(tallies.items(), key=lambda item: -item[1].count):
            why = f"{reason}: {tally.detail}"
            verdicts.add_row("", "", f"{tally.count:,}", why, _first(tally))
    _print(console, verdicts)
    sets = _table("taskset", "version", "tasks")
    for taskset in repo.tasksets[:_MOST]:
        members = f"{found.tasksets[taskset.key]:,}"
        sets.add_row(printable(taskset.name), printable(taskset.version or ""), members)
    _print(console, sets)
    features = _table("feature", "tasks")
    for feature, count in found.features.most_common():
        features.add_row(feature, f"{count:,}")
    _print(console, features)
    weak = _table("weak verifier", "tasks", "because", "first")
    for reason, tally in sorted(
        found.weaknesses.items(), key=lambda item: (-item[1].count, item[0])
    ):
        _tally_row(weak, reason, tally)
    _print(console, weak)
    if found.best_target is not None:
        several = len(found.findings) > 1
        verb = f"rlconvert {found.format}-to-{found.best_target}"
        console.print("Next:" + (f" (read as {found.format})" if several else ""))
        console.print(f"  {verb} {address} OUT")


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST:,} more" if len(names) > _MOST else ""
    return ", ".join(map(printable, names[:_MOST])) + more


def show_roundtrip(trip: RoundTrip) -> None:
    """How much came back, and what did not."""
    console = _console()
    report = trip.there.report
    done = report.converted(trip.via)
    console.print(f"{done:,} of {tasks(report.read)} went to {trip.via} and back")
    console.print(f"{trip.same_bytes:,} came back byte for byte")
    console.print(f"{trip.same_meaning:,} came back with the same meaning without the sidecar")
    _print(console, _left_out(report))
    table = _table("task", "what did not come back")
    for each in trip.differences[:_MOST]:
        what = ", ".join(printable(path) for path in (*each.paths, *each.fields)[:_MOST])
        table.add_row(printable(each.task) or "(files of no task)", what)
    _print(console, table)
    if len(trip.differences) > _MOST:
        console.print(f"and {len(trip.differences) - _MOST:,} more")


def tasks(count: int) -> str:
    """``1 task``, ``2 tasks``."""
    return f"{count:,} task" if count == 1 else f"{count:,} tasks"


def show_rows(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    """A plain table."""
    table = _table(*head)
    for row in rows:
        table.add_row(*row)
    _print(_console(), table)


def _console() -> Console:
    from rich.console import Console

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH
    return Console(width=width, markup=False, highlight=False, emoji=False)


def _table(*columns: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, column in enumerate(columns):
        if number and column in ("tasks", "left out"):
            table.add_column(column, justify="right")
        else:
            table.add_column(column, no_wrap=not number, overflow="fold")
    return table


def _print(console: Console, table: Table) -> None:
    if not table.row_count:
        return
    with console.capture() as captured:
        console.print(table)
    console.print()
    for line in captured.get().splitlines():
        console.print(line.rstrip(), soft_wrap=True)
    console.print()
