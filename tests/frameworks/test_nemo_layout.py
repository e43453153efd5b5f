"""The real NeMo Gym and Harbor on what `formats/nemo/layout.py` writes, in both of its forms.

`eval "$(scripts/frameworks DIR)"` makes the frameworks' environments and names them.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from rlconvert.formats.nemo.layout import (
    AdoptedFrom,
    AgentConfig,
    DatasetEntry,
    Manifest,
    config_yaml,
    manifest_yaml,
    row_fault,
    row_line,
)
from rlconvert.formats.nemo.parse import parse_config

pytestmark = pytest.mark.framework

FORMATS = Path(__file__).parents[2] / "formats"
REPO_URL = "https://huggingface.co/datasets/acme/demo"
ROWS = "data/default/harbor_agent_general-train.jsonl"
STEPS = """multi_step_reward_strategy = "final"
[[steps]]
name = "one"
[[steps]]
name = "two"
"""


def python_of(framework: str) -> str:
    """The framework's own Python, or a skipped test that says how to get one."""
    variable = f"RLCONVERT_{framework.upper()}_PYTHON"
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f'{variable} is not set: eval "$(scripts/frameworks DIR)"')
    return python


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A private home, in which the Hub is a folder of bare repositories."""
    home = tmp_path / "home"
    home.mkdir()
    hub = (tmp_path / "hub").as_uri()
    (home / ".gitconfig").write_text(
        f'[url "{hub}/"]\n\tinsteadOf = https://huggingface.co/\n'
        "[user]\n\tname = test\n\temail = test@example.org\n[init]\n\tdefaultBranch = main\n"
    )
    return home


def run(command: list[str | Path], home: Path) -> None:
    """Run a program in a clean environment with a private home."""
    clean = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    done = subprocess.run(
        [str(part) for part in command], env=clean, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def task(repo: Path, folder: str, toml: str = "") -> None:
    """A hand-written task: the answer file must say hello."""
    root = repo / "tasks" / folder
    (root / "environment").mkdir(parents=True)
    (root / "environment" / "Dockerfile").write_text("FROM ubuntu:24.04\nWORKDIR /app\n")
    (root / "task.toml").write_text(toml)
    (root / "tests").mkdir()
    (root / "tests" / "test.sh").write_text(
        "#!/bin/bash\ngrep -qx hello out.txt && r=1 || r=0\necho $r > /logs/verifier/reward.txt\n"
    )
    for place in ("steps/one", "steps/two") if "[[steps]]" in toml else (".",):
        (root / place).mkdir(parents=True, exist_ok=True)
        (root / place / "instruction.md").write_text("Write hello to out.txt.\n")


def publish(repo: Path, home: Path) -> None:
    """Put the folder where the private home thinks that the Hub is."""
    hub = home.parent / "hub" / "datasets" / "acme" / "demo"
    hub.parent.mkdir(parents=True)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "tasks"]):
        run(["git", "-C", repo, *command], home)
    run(["git", "clone", "-q", "--bare", repo, hub], home)
    for option in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        run(["git", "-C", hub, "config", option, "true"], home)


def write(repo: Path, spec: AgentConfig, names: list[str], description: str) -> None:
    """Rows, config and manifest."""
    for entry in spec.datasets:
        path = repo / entry.jsonl_fpath
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = names if entry.type == "train" else names[:1]
        path.write_bytes(b"".join(map(row_line, rows)))
    manifest = Manifest(
        name=spec.environment,
        version="1.10",
        description=description,
        authors=("no", "Zoë ${x}"),
        datasets=spec.datasets,
        licence="mit",
        adopted_from=AdoptedFrom(REPO_URL, "0123456", "2025-01-02"),
    )
    folder = repo / "environments" / spec.environment
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_bytes(config_yaml(spec))
    (folder / "manifest.yaml").write_bytes(manifest_yaml(manifest))


def judged(repo: Path, home: Path, *options: str | Path) -> dict[str, Any]:
    """The verdict of NeMo Gym."""
    out = home / "verdict.json"
    judge = FORMATS / "nemo" / "judge" / "nemo_accepts.py"
    run([python_of("nemo"), judge, repo, out, *options], home)
    return cast("dict[str, Any]", json.loads(out.read_bytes()))


def faults(value: object) -> Iterator[str]:
    """Everything that a verdict holds against a repository."""
    if isinstance(value, dict):
        verdict = cast("dict[str, Any]", value)
        for fault in verdict.get("faults", []):
            yield fault["fault"] if isinstance(fault, dict) else fault
        for part in verdict.values():
            yield from faults(part)
    elif isinstance(value, list):
        for part in cast("list[object]", value):
            yield from faults(part)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Three small tasks that both forms of the config can name."""
    repo = tmp_path / "repo"
    task(repo, "hello")
    task(repo, "named", '[task]\nname = "acme/named"\n')
    task(repo, "two steps", STEPS)
    return repo


