"""Which tags a repo has earned: a framework's tag is true of the very files that it loads.

A tag is earned by a record of a check on these files, by their digest, in which the framework
loads everything it finds. Where a framework can be given a subset, the check asks about the
subset alone; where it cannot, every task counts, and one that does not load costs the tag.
A record is the word of whoever wrote it: who does not trust it asks the framework again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from rlconvert.format import Format, format_names, get_format
from rlconvert.proof.proofs import recorded_checks
from rlconvert.proof.published import layout_digest
from rlconvert.proof.records import CheckRecord
from rlconvert.source import FolderSource

ENVIRONMENT = "rl-environment"
"""Goes with every tag of a framework: by it a repo is found on the Hub."""

_FEW = 5
"""So many graders are named in the evidence; the record has them all."""

FORMER = "environment"
"""What `ENVIRONMENT` was called for two weeks; noted where it is read, never written."""


class Lack(StrEnum):
    """Why a repo has not earned a tag."""

    NO_RECORD = "no-record"
    OTHER_FILES = "other-files"
    CONTRADICTS = "contradicts-itself"
    NO_TASK = "no-task"
    NOT_ALL_LOAD = "not-all-load"
    FAULTY = "faulty"

    @property
    def disproves(self) -> bool:
        """Whether the framework was asked about these files and does not load them."""
        return self in (Lack.NO_TASK, Lack.NOT_ALL_LOAD, Lack.FAULTY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Earned:
    """Whether the files of a repo have earned a framework's tag.

    `lack` is None when they have. `evidence` is one sentence in either case, the same for the same
    record; `warnings` are what the framework said beside its verdict.
    """

    tag: str
    format: str
    title: str
    evidence: str
    lack: Lack | None = None
    warnings: tuple[str, ...] = ()

    def facts(self) -> dict[str, object]:
        """The finding for ``--json``."""
        return {
            "framework": self.format,
            "earned": self.lack is None,
            "lack": None if self.lack is None else self.lack.value,
            "evidence": self.evidence,
            "warnings": list(self.warnings),
        }


def earned(source: FolderSource, *, digest: str | None = None) -> dict[str, Earned]:
    """Every framework's tag, in the order of the formats, and whether the repo has earned it.

    `digest` is that of the files of `source`, where it is known already. `NewerSchema` and
    `Malformed` come from the records.
    """
    records = recorded_checks(source)
    if records and digest is None:
        digest = layout_digest(source)
    return earned_by(records, digest)


def earned_by(records: Mapping[str, CheckRecord], digest: str | None) -> dict[str, Earned]:
    """The same by records that were read, for the files with this digest."""
    formats = map(get_format, format_names())
    return {
        each.tag: _judged(each, each.tag, records.get(each.name), digest)
        for each in formats
        if each.tag is not None
    }


def deserved(found: Mapping[str, Earned]) -> tuple[str, ...]:
    """The tags a card may carry: those that are earned, led by `ENVIRONMENT`; else none."""
    tags = [tag for tag, each in found.items() if each.lack is None]
    return (ENVIRONMENT, *tags) if tags else ()


def _judged(chosen: Format, tag: str, record: CheckRecord | None, digest: str | None) -> Earned:
    lack, evidence = _found(chosen.title, record, digest)
    counts = record is not None and lack not in (Lack.OTHER_FILES, Lack.CONTRADICTS)
    return Earned(
        tag=tag,
        format=chosen.name,
        title=chosen.title,
        lack=lack,
        evidence=evidence,
        warnings=record.warnings if record is not None and counts else (),
    )


def _found(title: str, record: CheckRecord | None, digest: str | None) -> tuple[Lack | None, str]:
    if record is None:
        return Lack.NO_RECORD, f"no record of a check by {title}"
    who = _who(record)
    if record.digest != digest:
        return Lack.OTHER_FILES, f"the record ({who}) is of other files"
    sound = record.loaded == record.total > 0 and not record.failures and not record.faults
    if sound != record.passed:
        return Lack.CONTRADICTS, f"the record ({who}) contradicts itself"
    if record.passed:
        return None, f"{who}: {record.loaded:,} of {record.total:,} tasks load{_graded(record)}"
    if record.loaded < record.total:
        said = f"{who}: {record.loaded:,} of {record.total:,} tasks load"
        first = next(iter(record.failures), None)
        return Lack.NOT_ALL_LOAD, f"{said}; {first.task}: {first.reason}" if first else said
    if record.faults:
        return Lack.FAULTY, f"{who}: {record.faults[0]}"
    return Lack.NO_TASK, f"{who}: it finds no task"


def _graded(record: CheckRecord) -> str:
    """What computes the rewards, where the tag claims it."""
    few, more = record.graders[:_FEW], len(record.graders) - _FEW
    return f", graded by {', '.join(few)}" * bool(few) + f" and {more} more" * (more > 0)


def _who(record: CheckRecord) -> str:
    names = [f"{name} {version}" for name, version in record.versions.items()]
    names += [f"Python {record.python}"] * bool(record.python)
    names += ["network not blocked"] * (record.network != "blocked")
    return ", ".join(names) or "an unnamed version"
