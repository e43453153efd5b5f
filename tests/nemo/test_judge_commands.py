"""What NeMo Gym's own programs report is compared with the files; their status says nothing."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

SCRIPT = Path(__file__).parents[2] / "formats" / "nemo" / "judge" / "nemo_commands.py"


@pytest.fixture
def commands() -> ModuleType:
    """The module, as the judge's scripts import it: without NeMo Gym, until it is asked."""
    spec = importlib.util.spec_from_file_location("nemo_commands_under_test", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def counted(commands: ModuleType, rows: int, repeats: int = 1) -> object:
    found = commands.Counted()
    found.add(SimpleNamespace(name="demo", type="train", num_repeats=repeats), rows)
    return found


def collates(commands: ModuleType, *, examples: int, written: int) -> Callable[..., object]:
    """A `gym dataset collate` that ends with status 0."""

    def gym(_: Sequence[str], scratch: Path) -> object:
        out = scratch / "out"
        out.mkdir()
        (out / "train_metrics.json").write_text(json.dumps({"Number of examples": examples}))
        (out / "train.jsonl").write_bytes(b"{}\n" * written)
        return commands.Ended(0, "Finished!", "")

    return gym


@pytest.mark.parametrize(
    ("examples", "written", "repeats", "fault"),
    [
        (3, 3, 1, None),
        (6, 6, 2, None),
        (3, 2, 1, "train: 3 rows, 3 examples, 2 written"),
        (2, 3, 1, "train: 3 rows, 2 examples, 3 written"),
        (3, 3, 2, "train: 6 rows, 3 examples, 3 written"),
    ],
)
def test_collate(
    commands: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    examples: int,
    written: int,
    repeats: int,
    fault: str | None,
) -> None:
    monkeypatch.setattr(commands, "gym", collates(commands, examples=examples, written=written))
    (said,) = commands.judge_collate(Path("c"), Path("r"), counted(commands, 3, repeats), ())
    assert said["faults"] == ([] if fault is None else [fault])


def test_collate_that_writes_nothing(commands: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "gym", lambda *_: commands.Ended(0, "", "no such set\n"))
    (said,) = commands.judge_collate(Path("c"), Path("r"), counted(commands, 3), ())
    assert said["faults"] == ["no train.jsonl: no such set"]


@pytest.mark.parametrize(
    ("report", "fault"),
    [
        ('{"datasets": [{"name": "demo", "rows": 3}], "warnings": ["odd"]}', None),
        ('{"datasets": [{"name": "demo", "rows": 2}], "warnings": []}', "it counts the rows"),
        ('{"datasets": [], "warnings": []}', "it counts the rows"),
        ("all is well", "no report: all is well"),
    ],
)
def test_validate(
    commands: ModuleType, monkeypatch: pytest.MonkeyPatch, report: str, fault: str | None
) -> None:
    monkeypatch.setattr(commands, "gym", lambda *_: commands.Ended(0, report, ""))
    said = commands.judge_validate("demo", Path("r"), counted(commands, 3))
    assert [each[: len(fault or "")] for each in said["faults"]] == ([fault] if fault else [])
    assert said["warnings"] == (["odd"] if "odd" in report else [])


def test_nothing_that_python_would_run_is_in_the_root(commands: ModuleType, tmp_path: Path) -> None:
    """NeMo Gym puts its search roots in front of Python's path: a `json.py` there would be run."""
    repo = tmp_path / "repo"
    kept = {"environments/a/config.yaml", "data/a.jsonl"}
    left = ("json.py", "resources_servers/a/app.py", "a/x.so", ".git/config.yaml")
    for name in (*kept, *left, "tasks/t/task.toml", "tasks/t/more.yaml", "../beside.jsonl"):
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text("text")
    (repo / "data" / "out.jsonl").symlink_to(tmp_path / "beside.jsonl")
    root = commands.codeless(repo.resolve(), tmp_path / "root")
    found = {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}
    assert found == kept
    assert not (root / "environments" / "a" / "config.yaml").is_symlink()
