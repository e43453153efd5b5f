"""What is said on stderr: one progress line, and errors in one sentence."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import typer

from rlconvert.errors import ExitCode, RlconvertError

Advance = Callable[[int], None]


def say(text: str) -> None:
    """A line for the person at the terminal."""
    typer.echo(text, err=True)


@contextmanager
def progress(what: str) -> Iterator[Advance]:
    """One line on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.completed:,} tasks"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as line:
        task = line.add_task(what, total=None, rate="")

        def advance(done: int) -> None:
            speed = line.tasks[0].speed
            line.update(task, completed=done, rate=f"{speed:,.0f}/s" if speed else "")

        yield advance


@contextmanager
def exit_on_error() -> Iterator[None]:
    """Turn what ends a run into one sentence and its exit code."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    except RlconvertError as error:
        say(f"rlconvert: {error}")
        raise typer.Exit(error.code) from error
    except KeyboardInterrupt as error:
        say("rlconvert: interrupted; nothing was written")
        raise typer.Exit(ExitCode.INTERRUPTED) from error
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt
