"""Doing what the plan of a publish says, so that ``main`` is the old tree or the new one.

What fits goes in one commit on top of the commit that was planned for. More than that goes into a
pull request, in several, which is read back by paths and digests before it is merged or offered;
only a branch that was asked for by name gets them one by one.
A run that failed is finished by the next: it finds the pull request, and sends what is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from rlconvert.address import HubAddress
from rlconvert.errors import HubConflict
from rlconvert.files import printable
from rlconvert.hub.pulls import (
    Pull,
    close_pull,
    describe_pull,
    draft_pull,
    merge_pull,
    offer_pull,
    open_pulls,
)
from rlconvert.hub.write import (
    Access,
    Commit,
    Delete,
    Operation,
    Put,
    commit_files,
    find_dataset,
    list_files,
    make_branch,
)

from .goal import Goal
from .plan import Change, Kind, Plan, batches, changes_to

_SHOWN = 5
_MADE_BY = "Made with `rlconvert publish`."
_MARK = "Begun on top of "

OnStep = Callable[[str], None]


class Outcome(StrEnum):
    """What came of it."""

    PLANNED = "planned"
    UNCHANGED = "unchanged"
    COMMITTED = "committed"
    PROPOSED = "proposed"
    MERGED = "merged"


@dataclass(frozen=True, slots=True)
class Delivered:
    """What was done, and where it is: a commit, or a pull request."""

    outcome: Outcome
    commit: str | None = None
    pull: int | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """Carries out plans for a repo that is there. `author` is whose token it is."""

    access: Access
    author: str
    message: str
    on_step: OnStep

    def carry_out(self, plan: Plan, base: str) -> Delivered:
        """Do what a plan for the commit `base` says; all of it, when it returns.

        `HubConflict` when somebody else commits in between; any other `HubError` may come before
        or after the Hub has done what was asked.
        """
        branch = plan.address.revision
        if branch is not None:
            make_branch(plan.address, base, self.access)
        if not plan.changes:
            return Delivered(Outcome.UNCHANGED, commit=base)
        if plan.as_pr and plan.at_once and (pull := self._proposed(plan)) is not None:
            return Delivered(Outcome.UNCHANGED, pull=pull.number)
        if plan.at_once or branch is not None:
            return self._straight(plan, base)
        return self._through_pull(plan, base)

    def _straight(self, plan: Plan, base: str) -> Delivered:
        """To the branch itself, or as a pull request of one commit."""
        done = self._send(plan, plan.address, base, plan.changes, as_pr=plan.as_pr)
        self._read_back(plan, done.oid)
        outcome = Outcome.COMMITTED if done.pull is None else Outcome.PROPOSED
        return Delivered(outcome, done.oid, done.pull)

    def _through_pull(self, plan: Plan, base: str) -> Delivered:
        """In several commits to a pull request, a draft until it was read back."""
        text = f"{_MADE_BY}\n\n{_MARK}{base}"
        pull = self._begun(plan, base) or draft_pull(plan.address, self.message, text, self.access)
        place = replace(plan.address, revision=pull.revision)
        head = self._head(place)
        modes = {each.path: each.mode for each in plan.changes}
        files = list_files(replace(place, revision=head), self.access)
        left = changes_to(plan.goal, files, modes)
        head = self._send(plan, place, head, left).oid
        self._read_back(plan, head)
        if plan.as_pr and not left and not pull.draft:
            return Delivered(Outcome.UNCHANGED, pull=pull.number)
        if pull.draft:
            offer_pull(plan.address, pull, self.access)
        if plan.as_pr:
            return Delivered(Outcome.PROPOSED, head, pull.number)
        if self._head(plan.address) != base:
            raise _changed(plan)
        self.on_step(f"merging pull request {pull.number}")
        merge_pull(plan.address, pull, self.access)
        merged = self._head(plan.address)
        self._read_back(plan, merged)
        return Delivered(Outcome.MERGED, merged, pull.number)

    def _send(
        self,
        plan: Plan,
        place: HubAddress,
        parent: str,
        changes: tuple[Change, ...],
        *,
        as_pr: bool = False,
    ) -> Commit:
        """The changes, in as many commits as they need; the last of these."""
        parts = batches(changes, plan.limits)
        done = Commit(parent)
        for number, part in enumerate(parts, start=1):
            self.on_step(f"commit {number} of {len(parts)}, files: {len(part):,}")
            several = f" ({number} of {len(parts)})" if len(parts) > 1 else ""
            done = commit_files(
                place,
                [_operation(plan.goal, each) for each in part],
                message=self.message + several,
                description=_MADE_BY,
                parent=done.oid,
                as_pr=as_pr,
                access=self.access,
            )
        return done

    def _head(self, place: HubAddress) -> str:
        """The newest commit of a revision that is there."""
        found = find_dataset(place, self.access)
        if found is None:
            raise HubConflict(
                f"the dataset {place.repo_id} is gone",
                reason="conflict",
                file=str(place),
                remedy="Publish again",
            )
        return found.commit

    def _read_back(self, plan: Plan, commit: str) -> None:
        """That the Hub has at `commit` what it shall have, by paths and digests."""
        self.on_step("reading back")
        files = list_files(replace(plan.address, revision=commit), self.access)
        if not plan.goal.is_reached(files):
            wrong = [*plan.goal.missing(files), *plan.goal.surplus(files)]
            raise HubConflict(
                "what the Hub has is not what was sent",
                reason="read-back",
                file=", ".join(map(printable, wrong[:_SHOWN])) or str(plan.address),
                remedy="Publish again: that compares, and sends what is missing",
            )

    def _proposed(self, plan: Plan) -> Pull | None:
        """A pull request of this author that holds all of it already."""
        for pull in self._pulls(plan):
            place = replace(plan.address, revision=pull.revision)
            if plan.goal.is_reached(list_files(place, self.access)):
                return pull
        return None

    def _begun(self, plan: Plan, base: str) -> Pull | None:
        """A pull request that an earlier run began on the same commit; older drafts are closed."""
        for pull in self._pulls(plan):
            text = describe_pull(plan.address, pull, self.access)
            marks = [line for line in text.splitlines() if line.startswith(_MARK)]
            if _MARK + base in marks:
                return pull
            if marks and pull.draft:
                comment = "The dataset has changed since: it is begun again."
                close_pull(plan.address, pull, comment, self.access)
        return None

    def _pulls(self, plan: Plan) -> list[Pull]:
        pulls = open_pulls(plan.address, self.author, self.access)
        return [pull for pull in pulls if pull.title == self.message]


def _operation(goal: Goal, change: Change) -> Operation:
    if change.kind is Kind.DELETED:
        return Delete(change.path)
    file = goal.files[change.path]
    return Put(change.path, file.content(change.path, large=change.mode == "lfs"))


def _changed(plan: Plan) -> HubConflict:
    return HubConflict(
        f"the dataset {plan.address.repo_id} changed while it was being published",
        reason="conflict",
        file=str(plan.address),
        remedy="Publish again: it starts from what is there now",
    )
