"""The plan of a publish: what is sent and deleted so that a repo of the Hub holds what it shall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from rlconvert.address import HubAddress
from rlconvert.hub.write import Mode, RemoteFile
from rlconvert.tags.header import CARD

from .goal import Goal
from .outgoing import OutFile, Outgoing

_MAX_REGULAR = 10_000_000


class Kind(StrEnum):
    """What becomes of a file."""

    ADDED = "added"
    CHANGED = "changed"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one commit may hold: so many files, and so many bytes of those that are not large."""

    files: int = 1_000
    size: int = 100_000_000


@dataclass(frozen=True, slots=True)
class Change:
    """A file that is sent or deleted."""

    path: str
    kind: Kind
    size: int = 0
    mode: Mode = "regular"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that would be done. `base` is the commit it was made for; None: the repo is made first.

    `at_once`: one commit does it. Else it goes into a pull request in several, which is merged
    when it has been read back, or into the branch that was asked for.
    """

    address: HubAddress
    base: str | None
    as_pr: bool
    private: bool
    goal: Goal
    changes: tuple[Change, ...]
    unchanged: int
    limits: Limits
    local: Outgoing
    notes: tuple[str, ...] = ()

    @property
    def at_once(self) -> bool:
        """Whether it fits into one commit."""
        return len(batches(self.changes, self.limits)) <= 1

    def facts(self) -> dict[str, object]:
        """The plan for ``--json``."""
        local, tags = self.local, self.goal.tags
        return {
            "repo": self.address.repo_id,
            "branch": self.address.revision or "main",
            "base": self.base,
            "new": self.base is None,
            "pull_request": self.as_pr,
            "terms": self.goal.terms.name.lower(),
            "commits": len(batches(self.changes, self.limits)),
            "changes": [
                {"path": each.path, "change": each.kind.value, "size": each.size, "as": each.mode}
                for each in self.changes
            ],
            "card": list(self.goal.card_edit()),
            "unchanged": self.unchanged,
            "left": sorted(self.goal.left),
            "tags": {
                "added": list(tags.added),
                "removed": list(tags.removed),
                "kept": list(tags.kept),
                "withheld": dict(tags.withheld),
                "evidence": dict(tags.evidence),
            },
            "licence": self.goal.licence,
            "lost": {
                "executable": local.executables.facts(),
                "links": local.links.facts(),
                "empty_folders": local.empty_folders.facts(),
            },
            "notes": list(self.notes),
        }


def batches(changes: tuple[Change, ...], limits: Limits) -> list[list[Change]]:
    """The changes, in commits that keep the limits. The card comes last: its tags speak of all."""
    deleted = [each for each in changes if each.kind is Kind.DELETED]
    sent = [each for each in changes if each.kind is not Kind.DELETED]
    ordered = [*deleted, *sorted(sent, key=lambda each: (each.path == CARD, each.path))]
    found: list[list[Change]] = []
    size = 0
    for each in ordered:
        bytes_ = each.size if each.mode == "regular" else 0
        if not found or len(found[-1]) >= limits.files or size + bytes_ > limits.size:
            found.append([])
            size = 0
        found[-1].append(each)
        size += bytes_
    return found


def guessed_mode(file: OutFile) -> Mode:
    """How the Hub takes a file, where it cannot be asked."""
    large = file.blob.size > _MAX_REGULAR or b"\0" in file.sample
    return "lfs" if large else "regular"


def changes_to(
    goal: Goal, files: Mapping[str, RemoteFile], modes: Mapping[str, Mode]
) -> tuple[Change, ...]:
    """What makes a tree of the Hub what it shall be."""
    deleted = [Change(path, Kind.DELETED) for path in goal.surplus(files)]
    sent = [
        Change(
            path,
            Kind.CHANGED if path in files else Kind.ADDED,
            goal.files[path].blob.size,
            modes.get(path) or guessed_mode(goal.files[path]),
        )
        for path in goal.missing(files)
    ]
    return (*deleted, *sent)
