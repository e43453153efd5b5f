"""What a verdict on rows is made of: a NeMo Gym that says what it is told to, and answers all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from nemo.nemo_rows import CONFIG, DATA, repo_of, row
from rlconvert.errors import CheckFailed
from rlconvert.formats.nemo.check import hear
from rlconvert.judge import TaskVerdict, Verdict
from rlconvert.source import FolderSource
from strategies.files import lay

FIXTURES = Path(__file__).parents[2] / "fixtures" / "nemo"
DEMO = "environments/demo/config.yaml"
CLEAN: dict[str, Any] = {
    "accepted": True,
    "why": None,
    "lost": [],
    "schema": None,
    "unknown": [],
    "route": None,
    "grader": None,
}
ECHO = "resources_servers/echo"

Change = Callable[[dict[str, Any]], object]


class Told:
    """A hearing whose framework finds all well, but for what `row` and `config` change."""

    def __init__(self, source: FolderSource, row: Change, config: Change) -> None:
        self.source = source
        self.job: dict[str, Any] = {}
        self._notes: dict[str, str] = {}
        self._row = row
        self._config = config

    def ask(self, script: str, *arguments: str) -> bytes:
        assert script == "nemo_environments.py"
        job = self.job = json.loads(self._notes[arguments[0]])
        configs = [{"config": name, "datasets": self._datasets(name)} for name in job["configs"]]
        if job["undeclared"]:
            configs.append({"config": "", "datasets": job["undeclared"]})
        for each in configs:
            each |= {"faults": [], "warnings": []}
            self._config(each)
        said = {"nemo-gym": "0.7.0", "python": "3.13", "configs": configs}
        rows = [line for each in job["rows"] for line in self._rows(each["path"])]
        return "\n".join([json.dumps(said), *rows]).encode()

    def _rows(self, path: str) -> Iterator[str]:
        for number, _ in enumerate(Path(path).read_bytes().splitlines(), 1):
            said = {"path": path, "line": number, **CLEAN}
            self._row(said)
            if "silent" not in said:
                yield json.dumps(said)

    def _datasets(self, config: str) -> list[dict[str, str]]:
        if config == DEMO:
            return [{"path": DATA, "component": "mcqa"}]
        echo = "resources_servers/echo/data/example.jsonl"
        return [{"path": echo, "component": "echo"}] * (config == f"{ECHO}/configs/echo.yaml")

    def note(self, name: str, text: str) -> str:
        self._notes[name] = text
        return name

    def serve(self, repo_id: str) -> str:
        raise AssertionError(repo_id)


def nothing(_: dict[str, Any]) -> None:
    """No change."""


def verdict(
    folder: Path, *, row: Change = nothing, config: Change = nothing
) -> tuple[Verdict, Told]:
    told = Told(FolderSource(str(folder)), row, config)
    return hear(told), told


def on_line(number: int, **said: object) -> Change:
    """What NeMo Gym says of one line of each file."""

    def change(answer: dict[str, Any]) -> None:
        if answer["line"] == number:
            answer.update(said)

    return change


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """Three rows of mcqa; the last cannot be read, by anybody."""
    rows = row(task_id="one") + row(task_id="two") + b"{\n"
    return lay(tmp_path / "demo", repo_of({DEMO: CONFIG, DATA: rows}))


def test_every_row_is_a_task_by_the_name_the_reader_has(demo: Path) -> None:
    said, told = verdict(demo)
    assert said.tasks == tuple(map(TaskVerdict, ("one", "two", f"{DATA}:3")))
    assert said.passed
    assert said.graders == ("resources_servers/mcqa",)
    assert told.job["rows"] == [{"path": f"{demo}/{DATA}", "components": ["mcqa"], "routed": False}]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"accepted": False, "why": "no input"}, "no input"),
        ({"accepted": False}, "NeMo Gym refuses it"),
        ({"lost": ["an item"]}, "accepted, and a part of it is lost: an item"),
        ({"schema": "options: no list"}, "options: no list"),
    ],
)
def test_a_row_that_is_not_taken_whole(demo: Path, said: Mapping[str, Any], reason: str) -> None:
    found, _ = verdict(demo, row=on_line(2, **said))
    assert found.failures == (TaskVerdict("two", f"{DATA}:2: {reason}"),)
    assert not found.passed


def test_keys_that_nobody_declares_are_a_warning(demo: Path) -> None:
    found, _ = verdict(demo, row=on_line(1, unknown=["colour"]))
    assert found.passed
    assert found.warnings == (f"{DATA}: keys that mcqa does not declare: colour",)


def test_counts_are_compared(demo: Path) -> None:
    found, _ = verdict(demo, row=on_line(2, silent=True))
    assert found.faults == (f"{DATA}: 3 lines, NeMo Gym reads 2 rows",)


@pytest.mark.parametrize(
    ("component", "problem"),
    [
        ("string_match", f"for NeMo Gym the rows of {DATA} are graded by string_match, not mcqa"),
        (None, f"nothing names the server that grades the rows of {DATA}"),
    ],
)
def test_another_server(component: str | None, problem: str, demo: Path) -> None:
    def change(config: dict[str, Any]) -> None:
        config["datasets"][0]["component"] = component

    assert verdict(demo, config=change)[0].faults == (f"{DEMO}: {problem}",)


def test_a_server_that_only_nemo_gym_finds(tmp_path: Path) -> None:
    """By a config of its own, which the repo's names and we do not have."""
    chained = CONFIG[CONFIG.index(b"demo_simple_agent") :].replace(b"name: demo}", b"name: mcqa}")
    chained = b"config_paths: [resources_servers/mcqa/configs/mcqa.yaml]\n" + chained
    found, _ = verdict(lay(tmp_path / "repo", repo_of({DEMO: chained, DATA: row()})))
    assert found.passed
    assert found.graders == ("resources_servers/mcqa",)


