"""For each format: repositories in its layout, and the formats there are.

A format is tried on task folders that were converted to it, unless `_OWN` has others for it, or
beside those of `_MORE`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import assume, settings
from hypothesis import strategies as st

from laws.running import laid, room, run
from rlconvert import formats
from rlconvert.files import FileTree
from rlconvert.source import BOOKKEEPING, FolderSource
from strategies import nemo_rows, rows
from strategies.repos import repos
from strategies.toys import toy_repos

NAMES = (*formats.FORMATS, "toy")
PAIRS = [(one, other) for one in NAMES for other in NAMES if one != other]

EACH = max(5, settings().max_examples * 6 // len(PAIRS))
ALONE = max(5, settings().max_examples * 3 // len(NAMES))
FEW = max(3, EACH // 2)
"""Examples of a pair, of a format, of what is tried most often: formats grow, the time must not."""

Sources = st.SearchStrategy[FileTree]


@st.composite
def _converted(draw: st.DrawFn, target: str) -> FileTree:
    tree = draw(repos(plain=True))
    with room() as place:
        way = run(laid(place, tree), "harbor", target, place / "out")
        assume(not way.empty)
        return FolderSource(str(way.out)).tree("", skip=BOOKKEEPING)


_OWN: dict[str, Callable[[], Sources]] = {"harbor": repos, "toy": toy_repos}
_MORE: dict[str, Callable[[], Sources]] = {
    "nemo": lambda: rows.row_repos() | nemo_rows.row_repos() | nemo_rows.scored_repos(),
}


def sources(name: str) -> Sources:
    """Repositories in the layout of a format."""
    if name in _OWN:
        return _OWN[name]()
    return _converted(name) | _MORE[name]() if name in _MORE else _converted(name)


def convertible(name: str) -> Sources:
    """The same, of tasks that other formats are likely to take."""
    return repos(plain=True) if name == "harbor" else sources(name)


@pytest.fixture(scope="module", autouse=True)
def toy() -> Iterator[None]:
    """The toy format, registered by one line as any format is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(formats.FORMATS, "toy", "toy")
        yield
