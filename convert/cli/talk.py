"""What is said on stderr: one progress line, and errors in one sentence."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import typer

from rlconvert.errors import ExitCode, RlconvertError

Advance = Callable[[int], None]


def say(text: str) -> None:
    """A line for the person at the terminal."""
    typer.echo(text, err=True)


def say_which(address: str) -> None:
    """Say so when an address names a folder here and could name a repo of the Hub."""
    if Path(address).is_dir() and "/" in address and not address.startswith((".", "/", "~")):
        from rlconvert.address import is_repo_id

        if is_repo_id(address.partition("@")[0]):
            say(f"rlconvert: {address} is a folder here; the Hub is not asked")


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
def exit_on_error(when_interrupted: str = "interrupted; nothing was written") -> Iterator[None]:
    """Turn what ends a run into one sentence and its exit code."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    except RlconvertError as error:
        say(f"rlconvert: {error}")
        raise typer.Exit(error.code) from error
    except KeyboardInterrupt as error:
        say(f"rlconvert: {when_interrupted}")
        raise typer.Exit(ExitCode.INTERRUPTED) from error
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt
