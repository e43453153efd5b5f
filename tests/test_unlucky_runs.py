"""Sources that change, files that may not be read, disks that are full: typed errors."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from converting import LARGE, beside, convert_folder, left_out, tasks
from rlconvert import workers
from rlconvert.errors import ExitCode, SourceChanged, WriteError
from rlconvert.files import FileTree
from rlconvert.model import TaskRef
from rlconvert.pipe import Settings
from rlconvert.sink import write_tree

# Until then the run ends, with the right error or with sqlite's own.


# ------------------------------------------------------------------ a source that changes


def change(path: Path, how: str) -> None:
    """Do to a file what another process might."""
    match how:
        case "grows":
            path.write_bytes(path.read_bytes() + b"+")
        case "shrinks":
            path.write_bytes(b"-")
        case "rewritten":
            path.write_bytes(b"M" * len(LARGE))
            os.utime(path, ns=(1, 1))
        case _:
            path.unlink()
    if how == "a link":
        path.symlink_to("Dockerfile")


@pytest.mark.parametrize("target", ["nemo", "harbor"])
@pytest.mark.parametrize("how", ["vanishes", "grows", "shrinks", "rewritten", "a link"])
def test_a_large_file_changes_after_it_was_listed(
    how: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = tasks(tmp_path / "source", 3, large=(1,)), tmp_path / "out"
    changing = source / "tasks" / "task-0001" / "environment" / "large.bin"

    def late(root: str, tree: FileTree) -> None:
        if "environment/large.bin" in tree:
            change(changing, how)
        write_tree(root, tree)

    monkeypatch.setattr("rlconvert.workers.write_tree", late)
    conversion = convert_folder(source, out, target)
    assert conversion.exit_code() is ExitCode.REFUSED
    (line,) = left_out(out)
    assert (line["unreadable"], line["task"]) == ("changed-while-read", "task-0001")
    assert line["file"] == "environment/large.bin"
    assert sorted(path.name for path in (out / "tasks").iterdir()) == ["task-0000", "task-0002"]
    assert beside(out) == ["out"]


def test_a_small_file_vanishes_while_its_folder_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = tasks(tmp_path / "source", 2), tmp_path / "out"
    vanishing = source / "tasks" / "task-0001" / "tests" / "test.sh"
    true = os.open

    def late(path: str, *args: int, **more: int) -> int:
        if path == str(vanishing):
            vanishing.unlink()
        return true(path, *args, **more)

    monkeypatch.setattr(os, "open", late)
    conversion = convert_folder(source, out, "nemo")
    assert conversion.exit_code() is ExitCode.REFUSED
    (line,) = left_out(out)
    assert (line["unreadable"], line["file"]) == ("changed-while-read", "tests/test.sh")
    assert conversion.report.converted("nemo") == 1


def test_a_task_folder_vanishes_after_the_source_was_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = tasks(tmp_path / "source", 3), tmp_path / "out"
    true = workers.convert_task

    def late(plan: workers.Plan, index: int, ref: TaskRef) -> workers.Result:
        shutil.rmtree(source / "tasks" / "task-0001", ignore_errors=True)
        return true(plan, index, ref)

    monkeypatch.setattr(workers, "convert_task", late)
    conversion = convert_folder(source, out, "nemo")
    assert conversion.exit_code() is ExitCode.REFUSED
    (line,) = left_out(out)
    assert line["task"] == "task-0001"
    assert conversion.report.converted("nemo") == 2


def test_a_large_file_of_no_task_that_changes_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = tasks(tmp_path / "source", 1), tmp_path / "out"
    (source / "movie.bin").write_bytes(LARGE)

    def late(root: str, tree: FileTree) -> None:
        (source / "movie.bin").write_bytes(b"-")
        write_tree(root, tree)

    monkeypatch.setattr("rlconvert.workers.write_tree", late)
    with pytest.raises(SourceChanged) as caught:
        convert_folder(source, out, "nemo")
    assert caught.value.file == "movie.bin"
    assert beside(out) == []


# ------------------------------------------------------------------ rights

AS_NOBODY = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from converting import convert_folder, left_out
conversion = convert_folder(Path(sys.argv[2]), Path(sys.argv[3]), "nemo")
print(int(conversion.exit_code()), conversion.report.converted("nemo"))
for line in left_out(Path(sys.argv[3])):
    print(line["unreadable"], line.get("task"), line["file"], bool(line["remedy"]))
"""


