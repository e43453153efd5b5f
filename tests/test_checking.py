"""`check` with a judge that is a small script: what counts as a verdict, and what ends a run."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from converting import convert_folder
from rlconvert.card import PROOF, PROOF_END, with_proof
from rlconvert.errors import (
    CheckFailed,
    ExitCode,
    JudgeMissing,
    Malformed,
    NewerSchema,
    SourceChanged,
    UnknownFormat,
    UnsafePath,
    UsageError,
)
from rlconvert.format import Format, get_format
from rlconvert.judge import ANSWER, Hearing, Judge, TaskVerdict, Verdict
from rlconvert.pipe import Settings
from rlconvert.proof import checking, judges
from rlconvert.proof.answers import Answer, answer
from rlconvert.proof.checking import check
from rlconvert.proof.claims import with_claims
from rlconvert.proof.enclosure import Enclosure, Limits, _wall
from rlconvert.proof.published import layout_digest, make_bare, members
from rlconvert.proof.records import CHECKS, checks_text, parse_checks
from rlconvert.selection import Selection
from rlconvert.source import FolderSource
from waiting import alive, linux, wait_until

ROOT = Path(__file__).parents[1]
HELLO = ROOT / "fixtures" / "harbor" / "hello"
SCRIPTS = str(Path(__file__).parent / "judges")
GOOD = '{"tasks": [["hello", null]], "versions": {"fake": "1.0"}}'


class Said(Answer):
    """The answer of the fake judge."""

    tasks: tuple[tuple[str, str | None], ...]
    faults: tuple[str, ...] = ()
    versions: Mapping[str, str] = {}
    graders: tuple[str, ...] = ()


def fake(*arguments: str) -> Judge:
    """A judge that this Python is, asked in this way."""

    def hear(hearing: Hearing) -> Verdict:
        said = answer(Said, hearing.ask("fake.py", ANSWER, *arguments))
        return Verdict(
            versions=said.versions,
            python="3",
            tasks=tuple(TaskVerdict(*each) for each in said.tasks),
            faults=said.faults,
            graders=said.graders,
        )

    return Judge(requirements=("fake==1.0",), pythons=("3",), proof="", scripts=SCRIPTS, hear=hear)


Ask = Callable[..., checking.CheckRun]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """An output with a card and a sidecar."""
    out = tmp_path / "out"
    convert_folder(HELLO, out, "nemo")
    return out


@pytest.fixture
def ask(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Check the output with the fake judge in the place of a framework."""
    real = get_format

    def run(*arguments: str, seconds: float = 60, memory: int = 1 << 40) -> checking.CheckRun:
        def get(name: str) -> Format:
            return replace(real(name), judge=fake(*arguments))

        monkeypatch.setattr(checking, "get_format", get)
        limits = Limits(seconds=seconds, memory=memory)
        return check(str(repo), using={"nemo": sys.executable}, limits=limits)

    return run


def red(run: checking.CheckRun) -> Verdict:
    """The verdict of a run that must be red."""
    assert run.exit_code is ExitCode.CHECK_FAILED
    (result,) = run.results
    assert not result.passed
    record = parse_checks(Path(run.out, CHECKS).read_bytes())[result.format]
    assert not record.passed
    return result.verdict


def test_green(ask: Ask) -> None:
    run = ask(GOOD)
    assert run.exit_code is ExitCode.DONE
    (result,) = run.results
    assert (result.format, result.verdict.loaded, len(result.verdict.tasks)) == ("nemo", 1, 1)
    assert run.facts()["exit_code"] == 0


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ('{"tasks": [["hello", "no such key"]]}', "no such key"),
        ('{"tasks": [["hello", null]], "faults": ["the count is wrong"]}', "the count is wrong"),
        ('{"tasks": []}', "lists it, and it is not here"),
        ('{"tasks": [["another", null]]}', "lists it, and it is not here"),
        ("nothing", "I could not say"),
        ("empty", "wrote no verdict"),
        ("garbled", "cannot be read"),
        ("other", "cannot be read"),
    ],
)
def test_red_though_the_status_is_0(ask: Ask, said: str, reason: str) -> None:
    verdict = red(ask(said))
    reasons = [*verdict.faults, *(each.reason or "" for each in verdict.failures)]
    assert any(reason in each for each in reasons), reasons


