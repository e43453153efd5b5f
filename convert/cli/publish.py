"""The verb `publish`: a folder becomes a dataset of the Hub."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from rlconvert.files import printable
from rlconvert.tags.header import CARD

from .flags import AsJson
from .talk import exit_on_error, say

if TYPE_CHECKING:
    from rlconvert.publishing.goal import TagPlan
    from rlconvert.publishing.outgoing import Lost
    from rlconvert.publishing.plan import Change, Plan
    from rlconvert.publishing.publish import Published

OutArg = Annotated[str, typer.Argument(metavar="OUT", help="The folder of the repo.")]
RepoArg = Annotated[str, typer.Argument(metavar="REPO", help="The dataset, like org/name.")]
AsPr = Annotated[
    bool, typer.Option("--pr", help="Open a pull request; for repos of others the only way.")
]
Branch = Annotated[
    str | None, typer.Option("--branch", metavar="NAME", help="To this branch, made if need be.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would change; send nothing.")]
Private = Annotated[bool, typer.Option("--private", help="Make the dataset, if new, private.")]
Replace = Annotated[
    bool,
    typer.Option("--replace", help="Change and delete what is there, whosever conversion it was."),
]
Message = Annotated[
    str | None, typer.Option("--message", metavar="TEXT", help="The title of commit or PR.")
]
Licence = Annotated[
    str | None,
    typer.Option("--license", metavar="ID", help="The licence, where the card states none."),
]
LicenceUnknown = Annotated[
    bool, typer.Option("--licence-unknown", help="Publish although nobody knows the licence.")
]
FromGated = Annotated[
    bool,
    typer.Option("--from-gated", help="Its source is gated or private, and its terms allow this."),
]
AllowSecret = Annotated[
    list[str] | None,
    typer.Option("--allow-secret", metavar="RULE:PATH", help="What the scan finds there is none."),
]
_INTERRUPTED = "interrupted; publish again to finish it"


def publish(
    out: OutArg,
    repo: RepoArg,
    pr: AsPr = False,
    branch: Branch = None,
    dry_run: DryRun = False,
    private: Private = False,
    replace: Replace = False,
    message: Message = None,
    licence: Licence = None,
    licence_unknown: LicenceUnknown = False,
    from_gated: FromGated = False,
    allow_secret: AllowSecret = None,
    as_json: AsJson = False,
) -> None:
    """Publish OUT as a dataset of the Hub: all of it, or nothing.

    The card gets the tags of those frameworks that were seen to load these very files (`check`),
    and no others. A dataset that is no conversion of ours only gets what it lacks.

    \b
      rlconvert publish out org/name --dry-run
      rlconvert publish out org/name --pr
    """
    with exit_on_error(_INTERRUPTED):
        from rlconvert.publishing.publish import MESSAGE, Asked
        from rlconvert.publishing.publish import publish as run_publish

        asked = Asked(
            branch=branch,
            as_pr=pr,
            private=private,
            replace=replace,
            message=MESSAGE if message is None else message,
            licence=licence,
            licence_unknown=licence_unknown,
            from_gated=from_gated,
            allow_secrets=tuple(allow_secret or ()),
        )
        done = run_publish(
            out, repo, asked, dry_run=dry_run, on_step=lambda step: say(f"rlconvert: {step}")
        )
        if as_json:
            typer.echo(json.dumps(done.facts(), ensure_ascii=False, indent=2).encode())
        else:
            _show(done)


def _show(done: Published) -> None:
    from rlconvert.publishing.delivery import Outcome

    from .tables import show_rows

    plan = done.plan
    typer.echo(_heading(plan))
    show_rows(("change", "files", "bytes", "first"), _changes(plan))
    show_rows(("tag", "", "because"), _tags(plan.goal.tags))
    show_rows(("the Hub loses", "count", "of them for good", "first"), _losses(plan))
    for note in plan.notes:
        typer.echo(f"Note: {printable(note)}")
    if done.done.outcome is Outcome.PLANNED:
        for line in _exactly(plan):
            typer.echo(line)
    typer.echo(_outcome(done))


def _heading(plan: Plan) -> str:
    from rlconvert.publishing.plan import batches

    repo = plan.address.repo_id
    if plan.base is None:
        there = f"The dataset {repo} is made, {'private' if plan.private else 'for all to read'}."
    else:
        there = f"The dataset {repo} at {plan.base[:12]}: {plan.goal.terms.value}."
    licence = plan.goal.licence or "unknown"
    count = len(batches(plan.changes, plan.limits))
    commits = "No commit" if not count else "1 commit" if count == 1 else f"{count:,} commits"
    if plan.as_pr:
        where = "as a pull request"
    elif plan.address.revision is not None:
        where = f"to the branch {plan.address.revision}"
    elif plan.at_once:
        where = "to main"
    else:
        where = "to a pull request, which is merged when it was read back"
    return f"{there}\nLicence: {licence}. {commits} {where}."


def _changes(plan: Plan) -> list[tuple[str, ...]]:
    from rlconvert.publishing.plan import Kind

    rows: list[tuple[str, ...]] = []
    for kind in Kind:
        for mode, large in (("regular", ""), ("lfs", ", large")):
            found = [each for each in plan.changes if each.kind is kind and each.mode == mode]
            if found:
                rows.append(_row(f"{kind.value}{large}", found))
    if plan.unchanged:
        rows.append(("unchanged", f"{plan.unchanged:,}", "", ""))
    if plan.goal.left:
        first = printable(min(plan.goal.left))
        rows.append(("left as it is", f"{len(plan.goal.left):,}", "", first))
    return rows


def _exactly(plan: Plan) -> Iterator[str]:
    """Every file that would change, and every line of the card."""
    if plan.changes:
        yield "\nFile by file, and the card line by line:"
    for each in plan.changes:
        size = f", {each.size:,} bytes" if each.size else ""
        large = ", large" if each.mode == "lfs" else ""
        yield f"  {each.kind.value} {printable(each.path)}{size}{large}"
        if each.path == CARD:
            yield from (f"    {printable(line)}" for line in plan.goal.card_edit())


def _row(what: str, found: list[Change]) -> tuple[str, ...]:
    size = sum(each.size for each in found)
    return what, f"{len(found):,}", f"{size:,}" if size else "", printable(found[0].path)


def _tags(tags: TagPlan) -> list[tuple[str, ...]]:
    why = {**tags.withheld, **tags.evidence}
    told = {*tags.removed, *tags.kept}
    return [
        *((tag, "added", why.get(tag, "")) for tag in tags.added),
        *((tag, "removed", why.get(tag, "")) for tag in tags.removed),
        *((tag, "stays", why.get(tag, "")) for tag in tags.kept),
        *((tag, "withheld", why[tag]) for tag in tags.withheld if tag not in told),
    ]


def _losses(plan: Plan) -> list[tuple[str, ...]]:
    kinds: list[tuple[str, Lost]] = [
        ("executable bits", plan.local.executables),
        ("links, for copies", plan.local.links),
        ("empty folders", plan.local.empty_folders),
    ]
    return [
        (
            what,
            f"{len(lost.paths):,}",
            f"{len(lost.for_good):,}",
            printable((lost.for_good or lost.paths)[0]),
        )
        for what, lost in kinds
        if lost.paths
    ]


def _outcome(done: Published) -> str:
    from rlconvert.publishing.delivery import Outcome

    made = done.done
    match made.outcome:
        case Outcome.PLANNED:
            return "Nothing was sent (--dry-run)."
        case Outcome.UNCHANGED if made.pull is not None:
            return f"Nothing to do: pull request {made.pull} holds all of it. {done.page}"
        case Outcome.UNCHANGED:
            return f"Nothing to do: the Hub has all of it. {done.page}"
        case Outcome.COMMITTED:
            return f"Published as commit {made.commit}. {done.page}"
        case Outcome.PROPOSED:
            return f"Proposed as pull request {made.pull}. {done.page}"
        case Outcome.MERGED:
            return f"Published by pull request {made.pull}, which is merged. {done.page}"
