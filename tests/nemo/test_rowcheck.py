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
CLEAN: dict[str, Any] = {"accepted": True, "why": None, "lost": [], "schema": None, "unknown": []}

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
        return [{"path": DATA, "component": "mcqa"}] if config == DEMO else []

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
    assert told.job["rows"] == [{"path": f"{demo}/{DATA}", "component": "mcqa"}]


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


def test_another_server(demo: Path) -> None:
    def change(config: dict[str, Any]) -> None:
        config["datasets"][0]["component"] = None

    (fault,) = verdict(demo, config=change)[0].faults
    assert fault == f"{DEMO}: for NeMo Gym the rows of {DATA} are graded by None, not mcqa"


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
        asked["path"].rpartition("/")[2]: asked["component"] for asked in told.job["rows"]
    }
    assert components == {"train.jsonl": "mcqa", "validation.jsonl": "mcqa", "example.jsonl": None}
    assert told.job["brought"] == ["resources_servers/echo"]
    assert len(found.tasks) == 5
    assert [each for each in found.warnings if "is not run" in each]


def test_rows_without_a_config() -> None:
    found, told = verdict(FIXTURES / "bare")
    undeclared = [{"path": "train.jsonl", "component": "structured_outputs"}]
    assert told.job["undeclared"] == undeclared
    assert (found.passed, len(found.tasks)) == (True, 2)
    assert [each for each in found.warnings if "no config lists its rows" in each]


def test_rows_that_anybody_could_grade() -> None:
    found, told = verdict(FIXTURES / "ambiguous")
    assert told.job["undeclared"] == []
    assert [each["component"] for each in told.job["rows"]] == [None]
    assert [each for each in found.warnings if "could be graded by any of" in each]


def test_nothing_is_no_success(tmp_path: Path) -> None:
    files = {"environments/demo/config.yaml": b"resources_servers: {}\n"}
    found, told = verdict(lay(tmp_path / "empty", repo_of(files)))
    assert (found.passed, told.job) == (False, {})
    assert found.faults == ("no config lists rows, and no file beside one holds any",)