NAMES = ["hello", "named", "two steps"]


@pytest.mark.parametrize("from_hub", [False, True], ids=["dataset-path", "repo-url"])
def test_nemo_accepts_what_is_written(repo: Path, home: Path, from_hub: bool) -> None:
    datasets = (
        DatasetEntry("no: $x", "train", ROWS, "MIT", "acme/demo" if from_hub else None),
        DatasetEntry("1e5", "example", "data/default/harbor_agent_general-example.jsonl"),
    )
    spec = AgentConfig("demo-1.0", datasets, repo_url=REPO_URL if from_hub else None)
    write(repo, spec, NAMES, "Costs ${oc.env:HOME}:\n- a # b \u2028 \U0001f600")
    options: list[str | Path] = []
    if from_hub:
        publish(repo, home)
    else:
        options = ["--dataset-path", repo / "tasks"]
    verdict = judged(repo, home, *options)
    assert list(faults(verdict)) == []
    assert verdict["accepted"] is True
    (environment,) = verdict["environments"]
    (agent,) = environment["agents"]
    assert agent["tasks"] == 3
    assert [(d["name"], d["type"], d["rows"]) for d in agent["datasets"]] == [
        ("no: $x", "train", 3),
        ("1e5", "example", 1),
    ]
    assert [run["mode"] for run in environment["collate"]] == [
        "train_preparation",
        "example_validation",
    ]
    assert parse_config(config_yaml(spec)).agents[0].datasets == datasets


def test_the_written_strings_are_what_nemo_uses(repo: Path, home: Path) -> None:
    spec = AgentConfig(
        "demo",
        (DatasetEntry("d", "train", ROWS, "TBD"),),
        reward_key="\\${no}\\ ???",
        instance="other_agent",
    )
    write(repo, spec, NAMES, "d")
    verdict = judged(repo, home, "--dataset-path", repo / "tasks")
    assert list(faults(verdict)) == []
    (agent,) = verdict["environments"][0]["agents"]
    assert agent["name"] == "other_agent"
    assert agent["harbor_reward_key"] == "\\${no}\\ ???"
    assert agent["harbor_jobs_dir"].endswith("/results/harbor/demo/opencode/none/none")


@pytest.mark.parametrize("from_hub", [False, True], ids=["dataset-path", "repo-url"])
def test_the_judge_sees_every_row_that_would_fail(repo: Path, home: Path, from_hub: bool) -> None:
    declared = {"moved": "acme/elsewhere"}
    for folder in ("moved", "a[1]", "a1", "pré"):
        task(repo, folder, f'[task]\nname = "{declared[folder]}"\n' if folder in declared else "")
    tried = [*NAMES, "moved", "a[1]", "a1", "pré"]
    spec = AgentConfig(
        "demo",
        (DatasetEntry("d", "train", ROWS, "TBD"),),
        repo_url=REPO_URL if from_hub else None,
    )
    write(repo, spec, [*tried, "absent"], "d")
    if from_hub:
        publish(repo, home)
    options: list[str | Path] = [] if from_hub else ["--dataset-path", repo / "tasks"]
    verdict = judged(repo, home, *options)
    assert verdict["accepted"] is False
    (agent,) = verdict["environments"][0]["agents"]
    failing = {fault["task_name"] for fault in agent["datasets"][0]["faults"]}
    foretold = {
        folder for folder in tried if row_fault(folder, declared.get(folder), from_repo=from_hub)
    }
    assert failing == foretold | {"absent"}


def test_harbor_loads_the_tasks(repo: Path, home: Path) -> None:
    task(repo, "broken", "schema_version = 1\n")
    (repo / "tasks" / "hello" / "environment" / "Dockerfile").unlink()
    (repo / "tasks" / "hello" / "environment").rmdir()
    out = home / "verdict.jsonl"
    script = FORMATS / "harbor" / "judge" / "harbor_loads.py"
    run([python_of("harbor"), script, out, "--children", repo / "tasks"], home)
    header, *lines = map(json.loads, out.read_text().splitlines())
    assert header["framework"] == "harbor"
    verdicts = {Path(line["path"]).name: line for line in lines}
    assert {name: line["loads"] for name, line in verdicts.items()} == {
        "broken": False,
        "hello": False,
        "named": True,
        "two steps": True,
    }
    assert verdicts["named"]["name"] == "acme/named"
    assert verdicts["two steps"]["steps"] == 2
    assert "schema_version" in verdicts["broken"]["error"]
    assert "is_valid_dir" in verdicts["hello"]["error"]
