"""The laws of a single format once more, for rows alone: a line can be spelled in many ways."""

from __future__ import annotations

from hypothesis import given

from laws.checks import check_identity, check_rebuild
from laws.running import laid, room, run, stripped
from rlconvert.files import FileTree
from strategies.nemo_rows import row_repos, rows_of


@given(row_repos())
def test_identity(tree: FileTree) -> None:
    check_identity(tree, "nemo")


@given(row_repos())
def test_rebuild(tree: FileTree) -> None:
    check_rebuild(tree, "nemo")


def test_rows_that_are_the_same_when_built_again() -> None:
    """They are counted as the output has them, not as the source had."""
    plain: dict[str, object] = {"responses_create_params": {"input": "x"}, "x": 1}
    padded = {**plain, "responses_create_params": {"input": "x", "tools": None}}
    tree = rows_of("a_server_of_their_own", plain, padded, plain, rule={})
    check_rebuild(tree, "nemo")
    with room() as place:
        ids = list(
            run(laid(place, tree), stripped("nemo"), "nemo", place / "out").ids("nemo").values()
        )
    assert ids == [ids[0], f"{ids[0]}~2", f"{ids[0]}~3"]
