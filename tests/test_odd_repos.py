"""Whole repos as they are found and as vandals make them, by the command line: what it answers."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

from hostile.making import LFS_POINTER
from rlconvert.errors import ExitCode

RLCONVERT = Path(sysconfig.get_path("scripts")) / "rlconvert"


@dataclass(frozen=True)
class Said:
    """What a run of the command line came to."""

    code: int
    out: str
    err: str


def rlconvert(*arguments: str | Path) -> Said:
    done = subprocess.run(
        [str(RLCONVERT), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert "Traceback" not in done.stderr
    assert done.returncode != ExitCode.INTERNAL, done.stderr
    return Said(done.returncode, done.stdout, done.stderr)


def put(root: Path, path: str, data: bytes | str = b"x") -> Path:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data.encode() if isinstance(data, str) else data)
    return place


# --- what Git LFS has not fetched ----------------------------------------------------------------

POINTERS = (
    "tasks.parquet",
    "data/train-00000-of-00002.parquet",
    "all.zip",
    "tasks.tar.gz",
    "train.jsonl",
    "data/train.jsonl",
)


@pytest.mark.parametrize("path", POINTERS)
def test_a_set_that_was_not_fetched_says_so(path: str, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    put(repo, path, LFS_POINTER)
    put(repo, "README.md", "# tasks\n")
    commands: list[tuple[str | Path, ...]] = [
        ("inspect", repo),
        ("convert", repo, tmp_path / "out", "--to", "harbor"),
        ("convert", repo, tmp_path / "out", "--to", "nemo", "--from", "harbor"),
        ("convert", repo, tmp_path / "out", "--to", "harbor", "--from", "nemo"),
    ]
    if not path.endswith(".jsonl"):
        commands.append(("inspect", repo / path))
    for command in commands:
        said = rlconvert(*command)
        assert said.code == ExitCode.MALFORMED, (command, said)
        assert f"{Path(path).name}: this is a Git LFS pointer" in said.err
        assert "git lfs pull" in said.err
    assert [each.name for each in tmp_path.iterdir()] == ["repo"]
