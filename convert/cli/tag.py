"""The verb `tag`: which tags of frameworks a repo has earned, and its card put right."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from rlconvert.errors import UsageError

from .check import Frameworks, Timeout, Using, using_of
from .flags import AsJson
from .talk import exit_on_error, say, say_which

if TYPE_CHECKING:
    from rlconvert.tags.retagging import Asking, TagRun

RepoArg = Annotated[
    str, typer.Argument(metavar="REPO", help="A dataset, org/name[@revision], or a folder.")
]
AsPr = Annotated[
    bool, typer.Option("--pr", help="Open a pull request that changes the tags of the card.")
]
Write = Annotated[
    bool, typer.Option("--write", help="Change the tags where the card stands, without asking.")
]
Remove = Annotated[
    bool, typer.Option("--remove", help="Let --pr or --write take away tags that are untrue.")
]
Check = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Ask the real frameworks now, on a copy of the dataset; no code of it is run.",
    ),
]
_INTERRUPTED = "interrupted; tag again to see what stands"


def tag(
    repo: RepoArg,
    pr: AsPr = False,
    write: Write = False,
    remove: Remove = False,
    check: Check = False,
    framework: Frameworks = None,
    using: Using = None,
    timeout: Timeout = 3600,
    as_json: AsJson = False,
) -> None:
    """Say which tags of frameworks REPO has earned, lacks, or carries untruly, and why.

    A tag is earned by a record of `check` for the very files that are there; --check makes one
    now. Nothing changes without --pr or --write, and with them only the tags of the card.

    \b
      rlconvert tag org/name
      rlconvert tag org/name --check --pr
    """
    with exit_on_error(_INTERRUPTED):
        from rlconvert.tags.retagging import Wish
        from rlconvert.tags.retagging import tag as run_tag

        say_which(repo)
        run = run_tag(
            repo,
            Wish(write=write, as_pr=pr, remove=remove),
            asking=_asking(check, framework or [], using or [], timeout),
            on_step=lambda step: say(f"rlconvert: {step}"),
        )
        if as_json:
            typer.echo(json.dumps(run.facts(), ensure_ascii=False, indent=2).encode())
        else:
            _show(run)
        if run.exit_code:
            raise typer.Exit(run.exit_code)


def _asking(check: bool, framework: list[str], using: list[str], timeout: float) -> Asking | None:
    from rlconvert.proof.enclosure import Limits
    from rlconvert.tags.retagging import Asking

    if not check:
        if framework or using:
            raise UsageError(
                "no framework is asked without --check",
                reason="not-asked",
                remedy="Add --check, or leave --framework and --using out",
            )
        return None
    return Asking(frameworks=framework, using=using_of(using), limits=Limits(seconds=timeout))


def _show(run: TagRun) -> None:
    from rlconvert.files import printable
    from rlconvert.tags.earned import ENVIRONMENT, FORMER

    from .tables import show_rows

    typer.echo(f"The tags of {printable(run.of)}")
    show_rows(
        ("tag", "stands", "because"),
        [(each.tag, each.standing.value, printable(each.evidence)) for each in run.review.tags],
    )
    warnings = [(each.tag, printable(said)) for each in run.review.tags for said in each.warnings]
    show_rows(("warned about", "of"), warnings)
    if run.review.former:
        typer.echo(f"The card carries {FORMER}, which {ENVIRONMENT} was called before.")
    typer.echo(_outcome(run))


def _outcome(run: TagRun) -> str:
    from rlconvert.tags.retagging import Outcome

    match run.outcome:
        case Outcome.WRITTEN:
            return f"The card was changed{f': {run.page}' if run.page else ''}"
        case Outcome.PROPOSED:
            return f"Proposed: {run.page}"
        case Outcome.PROPOSED_BEFORE:
            return f"Proposed before: {run.page}"
        case Outcome.UNCHANGED:
            return "Nothing to change"
        case Outcome.TOLD:
            return "; ".join(_open(run)) or "Nothing to change"


def _open(run: TagRun) -> Iterator[str]:
    """What could be done about the card."""
    from rlconvert.tags.review import Standing

    if run.added:
        yield f"To add: {', '.join(run.added)}"
    if untrue := run.review.having(Standing.UNTRUE):
        yield f"To remove{'' if run.removed else ', with --remove'}: {', '.join(untrue)}"
    if unproved := run.review.having(Standing.UNPROVED):
        yield f"To ask about, with --check: {', '.join(unproved)}"
