"""Whole repos as they are found and as vandals make them, by the command line: what it answers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from archiving import Piece, pieces_of, tar_gz, zipped
from hostile.making import LFS_POINTER
from rlconvert.cli import main
from rlconvert.errors import ExitCode
from test_archives import task


@dataclass(frozen=True)
class Said:
    """What a run of the command line came to."""

    code: int
    out: str
    err: str


def rlconvert(*arguments: str | Path) -> Said:
    """The command line in this process: what it does not catch ends the test."""
    out, err = StringIO(), StringIO()
    with (
        patch("sys.argv", ["rlconvert", *map(str, arguments)]),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    code = ended.value.code or 0
    assert isinstance(code, int)
    return Said(code, out.getvalue(), err.getvalue())


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


# --- what is nearly a set ------------------------------------------------------------------------


def other_types(path: pa.Array, cells: pa.Array) -> bytes:
    out = BytesIO()
    pq.write_table(pa.table({"path": path, "task_binary": cells}), out)
    return out.getvalue()


TASKS = [each for name in "ab" for each in pieces_of(task(name), f"{name}/")]
SHARD = "data/train-00000-of-00001.parquet"
NEARLY: dict[str, tuple[str, Callable[[], bytes], ExitCode, str]] = {
    "an empty file": (SHARD, bytes, ExitCode.MALFORMED, "the parquet file cannot be read"),
    "cut short": (SHARD, lambda: b"PAR1" + bytes(99), ExitCode.MALFORMED, "cannot be read"),
    "text for bytes": (
        SHARD,
        lambda: other_types(pa.array(["a"]), pa.array(["b"])),
        ExitCode.MALFORMED,
        "not one of text and one of bytes",
    ),
    "numbers for paths": (
        SHARD,
        lambda: other_types(pa.array([1]), pa.array([b"b"])),
        ExitCode.MALFORMED,
        "not one of text and one of bytes",
    ),
    "a cut zip": ("set.zip", lambda: zipped(TASKS)[:-40], ExitCode.MALFORMED, "zip file is dam"),
    "a cut gzip": ("s.tgz", lambda: tar_gz(TASKS)[:60], ExitCode.MALFORMED, "are cut short"),
    "no tar": ("set.tar", lambda: b"hello" * 300, ExitCode.MALFORMED, "neither a tar file"),
    "backslashes": (
        "set.zip",
        lambda: zipped([Piece("a\\task.toml"), Piece("a\\instruction.md")]),
        ExitCode.UNSAFE_PATH,
        "have backslashes",
    ),
}


@pytest.mark.parametrize("fault", NEARLY)
def test_what_is_nearly_a_set_is_told_by_name(fault: str, tmp_path: Path) -> None:
    """Not that nothing is known: why this one is not read."""
    path, data, code, why = NEARLY[fault]
    put(tmp_path / "repo", path, data())
    put(tmp_path / "repo", "README.md", "# tasks\n")
    for command in (("inspect",), ("convert", "--to", "nemo", tmp_path / "out")):
        said = rlconvert(command[0], tmp_path / "repo", *command[1:])
        assert said.code == code, said
        assert path in said.err
        assert why in said.err
    assert [each.name for each in tmp_path.iterdir()] == ["repo"]


@pytest.mark.parametrize("data", [zipped([Piece("a.png")]), zipped([])])
def test_what_is_no_set_is_not_blamed(data: bytes, tmp_path: Path) -> None:
    put(tmp_path, "pictures.zip", data)
    said = rlconvert("inspect", tmp_path)
    assert (said.code, "at its top: pictures.zip" in said.err) == (ExitCode.UNKNOWN_FORMAT, True)
