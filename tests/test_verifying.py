"""`verify` with a runner that is a small script: what it is told, what counts, what it leaves."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from converting import convert_folder
from rlconvert import api
from rlconvert.archives.packing import Layout
from rlconvert.card import PROOF, UNPROVED
from rlconvert.errors import ExitCode, JudgeMissing, SourceChanged, UsageError
from rlconvert.format import Format, get_format
from rlconvert.judge import Judge, Runner, Verdict
from rlconvert.pipe import Settings
from rlconvert.proof.runs import RUNS, parse_runs
from rlconvert.running import carrying, sandboxes, trialbook, verifying
from rlconvert.running.orders import Sample
from rlconvert.running.sandboxes import Question
from rlconvert.running.verdicts import Outcome, TaskRun
from rlconvert.running.verifying import VerifyRun
from rlconvert.selection import Selection
from waiting import alive, linux, wait_until

HELLO = Path(__file__).parents[1] / "fixtures" / "harbor" / "hello"
SCRIPTS = str(Path(__file__).parent / "judges")
PROVED = {"oracle": [1], "nop": [0]}


def fake(environment: dict[str, str] | None = None) -> Judge:
    """A framework that this Python is."""
    return Judge(
        requirements=("fake==1.0",),
        pythons=("3",),
        proof="",
        scripts=SCRIPTS,
        hear=lambda _: Verdict(),
        runner=Runner(script="fake_runner.py", environment=environment or {}),
    )


def wired(monkeypatch: pytest.MonkeyPatch, judge: Judge | None = None) -> None:
    """Put the fake in the place of a framework."""
    real = get_format

    def get(name: str) -> Format:
        return replace(real(name), judge=judge or fake())

    monkeypatch.setattr(verifying, "get_format", get)


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    wired(monkeypatch)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A folder of tasks, to be filled with `add`."""
    folder = tmp_path / "repo"
    folder.mkdir()
    return folder


def add(repo: Path, name: str, behave: Mapping[str, object], *, oracle: bool = True) -> Path:
    """A task that comes out as told."""
    (source,) = (path.parent for path in HELLO.rglob("task.toml"))
    task = Path(shutil.copytree(source, repo / name))
    if not oracle:
        shutil.rmtree(task / "solution", ignore_errors=True)
    elif not (task / "solution").is_dir():
        (task / "solution").mkdir()
        (task / "solution" / "solve.sh").write_text("#!/bin/sh\n")
    (task / "behave.json").write_text(json.dumps(behave))
    return task


def verify(repo: Path, **more: object) -> VerifyRun:
    """`verify` in a sandbox that is none."""
    settings: dict[str, object] = {
        "using": {"harbor": sys.executable},
        "question": Question(sandbox="none"),
        **more,
    }
    return api.verify(str(repo), read_as="harbor", **settings)  # type: ignore[arg-type]


def verdicts(run: VerifyRun) -> dict[str, str]:
    """By task the reason of its verdict."""
    return {each.task: each.reason for each in run.results[0].runs}


def code(run: VerifyRun) -> ExitCode:
    return run.exit_code(allow_unverified=False)


def test_tasks_in_archives_are_run(repo: Path, tmp_path: Path) -> None:
    for name in ("good", "more"):
        add(repo / "tasks", name, PROVED)
    packed = tmp_path / "packed"
    settings = Settings(layout=Layout.ARCHIVE)
    assert api.convert(str(repo), str(packed), to=["harbor"], settings=settings).error is None
    assert verdicts(verify(packed)) == {"good": "verified", "more": "verified"}


# --- verdicts and records ----------------------------------------------------------------------


def test_each_task_gets_its_own_verdict(repo: Path) -> None:
    add(repo, "good", PROVED)
    add(repo, "always", {"oracle": [1], "nop": [1]})
    add(repo, "idle", {"oracle": [0], "nop": [0]})
    add(repo, "silent", {"oracle": ["silent"], "nop": [0]})
    add(repo, "unsure", {"oracle": [1], "nop": [0]}, oracle=False)
    run = verify(repo)
    assert verdicts(run) == {
        "always": "nothing-earns-full",
        "good": "verified",
        "idle": "oracle-earns-nothing",
        "silent": "no-result",
        "unsure": "no-oracle",
    }
    assert code(run) is ExitCode.VERIFY_FAILED


