"""The scorers as a package: what is there, what each says of itself, what cannot be named."""

from __future__ import annotations

import ast
import json
import sys
import tomllib

import pytest

from rlconvert.errors import Malformed, NewerSchema
from rlconvert.formats.scorers import Scorer, scorer, scorer_for_server, scorers
from rlconvert.formats.scorers.registry import FOLDERS, HOME
from scorers.cases import SOURCES

EACH = [pytest.param(each, id=each.name) for each in scorers()]


def test_every_folder_is_listed_in_order() -> None:
    found = sorted(path.parent.name for path in HOME.glob("*/manifest.json"))
    assert list(FOLDERS) == found


@pytest.mark.parametrize("each", EACH)
def test_a_scorer_is_found_by_its_id_and_its_servers(each: Scorer) -> None:
    assert scorer(each.id) is each
    assert each.folder.name == each.name.replace(".", "_")
    for server in each.servers:
        assert scorer_for_server(server) is each


def test_a_server_without_scorer() -> None:
    assert scorer_for_server("aviary") is None


@pytest.mark.parametrize("name", ["nemo.none@1", "nemo.ruler", "", "@1", "nemo.ruler@1@1"])
def test_an_unknown_scorer_is_refused(name: str) -> None:
    with pytest.raises(Malformed, match="there is no scorer") as error:
        scorer(name)
    assert error.value.remedy
    assert "nemo.ruler@1" in error.value.remedy


@pytest.mark.parametrize("version", ["0", "2", "01", "", "1.0", "x"])
def test_an_unknown_version_is_refused(version: str) -> None:
    with pytest.raises(NewerSchema, match="there is no version"):
        scorer(f"nemo.ruler@{version}")


@pytest.mark.parametrize("each", EACH)
def test_params_hold_what_decides_and_no_more(each: Scorer) -> None:
    row = dict.fromkeys(each.row, 1)
    params = each.params({"of no matter": 1}, {**row, "responses_create_params": {"input": []}})
    assert params == {"config": each.config, "row": row}
    assert each.params({}, {})["row"] == {}
    for key in each.config:
        assert each.params({key: "chosen"}, {})["config"][key] == "chosen"


def imported(source: str) -> set[str]:
    """The top-level names of what a file imports; parsed as Python 3.9 does."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source, feature_version=(3, 9))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level
            found.add((node.module or "").split(".")[0])
    return found


@pytest.mark.parametrize("each", EACH)
def test_a_scorer_stands_alone(each: Scorer) -> None:
    """On Python 3.9 and the standard library, unless its manifest pins something."""
    foreign = imported(each.source.decode()) - set(sys.stdlib_module_names)
    assert not foreign or each.requirements
    assert all("==" in requirement for requirement in each.requirements)


def test_what_scorers_need_is_there_to_test_them() -> None:
    project = tomllib.loads((SOURCES.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    needed = {requirement for each in scorers() for requirement in each.requirements}
    assert set(project["dependency-groups"]["scorers"]) == needed


def test_the_runner_stands_alone() -> None:
    runner = (HOME / "grade.py").read_text(encoding="utf-8")
    assert imported(runner) <= set(sys.stdlib_module_names)


def test_what_was_compared_is_complete_and_agreed() -> None:
    """The record of the comparison: the whole of what was compared agreed."""
    counted = json.loads((SOURCES / "agreement.json").read_text(encoding="utf-8"))
    known = {f"{server} {each.id}" for each in scorers() for server in each.servers}
    assert set(counted) <= known
    for key, one in counted.items():
        assert one["agreed"] == one["submissions"] > 0, key


def test_the_tables_in_the_readmes_are_those_of_the_record() -> None:
    """`scripts/scorers --write` makes them."""
    counted = json.loads((SOURCES / "agreement.json").read_text(encoding="utf-8"))
    for readme in (SOURCES / "README.md", SOURCES.parents[1] / "README.md"):
        text = readme.read_text(encoding="utf-8")
        for each in scorers():
            for server in each.servers:
                one = counted.get(f"{server} {each.id}")
                said = "| - | - | unproven |"
                if one is not None:
                    said = f"| {one['rows']} | {one['submissions']} | all |"
                assert f"| `{server}` | `{each.id}` {said}" in text
