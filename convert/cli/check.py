"""The verb `check`: the real frameworks say whether they load a repo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rlconvert.errors import CheckFailed, JudgeMissing, RlconvertError, UsageError

from .flags import AsJson
from .talk import exit_on_error, say

if TYPE_CHECKING:
    from rlconvert.proof.checking import Checked, CheckRun

OutArg = Annotated[str, typer.Argument(metavar="OUT", help="The folder of the repo.")]
Frameworks = Annotated[
    list[str] | None,
    typer.Option(
        "--framework", metavar="NAME", help="Ask this framework, not those OUT was converted for."
    ),
]
Using = Annotated[
    list[str] | None,
    typer.Option(
        "--using", metavar="NAME=PYTHON", help="Ask the framework that this Python has installed."
    ),
]
Timeout = Annotated[
    float, typer.Option("--timeout", min=1, help="Seconds that each question may take.")
]
Junit = Annotated[
    str | None,
    typer.Option(
        "--junit", metavar="FILE", help="Write a JUnit report, a case per framework and task."
    ),
]
_MOST = 12


def check(
    out: OutArg,
    framework: Frameworks = None,
    using: Using = None,
    timeout: Timeout = 3600,
    as_json: AsJson = False,
    junit: Junit = None,
) -> None:
    """Ask the real frameworks whether they load OUT, and record what they say.

    Each runs in an environment of its own, which is made on first use and kept.
    """
    with exit_on_error():
        from rlconvert.proof.checking import check as run_check
        from rlconvert.proof.enclosure import Limits

        run = run_check(
            out,
            frameworks=framework or (),
            using=using_of(using or []),
            limits=Limits(seconds=timeout),
            on_start=lambda title: say(f"rlconvert: asking {title}"),
        )
        if junit is not None:
            _write_junit(junit, run)
        if as_json:
            import json

            typer.echo(json.dumps(run.facts(), indent=2).encode())
        else:
            _show(run)
        if run.exit_code:
            raise typer.Exit(run.exit_code)


def using_of(given: list[str]) -> dict[str, str]:
    """By framework the Python that ``--using`` names; `UsageError`."""
    found: dict[str, str] = {}
    for each in given:
        name, equals, python = each.partition("=")
        if not equals or not name or not python:
            raise UsageError(
                f"--using takes NAME=PYTHON, not {each!r}",
                reason="bad-using",
                remedy="Write it like --using NAME=/path/to/venv/bin/python",
            )
        found[name] = python
    return found


def _faults(result: Checked) -> list[RlconvertError]:
    if result.missing is not None:
        return [JudgeMissing(result.missing.problem, reason=result.missing.reason)]
    faults: list[RlconvertError] = [
        CheckFailed(fault, reason="does-not-load") for fault in result.verdict.faults
    ]
    if not result.verdict.tasks:
        faults.append(CheckFailed("it finds no task at all", reason="no-task"))
    return faults


def _write_junit(path: str, run: CheckRun) -> None:
    from .junit import JunitReport

    with JunitReport(path, "rlconvert check") as report:
        for result in run.results:
            report.case(result.format, _faults(result))
            for each in result.verdict.tasks:
                why = (
                    []
                    if each.reason is None
                    else [CheckFailed(each.reason, reason="does-not-load")]
                )
                report.case(f"{result.format}: {each.task}", why)


def _show(run: CheckRun) -> None:
    from rlconvert.files import printable

    from .tables import show_rows

    show_rows(("framework", "versions", "tasks", "verdict"), map(_row, run.results))
    for result in run.results:
        failing = [(printable(each.task), each.reason or "") for each in result.verdict.failures]
        failing += [("(the repo)", str(fault)) for fault in _faults(result)]
        show_rows((result.title, "because"), _first(failing))
        warnings = [(result.title, warning) for warning in result.verdict.warnings]
        show_rows(("warned by", "of"), _first(warnings))


def _row(result: Checked) -> tuple[str, ...]:
    said = result.verdict
    if result.missing is not None:
        return result.title, "", "", "not available"
    versions = [f"{name} {version}" for name, version in said.versions.items()]
    versions += [f"Python {said.python}"] * bool(said.python)
    versions += ["network not blocked"] * (not result.network_blocked)
    verdict = "loads" if said.passed else "does not load"
    return result.title, ", ".join(versions), f"{said.loaded:,}/{len(said.tasks):,}", verdict


def _first(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    more = len(rows) - _MOST
    return rows if more <= 0 else [*rows[:_MOST], (f"and {more:,} more", "")]