@pytest.mark.parametrize(
    ("behave", "oracle", "expected"),
    [
        (PROVED, True, ExitCode.DONE),
        ({"oracle": [1], "nop": [1]}, True, ExitCode.VERIFY_FAILED),
        ({"oracle": ["silent"], "nop": [0]}, True, ExitCode.NOT_VERIFIED),
        (PROVED, False, ExitCode.REFUSED),
    ],
)
def test_exit_codes(
    repo: Path, behave: Mapping[str, object], oracle: bool, expected: ExitCode
) -> None:
    add(repo, "one", behave, oracle=oracle)
    run = verify(repo)
    assert code(run) is expected
    if expected is ExitCode.REFUSED:
        assert run.exit_code(allow_unverified=True) is ExitCode.DONE


def test_no_task_is_no_success(repo: Path) -> None:
    add(repo, "one", PROVED)
    assert code(verify(repo, selection=Selection(include=("other",)))) is ExitCode.NOT_VERIFIED


def test_the_record_counts_and_names_what_ran(repo: Path) -> None:
    add(repo, "good", PROVED)
    add(repo, "idle", {"oracle": [0], "nop": [0]})
    run = verify(repo)
    record = parse_runs((repo / RUNS).read_bytes())["harbor"]
    assert (record.total, record.verified, record.failed) == (2, 1, 1)
    assert record.versions == {"fake": "1.0"}
    assert record.digest == run.digest
    assert (record.sandbox, record.base, record.selection) == ("none", "unknown", "all")
    assert [each.task for each in record.verdicts] == ["idle", "good"]
    assert (record.verdicts[1].oracle, record.verdicts[1].nop) == ("1", "0")
    before = (repo / RUNS).read_bytes()
    verify(repo)
    assert (repo / RUNS).read_bytes() == before


