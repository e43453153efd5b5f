"""The records of checks, ``.rlconvert/checks.json``, and what the card says from them.

A record holds no time and no path of this machine: the same check of the same files is the same
record. It counts for the files whose digest it names and for no others. A newer schema is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, Field

from rlconvert import __version__
from rlconvert.card import UNPROVED, in_code, in_text, table
from rlconvert.files import printable
from rlconvert.judge import Verdict
from rlconvert.sidecar import Record, parse_records
from rlconvert.sink import OURS

from .runs import RunRecord, runs_section

SCHEMA = 1
CHECKS = f"{OURS}/checks.json"
_MOST = 100
"""So many failures, faults and warnings are kept of each kind; the counts are of all."""


class FailureRecord(Record):
    """A task that a framework does not load, and what the framework says."""

    task: str
    reason: str


class CheckRecord(Record):
    """One framework's verdict on the files with this digest; `by` is the version that asked.

    `graders` are what computes the rewards, where that is something beside the tasks.
    """

    by: str
    versions: dict[str, str]
    python: str
    network: Literal["blocked", "not blocked"]
    digest: str
    passed: bool
    total: int
    loaded: int
    failures: tuple[FailureRecord, ...] = ()
    faults: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    graders: tuple[str, ...] = ()


class ChecksRecord(BaseModel):
    """All records of a repo, by the name of the format."""

    schema_: int = Field(alias="schema")
    checks: dict[str, CheckRecord] = {}


def record_of(verdict: Verdict, digest: str, *, network_blocked: bool) -> CheckRecord:
    """A verdict on the files with this digest, as it is kept."""
    return CheckRecord(
        by=__version__,
        versions=dict(verdict.versions),
        python=verdict.python,
        network="blocked" if network_blocked else "not blocked",
        digest=digest,
        passed=verdict.passed,
        total=len(verdict.tasks),
        loaded=verdict.loaded,
        failures=tuple(
            FailureRecord(task=printable(each.task), reason=each.reason or "")
            for each in verdict.failures[:_MOST]
        ),
        faults=verdict.faults[:_MOST],
        warnings=verdict.warnings[:_MOST],
        graders=verdict.graders[:_MOST],
    )


def parse_checks(data: bytes) -> dict[str, CheckRecord]:
    """The records in ``checks.json``; `NewerSchema`, `Malformed`."""
    return parse_records(ChecksRecord, data, CHECKS, SCHEMA, "checks").checks


def checks_text(checks: Mapping[str, CheckRecord]) -> bytes:
    """The records as they stand on disk, by name."""
    record = ChecksRecord(schema=SCHEMA, checks={name: checks[name] for name in sorted(checks)})
    return record.model_dump_json(by_alias=True, indent=2).encode() + b"\n"


def proof_text(
    checks: Mapping[str, CheckRecord],
    runs: Mapping[str, RunRecord],
    digest: str,
    titles: Mapping[str, str],
) -> str:
    """What the card may say: the verdicts on these very files, and none on others."""
    sections = (_loads(checks, digest, titles), runs_section(runs, digest, titles))
    return "\n\n".join(section for section in sections if section) or UNPROVED


def _loads(checks: Mapping[str, CheckRecord], digest: str, titles: Mapping[str, str]) -> str:
    valid = {name: checks[name] for name in sorted(checks) if checks[name].digest == digest}
    if not valid:
        return ""
    rows = [
        (
            in_text(titles.get(name, name)),
            ", ".join(in_code(f"{each} {version}") for each, version in record.versions.items()),
            in_text(record.python),
            f"{record.loaded:,} of {record.total:,}",
            "loads" if record.passed else "**does not load**",
        )
        for name, record in valid.items()
    ]
    lines = [
        "What the frameworks themselves said of the files of this repo:",
        table(("framework", "versions", "Python", "tasks loaded", "verdict"), rows),
    ]
    lines += [
        f"In {in_text(titles.get(name, name))} the rewards come from "
        f"{', '.join(map(in_code, record.graders))}."
        for name, record in valid.items()
        if record.graders
    ]
    open_to = [titles.get(name, name) for name, each in valid.items() if each.network != "blocked"]
    if open_to:
        lines.append(f"The network was not blocked for {in_text(', '.join(open_to))}.")
    lines.append(f"Loading is not running. The records are in {in_code(CHECKS)}.")
    return "\n\n".join(lines)
