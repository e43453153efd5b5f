"""The flags that verbs share, and those that formats declare."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Annotated, TypeAlias, get_type_hints

import typer

from rlconvert.address import BY_GIT
from rlconvert.archives.packing import Layout
from rlconvert.format import Option, Options
from rlconvert.selection import Selection

SourceArg = Annotated[
    str,
    typer.Argument(
        metavar="SRC", help="A folder, org/name[@revision], hf://datasets/org/name or a Hub URL."
    ),
]
OutArg = Annotated[str, typer.Argument(metavar="OUT", help="The folder to write; must not exist.")]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="FORMAT", help="Read SRC as this; needed when several fit."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the facts as JSON.")]
Junit = Annotated[
    str | None,
    typer.Option("--junit", metavar="FILE", help="Write a JUnit report, a case per task."),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit 3 when anything of a converted task is dropped.")
]
AllowRefused = Annotated[
    bool, typer.Option("--allow-refused", help="Exit 0, not 4, when tasks were left out.")
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace OUT if rlconvert wrote it, nothing else.")
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", min=1, help="Worker processes.", show_default="as many as pay off"),
]


class Transport(StrEnum):
    """How the files of a Hub repo come to this machine."""

    HTTP = "http"
    GIT = "git"

    def of(self, src: str) -> str:
        """SRC as it is opened (`opening.py`)."""
        return BY_GIT + src.removeprefix(BY_GIT) if self is Transport.GIT else src


Via = Annotated[
    Transport,
    typer.Option(
        "--via", help="How SRC comes from the Hub: git is for very many files, modes and links."
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionFlags:
    """Which tasks."""

    include: Annotated[
        list[str] | None,
        typer.Option("--include", metavar="PATTERN", help="Only tasks whose id fits the pattern."),
    ] = None
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", metavar="PATTERN", help="Not the tasks whose id fits."),
    ] = None
    limit: Annotated[
        int | None, typer.Option("--limit", min=0, help="At most so many tasks, the first ones.")
    ] = None

    @property
    def selection(self) -> Selection:
        """The tasks these flags choose."""
        return Selection(
            include=tuple(self.include or ()),
            exclude=tuple(self.exclude or ()),
            limit=self.limit,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFlags(SelectionFlags):
    """Which tasks, and how a run is judged."""

    jobs: Jobs = None
    strict: Strict = False
    allow_refused: AllowRefused = False
    as_json: AsJson = False
    junit: Junit = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertFlags(TaskFlags):
    """What only a conversion that stays has to decide."""

    via: Via = Transport.HTTP
    force: Force = False
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Stop at the first task that cannot go over.")
    ] = False
    drop_refused: Annotated[
        bool,
        typer.Option(
            "--drop-refused", help="Leave a task that one target refuses out of all of them."
        ),
    ] = False
    layout: Annotated[
        Layout,
        typer.Option(
            "--layout",
            help="Task folders as such, or in parquet files of archives: for very many tasks.",
        ),
    ] = Layout.FOLDERS
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where a run with this flag was interrupted.")
    ] = False
    shard: Annotated[
        str | None,
        typer.Option("--shard", metavar="I/N", help="Only every N-th task, for `merge` later."),
    ] = None
    no_provenance: Annotated[
        bool,
        typer.Option("--no-provenance", help="Write no .rlconvert/; the way back is then lost."),
    ] = False


Command: TypeAlias = Callable[..., None]


def with_flags(command: Command, options: Iterable[Option] = ()) -> Command:
    """`command` as Typer wants it: its `flags` and `format_options` spread into single flags.

    `flags` is a dataclass of flags; `format_options` become one flag for each of `options`, where
    an option that two formats share is one flag with the help of the first.
    """
    declared = {option.name.replace("-", "_"): option for option in reversed(list(options))}
    own: list[inspect.Parameter] = []
    group: type | None = None
    for name, each in inspect.signature(command, eval_str=True).parameters.items():
        if name == "flags":
            group = each.annotation
        elif name != "format_options":
            own.append(each.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    shared = [] if group is None else _parameters(group)
    added = [_flag(name, option) for name, option in declared.items()]

    def wrapped(**values: object) -> None:
        if group is not None:
            values["flags"] = group(**{each.name: values.pop(each.name) for each in shared})
        given = {name: values.pop(name) for name in declared}
        if declared:
            values["format_options"] = _chosen(declared, given)
        command(**values)

    parameters = [*own, *shared, *added]
    wrapped.__doc__ = command.__doc__
    wrapped.__name__ = command.__name__
    wrapped.__annotations__ = {each.name: each.annotation for each in parameters}
    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return wrapped


def _parameters(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=each.default,
            annotation=hints[each.name],
        )
        for each in fields(group)
    ]


def _flag(name: str, option: Option) -> inspect.Parameter:
    flag = typer.Option(f"--{option.name}", help=option.help)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=False if option.flag else None,
        annotation=Annotated[bool, flag] if option.flag else Annotated[str | None, flag],
    )


def _chosen(declared: Mapping[str, Option], values: Mapping[str, object]) -> Options:
    """What was given: the text of a value, "yes" for a flag."""
    return {
        declared[key].name: "yes" if value is True else str(value)
        for key, value in values.items()
        if value is not None and value is not False
    }
