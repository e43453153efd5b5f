"""Law 4, what can be seen without converting: the tables of fates and refusals are whole.

That a report tells the truth about tasks is checked with law 2, and in every run of the laws.
"""

from __future__ import annotations

import re

import pytest

from laws.sources import NAMES, toy
from rlconvert.format import Fate, get_format
from rlconvert.model import field_paths

__all__ = ["toy"]


@pytest.mark.parametrize("name", NAMES)
def test_every_way_speaks_of_every_field(name: str) -> None:
    known = get_format(name)
    assert known.ways
    for way, fates in known.ways.items():
        assert set(fates) == set(field_paths()), way
        for path, fate in fates.items():
            assert fate.reason or fate.fate is Fate.EXACT, f"{way}: {path} without a reason"


@pytest.mark.parametrize("name", NAMES)
def test_every_refusal_has_a_sentence(name: str) -> None:
    for reason, sentence in get_format(name).refusals.items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", reason)
        assert len(sentence) > 10
        assert not sentence.endswith(".")