def test_what_is_said_of_a_config(demo: Path) -> None:
    def change(config: dict[str, Any]) -> None:
        config |= {"faults": ["bad"], "warnings": ["odd"]}

    found, _ = verdict(demo, config=change)
    assert (found.faults, found.warnings) == ((f"{DEMO}: bad",), (f"{DEMO}: odd",))


def test_a_config_left_out_of_the_answer(demo: Path) -> None:
    def change(config: dict[str, Any]) -> None:
        config["config"] = "other.yaml"

    with pytest.raises(CheckFailed):
        verdict(demo, config=change)


def test_the_code_of_the_repo_is_named_and_not_asked() -> None:
    found, told = verdict(FIXTURES / "agents")
    components = {
        asked["path"].rpartition("/")[2]: asked["components"] for asked in told.job["rows"]
    }
    assert components == {
        "train.jsonl": ["mcqa"],
        "validation.jsonl": ["mcqa"],
        "example.jsonl": [],
    }
    assert told.job["brought"] == [ECHO]
    assert len(found.tasks) == 5
    assert f"{ECHO} (code of the repo, which was not run)" in found.graders
    assert [each for each in found.warnings if "is not run" in each]


# --- rows that no config lists ------------------------------------------------------------------


def test_rows_without_a_server_earn_nothing() -> None:
    """Though their fields fit one server alone."""
    found, told = verdict(FIXTURES / "bare")
    undeclared = [{"path": "train.jsonl", "component": "structured_outputs"}]
    assert told.job["undeclared"] == undeclared
    (asked,) = told.job["rows"]
    assert (asked["components"], asked["routed"]) == (["structured_outputs"], True)
    (fault,) = found.faults
    assert fault.startswith("train.jsonl: nothing names the server that grades 2 of its 2 rows: ")
    assert "they have neither agent_ref nor task_source" in fault
    assert "name it in environments/NAME/config.yaml" in fault
    assert (found.passed, found.loaded, found.graders) == (False, 2, ())


def test_rows_that_name_their_server() -> None:
    by_name = {"route": "so_simple_agent", "grader": "structured_outputs"}
    found, _ = verdict(FIXTURES / "bare", row=lambda said: said.update(by_name))
    assert found.passed
    assert found.graders == ("resources_servers/structured_outputs",)
    assert [each for each in found.warnings if "no config of the repo lists its rows" in each]


def test_a_name_that_nobody_has_names_no_server() -> None:
    found, _ = verdict(FIXTURES / "bare", row=on_line(2, route="gone_simple_agent"))
    (fault,) = found.faults
    assert "2 of its 2 rows" in fault
    assert "NeMo Gym's own configs have no agent or server gone_simple_agent" in fault


def test_rows_that_anybody_could_grade() -> None:
    found, told = verdict(FIXTURES / "ambiguous")
    assert told.job["undeclared"] == []
    assert [each["components"] for each in told.job["rows"]] == [[]]
    assert not found.passed
    assert [each for each in found.warnings if "could be graded by any of" in each]


def test_nothing_is_no_success(tmp_path: Path) -> None:
    files = {"environments/demo/config.yaml": b"resources_servers: {}\n"}
    found, told = verdict(lay(tmp_path / "empty", repo_of(files)))
    assert (found.passed, told.job) == (False, {})
    assert found.faults == ("no config lists rows, and no file beside one holds any",)
