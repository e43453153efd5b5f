"""What each scorer gives, as the original did: the cases beside its code, which no wheel has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rlconvert.formats.scorers import Scorer

SOURCES = Path(__file__).parents[2] / "formats" / "scorers"


def cases_of(scorer: Scorer) -> list[dict[str, Any]]:
    """Each with `params` (config and row), `submission`, `outcome` and `reward`."""
    lines = (SOURCES / scorer.folder.name / "cases.jsonl").read_bytes().splitlines()
    return [json.loads(line) for line in lines]
