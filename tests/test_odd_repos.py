"""Whole repos as they are found and as vandals make them, by the command line: what it answers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from archiving import Piece, pieces_of, table, tar, tar_gz, zipped
from hostile.making import LFS_POINTER
from rlconvert.archives.view import unpacked
from rlconvert.cli import main
from rlconvert.errors import ExitCode, SourceChanged
from rlconvert.files import FileTree
from rlconvert.format import get_format
from rlconvert.source import FolderSource
from strategies.files import lay, text_file
from test_archives import task


@dataclass(frozen=True)
class Said:
    """What a run of the command line came to."""

    code: int
    out: str
    err: str


def rlconvert(*arguments: str | Path) -> Said:
    """The command line in this process: what it does not catch ends the test."""
    out, err = (TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with (
        patch("sys.argv", ["rlconvert", *map(str, arguments)]),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    code = ended.value.code or 0
    assert isinstance(code, int)
    for stream in (out, err):
        stream.seek(0)
    return Said(code, out.read(), err.read())


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


# --- what changes while it is read ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.parquet", "set.zip", "set.tar", "train.jsonl"])
def test_a_set_that_changes_between_the_look_and_the_reading(name: str, tmp_path: Path) -> None:
    """By another one with as many tasks: what was found in the first is not looked for in it."""
    row = {"responses_create_params": {"input": "one"}}

    def written(text: str) -> bytes:
        tree = task("a").union(FileTree({"instruction.md": text_file(text)}))
        if name == "x.parquet":
            return table(tmp_path / "made", [("a", tar_gz(pieces_of(tree)))]).read_bytes()
        if name == "train.jsonl":
            return json.dumps(row | {"id": text}).encode() + b"\n"
        wrap = zipped if name == "set.zip" else tar
        return wrap(pieces_of(tree, "a/"))

    place = put(tmp_path / "repo", name, written("One.\n"))
    os.utime(place, (1, 1))
    source = unpacked(FolderSource(str(tmp_path / "repo")))
    reader = get_format("nemo" if name == "train.jsonl" else "harbor").reader(source, {})
    (ref,) = reader.refs()
    place.write_bytes(written("Two.\n"))
    with pytest.raises(SourceChanged, match=name):
        reader.load(ref)


# --- several layouts in one repo -----------------------------------------------------------------


def test_all_layouts_are_reported_and_the_asked_one_is_converted(tmp_path: Path) -> None:
    repo, out = tmp_path / "repo", tmp_path / "out"
    lay(repo / "tasks" / "a", task("a"))
    row = json.dumps({"responses_create_params": {"input": "one"}}) + "\n"
    put(repo, "data/train.jsonl", row * 2)
    put(repo, "data/tasks.jsonl", '{"task": "a", "path": "tasks/a"}\n')
    put(repo, "all.zip", zipped(pieces_of(task("b"), "b/")))
    table(repo / "more" / "tasks.parquet", [("c", tar_gz(pieces_of(task("c"))))])
    table(repo / "manifest.parquet", [("a", b"")], columns=("path", "size"))
    found = json.loads(rlconvert("inspect", repo, "--json").out)
    because = {each["format"]: each["because"] for each in found["layouts"]}
    assert because["harbor"] == "tasks/a/task.toml"
    assert because["nemo"] == "data/train.jsonl"
    assert found["archives"] == {"read": [], "not_read": ["more/tasks.parquet", "all.zip"]}
    refused = rlconvert("convert", repo, out, "--to", "nemo")
    assert refused.code == ExitCode.AMBIGUOUS
    assert "data/train.jsonl" in refused.err
    assert not out.exists()
    for read_as, tasks in (("harbor", 1), ("nemo", 2)):
        done = rlconvert(
            "convert", repo, tmp_path / read_as, "--from", read_as, "--to", read_as, "--json"
        )
        assert done.code == ExitCode.DONE
        assert json.loads(done.out)["targets"][read_as]["converted"] == tasks
