"""The rows of a file keep their order when a task has rows in several files."""

import shutil
from pathlib import Path

from rlconvert import convert
from trees import assert_same_tree

GOLDEN = Path(__file__).parents[2] / "fixtures" / "golden" / "harbor-to-nemo" / "registry"


def test_a_task_of_two_environments_keeps_its_place_in_both(tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(GOLDEN, source, symlinks=True)
    rows = source / "data" / "easy-1.10" / "harbor_agent_general-train.jsonl"
    add, sub, warm_up = rows.read_bytes().splitlines(keepends=True)
    rows.write_bytes(warm_up + sub + add.rstrip(b"\n"))  # `add` is the task of easy-1.0, too
    run = convert(str(source), str(tmp_path / "out"), to=["nemo"], read_as="nemo")
    assert run.error is None
    assert_same_tree(tmp_path / "out", source, ignore=[".rlconvert"])
