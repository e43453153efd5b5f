"""`verify` with the real Harbor in real containers, on tasks of which the rewards are known.

`eval "$(scripts/sandbox DIR)"` and `eval "$(scripts/frameworks DIR)"` prepare a machine for it.
`fixtures/verify/expected.json` holds what Harbor itself says of the tasks.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from converting import convert_folder
from rlconvert import api
from rlconvert.errors import ExitCode
from rlconvert.pipe import Settings
from rlconvert.proof.runs import RUNS, parse_runs
from rlconvert.running.sandboxes import Question
from rlconvert.running.verdicts import Earned, Outcome, TaskRun
from rlconvert.running.verifying import Compared, VerifyRun
from rlconvert.selection import Selection
from waiting import wait_until

pytestmark = pytest.mark.run

FIXTURES = Path(__file__).parents[2] / "fixtures" / "verify"
EXPECTED = json.loads((FIXTURES / "expected.json").read_text())
SANDBOX = os.environ.get("RLCONVERT_SANDBOX")
HARBOR = os.environ.get("RLCONVERT_HARBOR_PYTHON")

VERDICTS = {
    "always-one": "nothing-earns-full",
    "bad-build": "environment",
    "bad-image": "environment",
    "crlf": "cannot-start",
    "failing-oracle": "oracle-failed",
    "flaky": "flaky",
    "garbled-reward": "bad-reward",
    "idle-oracle": "oracle-earns-nothing",
    "isolated": "environment",
    "missing-tool": "command-not-found",
    "never-writes": "no-reward",
    "no-oracle": "no-oracle",
    "no-tests": "no-test-ran",
    "one-then-timeout": "verifier-timeout",
    "tests-not-found": "no-test-ran",
    "unreachable-host": "no-network",
    "unset-variable": "unset-variable",
}
"""What is wrong with each broken task, as running it shows."""


@pytest.fixture(scope="module", autouse=True)
def _machine() -> None:
    if SANDBOX is None:
        pytest.skip('RLCONVERT_SANDBOX is not set: eval "$(scripts/sandbox DIR)"')
    if HARBOR is None:
        pytest.skip('RLCONVERT_HARBOR_PYTHON is not set: eval "$(scripts/frameworks DIR)"')


def verify(source: Path, *, repeat: int = 1, **more: object) -> VerifyRun:
    """Run them by Harbor."""
    os.environ.update(EXPECTED["variables"])
    question = Question(
        sandbox=SANDBOX, jobs=2, repeat=repeat, seconds=60, variables=tuple(EXPECTED["variables"])
    )
    return api.verify(
        str(source),
        using={"harbor": str(HARBOR)},
        question=question,
        **more,  # type: ignore[arg-type]
    )


def rewards(earned: Earned | None) -> dict[str, float] | None:
    assert earned is not None
    return None if earned.rewards is None else dict(earned.rewards)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sound tasks."""
    return Path(shutil.copytree(FIXTURES / "sound", tmp_path_factory.mktemp("sound") / "tasks"))


