"""Where an output may stand, and what a sink promises."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from converting import ONE_JOB, beside, convert_folder, snapshot, tasks
from hostile import write_task
from rlconvert import sink
from rlconvert.errors import ExitCode, OutputExists, UsageError, WriteError
from rlconvert.files import Blob
from rlconvert.sink import Sink

# ------------------------------------------------------------------ the output's place


def put_there(out: Path, what: str) -> None:
    match what:
        case "a file":
            out.write_bytes(b"mine")
        case "a folder":
            (out / "notes").mkdir(parents=True)
            (out / "notes" / "mine.txt").write_bytes(b"mine")
        case "a link to a folder":
            (out.parent / "elsewhere").mkdir()
            out.symlink_to("elsewhere")
        case "a dangling link":
            out.symlink_to("nowhere")
        case "a pipe":
            os.mkfifo(out)


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    "what", ["a file", "a folder", "a link to a folder", "a dangling link", "a pipe"]
)
def test_what_is_not_ours_is_never_touched(what: str, force: bool, tmp_path: Path) -> None:
    source, out = tasks(tmp_path / "source", 1), tmp_path / "out"
    put_there(out, what)
    before = snapshot(tmp_path)
    with pytest.raises(OutputExists) as caught:
        convert_folder(source, out, "nemo", settings=replace(ONE_JOB, force=force))
    assert caught.value.code == 22
    assert caught.value.remedy
    assert snapshot(tmp_path) == before


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    source, out = tasks(tmp_path / "source", 1), tmp_path / "out"
    out.mkdir()
    assert convert_folder(source, out, "nemo").exit_code() is ExitCode.DONE
    assert (out / "tasks" / "task-0000").is_dir()
    assert beside(out) == ["out"]


def test_our_own_output_is_replaced_only_when_asked(tmp_path: Path) -> None:
    source, out = tasks(tmp_path / "source", 2), tmp_path / "out"
    convert_folder(source, out, "nemo")
    before = snapshot(out)
    with pytest.raises(OutputExists, match="--force"):
        convert_folder(source, out, "nemo")
    assert snapshot(out) == before
    shutil.rmtree(source / "tasks" / "task-0001")
    convert_folder(source, out, "nemo", settings=replace(ONE_JOB, force=True))
    assert [path.name for path in (out / "tasks").iterdir()] == ["task-0000"]
    assert beside(out) == ["out"]


def test_our_own_output_stays_when_its_replacement_fails(tmp_path: Path) -> None:
    source, out = tasks(tmp_path / "source", 1), tmp_path / "out"
    convert_folder(source, out, "nemo")
    before = snapshot(out)
    (source / "tasks" / "task-0000" / "instruction.md").unlink()
    conversion = convert_folder(source, out, "nemo", settings=replace(ONE_JOB, force=True))
    assert conversion.exit_code() is ExitCode.MALFORMED
    assert snapshot(out) == before
    assert beside(out) == ["out"]


@pytest.mark.parametrize(
    ("out", "problem"),
    [
        ("source", "the output is the source"),
        ("source/", "the output is the source"),
        ("source/tasks/../out", "the output lies inside the source"),
        ("source/tasks/task-0000/environment/out", "the output lies inside the source"),
        ("door/out", "the output lies inside the source"),
        ("door", "the output is the source"),
        (".", "the source lies inside the output"),
    ],
)
def test_output_and_source_may_not_hold_each_other(out: str, problem: str, tmp_path: Path) -> None:
    source = tasks(tmp_path / "source", 1)
    (tmp_path / "door").symlink_to("source")
    before = snapshot(tmp_path)
    with pytest.raises(UsageError, match=problem) as caught:
        convert_folder(source, Path(f"{tmp_path}/{out}"), "nemo", settings=ONE_JOB)
    assert caught.value.remedy
    assert snapshot(tmp_path) == before


def test_the_parent_of_the_output_may_be_a_link(tmp_path: Path) -> None:
    source = tasks(tmp_path / "source", 1)
    (tmp_path / "real").mkdir()
    (tmp_path / "door").symlink_to("real")
    convert_folder(source, tmp_path / "door" / "out", "nemo")
    assert (tmp_path / "real" / "out" / "tasks" / "task-0000").is_dir()


def test_a_missing_parent_is_made_and_removed_when_the_run_fails(tmp_path: Path) -> None:
    source, out = tasks(tmp_path / "source", 1), tmp_path / "a" / "b" / "out"
    (tmp_path / "a").mkdir()
    (source / "tasks" / "task-0000" / "instruction.md").unlink()
    convert_folder(source, out, "nemo")
    assert not list((tmp_path / "a").iterdir())
    write_task(source / "tasks" / "task-0000")
    convert_folder(source, out, "nemo")
    assert out.is_dir()


def test_a_parent_that_is_a_file(tmp_path: Path) -> None:
    source = tasks(tmp_path / "source", 1)
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(WriteError) as caught:
        convert_folder(source, tmp_path / "file" / "out", "nemo")
    assert caught.value.remedy
    assert (tmp_path / "file").read_bytes() == b"mine"


# ------------------------------------------------------------------ the sink itself


def test_a_sink_keeps_few_files_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink, "_MAX_OPEN", 3)
    made = Sink(str(tmp_path / "out"))
    for number in range(4):
        for name in "abcdefgh":
            made.append(f"rows/{name}.jsonl", f"{name}{number}\n".encode())
    made.commit()
    for name in "abcdefgh":
        expected = "".join(f"{name}{number}\n" for number in range(4))
        assert (tmp_path / "out" / "rows" / f"{name}.jsonl").read_text() == expected


def test_a_sink_writes_no_file_twice(tmp_path: Path) -> None:
    made = Sink(str(tmp_path / "out"))
    made.put("d/f", Blob(b"1"), executable=True)
    with pytest.raises(WriteError, match="File exists"):
        made.put("d/f", Blob(b"2"))
    with pytest.raises(WriteError, match="File exists"):
        made.append("d/f", b"2")
    with pytest.raises(WriteError, match="File exists"):
        made.put_link("d/f", "x")
    with pytest.raises(WriteError, match="d/f/below") as caught:
        made.put("d/f/below", Blob(b"2"))
    assert caught.value.remedy
    made.put_link("link", "d/f")
    made.put_folder("empty")
    made.commit()
    assert (tmp_path / "out" / "d" / "f").read_bytes() == b"1"
    assert os.access(tmp_path / "out" / "d" / "f", os.X_OK)
    assert (tmp_path / "out" / "link").readlink() == Path("d/f")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["d", "empty", "link"]


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_the_users_umask_applies(mask: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        made = Sink(str(tmp_path / "out"))
        made.put("f", Blob(b""))
        made.put("x", Blob(b""), executable=True)
        made.commit()
    finally:
        os.umask(before)
    modes = [(tmp_path / "out" / name).stat().st_mode & 0o777 for name in ("", "f", "x")]
    assert modes == [0o777 & ~mask, 0o666 & ~mask, 0o777 & ~mask]


def test_the_pipe_needs_a_target(tmp_path: Path) -> None:
    source = tasks(tmp_path / "source", 1)
    with pytest.raises(UsageError, match="no target"):
        convert_folder(source, tmp_path / "out")
    assert beside(tmp_path / "out") == []