def test_the_card_says_what_ran_and_only_of_these_files(tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    add(source, "good", PROVED)
    convert_folder(source, out, "openenv")
    card = (out / "README.md").read_bytes()
    assert PROOF in card
    assert UNPROVED.encode() in card
    verify(out)
    card = (out / "README.md").read_bytes()
    assert b"| Harbor | `fake 1.0` | `none` | unknown | 1 of 1 (all) | 1 | 0 | 0 |" in card
    task = next(out.rglob("instruction.md"))
    task.write_text("another")
    api.verify(
        str(out),
        read_as="harbor",
        selection=Selection(include=("no",)),
        using={"harbor": sys.executable},
        question=Question(sandbox="none"),
    )
    assert b"0 of 0" in (out / "README.md").read_bytes()


def test_nothing_is_recorded_where_it_must_not(repo: Path) -> None:
    add(repo, "good", PROVED)
    assert not verify(repo, record=False).recorded
    assert not (repo / ".rlconvert").exists()


def test_a_repo_that_changes_proves_nothing(repo: Path) -> None:
    add(repo, "good", PROVED)

    def change(_: int, __: TaskRun) -> None:
        (repo / "good" / "instruction.md").write_text("other")

    with pytest.raises(SourceChanged):
        verify(repo, on_run=change)
    assert not (repo / RUNS).exists()


# --- what the runner gets ----------------------------------------------------------------------


def test_the_environment_is_clean(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    monkeypatch.setenv("WANTED", "given")
    seen_at = tmp_path / "seen"
    wired(monkeypatch, fake({"SEEN": str(seen_at)}))
    add(repo, "one", {"oracle": ["environment"], "nop": [0]})
    run = verify(repo, question=Question(sandbox="none", variables=("WANTED",)))
    assert verdicts(run) == {"one": "verified"}
    seen = json.loads(seen_at.read_text())
    assert "secret" not in str(seen)
    assert seen["WANTED"] == "given"
    work = seen["RLCONVERT_RUN"]
    assert seen["HOME"] == f"{work}/home"
    assert seen["cwd"].startswith(work)
    assert not Path(work).exists()
    allowed = {"PATH", "LANG", "HOME", "TMPDIR", "GIT_TERMINAL_PROMPT", "PYTHONDONTWRITEBYTECODE"}
    more = {"SEEN", "WANTED", "RLCONVERT_RUN"}
    assert seen.keys() - {"cwd", "argv", "LC_CTYPE", "PWD"} == allowed | more


def test_a_variable_that_a_task_needs_must_be_given(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (
        ("needs", "${THE_KEY}"),
        ("has", "${THE_KEY:-none}"),
        ("plain", "$THE_KEY"),
    ):
        task = add(repo, name, PROVED)
        with (task / "task.toml").open("a") as file:
            file.write(f'\n[verifier.env]\nKEY = "{value}"\n')
    run = verify(repo)
    assert verdicts(run) == {"needs": "unset-variable", "has": "verified", "plain": "verified"}
    with pytest.raises(UsageError):
        verify(repo, question=Question(sandbox="none", variables=("THE_KEY",)))
    monkeypatch.setenv("THE_KEY", "x")
    run = verify(repo, question=Question(sandbox="none", variables=("THE_KEY",)))
    assert set(verdicts(run).values()) == {"verified"}


def test_a_task_that_asks_for_the_host_is_not_run(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = get_format
    asking = replace(real("harbor"), judge=fake(), host_access=lambda _: ("it mounts /etc",))
    monkeypatch.setattr(verifying, "choose_format", lambda *_, **__: asking)
    add(repo, "one", PROVED)
    run = verify(repo)
    assert verdicts(run) == {"one": "asks-for-the-host"}
    assert "it mounts /etc" in run.results[0].runs[0].problem
    run = verify(repo, question=Question(sandbox="none", allow_host=True))
    assert verdicts(run) == {"one": "verified"}


def test_a_sample_is_drawn_by_its_seed(repo: Path) -> None:
    for number in range(8):
        add(repo, f"t{number}", PROVED)
    first = verdicts(verify(repo, sample=Sample(count=3, seed=1)))
    assert verdicts(verify(repo, sample=Sample(count=3, seed=1))) == first
    assert len(first) == 3
    assert parse_runs((repo / RUNS).read_bytes())["harbor"].selection == "a sample of 3, seed 1"
    others = [verdicts(verify(repo, sample=Sample(count=3, seed=seed))) for seed in range(2, 6)]
    assert any(other != first for other in others)


def test_what_cannot_be_asked(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(repo, "one", PROVED)
    with pytest.raises(UsageError):
        verify(repo, frameworks=["gym"])
    with pytest.raises(UsageError):
        verify(repo, question=Question(sandbox="local"))
    monkeypatch.setattr(sandboxes, "first_engine", lambda: None)
    with pytest.raises(UsageError):
        verify(repo, question=Question())
    wired(monkeypatch, replace(fake(), runner=Runner(script="x", sandboxes=("docker",))))
    with pytest.raises(UsageError):
        verify(repo)
    wired(monkeypatch, replace(fake(), runner=None))
    with pytest.raises(UsageError):
        verify(repo, frameworks=["harbor"])


def test_a_framework_that_cannot_be_had_is_no_pass(repo: Path) -> None:
    add(repo, "one", PROVED)
    run = verify(repo, using={"harbor": "/nowhere/python"})
    assert code(run) is ExitCode.JUDGE_MISSING
    assert isinstance(run.results[0].missing, JudgeMissing)
    assert not run.recorded
    assert not (repo / ".rlconvert").exists()


# --- bad runners -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "reason"),
    [("garbled", "garbled-verdict"), ("die", "no-result"), ("stranger", "no-result")],
)
def test_one_bad_task_stops_no_other(repo: Path, said: str, reason: str) -> None:
    add(repo, "a", PROVED)
    add(repo, "bad", {"oracle": [said], "nop": [0]})
    add(repo, "z", PROVED)
    found = verdicts(verify(repo))
    assert found["a"] == "verified"
    assert found["bad"] == reason
    if said != "die":  # one that dies without a word takes what follows with it
        assert found["z"] == "verified"


def test_the_first_of_two_lines_counts(repo: Path) -> None:
    add(repo, "one", {"oracle": ["twice"], "nop": [0]})
    assert verdicts(verify(repo)) == {"one": "verified"}


@linux
def test_one_that_stalls_is_ended_with_all_it_started(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandboxes, "_STALL_SECONDS", 0)
    mark = tmp_path / "started"
    add(repo, "bad", {"oracle": [["sleep", str(mark)]], "nop": [0]})
    add(repo, "good", PROVED)
    run = verify(repo, question=Question(sandbox="none", seconds=1))
    assert verdicts(run) == {"bad": "stalled", "good": "verified"}
    wait_until(lambda: not alive(str(mark)))


def test_one_that_fills_the_disk_is_ended(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sandboxes, "Bounds", lambda stall: carrying.Bounds(stall=stall, disk=1 << 20)
    )
    add(repo, "bad", {"oracle": [["fill", 1 << 22]], "nop": [0]})
    assert verdicts(verify(repo)) == {"bad": "too-much-output"}


# --- resume, and being killed ------------------------------------------------------------------


def trials_known() -> int:
    """How many trials have been put down for `--resume`."""
    books = trialbook.book_folder().glob("*.jsonl")
    return sum(book.read_text().count('"trial"') for book in books)


CHILD = """
import sys
sys.path.insert(0, {here!r})
import test_verifying as t
from dataclasses import replace
real = t.get_format
t.verifying.get_format = lambda name: replace(real(name), judge=t.fake())
try:
    t.verify(t.Path({repo!r}))
except KeyboardInterrupt:
    print("interrupted")
"""


@linux
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_killed_at_any_moment_it_leaves_nothing_and_resume_finishes(
    repo: Path, tmp_path: Path, sign: signal.Signals
) -> None:
    mark, asked = tmp_path / "started", tmp_path / "asked"
    add(repo, "a", {**PROVED, "log_to": str(asked)})
    task = add(repo, "b", {"oracle": [["sleep", str(mark)]], "nop": [0], "log_to": str(asked)})
    child = CHILD.format(here=str(Path(__file__).parent), repo=str(repo))
    temp = tmp_path / "temp"
    temp.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", child],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temp)},
    )
    wait_until(lambda: mark.exists() and Path(f"{mark}.child").exists())
    wait_until(lambda: trials_known() == len(PROVED))
    process.send_signal(sign)
    said, _ = process.communicate(timeout=60)
    assert said == ("interrupted\n" if sign is signal.SIGINT else "")
    wait_until(lambda: not alive(str(mark)))
    wait_until(lambda: not list(temp.iterdir()))
    wait_until(lambda: not alive(str(temp)))
    assert not (repo / RUNS).exists()

    better = {**PROVED, "log_to": str(asked), "better": True}
    (task / "behave.json").write_text(json.dumps(better))
    run = verify(repo, resume=True)
    assert verdicts(run) == {"a": "verified", "b": "verified"}
    assert asked.read_text().split() == ["a", "b", "b"]
    assert not list(trialbook.book_folder().iterdir())


def test_without_resume_all_is_run_again(repo: Path, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    task = add(repo, "a", {**PROVED, "log_to": str(asked)})
    book = trialbook.TrialBook({"x": 1}, resume=False)
    book.close(ended=False)
    verify(repo)
    verify(repo, resume=True)
    assert asked.read_text().split() == ["a", "a"]
    assert task.exists()


# --- comparing ---------------------------------------------------------------------------------


def test_equal_files_are_run_once(repo: Path, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    add(repo, "a", {**PROVED, "log_to": str(asked)})
    out = tmp_path / "out"
    convert_folder(repo, out, "openenv")
    run = verify(repo, against=str(out))
    (same,) = run.results[0].compared
    assert same.same_files
    assert same.equal
    assert asked.read_text().split() == ["a"]
    assert parse_runs((repo / RUNS).read_bytes())["harbor"].same_as is not None


@pytest.mark.parametrize(
    ("there", "equal"),
    [
        ({"oracle": [1], "nop": [0], "other": 1}, True),
        ({"oracle": [1], "nop": [0.5]}, False),
        ({"oracle": [{"rewards": {"reward": 1, "style": 0}, "reward": 1}], "nop": [0]}, False),
        ({"oracle": ["silent"], "nop": [0]}, False),
    ],
)
def test_other_files_must_earn_the_same(
    repo: Path, tmp_path: Path, there: Mapping[str, object], equal: bool
) -> None:
    add(repo, "a", PROVED)
    other = tmp_path / "other"
    other.mkdir()
    add(other, "a", there)
    run = verify(repo, against=str(other))
    (compared,) = run.results[0].compared
    assert not compared.same_files
    assert compared.equal is equal
    assert (code(run) is ExitCode.DONE) is equal
    assert (parse_runs((repo / RUNS).read_bytes())["harbor"].same_as is not None) is equal


def test_a_task_is_found_again_by_what_its_source_called_it(repo: Path, tmp_path: Path) -> None:
    task = add(repo, "folder-name", PROVED)
    config = (task / "task.toml").read_text().replace("rlconvert/hello", "rlconvert/other", 1)
    (task / "task.toml").write_text(config)
    out = tmp_path / "out"
    convert_folder(repo, out, "nemo")
    run = api.verify(
        str(repo),
        against=str(out),
        using={"harbor": sys.executable},
        question=Question(sandbox="none"),
    )
    assert [each.here.task for each in run.results[0].compared] == ["folder-name"]
    assert run.results[0].count(Outcome.VERIFIED) == 1