@pytest.fixture(scope="module")
def written(sound: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """What the sound tasks become: each layout, and Harbor again by way of NeMo Gym."""
    folder = tmp_path_factory.mktemp("written")
    made = {}
    for target in ("verifiers", "openenv", "nemo"):
        made[target] = folder / target
        convert_folder(sound, made[target], target)
    made["back"] = folder / "back"
    api.convert(str(made["nemo"]), str(made["back"]), to=["harbor"], read_as="nemo")
    return made


@pytest.fixture(scope="module")
def ran(sound: Path, written: Mapping[str, Path]) -> VerifyRun:
    """All of them run once, beside what came back by way of NeMo Gym."""
    return verify(sound, against=str(written["back"]))


def test_the_oracle_earns_full_and_doing_nothing_less(ran: VerifyRun) -> None:
    (result,) = ran.results
    assert {each.task for each in result.runs} == {
        name.removeprefix("sound/") for name in EXPECTED["tasks"] if name.startswith("sound/")
    }
    assert {each.task: each.reason for each in result.runs} == {
        each.task: "verified" for each in result.runs
    }, [(each.task, each.problem, each.log) for each in result.runs]
    assert ran.exit_code(allow_unverified=False) is ExitCode.DONE


def test_the_rewards_are_those_that_harbor_gives(ran: VerifyRun) -> None:
    """Every name, and every step."""
    for run in ran.results[0].runs:
        expected = EXPECTED["tasks"][f"sound/{run.task}"]
        for agent, earned in (("oracle", run.oracle), ("nop", run.nop)):
            assert rewards(earned) == expected[agent]["rewards"], (run.task, agent)
            assert earned is not None
            steps = [
                {"name": name, "rewards": None if found is None else dict(found)}
                for name, found in earned.steps
            ]
            assert steps == expected[agent].get("steps", []), (run.task, agent)


def test_the_record_says_on_what_it_stands(sound: Path, ran: VerifyRun) -> None:
    record = parse_runs((sound / RUNS).read_bytes())["harbor"]
    assert record.versions == {"harbor": EXPECTED["harbor"]}
    assert (record.verified, record.total) == (len(ran.results[0].runs),) * 2
    assert record.sandbox == SANDBOX
    assert "ubuntu:24.04" in record.images
    if os.environ.get("RLCONVERT_ROOTFS"):  # the images were made here
        assert record.base == "substitute"


def test_the_same_files_earn_the_same(ran: VerifyRun) -> None:
    """Harbor -> NeMo Gym -> Harbor gives the very same files, so none is run again."""
    compared = ran.results[0].compared
    assert compared
    assert all(each.equal and each.same_files for each in compared)


def test_every_written_layout_holds_the_very_same_folders(
    sound: Path, written: Mapping[str, Path]
) -> None:
    """So the outcomes above are theirs too; what is rewritten is run below."""
    from rlconvert.format import get_format
    from rlconvert.running.orders import Prepared, Sample, Side
    from rlconvert.source import FolderSource

    def digests(folder: Path, name: str) -> dict[str, str]:
        side = Side(FolderSource(str(folder)), get_format(name), {})
        found = map(side.prepare, side.refs(Selection(), Sample()))
        return {each.twin: each.digest for each in found if isinstance(each, Prepared)}

    before = digests(sound, "harbor")
    counts = {}
    for target in ("verifiers", "openenv", "nemo"):
        after = digests(written[target], target)
        assert after
        assert after == {task: before[task] for task in after}
        counts[target] = len(after)
    assert counts["openenv"] == len(before) - 1  # `other-keys` has no reward that OpenEnv takes
    assert counts["nemo"] < len(before)
    assert counts["verifiers"] < counts["nemo"]


def test_a_rewritten_task_is_run_on_both_sides(sound: Path, tmp_path: Path) -> None:
    """Verifiers builds no images, so the task gets one: another `task.toml`, the same rewards."""
    only = Selection(include=("hello",))
    out = tmp_path / "out"
    images = tmp_path / "images.json"
    images.write_text(json.dumps({"hello": "docker.io/rlconvert/app:1"}))
    options = {"image-map": str(images)}
    convert_folder(sound, out, "verifiers", settings=Settings(selection=only, options=options))
    run = verify(sound, against=str(out), selection=only, record=False)
    (compared,) = run.results[0].compared
    assert isinstance(compared, Compared)
    assert not compared.same_files
    assert compared.equal, (compared.here, compared.there)
    assert compared.here.outcome is Outcome.VERIFIED


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, TaskRun]:
    """The broken tasks; the flaky one is run often enough to show it."""
    os.environ.pop("RLCONVERT_VERIFY_NOWHERE", None)
    folder = tmp_path_factory.mktemp("broken") / "tasks"
    tasks = Path(shutil.copytree(FIXTURES / "broken", folder))
    others = verify(tasks, selection=Selection(exclude=("flaky",)), record=False)
    flaky = verify(tasks, selection=Selection(include=("flaky",)), repeat=2, record=False)
    assert flaky.exit_code(allow_unverified=False) is ExitCode.VERIFY_FAILED
    return {each.task: each for run in (others, flaky) for each in run.results[0].runs}


def test_each_broken_task_has_a_fixture_and_a_verdict() -> None:
    assert set(VERDICTS) == {path.name for path in (FIXTURES / "broken").iterdir()}


@pytest.mark.parametrize("task", VERDICTS)
def test_what_is_broken_is_told(broken: Mapping[str, TaskRun], task: str) -> None:
    run = broken[task]
    assert run.reason == VERDICTS[task], (run.problem, run.log)
    assert run.outcome is not Outcome.VERIFIED
    for agent, earned in (("oracle", run.oracle), ("nop", run.nop)):
        expected = EXPECTED["tasks"][f"broken/{task}"].get(agent, {})
        if earned is not None and "rewards" in expected and "differs" not in expected:
            assert rewards(earned) == expected["rewards"], (task, agent)


# --- being killed ------------------------------------------------------------------------------


def containers(text: str) -> list[str]:
    """Containers of the engine that mention something."""
    engine = str(SANDBOX)
    found = []
    said = subprocess.run([engine, "ps", "-aq"], capture_output=True, text=True, check=True)
    for container in said.stdout.split():
        facts = subprocess.run([engine, "inspect", container], capture_output=True, check=False)
        if text.encode() in facts.stdout:
            found.append(container)
    return found


def processes(text: str) -> list[int]:
    """Processes that have something in their command line or environment."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal() or int(folder.name) == os.getpid():
            continue
        try:
            if (folder / "comm").read_text().strip() == "aardvark-dns":
                continue  # one for all containers of the engine
            said = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
        except OSError:
            continue
        if text.encode() in said:
            found.append(int(folder.name))
    return found


def test_killed_it_leaves_no_container_and_resume_finishes(tmp_path: Path) -> None:
    """A task of two containers, so that there is a network too; killed as it cannot notice."""
    tasks = tmp_path / "tasks"
    shutil.copytree(FIXTURES / "sound" / "compose", tasks / "compose")
    temp = tmp_path / "temp"
    temp.mkdir()
    command = [sys.executable, "-m", "rlconvert", "verify", str(tasks), "--sandbox", str(SANDBOX)]
    command += ["--using", f"harbor={HARBOR}", "--resume"]
    environment = {**os.environ, "TMPDIR": str(temp), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    process = subprocess.Popen(command, env=environment)
    wait_until(lambda: bool(containers(str(temp))), seconds=120)
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    wait_until(lambda: not processes(str(temp)), seconds=120)
    wait_until(lambda: not list(temp.iterdir()), seconds=120)
    assert not containers(str(temp))
    assert not any(str(temp) in line for line in Path("/proc/mounts").read_text().splitlines())
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
