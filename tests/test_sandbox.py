"""scripts/sandbox: what can be known of it on a machine that does not let it do anything."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
sandbox, recipes = (import_module(f"scripts.{name}") for name in ("sandbox", "sandbox_recipes"))
sys.path.remove(str(ROOT))

IMAGE = re.compile(r'^(?:FROM|\s+image:|docker_image =)\s+"?([^"\s]+)"?$', re.MULTILINE)


def test_it_makes_every_image_that_the_tasks_use() -> None:
    used = {
        name.removeprefix("docker.io/")
        for path in (ROOT / "fixtures" / "verify").rglob("*")
        if path.name in ("Dockerfile", "docker-compose.yaml", "task.toml")
        for name in IMAGE.findall(path.read_text())
    }
    assert used - {*recipes.BASES, recipes.APP} == {"registry.invalid/rlconvert/nothing:1"}
    assert {"ubuntu:24.04", "python:3.13-slim", "rlconvert/app:1"} < used


@pytest.mark.parametrize(
    "sources",
    [
        "Types: deb\nURIs: http://mirror.test/debian\nSuites: bookworm",
        "# deb http://old.test/debian trixie main\ndeb http://mirror.test/debian trixie main",
        "deb [arch=amd64 signed-by=/a/b] http://mirror.test/debian trixie main contrib",
        "deb http://mirror.test/debian-security t main\ndeb http://mirror.test/debian t main",
    ],
)
def test_the_mirror_is_the_one_of_apt(sources: str) -> None:
    assert sandbox.mirror_of(sources) == "http://mirror.test/debian"


def test_what_went_wrong_is_one_line_without_addresses() -> None:
    said = "Get:1 http://mirror.test/a\nE: Failed to fetch http://mirror.test/b  404\nE: it ended\n"
    assert sandbox.last_words(said) == "E: Failed to fetch (address)  404"
    assert sandbox.last_words("one\ntwo\n") == "two"
    assert sandbox.last_words("") == "it failed"


def test_what_cannot_be_had_is_said_and_counted(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "scripts.sandbox", tmp_path / "box"],
        cwd=ROOT,
        env={"PATH": str(tmp_path)},  # no apt there
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 51
    assert re.fullmatch(r"not available: (there is no apt|only root can make it)\n", run.stderr)
    assert run.stdout == ""
    assert not (tmp_path / "box").exists()


def test_images_of_other_registries_keep_their_names() -> None:
    podman = sandbox.Engine("podman", "docker.io/", {})
    docker = sandbox.Engine("docker", "", {})
    names = ("ubuntu:24.04", "rlconvert/app:1", "registry.invalid/a/b:1")
    assert [podman.name_of(name) for name in names] == [
        "docker.io/library/ubuntu:24.04",
        "docker.io/rlconvert/app:1",
        "registry.invalid/a/b:1",
    ]
    assert tuple(docker.name_of(name) for name in names) == names


def test_changed_settings_make_other_images_from_the_same_root(tmp_path: Path) -> None:
    settings = tmp_path / "pip.conf"
    recipe = recipes.Recipe(("curl",), (("FROM scratch\n", ("a:1",)),), (settings,))
    settings.write_text("[global]\n")
    before, rootfs = recipe.label, recipe.rootfs
    settings.write_text("[global]\ntimeout = 60\n")
    assert recipe.label != before
    assert recipe.rootfs == rootfs


def test_no_settings_of_the_user_go_into_images() -> None:
    """They may hold passwords, and strangers' code runs there."""
    assert all(path.is_relative_to("/etc") for path in recipes.published().settings)
