"""A published set, run from the Hub by the command that its card gives."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rlconvert.format import get_format
from rlconvert.proof.judges import tool_folder

if TYPE_CHECKING:
    from hub_fixture import Hub

pytest_plugins = ["hub_fixture"]
pytestmark = pytest.mark.run

SOUND = Path(__file__).parents[2] / "fixtures" / "verify" / "sound"
RLCONVERT = Path(sysconfig.get_path("scripts")) / "rlconvert"
HARBOR = os.environ.get("RLCONVERT_HARBOR_PYTHON")
REPO = "alice/envs"
ENGINE = ("CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "DOCKER_HOST")


@pytest.fixture(scope="module")
def engine() -> dict[str, str]:
    """What Harbor needs to know of the sandbox's engine, and its name as `sandbox`."""
    sandbox = os.environ.get("RLCONVERT_SANDBOX", "")
    if sandbox not in ("docker", "podman") or HARBOR is None:
        pytest.skip('eval "$(scripts/sandbox DIR)" and eval "$(scripts/frameworks DIR)" prepare it')
    judge = get_format("harbor").judge
    assert judge is not None
    assert judge.runner is not None
    tool = judge.runner.tools.get(sandbox)
    path = os.environ["PATH"] if tool is None else f"{tool_folder(tool)}:{os.environ['PATH']}"
    settings = {name: os.environ[name] for name in ENGINE if name in os.environ}
    return {"sandbox": sandbox, "PATH": path, **settings}


def call(environment: dict[str, str], work: Path, *command: str | Path) -> None:
    """Run a program that has to end well."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def test_harbor_runs_what_was_published(hub: Hub, engine: dict[str, str], tmp_path: Path) -> None:
    """By the words of the card, with this engine for docker."""
    environment = hub.env | engine | {"LANG": "C.UTF-8"}
    for name in ("hello", "several-steps"):
        shutil.copytree(SOUND / name, tmp_path / "envs" / "tasks" / name)
    out = tmp_path / "out"
    call(environment, tmp_path, RLCONVERT, "convert", "envs", out, "--to", "harbor,openenv")
    call(environment, tmp_path, RLCONVERT, "publish", out, REPO, "--licence-unknown")
    card = hub.server.repo(REPO).git("show", "main:README.md").decode()
    (said,) = (line for line in card.splitlines() if line.startswith("harbor run "))
    words = shlex.split(said.replace("--env docker", f"--env {engine['sandbox']}"))
    program = Path(str(HARBOR)).parent / words[0]
    call(environment, tmp_path, program, *words[1:], "-o", "jobs", "--job-name", "one", "-y")
    results = (tmp_path / "jobs" / "one").glob("*/result.json")
    trials = [json.loads(path.read_bytes()) for path in results]
    earned = {
        trial["trial_name"].partition("__")[0]: trial["verifier_result"]["rewards"]
        for trial in trials
    }
    assert earned == {"hello": {"reward": 1.0}, "several-steps": {"reward": 1.0}}
