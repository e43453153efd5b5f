"""The verb `verify`: tasks really run, with an oracle and with an agent that does nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from rlconvert.errors import NotVerified, RlconvertError, VerifyFailed
from rlconvert.format import Options

from .check import Using, using_of
from .flags import AsJson, From, Junit, SelectionFlags, SourceArg
from .talk import exit_on_error, progress, say, say_which

if TYPE_CHECKING:
    from rlconvert.running.verdicts import TaskRun
    from rlconvert.running.verifying import Ran, VerifyRun

Runners = Annotated[
    list[str] | None,
    typer.Option(
        "--framework",
        metavar="NAME",
        help="Have this framework run them; may be repeated.",
        show_default="the first that runs tasks",
    ),
]
_MOST = 12
_LOG_LINES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyFlags(SelectionFlags):
    """Where tasks are run, how often, and what counts."""

    sandbox: Annotated[
        str | None,
        typer.Option(
            "--sandbox",
            metavar="NAME",
            help="docker, podman, local, or another that the framework knows.",
            show_default="the first engine that answers",
        ),
    ] = None
    rootfs: Annotated[
        str | None,
        typer.Option(
            "--rootfs", metavar="FOLDER", help="The root file system for --sandbox local."
        ),
    ] = None
    sample: Annotated[
        int, typer.Option("--sample", min=0, metavar="N", help="So many of these, drawn by chance.")
    ] = 0
    seed: Annotated[int, typer.Option("--seed", help="Which chance.")] = 0
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Trials at a time.")] = 1
    repeat: Annotated[
        int, typer.Option("--repeat", min=1, help="Runs of each; different rewards are flaky.")
    ] = 1
    timeout: Annotated[
        float, typer.Option("--timeout", min=1, help="Seconds that a phase of a trial may take.")
    ] = 1800
    full: Annotated[float, typer.Option("--full", help="The reward that counts as full.")] = 1.0
    reward_key: Annotated[
        str | None,
        typer.Option("--reward-key", help="The named reward that the framework is to take."),
    ] = None
    variables: Annotated[
        list[str] | None,
        typer.Option(
            "--pass", metavar="NAME", help="Give tasks, and the sandbox, this variable of yours."
        ),
    ] = None
    allow_host: Annotated[
        bool,
        typer.Option(
            "--allow-host", help="Run tasks that ask for files or rights of this machine."
        ),
    ] = False
    allow_unverified: Annotated[
        bool, typer.Option("--allow-unverified", help="Exit 0, not 4, when tasks have no oracle.")
    ] = False
    resume: Annotated[bool, typer.Option("--resume", help="Go on where a run was interrupted.")] = (
        False
    )
    no_record: Annotated[
        bool, typer.Option("--no-record", help="Write nothing into SRC; a Hub repo never is.")
    ] = False
    junit: Junit = None


def verify(
    src: SourceArg,
    flags: VerifyFlags,
    format_options: Options,
    against: Annotated[
        str | None,
        typer.Option(
            "--against", metavar="OTHER", help="Run the same tasks of OTHER too, and compare."
        ),
    ] = None,
    framework: Runners = None,
    using: Using = None,
    read_as: From = None,
    as_json: AsJson = False,
) -> None:
    """Run the tasks of SRC: the oracle has to earn full reward, doing nothing less.

    This runs the code of these tasks, in containers, with no file or variable of yours. A task
    without an oracle cannot be verified. Exit 52 when one is not sound, 54 when one was not run.

    \b
      rlconvert verify ./tasks --sandbox podman --sample 20
      rlconvert verify ./tasks --against ./converted --repeat 2
    """
    with exit_on_error("interrupted; go on with --resume"):
        from rlconvert import api
        from rlconvert.running.orders import Sample
        from rlconvert.running.sandboxes import Question

        say_which(src)
        say("rlconvert: verify runs the code of these tasks")
        with progress("Running") as advance:
            run = api.verify(
                src,
                against=against,
                read_as=read_as,
                options=format_options,
                frameworks=framework or (),
                using=using_of(using or []),
                question=Question(
                    sandbox=flags.sandbox,
                    rootfs=flags.rootfs,
                    jobs=flags.jobs,
                    repeat=flags.repeat,
                    seconds=flags.timeout,
                    full=flags.full,
                    reward_key=flags.reward_key,
                    variables=tuple(flags.variables or ()),
                    allow_host=flags.allow_host,
                ),
                selection=flags.selection,
                sample=Sample(count=flags.sample, seed=flags.seed),
                record=not flags.no_record,
                resume=flags.resume,
                on_run=lambda done, _: advance(done),
            )
        if flags.junit is not None:
            _write_junit(flags.junit, run)
        code = run.exit_code(allow_unverified=flags.allow_unverified)
        if as_json:
            import json

            typer.echo(json.dumps({**run.facts(), "exit_code": int(code)}, indent=2).encode())
        else:
            _show(run)
        if code:
            raise typer.Exit(code)


def _write_junit(path: str, run: VerifyRun) -> None:
    from rlconvert.running.verdicts import Outcome

    from .junit import JunitReport

    with JunitReport(path, "rlconvert verify") as report:
        for result in run.results:
            if result.missing is not None:
                report.case(result.name, [result.missing])
            other = {each.here.task: each for each in result.compared}
            for each in result.runs:
                faults: list[RlconvertError] = []
                if each.outcome is Outcome.FAILED:
                    faults.append(VerifyFailed(each.problem, reason=each.reason))
                if each.outcome is Outcome.NOT_RUN:
                    faults.append(NotVerified(each.problem, reason=each.reason))
                twin = other.get(each.task)
                if twin is not None and not twin.equal:
                    problem = f"here {_earned(each)}; there {_earned(twin.there)}"
                    faults.append(VerifyFailed(problem, reason="outcomes-differ"))
                skipped = each.problem if each.outcome is Outcome.NO_ORACLE else None
                report.case(f"{result.name}: {each.task}", faults, skipped=skipped)


def _show(run: VerifyRun) -> None:
    from rlconvert.running.verdicts import Outcome

    from .tables import show_rows

    counts = tuple(each.value for each in Outcome)
    show_rows(
        ("run by", "versions", "sandbox", "images", *counts),
        (_row(result) for result in run.results),
    )
    for result in run.results:
        if result.missing is not None:
            show_rows((result.title, "because"), [("(no task)", str(result.missing))])
        tasks = sorted(result.runs, key=lambda each: each.outcome is Outcome.VERIFIED)
        head = ("task", "verdict", "oracle", "nothing", "because")
        show_rows(head, [_task(each) for each in tasks[:_MOST]])
        if len(tasks) > _MOST:
            typer.echo(f"and {len(tasks) - _MOST:,} more")
        _show_compared(result)
        for each in tasks[:_MOST]:
            _show_log(each)


def _row(result: Ran) -> tuple[str, ...]:
    from rlconvert.running.verdicts import Outcome

    if result.missing is not None:
        return result.title, "not available", result.sandbox, *[""] * (1 + len(Outcome))
    versions = [f"{name} {version}" for name, version in result.versions.items()]
    counts = (f"{result.count(each):,}" for each in Outcome)
    return result.title, ", ".join(versions), result.sandbox, result.base, *counts


def _task(each: TaskRun) -> tuple[str, ...]:
    from rlconvert.files import printable

    oracle, nothing = (str(earned or "") for earned in (each.oracle, each.nop))
    why = "" if each.reason == "verified" else f"{each.reason}: {printable(each.problem)}"
    return printable(each.task), each.outcome.value, oracle, nothing, why


def _show_compared(result: Ran) -> None:
    from .tables import show_rows

    if not result.compared:
        return
    same = sum(each.same_files for each in result.compared)
    differ = [each for each in result.compared if not each.equal]
    ran = len(result.compared) - same
    typer.echo(
        f"Compared: {len(result.compared):,} tasks; {same:,} have the very same files, "
        f"{ran:,} were run on both sides; {len(differ):,} differ"
    )
    show_rows(
        ("task", "here", "there"),
        [(each.here.task, _earned(each.here), _earned(each.there)) for each in differ[:_MOST]],
    )


def _earned(run: TaskRun) -> str:
    return f"{run.outcome.value} ({run.reason}): {run.oracle or '-'} / {run.nop or '-'}"


def _show_log(each: TaskRun) -> None:
    from rlconvert.files import printable

    lines = [line for line in each.log.splitlines() if line.strip()][-_LOG_LINES:]
    if lines:
        typer.echo(f"The end of what {printable(each.task)} printed:")
        for line in lines:
            typer.echo(f"  | {printable(line)}")
