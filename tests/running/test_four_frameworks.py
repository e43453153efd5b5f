"""The same tasks in all four frameworks: `fixtures/verify/four.json` says what each of them earns.

It is held against what the converter says of the same tasks, always; and against the frameworks
themselves where tasks can be run. `scripts/four_frameworks` makes it and prints it as a table.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rlconvert import convert
from rlconvert.pipe import Settings
from rlconvert.sidecar import MANIFEST, TaskRecord, parse
from rlconvert.source import FolderSource

ROOT = Path(__file__).parents[2]
SOUND = ROOT / "fixtures" / "verify" / "sound"
FOUR: dict[str, dict[str, dict[str, str]]] = json.loads(
    (SOUND.parent / "four.json").read_text(encoding="utf-8")
)
WITH_IMAGES = "verifiers with images"
OTHERS = ("nemo", "openenv", "verifiers", WITH_IMAGES)


def converted(column: str, out: Path) -> set[str]:
    """The tasks that go over to the framework of a column."""
    target = column.partition(" ")[0]
    named = {"image-template": "docker.io/org/{task}:1"} if column == WITH_IMAGES else {}
    settings = Settings(options=named, jobs=1)
    run = convert(str(SOUND), str(out), to=[target], read_as="harbor", settings=settings)
    assert run.error is None
    lines = FolderSource(str(out)).lines(MANIFEST)
    records = [parse(TaskRecord, line, MANIFEST) for line in lines]
    return {record.task for record in records if target in record.targets}


@pytest.mark.parametrize("column", OTHERS)
@pytest.mark.parametrize("sandbox", FOUR)
def test_what_goes_over_earns_the_same(sandbox: str, column: str, tmp_path: Path) -> None:
    """And what does not go over is refused by the framework, or earns something else there."""
    here, there = FOUR[sandbox]["harbor"], FOUR[sandbox][column]
    same = {task for task, said in there.items() if said == here[task]}
    goes = converted(column, tmp_path / "out")
    if (sandbox, column) == ("podman", WITH_IMAGES):
        goes.remove("compose")  # its conversion says that it needs docker
    assert same == goes


def test_every_task_is_measured() -> None:
    tasks = {path.name for path in SOUND.iterdir()}
    for columns in FOUR.values():
        for column in ("harbor", *OTHERS[:-1]):
            assert set(columns[column]) == tasks, column


SLOW = ("harbor", "nemo", "openenv")


@pytest.mark.run
@pytest.mark.parametrize(
    "column",
    [
        pytest.param(column, marks=pytest.mark.slow if column in SLOW else ())
        for column in ("harbor", *OTHERS)
    ],
)
def test_frameworks_say_what_is_kept(column: str) -> None:
    sandbox = os.environ.get("RLCONVERT_SANDBOX")
    if sandbox not in FOUR:
        pytest.skip(f"RLCONVERT_SANDBOX is {sandbox or 'not set'}: measured for {', '.join(FOUR)}")
    variable = f"RLCONVERT_{column.partition(' ')[0].upper()}_PYTHON"
    if variable not in os.environ:
        pytest.skip(f"{variable} is not set: scripts/frameworks says what to export")
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    run = subprocess.run(
        [sys.executable, "-m", "scripts.four_frameworks", column, "--check", "--jobs=2"],
        env={**os.environ, "PYTHONPATH": path},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
