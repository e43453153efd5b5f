"""What was proved of the repo in a folder: its records, and the card's section made of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rlconvert.card import with_proof
from rlconvert.errors import UnsafePath
from rlconvert.files import Blob
from rlconvert.format import format_names, get_format
from rlconvert.sink import OURS, replace_file, writing
from rlconvert.source import FolderSource, Kind

from .records import CHECKS, CheckRecord, checks_text, parse_checks, proof_text
from .runs import RUNS, RunRecord, parse_runs, runs_text

_MAX_RECORDS = 64 << 20
_MAX_CARD = 4 << 20
_CARD = "README.md"


def recorded_checks(source: FolderSource) -> dict[str, CheckRecord]:
    """The records of checks; none where the repo has none."""
    if source.kind(CHECKS) is not Kind.FILE:
        return {}
    return parse_checks(source.read(CHECKS, _MAX_RECORDS))


def recorded_runs(source: FolderSource) -> dict[str, RunRecord]:
    """The records of runs; none where the repo has none."""
    if source.kind(RUNS) is not Kind.FILE:
        return {}
    return parse_runs(source.read(RUNS, _MAX_RECORDS))


def write_proofs(
    source: FolderSource,
    digest: str,
    *,
    checks: Mapping[str, CheckRecord],
    runs: Mapping[str, RunRecord],
) -> bool:
    """Write all records, and the card's section where there is one; whether there is."""
    if source.kind(OURS) not in (None, Kind.FOLDER):
        raise UnsafePath(
            "it is no folder, so no record can stand in it",
            reason="not-a-folder",
            file=OURS,
            remedy="Remove it",
        )
    with writing(OURS):
        Path(source.root, OURS).mkdir(exist_ok=True)
    if checks:
        replace_file(f"{source.root}/{CHECKS}", Blob(checks_text(checks)))
    if runs:
        replace_file(f"{source.root}/{RUNS}", Blob(runs_text(runs)))
    if source.kind(_CARD) is not Kind.FILE:
        return False
    titles = {name: get_format(name).title for name in format_names()}
    text = proof_text(checks, runs, digest, titles)
    card = with_proof(source.read(_CARD, _MAX_CARD), text)
    if card is None:
        return False
    replace_file(f"{source.root}/{_CARD}", Blob(card))
    return True
