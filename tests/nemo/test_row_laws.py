"""The laws of a format, for repositories of rows: back byte for byte, and rebuilt alike."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given

from laws.comparing import differing
from laws.running import laid, room, run, stripped
from rlconvert.errors import RlconvertError
from rlconvert.files import FileTree
from rlconvert.format import get_format
from rlconvert.model import Task
from rlconvert.source import FolderSource
from strategies.nemo_rows import row_repos
from trees import assert_same_tree

NAME = "nemo"


def readable(where: Path) -> dict[str, Task]:
    """The tasks that can be read, as the model alone knows them."""
    reader = get_format(NAME).reader(FolderSource(str(where)), {})
    found = {}
    for ref in reader.refs():
        try:
            found[ref.id] = reader.load(ref).stripped
        except RlconvertError:
            continue
    return found


@given(row_repos())
def test_identity(tree: FileTree) -> None:
    with room() as place:
        source = laid(place, tree)
        way = run(source, NAME, NAME, place / "out")
        assert not way.conversion.report.any_refused, way.conversion.report.facts()
        assert_same_tree(way.out, source, ignore=[".rlconvert"])
        again = run(way.out, NAME, NAME, place / "again")
        assert_same_tree(again.out, source, ignore=[".rlconvert"])


@given(row_repos())
def test_rebuild(tree: FileTree) -> None:
    with room() as place:
        source = laid(place, tree)
        way = run(source, stripped(NAME), NAME, place / "out")
        assert not way.conversion.report.any_refused, way.conversion.report.facts()
        before, after, ids = readable(source), readable(way.out), way.ids(NAME)
        assert sorted(after) == sorted(ids.values())
        for task, new in ids.items():
            assert not differing(before[task], after[new])
