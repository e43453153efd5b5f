"""Runs that are ended half way, by a person, by an exception, by the loss of a worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from converting import ONE_JOB, beside, convert_folder, snapshot, tasks
from rlconvert.errors import ExitCode, RlconvertError
from rlconvert.pipe import Settings
from trees import assert_same_tree

TWO_JOBS = Settings(jobs=2)
MANY = 140


# ------------------------------------------------------------------ interrupted


@pytest.mark.parametrize("settings", [ONE_JOB, TWO_JOBS], ids=["one job", "two jobs"])
@pytest.mark.parametrize(
    "blow", [KeyboardInterrupt, pytest.param(MemoryError, marks=pytest.mark.slow)]
)
def test_an_exception_half_way(
    blow: type[BaseException], settings: Settings, tmp_path: Path
) -> None:
    source, out = tasks(tmp_path / "source", MANY), tmp_path / "out"
    before = snapshot(source)

    def progress(done: int) -> None:
        if done == 40:
            raise blow

    with pytest.raises(blow):
        convert_folder(source, out, "nemo", settings=replace(settings, progress=progress))
    time.sleep(0.2)
    assert beside(out) == []
    assert snapshot(source) == before


def test_an_exception_at_the_last_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, out = tasks(tmp_path / "source", 2), tmp_path / "out"
    convert_folder(source, out, "nemo")
    before = snapshot(out)
    true, calls = os.rename, [0]

    def interrupted(here: str, there: str) -> None:
        if there == str(out):
            calls[0] += 1
            if calls[0] == 1:
                raise KeyboardInterrupt
        true(here, there)

    monkeypatch.setattr(os, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        convert_folder(source, out, "nemo", settings=replace(ONE_JOB, force=True))
    assert snapshot(out) == before, "the older output is back in its place"
    assert beside(out) == ["out"]


INTERRUPTED = """
import signal, sys, time
from pathlib import Path
from rlconvert.format import get_format
from rlconvert.pipe import Settings, convert
from rlconvert.source import FolderSource

def stop(*_):
    raise KeyboardInterrupt

def progress(done):
    if done == 40:
        print("half way", flush=True)
        time.sleep(30)

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stop)
    settings = Settings(jobs=int(sys.argv[3]), progress=progress)
    try:
        convert(FolderSource(sys.argv[1]), get_format("harbor"), ["nemo"], sys.argv[2], settings)
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_half_way(how: signal.Signals, jobs: str, tmp_path: Path) -> None:
    source, out = tasks(tmp_path / "source", 80), tmp_path / "place" / "out"
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, str(script), str(source), str(out), jobs],
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"half way\n"
        os.killpg(process.pid, how) if how is signal.SIGINT else process.send_signal(how)
        assert process.wait(timeout=30) == ExitCode.INTERRUPTED
    assert not out.parent.exists()


# ------------------------------------------------------------------ workers


def kill_a_worker() -> None:
    """SIGKILL one child of this process."""
    me = os.getpid()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
            line = (status.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[1]) == me and b"spawn_main" in line:
            os.kill(int(status.parent.name), signal.SIGKILL)
            return
    raise AssertionError("no worker found")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_worker_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlconvert.workers._CHUNK", 8)  # so that there is work left to be killed at
    source, out = tasks(tmp_path / "source", MANY), tmp_path / "out"

    def progress(done: int) -> None:
        if done == 1:
            kill_a_worker()

    with pytest.raises(RlconvertError) as caught:
        convert_folder(source, out, "nemo", settings=replace(TWO_JOBS, progress=progress))
    assert caught.value.reason == "worker-killed"
    assert caught.value.remedy
    assert beside(out) == []


@pytest.mark.parametrize("target", ["nemo", pytest.param("harbor", marks=pytest.mark.slow)])
def test_two_jobs_give_the_bytes_of_one(target: str, tmp_path: Path) -> None:
    source = tasks(tmp_path / "source", MANY, large=(7,))
    (source / "tasks" / "task-0005" / "instruction.md").unlink()
    (source / "tasks" / "task-0120" / "task.toml").write_text("[", encoding="utf-8")
    one = convert_folder(source, tmp_path / "one", target)
    two = convert_folder(source, tmp_path / "two", target, settings=TWO_JOBS)
    assert_same_tree(tmp_path / "two", tmp_path / "one")
    assert one.report.facts() == two.report.facts()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "source", "two"]


def test_fail_fast_with_two_jobs_leaves_nothing(tmp_path: Path) -> None:
    source, out = tasks(tmp_path / "source", MANY), tmp_path / "out"
    (source / "tasks" / "task-0003" / "instruction.md").unlink()
    with pytest.raises(RlconvertError, match="instruction"):
        convert_folder(source, out, "nemo", settings=replace(TWO_JOBS, fail_fast=True))
    time.sleep(0.2)
    assert beside(out) == []
