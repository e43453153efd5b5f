"""scripts/sandbox: what can be known of it on a machine that does not let it do anything."""

import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
spec = spec_from_file_location("sandbox", ROOT / "scripts" / "sandbox.py")
assert spec is not None
assert spec.loader is not None
sandbox = module_from_spec(spec)
spec.loader.exec_module(sandbox)

IMAGE = re.compile(r'^(?:FROM|\s+image:|docker_image =)\s+"?([^"\s]+)"?$', re.MULTILINE)


def test_it_makes_every_image_that_the_tasks_use() -> None:
    used = {
        name.removeprefix("docker.io/")
        for path in (ROOT / "fixtures" / "verify").rglob("*")
        if path.name in ("Dockerfile", "docker-compose.yaml", "task.toml")
        for name in IMAGE.findall(path.read_text())
    }
    assert used - {*sandbox.BASES, sandbox.APP} == {"registry.invalid/rlconvert/nothing:1"}
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
        [sys.executable, ROOT / "scripts" / "sandbox.py", tmp_path / "box"],
        env={"PATH": str(tmp_path)},  # no apt there
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 51
    assert re.fullmatch(r"not available: (there is no apt|only root can make it)\n", run.stderr)
    assert run.stdout == ""
    assert not (tmp_path / "box").exists()
