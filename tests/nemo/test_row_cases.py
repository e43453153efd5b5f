"""What we make of rows, and that the README lists where that is stricter than NeMo Gym."""

from __future__ import annotations

from pathlib import Path

import pytest

from nemo.nemo_rows import CONFIG, DATA, repo_of
from nemo.row_cases import ROWS, stricter
from rlconvert.errors import RlconvertError
from rlconvert.format import get_format
from rlconvert.formats.nemo.noticing import REFUSED
from rlconvert.memory import MemorySource

README = Path(__file__).parents[2] / "formats" / "nemo" / "README.md"


def ours(data: bytes) -> str:
    """The reason of the first row that cannot be read, else what the remarks say of NeMo Gym."""
    files = {"environments/demo/config.yaml": CONFIG, DATA: data}
    reader = get_format("nemo").reader(MemorySource(repo_of(files)), {})
    said = "taken"
    for ref in reader.refs():
        try:
            task = reader.load(ref)
        except RlconvertError as error:
            return error.reason
        for remark in task.native["nemo"].remarks:
            if remark.harm:
                said = "refused" if remark.reason == REFUSED else "lost"
    return said


@pytest.mark.parametrize("name", ROWS)
def test_row(name: str) -> None:
    assert ours(ROWS[name].data) == ROWS[name].ours


@pytest.mark.parametrize("name", ROWS)
def test_whoever_is_stricter_says_why(name: str) -> None:
    """A row that we take is taken there; one that is taken there, and not here, has a reason."""
    case = ROWS[name]
    both = {case.collate, case.rollout}
    assert {"taken": both == {"taken"}, "lost": "changed" in both}.get(case.ours, True)
    assert bool(case.because) == (
        case.ours not in ("taken", "lost", "refused") and both != {"refused"}
    )


def test_readme_lists_what_is_stricter() -> None:
    assert stricter() in README.read_text(encoding="utf-8")
