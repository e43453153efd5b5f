"""The laws of a single format once more, for rows alone: a line can be spelled in many ways."""

from __future__ import annotations

import pytest
from hypothesis import given

from laws.checks import check_identity, check_rebuild
from rlconvert.files import FileTree
from strategies.nemo_rows import row_repos


@given(row_repos())
def test_identity(tree: FileTree) -> None:
    check_identity(tree, "nemo")


@pytest.mark.xfail(
    reason="an open fault: one of 300 made-up repos is not rebuilt alike", strict=False
)
@given(row_repos())
def test_rebuild(tree: FileTree) -> None:
    check_rebuild(tree, "nemo")
