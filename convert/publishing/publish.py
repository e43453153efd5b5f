"""Publishing a folder as a dataset: all is looked at, a plan is made, then it is done."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rlconvert.address import HubAddress, parse_hub_address
from rlconvert.errors import HubDenied, HubError, HubNotFound, UsageError
from rlconvert.files import printable
from rlconvert.hub.write import (
    Access,
    Account,
    Dataset,
    Mode,
    account,
    find_dataset,
    list_files,
    make_dataset,
    page_of,
    read_file,
    upload_modes,
)
from rlconvert.proof.published import ATTRIBUTES
from rlconvert.sidecar import PROVENANCE, parse_provenance
from rlconvert.source import FolderSource, too_big
from rlconvert.source import Kind as Standing
from rlconvert.tags.earned import earned
from rlconvert.tags.header import CARD

from .delivery import Delivered, Delivery, OnStep, Outcome
from .goal import MANY_FILES, Goal, Remote, goal_of, unchecked
from .outgoing import Outgoing, outgoing
from .packed import Unseen
from .plan import Limits, Plan, changes_to
from .secrets import refuse_secrets

MESSAGE = "Publish with rlconvert"
_BRANCH = re.compile(
    r"(?!refs/|heads/|.*(?:\.\.|//|/\.|\.lock(?:/|$)))[A-Za-z0-9_][\w./+-]*(?<![./])"
)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_LICENCE = re.compile(r"[a-z0-9][a-z0-9.+-]*")
_MAX_RECORD = 1 << 20
_MAX_CARD = 4 << 20
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a person asks for. `licence` is an identifier of the Hub, like ``apache-2.0``.

    `replace`: a dataset of one's own becomes what the folder is, although it is no conversion of
    ours. `from_gated`: what comes from a gated or private repo may go where everybody sees it.
    `allow_secrets` are what the scan finds and is none, as ``RULE:PATH``.
    """

    branch: str | None = None
    as_pr: bool = False
    private: bool = False
    replace: bool = False
    message: str = MESSAGE
    licence: str | None = None
    licence_unknown: bool = False
    from_gated: bool = False
    allow_secrets: Sequence[str] = ()
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What was planned, and what was done of it: all, or nothing."""

    plan: Plan
    done: Delivered
    page: str

    def facts(self) -> dict[str, object]:
        """Everything for ``--json``."""
        return {
            **self.plan.facts(),
            "outcome": self.done.outcome.value,
            "commit": self.done.commit,
            "pull": self.done.pull,
            "page": self.page,
        }


def publish(
    out: str,
    repo: str,
    asked: Asked | None = None,
    *,
    dry_run: bool = False,
    access: Access | None = None,
    on_step: OnStep | None = None,
) -> Published:
    """Publish the folder `out` as the dataset `repo`, or with `dry_run` only say what that does.

    Nothing is sent before the whole folder was looked at: `UnsafePath`, `TooBig`, `SecretFound`,
    and `UsageError` where the licence is not known. `HubError` for what the Hub refuses; then
    ``main`` is what it was or what it should become, and the same call does the rest.
    """
    chosen, who, step = asked or Asked(), access or Access(), on_step or (lambda _: None)
    address = _address(repo, chosen)
    source = FolderSource(out)
    if source.kind("") is not Standing.FOLDER:
        raise UsageError(
            f"there is no folder {out!r}",
            reason="no-such-folder",
            remedy="Give the folder of a converted or checked repo",
        )
    local = outgoing(source)
    unseen = refuse_secrets(source, chosen.allow_secrets)
    run = _Run(source, local, address, account(address, who), chosen, who, unseen)
    plan = run.plan()
    if dry_run:
        done = Delivered(Outcome.PLANNED)
    else:
        if plan.base is None:
            step(f"making the dataset {address.repo_id}")
            make_dataset(address, who, private=chosen.private)
            plan = run.plan()
        if plan.base is None:
            raise HubNotFound(
                f"the dataset {address.repo_id} was made, and is not to be seen",
                reason="repo-not-found",
                file=str(address),
                remedy="Publish again",
            )
        done = Delivery(who, run.account.name, chosen.message, step).carry_out(plan, plan.base)
    return Published(plan=plan, done=done, page=page_of(address, who, pull=done.pull))


def _address(repo: str, asked: Asked) -> HubAddress:
    """Where it goes; `UsageError` for what is asked and cannot be."""
    place = parse_hub_address(repo)
    if place is None or place.path or place.revision is not None:
        raise UsageError(
            f"{printable(repo)!r} is not the name of a dataset alone",
            reason="no-such-target",
            remedy="Write org/name; a branch is said with --branch",
        )
    if asked.as_pr and asked.branch is not None:
        raise UsageError(
            "a pull request is made to main, not to a branch",
            reason="pr-and-branch",
            remedy="Leave --pr or --branch out",
        )
    branch = asked.branch
    if branch is not None and not _is_branch(branch):
        raise UsageError(
            f"{printable(branch)!r} is not the name of a branch",
            reason="no-such-branch",
            remedy="Write it like feat/x, without refs/heads/",
        )
    licence = asked.licence
    if licence is not None and (asked.licence_unknown or not _LICENCE.fullmatch(licence)):
        raise UsageError(
            f"{printable(licence)!r} is no identifier of a licence, or one that is unknown",
            reason="no-such-licence",
            remedy="Write it as the Hub does, like --license apache-2.0",
        )
    if not asked.message.strip():
        raise UsageError(
            "the message is empty", reason="no-message", remedy="Say what the commit does"
        )
    return place if branch in (None, "main") else replace(place, revision=branch)


def _is_branch(name: str) -> bool:
    """Whether it names a branch and nothing else: not ``main`` by another name, not a commit."""
    return bool(_BRANCH.fullmatch(name)) and name != "HEAD" and not _COMMIT.fullmatch(name)


@dataclass(frozen=True, slots=True)
class _Run:
    """One publish: what is asked, and who asks."""

    source: FolderSource
    local: Outgoing
    address: HubAddress
    account: Account
    asked: Asked
    access: Access
    unseen: tuple[Unseen, ...]

    def plan(self) -> Plan:
        """What there is to do, with the Hub as it is now."""
        remote = _look(self.address, self.access)
        asked, dataset = self.asked, remote.dataset
        owned = self.account.owns(self.address.repo_id)
        self._refuse(dataset, owned=owned)
        source = self._check_source(dataset)
        goal = goal_of(
            self.local,
            remote,
            earned(self.source, digest=self.local.digest),
            remote.terms(owned=owned, replace=asked.replace),
            repo=self.address.repo_id,
            licence=asked.licence,
            licence_unknown=asked.licence_unknown,
        )
        modes = self._modes(goal, remote)
        return Plan(
            address=self.address,
            base=None if dataset is None else dataset.commit,
            as_pr=asked.as_pr,
            private=asked.private,
            goal=goal,
            changes=changes_to(goal, remote.files, modes),
            unchanged=sum(file.is_at(remote.files.get(path)) for path, file in goal.files.items()),
            limits=asked.limits,
            local=self.local,
            notes=(*source, *_unseen(self.unseen), *_notes(goal, self.local, new=dataset is None)),
        )

    def _refuse(self, dataset: Dataset | None, *, owned: bool) -> None:
        repo = self.address.repo_id
        if dataset is None and self.asked.as_pr:
            raise HubNotFound(
                f"there is no dataset {repo} that a pull request could be made to",
                reason="repo-not-found",
                file=str(self.address),
                remedy="Check the name; without --pr a dataset is made where you may",
            )
        if not owned and not self.asked.as_pr:
            raise HubDenied(
                f"{self.account.name} may not write to {repo.partition('/')[0]}",
                reason="may-not-write",
                file=str(self.address),
                remedy="Use a token of somebody who may, or propose it with --pr",
            )
        if dataset is not None and dataset.open_to_all and self.asked.private:
            raise UsageError(
                f"the dataset {repo} is there, and everybody may read it",
                reason="is-public",
                remedy="Make it private on its page first, or leave --private out",
            )

    def _check_source(self, dataset: Dataset | None) -> list[str]:
        """That nothing of a gated or private repo gets where everybody sees it, unless asked."""
        if self.source.kind(PROVENANCE) is not Standing.FILE:
            return []
        record = parse_provenance(self.source.read(PROVENANCE, _MAX_RECORD))
        origin, named = record.source.repo, record.options.get("repo-id", self.address.repo_id)
        notes = []
        if named != self.address.repo_id:
            notes.append(
                f"it was converted with --repo-id {named}: its commands and configs say so"
            )
        hidden = self.asked.private if dataset is None else not dataset.open_to_all
        if origin is None or origin == self.address.repo_id or hidden:
            return notes
        there = find_dataset(HubAddress(origin), self.access)
        if there is not None and there.open_to_all:
            return notes
        what = "cannot be seen by this account" if there is None else "is gated or private"
        if self.asked.from_gated:
            return [*notes, f"{origin}, from which this was converted, {what}"]
        raise HubDenied(
            f"{origin}, from which this was converted, {what}, and everybody could read the copy",
            reason="gated-source",
            file=PROVENANCE,
            remedy="Publish with --private, or say --from-gated if its terms allow it",
        )

    def _modes(self, goal: Goal, remote: Remote) -> dict[str, Mode]:
        """How the Hub takes what is to be sent; nothing where there is no repo to ask."""
        if remote.dataset is None:
            return {}
        files = {path: goal.files[path] for path in goal.missing(remote.files)}
        there = replace(self.address, revision=remote.branch)
        asked = {path: (file.blob.size, file.sample) for path, file in files.items()}
        modes = upload_modes(there, asked, self.access, as_pr=self.asked.as_pr)
        hidden = [path for path, mode in modes.items() if mode == "ignored"]
        if hidden:
            raise HubError(
                f"the repo's .gitignore makes the Hub leave files out ({len(hidden):,})",
                reason="ignored-by-the-hub",
                file=", ".join(map(printable, hidden[:_SHOWN])),
                remedy="Remove the .gitignore at the root of the repo on the Hub",
            )
        return modes


def _look(address: HubAddress, access: Access) -> Remote:
    """What the Hub has: of a branch that is yet to be made, what it will be made from."""
    dataset = find_dataset(replace(address, revision=None), access)
    if dataset is None:
        return Remote()
    branch = None
    if address.revision is not None:
        try:
            dataset = find_dataset(address, access) or dataset
            branch = address.revision
        except HubNotFound as error:
            if error.reason != "revision-not-found":
                raise
    place = replace(address, revision=dataset.commit)
    files = list_files(place, access)
    if CARD in files and files[CARD].size > _MAX_CARD:
        raise too_big(CARD, files[CARD].size, _MAX_CARD)
    card = read_file(place, CARD, access) if CARD in files else None
    return Remote(dataset, files, card, branch)


def _unseen(unseen: Sequence[Unseen]) -> Iterator[str]:
    if unseen:
        first = ", ".join(map(str, unseen[:_SHOWN]))
        more = f", and {len(unseen) - _SHOWN:,} more" if len(unseen) > _SHOWN else ""
        yield f"nobody has looked for secrets in {first}{more}"


def _notes(goal: Goal, local: Outgoing, *, new: bool) -> list[str]:
    notes: list[str] = []
    if new:
        notes.append("there is no repo to ask yet: which files go as large ones is a guess")
    if local.attributes:
        notes.append("the folder's .gitattributes stays here: the Hub has its own")
    nested = sum(path.endswith(f"/{ATTRIBUTES}") for path in goal.files)
    if nested:
        notes.append(f"git obeys the .gitattributes in folders when it clones ({nested:,})")
    if len(goal.files) + len(goal.left) > MANY_FILES:
        notes.append(f"more than {MANY_FILES:,} files, which the Hub advises against")
    if strangers := unchecked(goal.left):
        notes.append(f"files that only the repo has stay there ({len(strangers):,})")
    return notes
