"""What Verifiers and OpenEnv themselves make of the task folders that are written for them.

Needs RLCONVERT_VERIFIERS_PYTHON and RLCONVERT_OPENENV_PYTHON (scripts/frameworks).
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from rlconvert import convert
from rlconvert.files import Link
from rlconvert.pipe import Settings
from taskfolder.verifiers_cases import FAILING, STRICTER, TAKEN, UNFETCHED, Case, folder_of

pytestmark = pytest.mark.framework

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures" / "harbor"
SETS = ("hello", "features", "registry", "same-names", "root-level", "dataset-toml")
FOUR = ["harbor", "verifiers", "openenv", "nemo"]
IMAGES = {"image-template": "registry.example.org/{task}:1"}


def judge(framework: str, repo: Path, *options: str) -> dict[str, Any]:
    """The verdict of a judge, or a skipped test that says how to get one."""
    variable = f"RLCONVERT_{framework.upper()}_PYTHON"
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f'{variable} is not set: eval "$(scripts/frameworks DIR)"')
    out = repo.parent / f"{repo.name}.{framework}.json"
    script = ROOT / "formats" / framework / "judge" / f"{framework}_loads.py"
    clean = {"PATH": os.environ["PATH"], "HOME": str(repo.parent), "LANG": "C.UTF-8"}
    done = subprocess.run(
        [python, str(script), str(repo), str(out), *options],
        env=clean,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    verdict: dict[str, Any] = json.loads(out.read_bytes())
    return verdict


def lay(repo: Path, cases: Iterable[Case]) -> Path:
    """A repo with the folders of the cases, all of them in one dataset."""
    named = []
    for case in cases:
        named.append({"name": case.name, "path": f"tasks/{case.name}"})
        for path, entry in folder_of(case):
            place = repo / "tasks" / case.name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(entry, Link):
                place.symlink_to(entry.target)
            else:
                place.write_bytes(entry.blob.read())
    dataset = {"name": "cases", "version": "1", "description": "", "tasks": named}
    (repo / "registry.json").write_text(json.dumps([dataset]), encoding="utf-8")
    return repo


def test_verifiers_says_the_same_of_every_case(tmp_path: Path) -> None:
    """It takes what we take and what we are stricter with, and fails for every other reason."""
    repo = lay(tmp_path / "repo", [*TAKEN, *FAILING, *STRICTER])
    (dataset,) = judge("verifiers", repo, "--each")["datasets"]
    assert dataset["error"] is not None, "one task that does not load stops all the others"
    each = dataset["each"]
    assert {case.name: each[case.name] for case in TAKEN} == dict.fromkeys(
        case.name for case in TAKEN
    )
    harsh = [case.name for case in FAILING if each[case.name] is None]
    assert harsh == [], "Verifiers takes them after all"
    mild = {case.name: each[case.name] for case in STRICTER if each[case.name] is not None}
    assert mild == {}, "Verifiers fails for them too: they belong to FAILING"


@pytest.mark.parametrize("case", UNFETCHED, ids=[case.name for case in UNFETCHED])
def test_names_that_are_not_fetched(case: Case, tmp_path: Path) -> None:
    (dataset,) = judge("verifiers", lay(tmp_path / "repo", [case]))["datasets"]
    assert dataset["count"] == 0
    assert "not found" in dataset["error"] or "FileNotFoundError" in dataset["error"]


def taken_by(target: str, out: Path) -> set[str]:
    """The tasks that our record says are in the output for one target, as that calls them."""
    lines = (out / ".rlconvert" / "manifest.jsonl").read_bytes().splitlines()
    records = [json.loads(line)["targets"] for line in lines]
    return {targets[target]["id"] for targets in records if target in targets}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("options", [{}, IMAGES], ids=["as they are", "with images"])
def test_verifiers_loads_what_was_written(
    name: str, options: dict[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    settings = Settings(options=options)
    run = convert(str(FIXTURES / name), str(out), to=["verifiers"], settings=settings)
    if run.error is not None:
        assert not out.exists()
        return
    verdict = judge("verifiers", out)
    assert [dataset["error"] for dataset in verdict["datasets"] if dataset["error"]] == []
    loaded = {task for dataset in verdict["datasets"] for task in dataset["names"]}
    assert loaded == taken_by("verifiers", out)


@pytest.mark.parametrize("name", SETS)
def test_openenv_loads_what_was_written(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = convert(str(FIXTURES / name), str(out), to=["openenv"])
    assert run.error is None
    verdict = judge("openenv", out)
    assert verdict["error"] is None
    assert [task for task in verdict["tasks"] if task["error"]] == []
    assert [task["name"] for task in verdict["tasks"]] == sorted(taken_by("openenv", out))
    assert verdict["info"] == len(verdict["tasks"])


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("drop", [False, True], ids=["all tasks", "--drop-refused"])
def test_four_in_one_repo(name: str, drop: bool, tmp_path: Path) -> None:
    """Each framework finds its own tasks, and no layout disturbs another."""
    out = tmp_path / "out"
    settings = Settings(options=IMAGES, drop_refused=drop)
    run = convert(str(FIXTURES / name), str(out), to=FOUR, settings=settings)
    assert run.error is None
    registry = json.loads((out / "registry.json").read_bytes())
    ours = [entry for entry in registry if entry.get("rlconvert") == "verifiers"]
    chosen = [f"{entry['name']}@{entry['version']}" for entry in ours]
    asked = [word for each in chosen for word in ("--dataset", each)]
    verdict = judge("verifiers", out, *asked)
    assert [dataset["error"] for dataset in verdict["datasets"] if dataset["error"]] == []
    loaded = {task for dataset in verdict["datasets"] for task in dataset["names"]}
    assert loaded == taken_by("verifiers", out)
    counted = [task["name"] for task in judge("openenv", out)["tasks"]]
    mine = taken_by("openenv", out)
    assert mine <= set(counted)
    if drop:
        assert counted == sorted(mine)
        assert taken_by("harbor", out) == mine == taken_by("nemo", out)
    assert set(counted) == {path.name for path in (out / "tasks").iterdir()}
