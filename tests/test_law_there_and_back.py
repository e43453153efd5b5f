"""Law 2: A -> B -> A gives A back; without the sidecar, all of it that B was said to hold.

And law 4 with it: what does not come back is what the report says is lost, no less and no more.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.checks import check_with_sidecar, check_without_sidecar
from laws.sources import EACH, PAIRS, convertible, toy

__all__ = ["toy"]


@settings(max_examples=EACH)
@pytest.mark.parametrize(("one", "other"), PAIRS)
@given(st.data())
def test_with_sidecar(one: str, other: str, data: st.DataObject) -> None:
    """Byte for byte, and so it is when the Hub has lost modes, links and empty folders."""
    check_with_sidecar(data.draw(convertible(one)), one, other)


@settings(max_examples=EACH)
@pytest.mark.parametrize(("one", "other"), PAIRS)
@given(st.data())
def test_without_sidecar(one: str, other: str, data: st.DataObject) -> None:
    check_without_sidecar(data.draw(convertible(one)), one, other)
