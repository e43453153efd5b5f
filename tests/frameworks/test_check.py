"""`check` with the real frameworks: green where all is well, red for each thing that is not.

`eval "$(scripts/frameworks DIR)"` makes the frameworks' environments and names them.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from converting import convert_folder
from rlconvert.checking import CheckRun, check
from rlconvert.errors import ExitCode
from rlconvert.pipe import Settings
from rlconvert.records import CHECKS, parse_checks
from rlconvert.selection import Selection

pytestmark = pytest.mark.framework

HARBOR = Path(__file__).parents[2] / "fixtures" / "harbor"
FEW = Selection(include=("canary", "no-solution", "python-verifier"))


def asked(repo: Path, *frameworks: str) -> CheckRun:
    """The verdicts of frameworks, in the Pythons that the environment names."""
    using: dict[str, str] = {}
    for name in frameworks:
        variable = f"RLCONVERT_{name.upper()}_PYTHON"
        if variable not in os.environ:
            pytest.skip(f'{variable} is not set: eval "$(scripts/frameworks DIR)"')
        using[name] = os.environ[variable]
    return check(str(repo), frameworks=frameworks, using=using)


def reasons(run: CheckRun) -> dict[str, list[str]]:
    """By framework what is red: tasks and faults."""
    return {
        result.format: [f"{each.task}: {each.reason}" for each in result.verdict.failures]
        + list(result.verdict.faults)
        for result in run.results
    }


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few tasks, written by harbor-to-nemo."""
    out = tmp_path_factory.mktemp("written") / "out"
    convert_folder(HARBOR / "features", out, "nemo", settings=Settings(jobs=1, selection=FEW))
    return out


