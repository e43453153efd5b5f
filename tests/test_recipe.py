"""The recipes for other people are run, on task sets of ours: for their CI, for a push command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
import yaml

from rlconvert.errors import ExitCode
from rlconvert.tags.edit import tags_of

if TYPE_CHECKING:
    from hub_fixture import Hub

pytest_plugins = ["hub_fixture"]

ROOT = Path(__file__).parents[1]
WORKFLOW = ROOT / "fixtures" / "recipe" / "workflow.yml"
PUSH = ROOT / "fixtures" / "recipe" / "push.py"
USING = """
import functools, runpy, sys, rlconvert
_, push, folder, repo, harbor, nemo = sys.argv
rlconvert.check = functools.partial(rlconvert.check, using={"harbor": harbor, "nemo": nemo})
sys.argv = [push, folder, repo]
runpy.run_path(push, run_name="__main__")
"""
"""The judges of this machine stand in for those that `check` would install."""

PROGRAM = sysconfig.get_path("scripts")


def commands() -> Iterator[str]:
    """What its steps run, in order."""
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    for job in jobs.values():
        yield from (step["run"] for step in job["steps"] if "run" in step)


COMMANDS = {each.split()[1]: each for each in commands()}


def run(verb: str, repo: Path, runner: Path) -> int:
    """A step, as a runner runs it: in the checkout, by a shell that stops at a fault."""
    environment = os.environ | {
        "PATH": os.pathsep.join([PROGRAM, *os.get_exec_path()]),
        "RUNNER_TEMP": str(runner),
    }
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", COMMANDS[verb]]
    return subprocess.run(shell, cwd=repo, env=environment, check=False).returncode


def cases(runner: Path, report: str) -> list[ET.Element]:
    return list(ET.parse(runner / "reports" / report).iter("testcase"))  # noqa: S314


def failed(runner: Path, report: str) -> list[str | None]:
    return [each.get("name") for each in cases(runner, report) if each.find("failure") is not None]


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    return tmp_path / "runner"


def checkout(fixture: str, at: Path) -> Path:
    return shutil.copytree(ROOT / "fixtures" / "harbor" / fixture, at / "checkout", symlinks=True)


def test_every_step_is_known() -> None:
    assert list(COMMANDS) == ["-m", "inspect", "roundtrip", "convert", "check"]
    assert COMMANDS["-m"] == "python -m pip install rlconvert"


def test_a_sound_repo_passes(tmp_path: Path, runner: Path) -> None:
    repo = checkout("registry", tmp_path)
    assert [run(verb, repo, runner) for verb in ("inspect", "roundtrip", "convert")] == [0, 0, 0]
    assert len(cases(runner, "roundtrip.xml")) == 4
    assert len(cases(runner, "convert.xml")) == 4
    assert not failed(runner, "convert.xml")
    assert (runner / "converted" / "README.md").is_file()


def test_a_task_that_cannot_go_over_fails_the_job(tmp_path: Path, runner: Path) -> None:
    repo = checkout("features", tmp_path)
    assert run("convert", repo, runner) == ExitCode.REFUSED
    assert "rewards-without-reward" in failed(runner, "convert.xml")


def test_what_is_dropped_on_the_way_fails_the_job(tmp_path: Path, runner: Path) -> None:
    repo = checkout("features", tmp_path)
    for task in ("rewards-without-reward", "fullest-steps", "steps-mean", "verifier-task-image"):
        shutil.rmtree(next(repo.rglob(task)))  # those that do not go over at all
    assert run("roundtrip", repo, runner) == ExitCode.LOSS
    assert cases(runner, "roundtrip.xml")


def test_a_repo_that_is_none_fails_the_job(tmp_path: Path, runner: Path) -> None:
    empty = tmp_path / "checkout"
    empty.mkdir()
    assert run("inspect", empty, runner) == ExitCode.UNKNOWN_FORMAT


def judges() -> list[str]:
    found = [os.environ.get(f"RLCONVERT_{name}_PYTHON", "") for name in ("HARBOR", "NEMO")]
    if not all(found):
        pytest.skip('a framework is not here: eval "$(scripts/frameworks DIR)"')
    return found


@pytest.mark.framework
def test_the_frameworks_load_it(tmp_path: Path, runner: Path) -> None:
    using = judges()
    COMMANDS["check"] += "".join(
        f" --using {name}={python}" for name, python in zip(("harbor", "nemo"), using, strict=True)
    )
    repo = checkout("registry", tmp_path)
    assert run("convert", repo, runner) == 0
    assert run("check", repo, runner) == 0
    assert cases(runner, "check.xml")
    assert not failed(runner, "check.xml")
    shutil.rmtree(min((runner / "converted" / "tasks").iterdir()))
    assert run("check", repo, runner) == ExitCode.CHECK_FAILED
    assert failed(runner, "check.xml")


@pytest.mark.framework
def test_a_push_command(tmp_path: Path, hub: Hub) -> None:
    repo = checkout("registry", tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", USING, PUSH, repo, "alice/envs", *judges()],
        env=hub.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{hub.url}/datasets/alice/envs"
    card = hub.server.repo("alice/envs").git("show", "main:README.md")
    assert set(tags_of(card)) == {"rl-environment", "harbor", "nemo-gym"}