def as_nobody(script: str, *args: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a script as a user without rights; skip where this user cannot become one."""
    command = [sys.executable, "-c", script, str(Path(__file__).parent), *map(str, args)]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root reads everything, and there is no setpriv")
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=False, cwd="/"
        )
    except PermissionError:
        pytest.skip("this user cannot start its own Python")


@pytest.fixture
def open_tmp(tmp_path: Path) -> Iterator[Path]:
    """A folder that another user may enter and write."""
    above = [path for path in tmp_path.parents if path.stat().st_uid == os.getuid()]
    before = {path: path.stat().st_mode for path in above}
    for path in (tmp_path, *above):
        if path != Path("/"):
            path.chmod(0o777 if path == tmp_path else path.stat().st_mode | 0o011)
    if as_nobody("import rlconvert").returncode:
        pytest.skip("another user cannot run this Python")
    yield tmp_path
    for path, mode in before.items():
        path.chmod(mode)


def test_files_and_folders_that_may_not_be_read(open_tmp: Path) -> None:
    source, out = tasks(open_tmp / "source", 5, large=(1,)), open_tmp / "out"
    (source / "private.txt").write_bytes(b"1")
    closed = {
        source / "tasks" / "task-0000" / "environment" / "Dockerfile": ("task-0000", "Dockerfile"),
        source / "tasks" / "task-0001" / "environment" / "large.bin": ("task-0001", "large.bin"),
        source / "tasks" / "task-0002" / "tests": ("task-0002", "tests"),
        source / "tasks" / "task-0003": ("None", "tasks/task-0003"),
        source / "private.txt": ("None", "private.txt"),
    }
    for path in closed:
        path.chmod(0)
    try:
        run = as_nobody(AS_NOBODY, source, out)
    finally:
        for path in closed:
            path.chmod(0o755)
    head, *lines = run.stdout.splitlines() or [run.stderr]
    assert head == "4 1"
    assert len(lines) == len(closed)
    for task, file in closed.values():
        (line,) = [line for line in lines if line.split()[1] == task and file in line.split()[2]]
        assert line.split()[0] == "unreadable"
        assert line.split()[3] == "True"


def test_an_output_where_one_may_not_write(open_tmp: Path) -> None:
    source = tasks(open_tmp / "source", 1)
    (open_tmp / "closed").mkdir(mode=0o555)
    run = as_nobody(AS_NOBODY, source, open_tmp / "closed" / "out")
    assert run.stderr.splitlines()[-1].startswith("rlconvert.errors.WriteError:")
    assert "Permission denied" in run.stderr
    assert not list((open_tmp / "closed").iterdir())


# ------------------------------------------------------------------ a full disk


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 512 kB; skips where this user cannot mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("this user cannot mount a small file system")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("target", ["nemo", "harbor"])
def test_a_disk_that_is_really_full(
    jobs: int, target: str, tmp_path: Path, tiny_disk: Path
) -> None:
    source, out = tasks(tmp_path / "source", 60), tiny_disk / "above" / "out"
    with pytest.raises(WriteError) as caught:
        convert_folder(source, out, target, settings=Settings(jobs=jobs))
    assert (caught.value.reason, caught.value.code) == ("disk-full", ExitCode.CANNOT_WRITE)
    assert caught.value.remedy
    assert not list(tiny_disk.iterdir())


def test_a_disk_that_is_full_at_once(tmp_path: Path, tiny_disk: Path) -> None:
    source = tasks(tmp_path / "source", 1)
    filler = tiny_disk / "filler"
    with suppress(OSError):
        filler.write_bytes(b"x" * (1 << 20))
    with pytest.raises(WriteError) as caught:
        convert_folder(source, tiny_disk / "out", "nemo")
    assert caught.value.reason == "disk-full"
    assert list(tiny_disk.iterdir()) == [filler]


@pytest.mark.parametrize("after", [0, 1, 7, 20, 33])
def test_a_disk_that_fills_after_some_writes(
    after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = tasks(tmp_path / "source", 8), tmp_path / "above" / "out"
    true, left = os.write, [after]

    def full(descriptor: int, data: bytes) -> int:
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left[0] -= 1
        return true(descriptor, data)

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(WriteError) as caught:
        convert_folder(source, out, "nemo")
    assert caught.value.reason == "disk-full"
    assert beside(out.parent) == []
