"""What the local machine refuses of a task, and what it makes of the variables of one."""

from pathlib import Path

import pytest

from rlconvert.files import FileTree
from rlconvert.formats.taskfolder.folder import task_from_folder
from rlconvert.formats.taskfolder.local.building import recipe_of
from rlconvert.formats.taskfolder.local.dockerfile import BadDockerfile, MakeFolder, Recipe
from rlconvert.formats.taskfolder.local.phases import TrialFault, envs_of
from rlconvert.formats.taskfolder.local.refusals import Refused, check_task
from rlconvert.model import Task
from rlconvert.running.runner import ErrorKind
from rlconvert.source import FolderSource

DOCKERFILE = {"environment/Dockerfile": "FROM ubuntu:24.04\nWORKDIR /app\n"}
STEPS = {f"steps/{name}/instruction.md": "Do it." for name in "ab"}


def task(folder: Path, toml: str = "", files: dict[str, str] = DOCKERFILE) -> Task:
    single = {"instruction.md": "Do it.", "tests/test.sh": "#!/bin/bash\n"}
    for path, text in {**single, **files, "task.toml": toml}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return task_from_folder("t", "", FolderSource(str(folder)).tree(""))


@pytest.mark.parametrize(
    "toml",
    [
        "",
        "environment.network_mode = 'no-network'",
        "environment = {cpus = 2, memory_mb = 512, gpus = 0, workdir = '/app', skills_dir = '/s'}",
        "agent.network_mode = 'public'",
        "artifacts = ['/app']\n[verifier]\nuser = 'dev'",
        "environment.docker_image = 'ghcr.io/acme/tool:1'",  # the Dockerfile says how it is made
    ],
)
def test_honoured(tmp_path: Path, toml: str) -> None:
    check_task(task(tmp_path, toml))


@pytest.mark.parametrize(
    ("toml", "problem"),
    [
        ("environment.gpus = 1", "accelerator"),
        ("environment.tpu = {type = 'v5', topology = '2x2'}", "accelerator"),
        ("environment.healthcheck.command = 'true'", "health check"),
        ("environment.mcp_servers = [{name = 'a', url = 'http://a'}]", "MCP"),
        ("environment = {network_mode = 'allowlist', allowed_hosts = ['a.org']}", "hosts"),
        ("agent.network_mode = 'no-network'", "phases differ"),
        ("environment.network_mode = 'no-network'\nverifier.network_mode = 'public'", "phases"),
        ("verifier.environment_mode = 'separate'", "machine of its own"),
        ("verifier.environment.cpus = 1", "machine of its own"),
        ("verifier.collect = [{command = 'true'}]", "collects"),
    ],
)
def test_refused(tmp_path: Path, toml: str, problem: str) -> None:
    with pytest.raises(Refused, match=problem):
        check_task(task(tmp_path, toml))


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("healthcheck.command = 'true'", "health check"),
        ("verifier.environment_mode = 'separate'", "machine of its own"),
        ("agent.network_mode = 'no-network'", "phases differ"),
    ],
)
def test_refused_for_one_step(tmp_path: Path, more: str, problem: str) -> None:
    toml = f"[[steps]]\nname = 'a'\n[[steps]]\nname = 'b'\n{more}\n"
    with pytest.raises(Refused, match=problem):
        check_task(task(tmp_path, toml, {**DOCKERFILE, **STEPS}))


def test_refused_for_windows(tmp_path: Path) -> None:
    files = {**DOCKERFILE, "tests/test.bat": "exit"}
    with pytest.raises(Refused, match="Windows"):
        check_task(task(tmp_path, "environment.os = 'windows'", files))


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"environment/docker-compose.yaml": "services: {}"}, "several containers"),
        ({"environment/notes.txt": ""}, "no Dockerfile"),
    ],
)
def test_refused_for_where_it_lives(tmp_path: Path, files: dict[str, str], problem: str) -> None:
    with pytest.raises(Refused, match=problem):
        check_task(task(tmp_path, "", files))


@pytest.mark.parametrize(("image", "taken"), [("debian:13", True), ("docker.io/me/app:1", False)])
def test_an_image_without_a_recipe(tmp_path: Path, image: str, taken: bool) -> None:
    alone = task(tmp_path, f"environment.docker_image = '{image}'", {})
    if taken:
        check_task(alone)
        assert recipe_of(alone) == (Recipe(), FileTree())
    else:
        with pytest.raises(Refused, match=r"task.toml, environment.docker_image: only the image"):
            check_task(alone)


def test_the_recipe_of_a_task(tmp_path: Path) -> None:
    recipe, context = recipe_of(task(tmp_path))
    assert recipe.actions == (MakeFolder("/app"),)
    assert list(context.entries) == ["Dockerfile"]


def test_a_context_with_a_list_of_what_is_left_out(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="dockerignore"):
        recipe_of(task(tmp_path, "", {**DOCKERFILE, "environment/.dockerignore": "x"}))


def test_a_recipe_that_is_not_utf8(tmp_path: Path) -> None:
    task(tmp_path)
    (tmp_path / "environment/Dockerfile").write_bytes(b"FROM ubuntu\nENV A=\xff\n")
    found = task_from_folder("t", "", FolderSource(str(tmp_path)).tree(""))
    with pytest.raises(BadDockerfile, match="UTF-8"):
        recipe_of(found)


# --- variables ---------------------------------------------------------------------------------

TEMPLATES = """
environment.env = {A = "${GIVEN}", B = "${MISSING:-default}", C = "x${GIVEN}", D = "$GIVEN"}
solution.env = {S = "${GIVEN}"}
verifier.env = {V = "${GIVEN:-default}"}
"""


def test_variables_are_those_of_the_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISSING", "of the host")
    envs = envs_of(task(tmp_path, TEMPLATES), "oracle", {"GIVEN": "given"})
    assert envs.machine == {"A": "given", "B": "default", "C": "x${GIVEN}", "D": "$GIVEN"}
    assert envs.oracle == {"S": "given"}
    assert envs.verifier == {"": {"V": "given"}}


def test_an_empty_variable_is_set(tmp_path: Path) -> None:
    assert envs_of(task(tmp_path, TEMPLATES), "nop", {"GIVEN": ""}).verifier == {"": {"V": ""}}


def test_a_variable_that_is_not_given(tmp_path: Path) -> None:
    with pytest.raises(TrialFault, match="GIVEN is not set") as caught:
        envs_of(task(tmp_path, TEMPLATES), "nop", {})
    assert caught.value.kind is ErrorKind.UNSET_VARIABLE


def test_what_only_the_oracle_needs_is_not_asked_for_without_it(tmp_path: Path) -> None:
    only = task(tmp_path, 'solution.env = {S = "${GIVEN}"}')
    assert envs_of(only, "nop", {}).oracle == {}
    with pytest.raises(TrialFault):
        envs_of(only, "oracle", {})


def test_a_step_adds_to_the_variables_of_its_verifier(tmp_path: Path) -> None:
    toml = """
    verifier.env = {A = "task", B = "task"}
    [[steps]]
    name = "a"
    verifier.env = {B = "step"}
    [[steps]]
    name = "b"
    """
    envs = envs_of(task(tmp_path, toml, {**DOCKERFILE, **STEPS}), "nop", {})
    assert envs.verifier == {"a": {"A": "task", "B": "step"}, "b": {"A": "task", "B": "task"}}
