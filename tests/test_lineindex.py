"""Lines by name: what a dict would find, in less memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from rlconvert import lineindex
from rlconvert.lineindex import LineIndex

if TYPE_CHECKING:
    import pytest

NAMES = st.text("ab\ud800\xe9", max_size=3)
LINES = st.lists(st.tuples(NAMES, st.integers(1, 1 << 20)), max_size=30)


@given(LINES, NAMES)
def test_what_a_dict_would_find(lines: list[tuple[str, int]], other: str) -> None:
    placed, start = [], 0
    for name, size in lines:
        placed.append((name, start, size))
        start += size
    index = LineIndex(placed)
    wanted = {name: (start, size) for name, start, size in placed}
    for name in (*wanted, other):
        assert next(index.find(name), None) == wanted.get(name)


def test_names_of_one_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lineindex, "_digest", lambda _: 7)
    index = LineIndex([("a", 0, 10), ("b", 10, 20), ("a", 30, 5)])
    assert list(index.find("a")) == [(30, 5), (10, 20), (0, 10)]
