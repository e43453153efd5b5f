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
from rlconvert.errors import ExitCode
from rlconvert.pipe import Settings
from rlconvert.proof.checking import CheckRun, check
from rlconvert.proof.records import CHECKS, parse_checks
from rlconvert.selection import Selection

pytestmark = pytest.mark.framework

HARBOR = Path(__file__).parents[2] / "fixtures" / "harbor"
FOUR = ("harbor", "verifiers", "openenv", "nemo")
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


def row_of_no_task(repo: Path) -> None:
    """`gym env validate` and `gym dataset collate` both end with status 0."""
    (first, *rest) = rows(repo).read_bytes().splitlines(keepends=True)
    rows(repo).write_bytes(b"".join([first.replace(b"canary", b"bird"), *rest]))


def test_nemo_turns_red_for_each_damage(tmp_path: Path) -> None:
    """Of these, `gym dataset collate` tells by its status of the truncated row alone; a row without
    a request it leaves out, with status 0."""
    out = tmp_path / "out"
    names = ("canary", "no-solution", "python-verifier", "tpu", "odd-files", "empty-config")
    some = Settings(jobs=1, selection=Selection(include=(*names, "lax-values")))
    convert_folder(HARBOR / "features", out, "nemo", settings=some)
    wrong_config(out)
    (out / "tasks" / "no-solution").rename(out / "tasks" / "bird")
    by_name = {json.loads(line)["task_name"]: line for line in rows(out).read_bytes().splitlines()}
    assert set(by_name) == {*names, "lax-values"}
    del by_name["python-verifier"]
    by_name["tpu"] = by_name["tpu"].replace(b"tpu", b"cpu")
    by_name["odd-files"] = by_name["odd-files"][:-1]
    by_name["empty-config"] = b'{"task_name": "empty-config"}'
    rows(out).write_bytes(b"\n".join(by_name.values()) + b"\n")
    run = asked(out, "nemo")
    found = reasons(run)["nemo"]
    gone = "the record of the conversion lists it, and it is not here"
    for reason in (
        "canary: the row matches 0 tasks",  # a folder that does not load is left out
        "no-solution: the row matches 0 tasks",
        f"python-verifier: {gone}",
        "cpu: the row matches 0 tasks",
        f"odd-files: {gone}",
        "JSONDecodeError",
        "responses_create_params",
        "gym env validate",
        "gym dataset collate",
    ):
        assert any(reason in each for each in found), (reason, found)
    assert not any(each.startswith("lax-values: ") for each in found)
    assert not parse_checks((out / CHECKS).read_bytes())["nemo"].passed


def lost_row(repo: Path) -> None:
    """What is left is well: NeMo Gym finds no fault with it, and all its programs end with 0."""
    rows(repo).write_bytes(b"".join(rows(repo).read_bytes().splitlines(keepends=True)[1:]))


def lost_rows(repo: Path) -> None:
    rows(repo).unlink()


NEMOS: dict[Damage, str] = {
    lost_row: "canary: the record of the conversion lists it, and it is not here",
    lost_rows: "it is not here",
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


def test_four_in_one_repo(tmp_path: Path) -> None:
    """Each finds what its record says; OpenEnv one more, which was refused for it: red."""
    out = tmp_path / "out"
    some = Settings(
        jobs=1,
        selection=Selection(include=(*FEW.include, "rewards-without-reward")),
        options={"image-template": "registry.example.org/{task}:1"},
    )
    run = convert_folder(HARBOR / "features", out, *FOUR, settings=some)
    checked = asked(out, *FOUR)
    refused = "rewards-without-reward: it was refused for this framework when it was converted"
    (reason,) = reasons(checked).pop("openenv")
    assert reason.startswith(refused)
    for result in checked.results:
        assert result.passed is (result.format != "openenv"), reasons(checked)
        assert result.verdict.loaded == run.report.converted(result.format)


def test_each_damage_turns_the_records_red_that_it_concerns(tmp_path: Path) -> None:
    """A file removed, a task renamed, a row broken: the last is no matter of the other three."""
    out = tmp_path / "out"
    files, renamed, row = "prebuilt-files", "prebuilt-bare", "prebuilt-and-dockerfile"
    some = Selection(include=(files, renamed, row, "rewards-without-reward"))
    settings = Settings(jobs=1, selection=some, drop_refused=True)
    run = convert_folder(HARBOR / "features", out, *FOUR, settings=settings)
    assert [run.report.converted(name) for name in FOUR] == [3, 3, 3, 3]
    (out / "tasks" / files / "instruction.md").unlink()
    (out / "tasks" / renamed).rename(out / "tasks" / "bird")
    lines = rows(out).read_bytes().splitlines(keepends=True)
    (number,) = (n for n, line in enumerate(lines, 1) if json.loads(line)["task_name"] == row)
    lines[number - 1] = lines[number - 1][:-2] + b"\n"
    rows(out).write_bytes(b"".join(lines))
    checked = asked(out, *FOUR)
    for name, found in reasons(checked).items():
        assert not parse_checks((out / CHECKS).read_bytes())[name].passed
        for task in (files, renamed, row):
            # Where a registry entry has lost its folder, the task is called as the entry calls it.
            hurt = any(each.partition(": ")[0].rpartition("/")[2] == task for each in found)
            # Verifiers downloads all that an entry names, or nothing.
            assert hurt is (task != row or name in ("nemo", "verifiers")), (name, found)
    place = f"{rows(out).relative_to(out)}:{number}: JSONDecodeError"
    assert any(place in each for each in reasons(checked)["nemo"]), reasons(checked)


@pytest.mark.parametrize("name", ["verifiers", "openenv"])
def test_folder_routes_turn_red(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    some = Settings(
        jobs=1, selection=FEW, options={"image-template": "registry.example.org/{task}:1"}
    )
    convert_folder(HARBOR / "features", out, name, settings=some)
    assert reasons(asked(out, name)) == {name: []}
    wrong_config(out)
    removed_solution = out / "tasks" / "no-solution"
    shutil.rmtree(removed_solution)
    (found,) = reasons(asked(out, name)).values()
    assert any(each.startswith("canary: ") for each in found), found
    assert any(each.startswith("no-solution: ") or "no-solution" in each for each in found), found
    assert not any(each.startswith("python-verifier: ") for each in found), found
