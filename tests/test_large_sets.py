"""Sets beyond the Hub's limit of entries in a folder, and what a task adds to the memory."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rlconvert.errors import TooBig
from rlconvert.formats.taskfolder.layouts import find_layout
from rlconvert.lineindex import LineIndex
from rlconvert.source import FolderSource, Item, Kind
from test_from_hub import rlconvert
from test_publish import REPO, go, no_xet, sent
from trees import assert_same_tree

if TYPE_CHECKING:
    from hub_fixture import Hub

__all__ = ["no_xet"]

pytest_plugins = ["hub_fixture"]
# The client uploads large files in a way that the HTTP library under it is about to drop.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

TASKS = 12_000
TOML = '[metadata]\nseed = {}\n[environment]\ndocker_image = "ubuntu:24.04"\n'
TEST = "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n"


@pytest.fixture
def large_set(tmp_path: Path) -> Path:
    """Tiny tasks, all different; every thousandth has what the Hub would lose."""
    root = tmp_path / "set"
    (root / "tasks").mkdir(parents=True)
    for number in range(TASKS):
        home = f"{root}/tasks/task-{number:05}"
        os.mkdir(home)  # noqa: PTH102 - with a Path for each it takes twice as long
        os.mkdir(f"{home}/tests")  # noqa: PTH102
        for name, text, mode in (
            ("task.toml", TOML.format(number), 0o644),
            ("instruction.md", f"Write {number} to `/app/number`.\n", 0o644),
            ("tests/test.sh", TEST, 0o755),
        ):
            descriptor = os.open(f"{home}/{name}", os.O_WRONLY | os.O_CREAT, mode)
            os.write(descriptor, text.encode())
            os.close(descriptor)
        if number % 1000 == 0:
            Path(home, "tests", "again.sh").symlink_to("test.sh")
            Path(home, "environment", "empty").mkdir(parents=True)
    return root


@pytest.mark.slow
def test_a_set_beyond_the_limit(hub: Hub, large_set: Path, tmp_path: Path) -> None:
    with pytest.raises(TooBig) as refused:
        go(hub, large_set)
    assert refused.value.reason == "too-many-entries"
    assert refused.value.file == "tasks"
    assert "--layout archive" in (refused.value.remedy or "")
    assert sent(hub) == []

    packed, back = str(tmp_path / "packed"), tmp_path / "back"
    run = rlconvert(hub, "convert", str(large_set), packed, "--to", "harbor", "--layout", "archive")
    assert run.returncode == 0, run.stderr
    run = rlconvert(hub, "publish", packed, REPO, "--licence-unknown")
    assert run.returncode == 0, run.stderr
    run = rlconvert(hub, "convert", REPO, str(back), "--to", "harbor", "--json")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["targets"]["harbor"]["converted"] == TASKS
    assert_same_tree(back, large_set, ignore=[".rlconvert"])


# --- memory --------------------------------------------------------------------------------------


class ManyTasks(FolderSource):
    """A folder of task folders that needs no disk."""

    def items(self, folder: str) -> list[Item]:
        if folder != "tasks":
            return [] if folder else [Item("tasks", Kind.FOLDER)]
        return [Item(f"task-{number:06}", Kind.FOLDER) for number in range(TASKS)]

    def kind(self, path: str) -> Kind | None:
        in_task = path.startswith("tasks/task-") and path.endswith("/task.toml")
        return Kind.FILE if in_task else None


def test_a_task_folder_takes_little_memory(tmp_path: Path) -> None:
    """A reader knows where every task is, for as long as a run takes."""
    source = ManyTasks(str(tmp_path))
    find_layout(source)
    tracemalloc.start()
    try:
        layout = find_layout(source)
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(layout.places) == TASKS
    assert (kept / TASKS < 130, most / TASKS < 250) == (True, True)


def test_a_line_of_the_manifest_takes_little_memory() -> None:
    """Each worker has the index of all."""
    tracemalloc.start()
    try:
        index = LineIndex((f"task-{number:06}", number * 500, 500) for number in range(TASKS))
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert list(index.find("task-000007")) == [(3500, 500)]
    assert (kept / TASKS < 20, most / TASKS < 130) == (True, True)
