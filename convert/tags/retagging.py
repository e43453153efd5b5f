"""Telling which tags a repo has earned, and putting its card right; nothing but the tags changes.

Stored records count for the very files they are of. Without them nothing is known, and nothing
is run to know it unless that is asked for.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from rlconvert.address import BY_GIT, HubAddress, parse_hub_address
from rlconvert.card import in_text
from rlconvert.errors import ExitCode, HubNotFound, UsageError
from rlconvert.files import Blob
from rlconvert.format import format_names, get_format
from rlconvert.hub.git import clone_dataset
from rlconvert.hub.pulls import open_pulls
from rlconvert.hub.snapshots import fetch_dataset
from rlconvert.hub.write import (
    Access,
    Put,
    account,
    commit_files,
    find_dataset,
    list_files,
    page_of,
    read_file,
)
from rlconvert.proof.checking import Checked, check
from rlconvert.proof.enclosure import Limits
from rlconvert.sink import replace_file
from rlconvert.source import FolderSource, Kind

from .earned import Earned, earned, earned_by
from .edit import tags_of, with_tags
from .header import CARD
from .remote import read_small, remote_checks, remote_digest
from .review import Review, Standing, review

_MAX_CARD = 4 << 20
_COMMIT = re.compile(r"[0-9a-f]{40}")
_MADE_BY = "Made with `rlconvert tag`: nothing but the tags of the card changes."

OnStep = Callable[[str], None]


class Outcome(StrEnum):
    """What was done with the card."""

    TOLD = "told"
    UNCHANGED = "unchanged"
    WRITTEN = "written"
    PROPOSED = "proposed"
    PROPOSED_BEFORE = "proposed before"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is wanted of the card: told alone, written where it stands, or proposed.

    `remove`: tags that are untrue go, too; one that is only unproved stays.
    """

    write: bool = False
    as_pr: bool = False
    remove: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """That the frameworks are asked now, all of them unless some are named; as in `checking`."""

    frameworks: Sequence[str] = ()
    using: Mapping[str, str] | None = None
    limits: Limits | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TagRun:
    """One run of `tag`: what stands in the card, what is to change, and what was done."""

    of: str
    review: Review
    added: tuple[str, ...]
    removed: tuple[str, ...]
    outcome: Outcome
    missing: tuple[Checked, ...] = ()
    page: str | None = None

    @property
    def exit_code(self) -> ExitCode:
        """What is left wrong in the card: untrue before unknown, and of that the reason."""
        left = () if self.outcome is Outcome.TOLD else self.removed
        if set(self.review.having(Standing.UNTRUE)) - set(left):
            return ExitCode.CHECK_FAILED
        if self.missing:
            return ExitCode.JUDGE_MISSING
        if self.review.having(Standing.UNPROVED):
            return ExitCode.NOT_VERIFIED
        return ExitCode.DONE

    def facts(self) -> dict[str, object]:
        """Everything for ``--json``."""
        return {
            "of": self.of,
            "tags": {each.tag: each.facts() for each in self.review.tags},
            "former_tag": self.review.former,
            "add": list(self.added),
            "remove": list(self.removed),
            "outcome": self.outcome.value,
            "page": self.page,
            "exit_code": int(self.exit_code),
        }


def tag(
    address: str,
    wish: Wish | None = None,
    *,
    asking: Asking | None = None,
    access: Access | None = None,
    on_step: OnStep | None = None,
) -> TagRun:
    """Say which tags the repo at `address` has earned, and change its card as wished.

    `address` is a folder or a dataset of the Hub (led by ``git+``: git fetches it), which is looked
    at in one commit. Only records that are there count, unless with `asking` the frameworks are
    asked about a dataset here and now, on a copy that is thrown away.
    """
    wish, step = wish or Wish(), on_step or (lambda _: None)
    if wish.write and wish.as_pr:
        raise UsageError(
            "a card is written, or proposed, not both",
            reason="write-and-pr",
            remedy="Leave --write or --pr out",
        )
    if Path(address).is_dir():
        if asking is not None:
            raise UsageError(
                "a folder is checked by a verb of its own, which records the verdicts there",
                reason="check-of-folder",
                remedy="Run `rlconvert check` first",
            )
        return _of_folder(FolderSource(address), wish)
    bare = address.removeprefix(BY_GIT)
    place = parse_hub_address(bare)
    if place is None or place.path:
        raise UsageError(
            f"there is no folder {address!r}, and it is not the name of a dataset alone",
            reason="no-such-source",
            remedy="Give a folder, or org/name[@revision]",
        )
    by_git = bare != address
    return _of_dataset(place, wish, asking, access or Access(), step, by_git=by_git)


def _of_folder(source: FolderSource, wish: Wish) -> TagRun:
    if wish.as_pr:
        raise UsageError(
            "a folder takes no pull request",
            reason="pr-to-folder",
            remedy="Give the name of a dataset, or write the card with --write",
        )
    card = source.read(CARD, _MAX_CARD) if source.kind(CARD) is Kind.FILE else b""
    run, new = _reviewed(source.name, card, earned(source), (), wish)
    if not wish.write or new == card:
        return run
    replace_file(f"{source.root}/{CARD}", Blob(new))
    return replace(run, outcome=Outcome.WRITTEN)