@pytest.fixture
def repo(written: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    return Path(shutil.copytree(written, tmp_path / "out", symlinks=True))


def rows(repo: Path) -> Path:
    (path,) = (repo / "data").glob("*/*.jsonl")
    return path


@pytest.mark.slow
def test_features_are_green(tmp_path: Path) -> None:
    out = tmp_path / "out"
    rest = Settings(jobs=1, selection=Selection(exclude=("links",)))
    run = convert_folder(HARBOR / "features", out, "nemo", settings=rest)
    tasks = run.report.converted("nemo")
    checked = asked(out, "harbor", "nemo")
    assert reasons(checked) == {"harbor": [], "nemo": []}
    assert checked.exit_code is ExitCode.DONE
    records = parse_checks((out / CHECKS).read_bytes())
    assert {(each.total, each.loaded, each.passed) for each in records.values()} == {
        (tasks, tasks, True)
    }
    assert records["harbor"].versions == {"harbor": "0.26.0"}
    assert records["nemo"].versions == {"nemo-gym": "0.7.0", "harbor": "0.25.0"}
    card = (out / "README.md").read_text()
    assert f"{tasks} of {tasks} | loads |" in card


def test_a_link_that_leads_nowhere_loads_here_but_not_from_the_hub(tmp_path: Path) -> None:
    """Harbor 0.26.0 materialises links when git brings them, and refuses one without an end."""
    out = tmp_path / "out"
    only = Settings(jobs=1, selection=Selection(include=("links",)))
    convert_folder(HARBOR / "features", out, "nemo", settings=only)
    ((reason,),) = reasons(asked(out, "harbor")).values()
    assert reason.startswith("links: as git gives it: ValueError: Invalid Git task link")


@pytest.mark.parametrize("name", ["hello", "registry", "same-names", "root-level", "dataset-toml"])
def test_harbor_loads_its_own_fixtures(name: str, tmp_path: Path) -> None:
    repo = Path(shutil.copytree(HARBOR / name, tmp_path / name))
    run = asked(repo, "harbor")
    assert reasons(run) == {"harbor": []}
    assert run.results[0].verdict.loaded > 0


Damage = Callable[[Path], object]


def removed_instruction(repo: Path) -> None:
    (repo / "tasks" / "canary" / "instruction.md").unlink()


def removed_config(repo: Path) -> None:
    (repo / "tasks" / "canary" / "task.toml").unlink()


def emptied_environment(repo: Path) -> None:
    """A folder that is there, and that git does not keep."""
    shutil.rmtree(repo / "tasks" / "canary" / "environment")
    (repo / "tasks" / "canary" / "environment").mkdir()


def wrong_config(repo: Path) -> None:
    (repo / "tasks" / "canary" / "task.toml").write_text("schema_version = 1\n")


def renamed(repo: Path) -> None:
    (repo / "tasks" / "canary").rename(repo / "tasks" / "bird")


def removed(repo: Path) -> None:
    shutil.rmtree(repo / "tasks" / "canary")


HARBORS: dict[Damage, str] = {
    removed_instruction: "canary: FileNotFoundError",
    removed_config: "canary: it has no task.toml",
    emptied_environment: "canary: as git gives it",
    wrong_config: "canary: ValidationError",
    renamed: "canary: the record of the conversion lists it, and it is not here",
    removed: "canary: the record of the conversion lists it, and it is not here",
}


@pytest.mark.parametrize("damage", HARBORS, ids=lambda damage: damage.__name__)
def test_harbor_turns_red(repo: Path, damage: Damage) -> None:
    damage(repo)
    run = asked(repo, "harbor")
    assert run.exit_code is ExitCode.CHECK_FAILED
    assert any(HARBORS[damage] in each for each in reasons(run)["harbor"]), reasons(run)
    record = parse_checks((repo / CHECKS).read_bytes())["harbor"]
    assert not record.passed


def lost_registry_task(registry: Path) -> None:
    entries = json.loads(registry.read_bytes())
    entries[0]["tasks"].append({"name": "gone", "path": "tasks/gone"})
    registry.write_text(json.dumps(entries))


def broken_registry(registry: Path) -> None:
    entries = json.loads(registry.read_bytes())
    del entries[0]["description"]
    registry.write_text(json.dumps(entries))


@pytest.mark.parametrize("damage", [lost_registry_task, broken_registry])
def test_harbor_turns_red_for_a_registry(damage: Damage, tmp_path: Path) -> None:
    repo = Path(shutil.copytree(HARBOR / "registry", tmp_path / "registry"))
    damage(repo / "registry.json")
    run = asked(repo, "harbor")
    assert run.exit_code is ExitCode.CHECK_FAILED
    assert reasons(run)["harbor"]


def first_row(repo: Path, row: bytes) -> None:
    lines = rows(repo).read_bytes().splitlines(keepends=True)
    rows(repo).write_bytes(b"".join([row, *lines[1:]]))


def truncated_row(repo: Path) -> None:
    first_row(repo, b'{"task_name": "canary", "responses_create_params": {"input": []}\n')


def row_without_request(repo: Path) -> None:
    """`gym dataset collate` ends with status 0, and leaves the row out of what it counts."""
    first_row(repo, b'{"task_name": "canary"}\n')


def row_of_no_task(repo: Path) -> None:
    """`gym env validate` and `gym dataset collate` both end with status 0."""
    first_row(repo, b'{"task_name": "bird", "responses_create_params": {"input": []}}\n')


def lost_row(repo: Path) -> None:
    """What is left is well, and NeMo Gym finds no fault with it."""
    first_row(repo, b"")


def lost_rows(repo: Path) -> None:
    rows(repo).unlink()


NEMOS: dict[Damage, str] = {
    truncated_row: ":1: ",
    row_without_request: "responses_create_params",
    row_of_no_task: "bird: the row matches 0 tasks",
    lost_row: "canary: the record of the conversion lists it, and it is not here",
    lost_rows: "it is not here",
    renamed: "canary: the row matches 0 tasks",
    wrong_config: "canary: ",
}


@pytest.mark.parametrize("damage", NEMOS, ids=lambda damage: damage.__name__)
def test_nemo_turns_red(repo: Path, damage: Damage) -> None:
    damage(repo)
    run = asked(repo, "nemo")
    assert run.exit_code is ExitCode.CHECK_FAILED
    assert any(NEMOS[damage] in each for each in reasons(run)["nemo"]), reasons(run)
    assert not parse_checks((repo / CHECKS).read_bytes())["nemo"].passed


def test_the_right_record_turns_red(repo: Path) -> None:
    """A row is no matter of Harbor's."""
    row_of_no_task(repo)
    run = asked(repo, "harbor")
    assert reasons(run) == {"harbor": []}


def test_a_config_that_names_the_repo_on_the_hub(tmp_path: Path) -> None:
    out = tmp_path / "out"
    named = Settings(jobs=1, selection=FEW, options={"repo-id": "acme/demo"})
    convert_folder(HARBOR / "features", out, "nemo", settings=named)
    run = asked(out, "nemo")
    assert reasons(run) == {"nemo": []}
    assert len(run.results[0].verdict.tasks) == 3