def test_memory(ask: Ask) -> None:
    verdict = red(ask("memory", memory=1 << 31))
    assert "wrote no verdict" in verdict.faults[0]


def test_environment_is_clean(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    monkeypatch.setenv("ANYTHING", "else")
    seen = json.loads(red(ask("environment")).faults[0])
    assert "secret" not in str(seen)
    allowed = {"PATH", "LANG", "HOME", "TMPDIR", "GIT_CONFIG_NOSYSTEM", "GIT_TERMINAL_PROMPT"}
    assert seen.keys() - {"cwd", "home", "LC_CTYPE", "PWD"} == allowed
    assert seen["HOME"] == "TEMP/home"
    assert seen["cwd"] == "TEMP"
    assert seen["home"] == []


@linux
def test_timeout_kills_everything(ask: Ask, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    begun = time.monotonic()
    verdict = red(ask("sleep", str(mark), seconds=3))
    assert "no verdict within 3 s" in verdict.faults[0]
    assert time.monotonic() - begun < 30
    assert mark.exists()
    if not _wall():
        pytest.skip("a child that leaves its group is beyond reach here")
    wait_until(lambda: not alive(str(mark)))


@linux
def test_interrupt_kills_everything_and_records_nothing(repo: Path, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import test_checking as t
from dataclasses import replace
real = t.get_format
t.checking.get_format = lambda name: replace(real(name), judge=t.fake("sleep", {str(mark)!r}))
try:
    t.check({str(repo)!r}, using={{"nemo": sys.executable}})
except KeyboardInterrupt:
    print("interrupted")
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    wait_until(mark.exists)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=20)
    assert said == "interrupted\n"
    if _wall():
        wait_until(lambda: not alive(str(mark)))
    assert not (repo / CHECKS).exists()


def test_network(tmp_path: Path) -> None:
    enclosure = Enclosure(str(tmp_path), Limits(seconds=60))
    if not enclosure.network_blocked:
        pytest.skip("this system allows no network of one's own")
    code = (
        "import socket, sys\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname(), 5).close()\n"
        "try: socket.create_connection(('192.0.2.1', 9), 5)\n"
        "except OSError as error: print(error.errno)\n"
    )
    said = enclosure.run([sys.executable, "-c", code])
    assert said == str(errno.ENETUNREACH)


def test_open_network_is_recorded(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlconvert.proof.enclosure._wall", lambda: ())
    run = ask(GOOD)
    assert parse_checks(Path(run.out, CHECKS).read_bytes())["nemo"].network == "not blocked"
    assert b"The network was not blocked for NeMo Gym." in Path(run.out, "README.md").read_bytes()


def test_a_judge_that_changes_the_repo_proves_nothing(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hear(_: Hearing) -> Verdict:
        (repo / "tasks" / "more").write_text("more")
        return Verdict(tasks=(TaskVerdict("hello"),))

    real = get_format
    judge = replace(fake(), hear=hear)
    monkeypatch.setattr(checking, "get_format", lambda name: replace(real(name), judge=judge))
    with pytest.raises(SourceChanged):
        check(str(repo), using={"nemo": sys.executable})
    assert not (repo / CHECKS).exists()


# --- which, and what with ----------------------------------------------------------------------


def test_what_cannot_be_asked(repo: Path, tmp_path: Path) -> None:
    for arguments in ({"frameworks": ["gym"]}, {"using": {"gym": sys.executable}}):
        with pytest.raises(UsageError):
            check(str(repo), **arguments)
    with pytest.raises(UsageError):
        check(str(tmp_path / "nowhere"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnknownFormat):
        check(str(tmp_path / "empty"))


def test_a_missing_judge_is_no_pass(repo: Path, tmp_path: Path) -> None:
    before = (repo / "README.md").read_bytes()
    for python in ("/nowhere/python", sys.executable, str(tmp_path)):
        run = check(str(repo), using={"nemo": python})
        assert run.exit_code is ExitCode.JUDGE_MISSING
        assert run.results[0].missing is not None
        assert not run.results[0].passed
    assert not (repo / CHECKS).exists()
    assert (repo / "README.md").read_bytes() == before


def installable(requirement: str, *flags: str, pythons: tuple[str, ...] = ()) -> Judge:
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    return replace(
        fake(GOOD), requirements=(requirement,), pythons=pythons or (here,), pip_flags=flags
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A package that pip can install without any index."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    (folder / "backend.py").write_text(
        "import zipfile\n"
        "def build_wheel(folder, *_):\n"
        "    name = 'fakeframework-1.0-py3-none-any.whl'\n"
        "    with zipfile.ZipFile(f'{folder}/{name}', 'w') as wheel:\n"
        "        wheel.writestr('fakeframework.py', '')\n"
        "        info = 'fakeframework-1.0.dist-info'\n"
        "        wheel.writestr(f'{info}/METADATA', 'Metadata-Version: 2.1\\n'\n"
        "            'Name: fakeframework\\nVersion: 1.0\\n')\n"
        "        wheel.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\n'\n"
        "            'Root-Is-Purelib: true\\nTag: py3-none-any\\n')\n"
        "        wheel.writestr(f'{info}/RECORD', '')\n"
        "    return name\n"
    )
    return folder


@pytest.mark.slow
def test_a_judge_is_made_once(project: Path, tmp_path: Path) -> None:
    judge = replace(installable(str(project), "--no-index"), proof="import fakeframework")
    root = tmp_path / "judges"
    python = judges.judge_python("fake", judge, root)
    subprocess.run([python, "-c", "import fakeframework"], check=True)
    made = sorted(path.name for path in root.iterdir())
    assert judges.judge_python("fake", judge, root) == python
    assert sorted(path.name for path in root.iterdir()) == made
    Path(python).resolve(strict=True)
    other = replace(judge, pip_flags=("--no-index", "--quiet"))
    assert judges.judge_python("fake", other, root) != python


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        pytest.param(
            installable("no-such-framework==0", "--no-index"),
            "the installation failed",
            marks=pytest.mark.slow,
        ),
        (installable("x", pythons=("9.9",)), "no working Python 9.9"),
    ],
)
def test_half_an_environment_is_none(judge: Judge, said: str, tmp_path: Path) -> None:
    root = tmp_path / "judges"
    with pytest.raises(JudgeMissing, match=said):
        judges.judge_python("fake", judge, root)
    assert [path.name for path in root.iterdir()] == [".fake.lock"]


@pytest.mark.slow
def test_installed_but_broken(project: Path, tmp_path: Path) -> None:
    judge = replace(installable(str(project), "--no-index"), proof="import not_in_it")
    with pytest.raises(JudgeMissing, match="does not work"):
        judges.judge_python("fake", judge, tmp_path / "judges")
    assert [path.name for path in (tmp_path / "judges").iterdir()] == [".fake.lock"]


def test_installers_get_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "DB_PASSWORD"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example")
    given = judges._environment()
    assert "secret" not in given.values()
    assert given["PIP_INDEX_URL"] == "https://index.example"


# --- records and the card ----------------------------------------------------------------------


def test_record_is_the_same_every_time(ask: Ask, repo: Path) -> None:
    ask(GOOD)
    record, card = (repo / CHECKS).read_bytes(), (repo / "README.md").read_bytes()
    os.utime(repo / "tasks" / "hello" / "task.toml")
    ask(GOOD)
    assert (repo / CHECKS).read_bytes() == record
    assert (repo / "README.md").read_bytes() == card
    assert str(repo).encode() not in record
    assert parse_checks(record)["nemo"].total == 1
    assert checks_text(parse_checks(record)) == record


def test_card(ask: Ask, repo: Path) -> None:
    before = (repo / "README.md").read_bytes()
    ask(GOOD)
    card = (repo / "README.md").read_bytes()
    assert b"| NeMo Gym | `fake 1.0` | 3 | 1 of 1 | loads |" in card
    assert card.partition(PROOF)[0] == before.partition(PROOF)[0]
    assert card.partition(PROOF_END)[2] == before.partition(PROOF_END)[2]
    assert b"the rewards come from" not in card
    ask('{"tasks": [["hello", "no"]], "graders": ["servers/a", "b | c"]}')
    card = (repo / "README.md").read_bytes()
    assert b"0 of 1 | **does not load**" in card
    assert b"In NeMo Gym the rewards come from `servers/a`, `b \\| c`." in card


def test_a_record_of_other_files_is_not_shown(ask: Ask, repo: Path) -> None:
    ask(GOOD)
    records = parse_checks((repo / CHECKS).read_bytes())
    old = records["nemo"].model_copy(update={"digest": "sha256:0"})
    (repo / CHECKS).write_bytes(checks_text({"harbor": old}))
    ask(GOOD)
    assert set(parse_checks((repo / CHECKS).read_bytes())) == {"harbor", "nemo"}
    assert b"| Harbor |" not in (repo / "README.md").read_bytes()


@pytest.mark.parametrize("card", [b"# Mine\n", PROOF, PROOF_END + PROOF, PROOF + PROOF_END + PROOF])
def test_a_card_that_is_not_ours_is_left_alone(ask: Ask, repo: Path, card: bytes) -> None:
    (repo / "README.md").write_bytes(card)
    assert ask(GOOD).card is False
    assert (repo / "README.md").read_bytes() == card
    assert (repo / CHECKS).exists()
    assert with_proof(card, "x") is None


def test_damaged_and_newer_records(ask: Ask, repo: Path) -> None:
    (repo / CHECKS).write_bytes(b'{"schema": 2, "whatever": 1}')
    with pytest.raises(NewerSchema):
        ask(GOOD)
    (repo / CHECKS).write_bytes(b'{"schema": 1, "checks": {"nemo": {}}}')
    with pytest.raises(Malformed):
        ask(GOOD)


def test_records_are_written_through_no_link(ask: Ask, repo: Path, tmp_path: Path) -> None:
    (repo / ".rlconvert").rename(tmp_path / "elsewhere")
    (repo / ".rlconvert").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafePath):
        ask(GOOD)
    assert not (tmp_path / "elsewhere" / "checks.json").exists()


# --- the repo as published ---------------------------------------------------------------------


def test_digest_is_of_the_layout_alone(repo: Path) -> None:
    before = layout_digest(FolderSource(str(repo)))
    (repo / "README.md").write_text("other")
    (repo / ".rlconvert" / "more").write_text("other")
    (repo / ".git").write_text("gitdir: elsewhere")
    (repo / "tasks" / "hello" / "task.toml").chmod(0o755)
    assert layout_digest(FolderSource(str(repo))) == before
    (repo / "tasks" / "hello" / "README.md").write_text("it is the task's")
    assert layout_digest(FolderSource(str(repo))) != before


def test_digest_is_that_of_the_copy_on_the_hub(repo: Path) -> None:
    before = layout_digest(FolderSource(str(repo)))
    (repo / ".gitattributes").write_bytes(b"# text\n\n*.gz filter=lfs diff=lfs merge=lfs -text\n")
    assert layout_digest(FolderSource(str(repo))) == before
    for rule in (b"*.sh text eol=crlf", b"*.gz filter=lfs text", b"*.gz -text"):
        (repo / ".gitattributes").write_bytes(b"*.gz filter=lfs -text\n" + rule)
        assert layout_digest(FolderSource(str(repo))) != before
    (repo / ".gitattributes").unlink()
    (repo / "tasks" / "hello" / ".gitattributes").write_bytes(b"*.gz filter=lfs -text\n")
    assert layout_digest(FolderSource(str(repo))) != before


def test_digest_follows_links_as_the_hub_gets_them(repo: Path) -> None:
    task = repo / "tasks" / "hello"
    (task / "also.toml").symlink_to("task.toml")
    (task / "more").symlink_to("tests")
    (task / "later").symlink_to("nothing")
    before = layout_digest(FolderSource(str(repo)))
    for name in ("also.toml", "more"):
        (task / name).unlink()
    shutil.copy(task / "task.toml", task / "also.toml")
    shutil.copytree(task / "tests", task / "more")
    assert layout_digest(FolderSource(str(repo))) == before
    (task / "later").unlink()
    assert layout_digest(FolderSource(str(repo))) != before


def odd_files(root: Path) -> Iterator[str]:
    for name in ('"quoted"', "back\\slash", "new\nline", "é", ".gitignore", ".gitattributes"):
        (root / name).write_bytes(b"* text eol=crlf\n*.txt\n")
        yield name
    (root / "run.sh").write_bytes(b"#!/bin/sh\r\n")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("run.sh")
    yield from ("run.sh", "link")


def test_git_holds_the_very_bytes(tmp_path: Path) -> None:
    root = tmp_path / "odd"
    root.mkdir()
    names = set(odd_files(root))
    source = FolderSource(str(root))
    assert {each.path for each in members(source)} == names
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    make_bare(source, str(tmp_path / "bare"), environment)
    git = ["git", "-C", str(tmp_path / "bare")]
    listed = subprocess.run(
        [*git, "ls-tree", "-r", "-z", "main"], capture_output=True, check=True, env=environment
    ).stdout
    modes = {line.split(b"\t")[1].decode(): line[:6] for line in listed.rstrip(b"\0").split(b"\0")}
    assert set(modes) == names
    assert (modes["run.sh"], modes["link"], modes["é"]) == (b"100755", b"120000", b"100644")
    for name in names - {"link"}:
        shown = subprocess.run(
            [*git, "cat-file", "blob", f"main:{name}"],
            capture_output=True,
            check=True,
            env=environment,
        ).stdout
        assert shown == (root / name).read_bytes()


def test_no_git(tmp_path: Path) -> None:
    with pytest.raises(CheckFailed, match="cannot be put into git"):
        make_bare(FolderSource(str(HELLO)), str(tmp_path / "bare"), {"PATH": "/nowhere"})


def test_verdicts_name_no_place_of_this_machine(ask: Ask, repo: Path) -> None:
    prefix = Path(sys.executable).resolve().parents[1]
    home = Path.home()
    text = f"{repo}/tasks, {prefix}/lib/x.py, {home}/.cache, /logs/verifier/reward.txt 0x7f00aa00bb"
    said = json.dumps({"tasks": [["hello", text]], "faults": [text]})
    verdict = red(ask(said))
    cleaned = "OUT/tasks, PYTHON/lib/x.py, HOME/.cache, /logs/verifier/reward.txt 0x..."
    assert verdict.faults == (cleaned,)
    assert verdict.failures[0].reason == cleaned


def test_claims(tmp_path: Path) -> None:
    """What is missing is red, what was refused is red, what was added is a warning."""
    out = tmp_path / "out"
    chosen = Selection(include=("canary", "no-solution", "rewards-without-reward"))
    features = ROOT / "fixtures" / "harbor" / "features"
    settings = Settings(jobs=1, selection=chosen)
    convert_folder(features, out, "harbor", "openenv", settings=settings)
    found = ("canary", "rewards-without-reward", "new")
    said = Verdict(tasks=tuple(TaskVerdict(name, place=f"tasks/{name}") for name in found))
    openenv = with_claims(said, FolderSource(str(out)), "openenv")
    assert [each.task for each in openenv.failures] == ["rewards-without-reward", "no-solution"]
    assert openenv.warnings == ("tasks that the record of the conversion does not list: 1",)
    harbor = with_claims(said, FolderSource(str(out)), "harbor")
    assert [each.task for each in harbor.failures] == ["no-solution"]
    shutil.rmtree(out / ".rlconvert")
    assert with_claims(said, FolderSource(str(out)), "openenv") is said