def _of_dataset(
    place: HubAddress,
    wish: Wish,
    asking: Asking | None,
    access: Access,
    on_step: OnStep,
    *,
    by_git: bool,
) -> TagRun:
    _check_revision(place, wish)
    dataset = find_dataset(place, access)
    if dataset is None:
        raise HubNotFound(
            f"there is no dataset {place.repo_id}, or it is private to others",
            reason="repo-not-found",
            file=str(place),
            remedy="Check the name; if it is private, set HF_TOKEN to a token that may read it",
        )
    place = replace(place, repo_id=dataset.repo_id)
    pinned = replace(place, revision=dataset.commit)
    files = list_files(pinned, access)
    card = read_small(pinned, CARD, files, access, most=_MAX_CARD)
    found: Mapping[str, Earned]
    missing: tuple[Checked, ...] = ()
    if asking is not None:
        on_step(f"downloading {place.repo_id}")
        with tempfile.TemporaryDirectory(prefix="rlconvert-") as work:
            copy = Path(work, "repo")
            fetch = clone_dataset if by_git else fetch_dataset
            fetch(pinned, dest=copy, endpoint=access.endpoint, token=access.token)
            found, missing = _asked(FolderSource(str(copy)), asking, on_step)
    else:
        records = remote_checks(pinned, files, access)
        digest = None
        if records:
            on_step(f"comparing {place.repo_id} with its records")
            digest = remote_digest(pinned, files, access, by_git=by_git)
        found = earned_by(records, digest)
    run, new = _reviewed(f"{place.repo_id}@{dataset.commit[:12]}", card, found, missing, wish)
    if new == card or not (wish.write or wish.as_pr):
        return run
    title = _title(run)
    if wish.as_pr:
        pull = _proposed(place, title, new, access)
        if pull is not None:
            page = page_of(place, access, pull=pull)
            return replace(run, outcome=Outcome.PROPOSED_BEFORE, page=page)
    done = commit_files(
        place,
        [Put(CARD, new)],
        message=title,
        description=_description(run),
        parent=dataset.commit,
        as_pr=wish.as_pr,
        access=access,
    )
    outcome = Outcome.WRITTEN if done.pull is None else Outcome.PROPOSED
    return replace(run, outcome=outcome, page=page_of(place, access, pull=done.pull))


def _check_revision(place: HubAddress, wish: Wish) -> None:
    if wish.as_pr and place.revision not in (None, "main"):
        raise UsageError(
            "a pull request is made to main, not to another revision",
            reason="pr-and-branch",
            remedy="Leave the revision out",
        )
    if wish.write and place.revision is not None and _COMMIT.fullmatch(place.revision):
        raise UsageError(
            "a commit cannot be written to",
            reason="write-to-commit",
            remedy="Name a branch",
        )


def _asked(
    source: FolderSource, asking: Asking, on_step: OnStep
) -> tuple[dict[str, Earned], tuple[Checked, ...]]:
    """What the files have earned, and the frameworks that could not be asked."""
    every = [name for name in format_names() if get_format(name).judge is not None]
    run = check(
        source.root,
        frameworks=asking.frameworks or every,
        using=asking.using,
        limits=asking.limits,
        on_start=lambda title: on_step(f"asking {title}"),
    )
    found = earned(source, digest=run.digest)
    absent = {each.format: each.missing for each in run.results if each.missing is not None}
    for name, each in found.items():
        why = absent.get(each.format)
        if why is not None and each.lack is not None and not each.lack.disproves:
            found[name] = replace(each, evidence=why.problem)
    return found, tuple(each for each in run.results if each.missing is not None)


def _reviewed(
    of: str,
    card: bytes,
    found: Mapping[str, Earned],
    missing: tuple[Checked, ...],
    wish: Wish,
) -> tuple[TagRun, bytes]:
    """What is to say of a card, and the card put right."""
    judged = review(tags_of(card), found)
    added = judged.having(Standing.MISSING)
    removed = judged.having(Standing.UNTRUE) if wish.remove else ()
    run = TagRun(
        of=of,
        review=judged,
        added=added,
        removed=removed,
        outcome=Outcome.UNCHANGED if wish.write or wish.as_pr else Outcome.TOLD,
        missing=missing,
    )
    return run, with_tags(card, add=added, remove=removed)


def _title(run: TagRun) -> str:
    changes = []
    if run.added:
        changes.append(f"add {', '.join(run.added)}")
    if run.removed:
        changes.append(f"remove {', '.join(run.removed)}")
    return f"Tags: {'; '.join(changes)}"


def _description(run: TagRun) -> str:
    changed = {*run.added, *run.removed}
    lines = [
        f"- `{each.tag}`: {in_text(each.evidence)}"
        for each in run.review.tags
        if each.tag in changed
    ]
    return "\n".join([f"Of {run.of}:", "", *lines, "", _MADE_BY])


def _proposed(place: HubAddress, title: str, card: bytes, access: Access) -> int | None:
    """A pull request of this account that proposes the very card already."""
    author = account(place, access).name
    for pull in open_pulls(place, author, access):
        if pull.title == title and card == read_file(
            replace(place, revision=pull.revision), CARD, access
        ):
            return pull.number
    return None
