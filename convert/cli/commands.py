"""The verbs."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated

import typer

from rlconvert import __version__
from rlconvert.errors import ExitCode, RlconvertError, UsageError
from rlconvert.format import Format, Option, Options, format_names, get_format

from .check import check
from .flags import (
    AllowRefused,
    AsJson,
    Command,
    ConvertFlags,
    Force,
    From,
    OutArg,
    SourceArg,
    Strict,
    TaskFlags,
    Transport,
    Via,
    with_flags,
)
from .publish import publish
from .tag import tag
from .talk import exit_on_error, progress, say, say_which
from .verify import verify

if TYPE_CHECKING:
    from rlconvert.pipe import Conversion

app = typer.Typer(
    name="rlconvert",
    help="Convert RL task sets between frameworks, and say exactly what was kept.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def main() -> None:
    """The entry point of the command line."""
    # Where parquet files are read or written, pyarrow's own allocator takes 10 MB more.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    app()


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"rlconvert {__version__}")
        raise typer.Exit


def _print_json(facts: dict[str, object]) -> None:
    typer.echo(json.dumps(facts, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace"))


def _convert(
    src: str,
    out: str,
    to: list[str],
    read_as: str | None,
    flags: ConvertFlags,
    format_options: Options,
) -> None:
    with exit_on_error():
        from rlconvert.api import convert, convert_shard
        from rlconvert.pipe import Settings

        from .junit import JunitReport

        src = flags.via.of(src)
        say_which(src)
        with (
            JunitReport(flags.junit, "rlconvert convert") as report,
            progress("Converting") as advance,
        ):
            settings = Settings(
                options=format_options,
                selection=flags.selection,
                jobs=flags.jobs,
                force=flags.force,
                fail_fast=flags.fail_fast,
                provenance=not flags.no_provenance,
                drop_refused=flags.drop_refused,
                layout=flags.layout,
                resume=flags.resume,
                progress=advance,
                on_verdict=report.case,
            )
            if flags.shard is not None:
                done = convert_shard(
                    src, out, to=to, read_as=read_as, settings=settings, shard=_shard(flags.shard)
                )
                typer.echo(
                    f"Shard {flags.shard}: {done} tasks. `rlconvert merge` makes the output."
                )
                return
            run = convert(src, out, to=to, read_as=read_as, settings=settings)
        _show(run, flags.as_json)
        _leave(run.exit_code(strict=flags.strict, allow_refused=flags.allow_refused))


def _show(run: Conversion, as_json: bool) -> None:
    from .tables import show_conversion

    if as_json:
        error = {"error": _error_facts(run.error)} if run.error is not None else {}
        _print_json({**run.report.facts(), "out": run.out, **error})
    else:
        show_conversion(run)
    if run.error is not None:
        say(f"rlconvert: {run.error}")


def _shard(text: str) -> tuple[int, int]:
    number, _, of = text.partition("/")
    if not (number.isdecimal() and of.isdecimal()):
        raise UsageError(
            f"{text!r} is no shard",
            reason="no-such-shard",
            remedy="Write --shard 1/4 for the first",
        )
    return int(number), int(of)


def _error_facts(error: RlconvertError) -> dict[str, object]:
    return {"problem": error.problem, **error.facts(), "exit_code": int(error.code)}


def _leave(code: ExitCode) -> None:
    if code is not ExitCode.DONE:
        raise typer.Exit(code)


def _convert_verb(options: list[Option]) -> Command:
    def convert(
        src: SourceArg,
        out: OutArg,
        to: Annotated[
            str, typer.Option("--to", metavar="FORMATS", help="Targets, separated by commas.")
        ],
        flags: ConvertFlags,
        format_options: Options,
        read_as: From = None,
    ) -> None:
        """Convert a task set for one or several frameworks, into one folder.

        What cannot go over without changing its meaning is left out, by name and with the reason:
        look at the table, or at OUT/.rlconvert/loss.jsonl. OUT appears when all is done.

        \b
          rlconvert convert org/name out --to FORMAT,FORMAT
          rlconvert convert ./tasks out --to FORMAT --include 'easy-*' --limit 10
          rlconvert convert ./tasks part-1 --to FORMAT --shard 1/4
        """
        _convert(src, out, [name.strip() for name in to.split(",")], read_as, flags, format_options)

    return with_flags(convert, options)


def _alias(source: Format, target: Format) -> Command:
    def alias(
        src: SourceArg, out: OutArg, flags: ConvertFlags, format_options: Options | None = None
    ) -> None:
        _convert(src, out, [target.name], source.name, flags, format_options or {})

    alias.__doc__ = (
        f"Convert a task set from {source.title} to {target.title}.\n\n"
        f"The same as: rlconvert convert SRC OUT --from {source.name} --to {target.name}"
    )
    return with_flags(alias, (*source.reader_options, *target.writer_options))


def merge(
    src: SourceArg,
    out: OutArg,
    shards: Annotated[list[str], typer.Argument(metavar="SHARD...", help="What --shard wrote.")],
    read_as: From = None,
    force: Force = False,
    strict: Strict = False,
    allow_refused: AllowRefused = False,
    as_json: AsJson = False,
) -> None:
    """Make the output of a conversion of SRC from all its shards: the same bytes as one run."""
    with exit_on_error():
        from rlconvert import api
        from rlconvert.pipe import Settings

        with progress("Merging") as advance:
            settings = Settings(force=force, progress=advance)
            run = api.merge(src, out, shards, read_as=read_as, settings=settings)
        _show(run, as_json)
        _leave(run.exit_code(strict=strict, allow_refused=allow_refused))


def inspect(
    src: SourceArg,
    format_options: Options,
    read_as: From = None,
    via: Via = Transport.HTTP,
    as_json: AsJson = False,
) -> None:
    """Say what SRC is, what each target would get, and the exact next command.

    Nothing is written. Every task is read, and every target asked whether it would take it.
    """
    with exit_on_error():
        from rlconvert import api

        from .tables import show_inspection

        src = via.of(src)
        say_which(src)
        with progress("Inspecting") as advance:
            found = api.inspect(src, read_as=read_as, options=format_options, progress=advance)
        if as_json:
            _print_json(found.facts())
        else:
            show_inspection(found, src)


def roundtrip(
    src: SourceArg,
    via: Annotated[str, typer.Option("--via", metavar="FORMAT", help="The format to go through.")],
    flags: TaskFlags,
    format_options: Options,
    read_as: From = None,
) -> None:
    """Convert SRC to another format and back, and compare: for your own CI.

    With what .rlconvert/ keeps, every converted task must come back byte for byte, with modes,
    links and empty folders; without it, with the same meaning. Exit 53 when one does not.

    \b
      rlconvert roundtrip . --via FORMAT --strict --junit report.xml
    """
    with exit_on_error():
        from rlconvert import api
        from rlconvert.pipe import Settings

        from .junit import JunitReport
        from .tables import show_roundtrip

        say_which(src)
        with (
            JunitReport(flags.junit, "rlconvert roundtrip") as report,
            progress("Going") as advance,
        ):
            settings = Settings(
                options=format_options,
                selection=flags.selection,
                jobs=flags.jobs,
                progress=advance,
                on_verdict=lambda task, faults: report.case(task, faults) if faults else None,
            )
            trip = api.roundtrip(
                src,
                via=via,
                read_as=read_as,
                settings=settings,
                on_compared=lambda task, found: report.case(
                    task, () if found is None else (found.as_error(),)
                ),
            )
        if flags.as_json:
            _print_json(trip.facts())
        else:
            show_roundtrip(trip)
        if trip.error is not None:
            say(f"rlconvert: {trip.error}")
        _leave(trip.exit_code(strict=flags.strict, allow_refused=flags.allow_refused))


@app.command()
def formats(
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Show what becomes of each field, by target and way.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the formats, the versions they were checked with, and why a task may be refused."""
    with exit_on_error():
        from .matrix import formats_facts, show_formats

        if as_json:
            _print_json(formats_facts())
        else:
            show_formats(matrix=matrix)


def _register() -> None:
    """Every verb whose flags come from the formats; the aliases are all ordered pairs."""
    every = [get_format(name) for name in format_names()]
    reading = [option for each in every for option in each.reader_options]
    writing = [option for each in every for option in each.writer_options]
    app.command()(_convert_verb([*reading, *writing]))
    app.command()(with_flags(inspect, [*reading, *writing]))
    app.command()(with_flags(roundtrip, [*reading, *writing]))
    app.command()(merge)
    app.command()(check)
    app.command()(publish)
    app.command()(tag)
    app.command()(with_flags(verify, reading))
    for source in every:
        for target in every:
            if source is not target:
                app.command(f"{source.name}-to-{target.name}")(_alias(source, target))


_register()
