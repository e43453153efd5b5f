"""The records of runs, ``.rlconvert/runs.json``: what tasks earned when they were really run.

Like a check's, a record holds no time and no path of this machine, counts for the files whose
digest it names, and for no others. A newer schema is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, Field

from rlconvert.card import in_code, in_text, table
from rlconvert.sidecar import Record, parse_records
from rlconvert.sink import OURS

SCHEMA = 1
RUNS = f"{OURS}/runs.json"
MOST = 1000
"""So many verdicts are kept, the bad ones first; the counts are of all."""

_INTRO = """\
What the tasks earned when they were run, without a model: the oracle's solution has to earn full
reward, doing nothing less."""


class VerdictRecord(Record):
    """The verdict on one task, and what the two agents earned."""

    task: str
    verdict: str
    reason: str
    problem: str
    oracle: str | None = None
    nop: str | None = None


class RunRecord(Record):
    """What came of running the tasks with this digest.

    `by` is our version, `versions` are of the framework that ran them. `images` are the registry
    digests of the images they stood on. `base` is ``substitute`` where one of these never came
    from a registry: then nothing is said of the published image. `network` lists what the tasks
    ask for, `selection` which of them were run, `repeat` how often each, `full` which reward is
    full. `same_as` is the digest of another repo whose tasks earn the same.
    """

    by: str
    versions: dict[str, str]
    python: str
    sandbox: str
    images: dict[str, str]
    base: Literal["published", "substitute", "unknown"]
    network: tuple[str, ...]
    digest: str
    selection: str
    repeat: int
    full: float
    total: int
    verified: int
    failed: int
    no_oracle: int
    not_run: int
    same_as: str | None = None
    verdicts: tuple[VerdictRecord, ...] = ()


class RunsRecord(BaseModel):
    """All records of a repo, by what ran its tasks."""

    schema_: int = Field(alias="schema")
    runs: dict[str, RunRecord] = {}


def parse_runs(data: bytes) -> dict[str, RunRecord]:
    """The records in ``runs.json``; `NewerSchema`, `Malformed`."""
    return parse_records(RunsRecord, data, RUNS, SCHEMA, "runs").runs


def runs_text(runs: Mapping[str, RunRecord]) -> bytes:
    """The records as they stand on disk, by name."""
    record = RunsRecord(schema=SCHEMA, runs={name: runs[name] for name in sorted(runs)})
    return record.model_dump_json(by_alias=True, indent=2).encode() + b"\n"


def runs_section(runs: Mapping[str, RunRecord], digest: str, titles: Mapping[str, str]) -> str:
    """What the card may say of runs of these very files; empty when there is none."""
    valid = {name: runs[name] for name in sorted(runs) if runs[name].digest == digest}
    if not valid:
        return ""
    head = ("run by", "versions", "sandbox", "image", "tasks run", "verified", "failed", "not run")
    rows = [
        (
            in_text(titles.get(name, f"rlconvert ({name})")),
            ", ".join(in_code(f"{each} {version}") for each, version in run.versions.items()),
            in_code(run.sandbox),
            run.base,
            f"{run.total - run.not_run:,} of {run.total:,} ({in_text(run.selection)})",
            f"{run.verified:,}",
            f"**{run.failed:,}**" if run.failed else "0",
            f"{run.not_run:,}",
        )
        for name, run in valid.items()
    ]
    lines = [_INTRO, table(head, rows)]
    if any(run.base != "published" for run in valid.values()):
        lines.append(
            "`substitute`: an image stood in for the published one, so the run says nothing of "
            "that. `unknown`: the sandbox does not tell."
        )
    lines.append(f"The records are in {in_code(RUNS)}.")
    return "\n\n".join(lines)
