"""The real frameworks are asked about repos full of programs, and nothing in those is run.

Nor does any of them say a secret: the token of whoever asks is nowhere for them. All four are
needed (scripts/frameworks).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hostile_repo import (
    SECRET,
    Hostile,
    evil_configs,
    evil_registry,
    plant_code,
    plant_git,
    plant_rows,
    plant_tasks,
)
from rlconvert.judge import Verdict
from rlconvert.proof.checking import check

pytestmark = pytest.mark.framework

ALL = ("harbor", "verifiers", "openenv", "nemo")
Ask = Callable[..., dict[str, Verdict]]


@pytest.fixture
def hostile(tmp_path: Path) -> Hostile:
    return Hostile(tmp_path)


@pytest.fixture
def ask(hostile: Hostile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """What these frameworks say of the repo; nothing ran for it, and no secret is told."""
    token = tmp_path / "home" / ".cache" / "huggingface" / "token"
    token.parent.mkdir(parents=True)
    token.write_text(SECRET)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("HF_TOKEN", "OPENAI_API_KEY", "GITHUB_TOKEN", "ANYTHING"):
        monkeypatch.setenv(name, SECRET)

    def asked(*frameworks: str) -> dict[str, Verdict]:
        using = {name: os.environ.get(f"RLCONVERT_{name.upper()}_PYTHON", "") for name in ALL}
        if not all(using.values()):
            pytest.skip('the frameworks are not there: eval "$(scripts/frameworks DIR)"')
        hostile.write("README.md", "---\ntags: []\n---\n")
        run = check(str(hostile.repo), frameworks=frameworks, using=using)
        assert hostile.marks == []
        assert hostile.planted
        written = [path.read_text() for path in (hostile.repo / ".rlconvert").iterdir()]
        written.append((hostile.repo / "README.md").read_text())
        assert SECRET not in "".join([*written, repr(run)])
        assert all(each.missing is None for each in run.results)
        return {each.format: each.verdict for each in run.results}

    return asked


def test_no_code_of_a_repo_is_run(hostile: Hostile, ask: Ask) -> None:
    """Whatever it is called and wherever it lies; and all the layouts load."""
    plant_tasks(hostile)
    plant_rows(hostile)
    plant_code(hostile)
    assert hostile.planted > 500
    said = ask(*ALL)
    assert {name: (each.faults, each.failures) for name, each in said.items()} == dict.fromkeys(
        ALL, ((), ())
    )
    assert said["nemo"].loaded == 2


def test_no_text_of_a_config_is_run(hostile: Hostile, ask: Ask) -> None:
    plant_tasks(hostile)
    plant_rows(hostile)
    plant_code(hostile)
    shutil.rmtree(hostile.repo / "environments")
    (hostile.repo / "registry.json").write_text(evil_registry(hostile, options=True))
    for name, config in evil_configs(hostile):
        hostile.write(f"environments/{name}/config.yaml", config)
    said = ask("nemo")["nemo"]
    faults = "\n".join(said.faults)
    for dataset in ("commit", "address"):
        assert f"{dataset}_harbor_agent: hello: git would take its address or commit for" in faults
    for name in ("yaml0", "yaml1", "yaml2", "env", "decode", "eval", "chain"):
        assert f"environments/{name}" in faults, faults
    assert said.loaded == 2


@pytest.mark.parametrize("options", [False, True])
def test_no_entry_of_a_registry_is_run(options: bool, hostile: Hostile, ask: Ask) -> None:
    """Harbor gives git what stands there; nobody is asked where that would be an option of git."""
    plant_tasks(hostile)
    for folder in ("", "tasks/hello/environment/"):
        plant_git(hostile, folder)
    (hostile.repo / "registry.json").write_text(evil_registry(hostile, options=options))
    said = ask("harbor", "verifiers")
    for each in said.values():
        assert not each.passed
        assert not each.loaded
        assert bool(each.versions) is not options
        assert options is ("git would take it for an option" in "".join(each.faults))
