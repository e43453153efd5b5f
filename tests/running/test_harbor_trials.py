"""What runners read in the files of Harbor's trials; the script that does it is data, not a module.

The folders are laid out by hand: what Harbor itself writes is read in the tests that run tasks.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

import rlconvert.formats
from rlconvert.proof.answers import answer
from rlconvert.running.runner import ErrorKind, Trial

JUDGES = Path(rlconvert.formats.__file__).parent
DONE = {"started_at": "2026-01-02T03:04:05Z", "finished_at": "2026-01-02T03:04:09.500000Z"}
RAN = {"agent_execution": DONE, "verifier": DONE}


def script(place: Path) -> ModuleType:
    spec = spec_from_file_location(place.stem, place)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def trials() -> ModuleType:
    return script(JUDGES / "taskfolder" / "judge" / "harbor_trials.py")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def raised(name: str, message: str = "") -> dict[str, str]:
    return {"exception_type": name, "exception_message": message}


def trial(trials: ModuleType, result: dict[str, object], folder: Path) -> Trial:
    """The line that a runner writes, as rlconvert reads it."""
    line = {"task": "t", "agent": "oracle", **trials.facts_of(result, folder)}
    return answer(Trial, json.dumps(line).encode())


def test_one_step(trials: ModuleType, tmp_path: Path) -> None:
    write(tmp_path / "verifier" / "test-stdout.txt", "well done")
    write(tmp_path / "agent" / "oracle.txt", "of no interest")
    rewards = {"verifier_result": {"rewards": {"reward": 1.0, "style": 0.25}}}

    found = trial(trials, {**DONE, **RAN, **rewards}, tmp_path)

    assert found.rewards == {"reward": 1.0, "style": 0.25}
    assert (found.error, found.log, found.seconds) == (None, "well done", 4.5)


def test_steps_are_told_by_name_and_their_logs_in_order(trials: ModuleType, tmp_path: Path) -> None:
    steps = [
        {"step_name": "b", **RAN, "verifier_result": {"rewards": {"reward": 0.5}}},
        {"step_name": "a", **RAN, "verifier_result": None},
    ]
    for name in "ab":
        write(tmp_path / "steps" / name / "verifier" / "test-stdout.txt", f"{name} ")

    found = trial(trials, {**DONE, "step_results": steps}, tmp_path)

    assert [(each.name, each.rewards) for each in found.steps] == [
        ("b", {"reward": 0.5}),
        ("a", None),
    ]
    assert found.log == "b a "


@pytest.mark.parametrize(
    ("reached", "name", "message", "kind"),
    [
        (RAN, "RewardFileNotFoundError", "", ErrorKind.NO_REWARD),
        (RAN, "VerifierOutputParseError", "", ErrorKind.BAD_REWARD),
        (RAN, "VerifierTimeoutError", "", ErrorKind.VERIFIER_TIMEOUT),
        (RAN, "AgentTimeoutError", "", ErrorKind.AGENT_TIMEOUT),
        (RAN, "KeyError", "", ErrorKind.CRASH),
        ({"agent_execution": DONE}, "FileNotFoundError", "no solve.sh", ErrorKind.AGENT_FAILED),
        ({}, "RuntimeError", "no such image", ErrorKind.ENVIRONMENT),
        (
            {},
            "ValueError",
            "Environment variable 'X' not found in host environment",
            ErrorKind.UNSET_VARIABLE,
        ),
    ],
)
def test_exceptions(
    trials: ModuleType,
    tmp_path: Path,
    reached: dict[str, object],
    name: str,
    message: str,
    kind: ErrorKind,
) -> None:
    found = trial(trials, {**DONE, **reached, "exception_info": raised(name, message)}, tmp_path)

    assert found.error is not None
    assert (found.error.kind, found.error.message) == (kind, f"{name}: {message}")


def test_a_step_may_be_what_failed(trials: ModuleType, tmp_path: Path) -> None:
    step = {"step_name": "a", **RAN, "exception_info": raised("VerifierTimeoutError")}

    found = trial(trials, {**DONE, "step_results": [step]}, tmp_path)

    assert found.error is not None
    assert found.error.kind is ErrorKind.VERIFIER_TIMEOUT


def test_what_the_oracle_said_where_the_verifier_was_not_reached(
    trials: ModuleType, tmp_path: Path
) -> None:
    write(tmp_path / "agent" / "oracle.txt", "no such command")

    found = trial(trials, {"exception_info": raised("RuntimeError")}, tmp_path)

    assert found.log == "no such command"


def test_logs_lead_nowhere_and_are_not_waited_for(trials: ModuleType, tmp_path: Path) -> None:
    """They are the task's."""
    secret = tmp_path / "secret"
    secret.write_text("of the host")
    (tmp_path / "link").symlink_to(secret)
    os.mkfifo(tmp_path / "pipe")
    long = tmp_path / "long"
    long.write_bytes(b"a" * 10_000 + b"end\xff")

    assert trials.tail_of(tmp_path / "link") == ""
    assert trials.tail_of(tmp_path / "pipe") == ""
    assert trials.tail_of(tmp_path / "not-there") == ""
    assert trials.tail_of(long) == "a" * (trials.TAIL - 4) + "end\ufffd"


def failed_compose(said: str) -> str:
    """As Harbor raises it for podman-compose, whose errors go where its other words go."""
    command = "podman-compose --project-name t -f /a/b.yaml up --detach"
    return (
        f"Docker compose command failed for environment t. Command: {command}. "
        f"Return code: 125. Stdout: {said}. Stderr: None. "
    )


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        (
            "Trying\nError: no such host\nError: no container with name t: no such container\n",
            "Trying\nError: no such host",
        ),
        ("STEP 2: RUN x\nError: exit status 127\n", "STEP 2: RUN x\nError: exit status 127"),
        ("", "compose ended with status 125 and said nothing"),
    ],
)
def test_a_failed_start_ends_with_its_cause(
    trials: ModuleType, tmp_path: Path, said: str, cause: str
) -> None:
    info = raised("RuntimeError", failed_compose(said))
    error = trial(trials, {**DONE, "exception_info": info}, tmp_path).error
    assert error is not None
    assert (error.kind, error.message) == (ErrorKind.ENVIRONMENT, f"RuntimeError: {cause}")


def test_a_trial_that_was_cancelled_is_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When Harbor cannot begin with one task, it cancels the trials that run beside it."""
    monkeypatch.setattr("sys.path", [*sys.path])
    runs = script(JUDGES / "harbor" / "judge" / "harbor_runs.py")
    order = {"work": str(tmp_path), "repeat": 1, "jobs": 2, "seconds": 60, "sandbox": "x"}
    tasks = [{"task": name, "folder": f"/t/{name}", "agents": ["nop"]} for name in ("a", "b")]
    job = runs.Job(order, 1, tasks)
    for name, more in (("a", {}), ("b", {"exception_info": raised("CancelledError")})):
        config = {"task": {"path": f"/t/{name}"}}
        result = {**DONE, **RAN, "config": config, "agent_info": {"name": "nop"}, **more}
        write(job.folder / name / "result.json", json.dumps(result))

    written = runs.Trials(str(tmp_path / "trials"))
    job.collect(written)
    written.stream.close()

    lines = (tmp_path / "trials").read_text().splitlines()
    assert [json.loads(line)["task"] for line in lines] == ["a"]
    assert [line["error"]["kind"] for line in job.missing(tasks[1])] == ["crash"]
