"""What is weak about a verifier, told by reading; and that it is true when the script is run."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from rlconvert.errors import RlconvertError
from rlconvert.files import Blob, File, FileTree, make_tree
from rlconvert.format import get_format
from rlconvert.formats.taskfolder.folder import task_from_folder
from rlconvert.formats.taskfolder.soundness import REASONS, weaknesses
from rlconvert.model import Task
from rlconvert.source import FolderSource

FIXTURES = Path(__file__).parents[2] / "fixtures"
SOUND = "if check; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"


def scripts() -> dict[str, tuple[str, str]]:
    """The sections of the text file: a name, what is expected, a script."""
    text = Path(__file__).with_name("verifier_scripts.txt").read_text(encoding="utf-8")
    found: dict[str, tuple[str, str]] = {}
    for section in text.split("\n### ")[1:]:
        head, _, script = section.partition("\n")
        name, _, expected = head.rpartition(": ")
        assert name not in found
        found[name] = expected, script
    return found


SCRIPTS = scripts()


def reason_of(expected: str) -> str:
    return expected.partition(" at ")[0]


def tree(files: Mapping[str, str | bytes]) -> FileTree:
    entries = {}
    for path, text in files.items():
        entries[path] = File(Blob(text if isinstance(text, bytes) else text.encode()))
    return make_tree(entries)


def task(files: Mapping[str, str | bytes], config: str = "") -> Task:
    """A task of these files, with what every task has."""
    given: dict[str, str | bytes] = {
        "instruction.md": "do it\n",
        "task.toml": config,
        "tests/test.sh": f"#!/bin/bash\n{SOUND}",
    }
    if "docker_image" not in config:
        given["environment/Dockerfile"] = "FROM base\n"
    return task_from_folder("it", "it", tree(given | dict(files)))


def graded_by(script: str | bytes, **more: str) -> Task:
    """A task with this `test.sh`, and more files of its tests: `grade_py` is `grade.py`."""
    files = {f"tests/{name.replace('_', '.')}": text for name, text in more.items()}
    return task({"tests/test.sh": script} | files)


def told(of: Task) -> list[str]:
    return [each.reason for each in weaknesses(of)]


def placed(of: Task) -> list[tuple[str, str, str]]:
    return [(each.reason, each.field, each.place) for each in weaknesses(of)]


# --- scripts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCRIPTS)
def test_script(name: str) -> None:
    expected, script = SCRIPTS[name]
    found = []
    for each in weaknesses(graded_by(f"#!/bin/bash\n{script}")):
        at = f" at {int(each.where.removeprefix('line ')) - 1}" if each.where else ""
        found.append(each.reason + at)
    assert found == ([] if expected in ("sound", "silent") else [expected])


def test_every_reason_of_a_script_has_a_case() -> None:
    of_other_places = {"crlf", "needs-variable", "oracle-idle", "oracle-seen", "tests-seen"}
    covered = {reason_of(expected) for expected, _ in SCRIPTS.values()}
    assert covered - {"sound", "silent"} == REASONS.keys() - of_other_places


def rewards(script: str, folder: Path, *, passes: bool) -> list[str]:
    """What a script leaves in its reward files when its tests pass, or fail."""
    logs, tools = folder / "logs", folder / "bin"
    logs.mkdir(parents=True)
    tools.mkdir()
    for tool, says in (("check", ":"), ("pytest", "echo x")):
        text = f"#!/bin/sh\n{says}\nexit {int(not passes)}\n"
        (tools / tool).write_text(text, encoding="utf-8")
        (tools / tool).chmod(0o755)
    file = folder / "test.sh"
    moved = script.replace("/logs/verifier", str(logs)).replace("/scratch/", f"{folder}/")
    file.write_text(f"#!/bin/bash\n{moved}", encoding="utf-8")
    file.chmod(0o755)
    env = {"PATH": f"{tools}:{os.environ['PATH']}"}
    subprocess.run([file], env=env, cwd=folder, capture_output=True, timeout=20, check=False)
    files = [logs / "reward.txt", logs / "reward.json"]
    return [each.read_text(encoding="utf-8").strip() for each in files if each.exists()]


RUN = [
    name
    for name, (expected, _) in SCRIPTS.items()
    if reason_of(expected) not in ("silent", "never-writes", "needs-network")
]
FULL = re.compile(r'1(\.0)?|\{"\w+": 1(\.0)?(, "\w+": 1(\.0)?)*\}')


@pytest.mark.parametrize("name", RUN)
def test_what_is_told_is_what_happens(name: str, tmp_path: Path) -> None:
    expected, script = SCRIPTS[name]
    passing = rewards(script, tmp_path / "pass", passes=True)
    failing = rewards(script, tmp_path / "fail", passes=False)
    reason = reason_of(expected)
    if reason == "ends-early":
        assert passing == failing == []
        return
    (reward,) = passing
    if reason == "not-a-number":
        assert reward in ("full marks", "$REWARD", '{"reward": "1"}', "1")
    elif reason == "always-zero":
        assert [reward] == failing == ["0"]
    else:
        assert FULL.fullmatch(reward)
        match reason:
            case "sound":
                assert failing in (["0"], ['{"reward": 0}'])
            case "always-one" | "failure-masked":
                assert failing == [reward]
            case "no-zero" | "errexit":
                assert failing == []
            case _:
                pytest.fail(f"{reason} says nothing about a run")


def test_other_files_of_the_tests_may_write() -> None:
    """A program that the script calls may do what the script does not."""
    runs = "#!/bin/bash\npython3 /tests/grade.py\n"
    looks = "assert open('/app/out').read() == '1'\n"
    writes = f"{looks}open('/logs/verifier/reward.txt', 'w').write('1')\n"
    assert told(graded_by(runs, grade_py=looks)) == ["never-writes"]
    assert told(graded_by(runs, grade_py=writes)) == []
    one = "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n"
    assert told(graded_by(one, grade_py=looks)) == ["always-one"]
    assert told(graded_by(one, grade_py=writes)) == []
    files = {"tests/test.sh": runs, "tests/grade.py": looks}
    assert told(task(files, 'verifier.env.REWARD_FILE = "/x"')) == []
    assert told(task(files | {"environment/run.sh": writes})) == []


def test_a_step_has_its_own_script_and_shares_the_rest() -> None:
    config = '[[steps]]\nname = "a"\n[[steps]]\nname = "b"\n'
    files = {
        "tests/test.sh": "#!/bin/bash\necho 0 > /logs/verifier/reward.txt\n",
        "steps/a/tests/test.sh": "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n",
        "steps/a/instruction.md": "first\n",
        "steps/b/instruction.md": "then\n",
    }
    assert placed(task(files, config)) == [
        ("always-one", "steps.tests", "steps/a/tests/test.sh, line 2"),
        ("always-zero", "tests", "tests/test.sh, line 2"),
    ]
    shared = {"tests/lib.sh": "echo 0 > /logs/verifier/reward.txt\n"}
    assert told(task(files | shared, config)) == []


def test_options_of_the_first_line_count() -> None:
    body = "pytest /tests\necho 1 > /logs/verifier/reward.txt\n"
    assert told(graded_by(f"#!/bin/bash -e\n{body}")) == ["errexit"]
    assert told(graded_by(f"#!/usr/bin/env bash\n{body}")) == ["always-one"]
    assert told(graded_by(body)) == ["always-one"]  # the shell that Harbor starts it from runs it


def test_a_script_that_is_no_shell_script_is_left_alone() -> None:
    python = "#!/usr/bin/env python3\nexit\nopen('/logs/verifier/reward.txt', 'w').write('1')\n"
    assert told(graded_by(python)) == []


# --- line ends ---------------------------------------------------------------------------------

ENDS = {
    "first line": ("#!/bin/bash\r\ntouch x\n", 1),
    "first line of Python": ("#!/usr/bin/env python3\r\nprint(1)\n", 1),
    "all lines": ("#!/bin/bash\n" + SOUND.replace("\n", "\r\n"), 2),
    "no first line": (SOUND.replace("\n", "\r\n"), 1),
    "a comment alone": (f"#!/bin/bash\n# by hand\r\n\r\n{SOUND}", None),
    "inside of Python": ("#!/usr/bin/env python3\nprint(1)\r\n", None),
    "in what is written": (f"#!/bin/bash\ncat > x <<E\na\r\nE\n{SOUND}", None),
}


@pytest.mark.parametrize("name", ENDS)
def test_line_ends(name: str) -> None:
    script, line = ENDS[name]
    for file, field in (("tests/test.sh", "tests"), ("solution/solve.sh", "oracle")):
        found = [each for each in placed(task({file: script})) if each[0] == "crlf"]
        assert found == ([] if line is None else [("crlf", field, f"{file}, line {line}")])


# --- oracles and variables ---------------------------------------------------------------------

IDLE = {
    "speaks": ("echo done\n", True),
    "comments": ("#!/bin/bash\n# to be written\n", True),
    "writes": ("echo hello > /app/out\n", False),
    "calls": ("echo $(make -C /app)\n", False),
    "works": ("touch /app/out\n", False),
    "Python": ("#!/usr/bin/env python3\nprint(1)\n", False),
}


@pytest.mark.parametrize("name", IDLE)
def test_an_oracle_that_does_nothing(name: str) -> None:
    script, idle = IDLE[name]
    found = placed(task({"solution/solve.sh": script}))
    assert found == ([("oracle-idle", "oracle", "solution/solve.sh")] if idle else [])


def test_variables_of_the_host() -> None:
    config = """
[environment.env]
A = "${HOST_A}"
B = "${HOST_B:-none}"
C = "x${HOST_C}"
[verifier.env]
D = "${HOST_D}"
[solution.env]
E = "${HOST_E}"
F = "$HOST_F"
"""
    assert placed(task({}, config)) == [
        ("needs-variable", "runtime", "task.toml, environment.env.A"),
        ("needs-variable", "verifier", "task.toml, verifier.env.D"),
        ("needs-variable", "oracle", "task.toml, solution.env.E"),
    ]


# --- what the agent sees -----------------------------------------------------------------------

HIDDEN = "def test_it():\n    assert open('/app/out').read() == 'heron'\n"
ANSWER = "the answer is forty-two, and no other number\n"
DOCKERFILE, SAME = "environment/Dockerfile", {"environment/t/x.py": HIDDEN}
SEEN_TESTS = ["tests-seen: tests/test_it.py, as environment/t/x.py"]
SEEN: dict[str, tuple[str, dict[str, str], list[str]]] = {
    "copied whole": ("COPY . /app", SAME, SEEN_TESTS),
    "copied by name": ("add --chown=1 t/x.py /app/", SAME, SEEN_TESTS),
    "copied as a list": ('COPY ["./t", "/app"]', SAME, SEEN_TESTS),
    "copied by pattern": ("COPY t/*.py \\\n /app/", SAME, SEEN_TESTS),
    "the answer": (
        "COPY . /app",
        {"environment/notes.txt": ANSWER},
        ["oracle-seen: solution/answer.txt, as environment/notes.txt"],
    ),
    "not copied": ("COPY src /app", SAME, []),
    "a name that begins alike": ("COPY t /app", {"environment/t2/x.py": HIDDEN}, []),
    "in another stage": ("COPY . /x\nFROM base\nCOPY --from=0 /x/y /app", SAME, []),
    "removed": ("COPY . /app\nRUN rm -r /app/t", SAME, []),
    "ignored": ("COPY . /app", SAME | {"environment/.dockerignore": "t/\n"}, []),
    "an input that the tests have too": (
        "COPY . /app",
        {"environment/data.csv": HIDDEN, "tests/data.csv": HIDDEN, "tests/test_it.py": "x\n"},
        [],
    ),
    "short": ("COPY . /app", {"environment/x": "1\n", "tests/expected.txt": "1\n"}, []),
}


@pytest.mark.parametrize("name", SEEN)
def test_what_the_agent_sees(name: str) -> None:
    recipe, files, expected = SEEN[name]
    given = {"tests/test_it.py": HIDDEN, "solution/answer.txt": ANSWER}
    found = placed(task(given | {DOCKERFILE: f"FROM base\n{recipe}\n"} | files))
    assert [f"{reason}: {place}" for reason, _, place in found] == expected


def test_what_is_put_into_an_image_or_a_folder_is_seen() -> None:
    image = '[environment]\ndocker_image = "base"\n'
    files = {"tests/test_it.py": HIDDEN, "environment/x.py": HIDDEN}
    assert placed(task(files, image)) == [
        ("tests-seen", "tests", "tests/test_it.py, as environment/x.py")
    ]
    files = {
        "steps/a/instruction.md": "x\n",
        "steps/a/tests/test_it.py": HIDDEN,
        "steps/a/workdir/x.py": HIDDEN,
    }
    assert placed(task(files, '[[steps]]\nname = "a"\n')) == [
        ("tests-seen", "steps.tests", "steps/a/tests/test_it.py, as steps/a/workdir/x.py")
    ]


# --- fixtures, other formats, hostile files ----------------------------------------------------

BROKEN = {
    "always-one": ["always-one"],
    "crlf": ["crlf"],
    "garbled-reward": ["not-a-number"],
    "idle-oracle": ["oracle-idle"],
    "never-writes": ["never-writes"],
    "one-then-timeout": ["always-one"],
    "unreachable-host": ["needs-network"],
    "unset-variable": ["needs-variable"],
}
"""What is wrong with the others shows only when they are run."""


def of_fixtures(folder: str) -> dict[str, list[str]]:
    """The tasks of a folder of fixtures of which something is told."""
    reader = get_format("harbor").reader(FolderSource(str(FIXTURES / "verify" / folder)), {})
    every = {ref.id: told(reader.load(ref)) for ref in reader.refs()}
    assert len(every) > 10
    return {name: found for name, found in every.items() if found}


def test_what_is_broken_on_purpose_is_told_where_reading_tells() -> None:
    assert of_fixtures("broken") == BROKEN


def test_nothing_is_told_of_what_is_sound() -> None:
    """But that a task needs a variable, twice."""
    assert of_fixtures("sound") == {"env-templates": ["needs-variable", "needs-variable"]}


def test_rows_have_no_script() -> None:
    nemo = get_format("nemo")
    for folder in sorted((FIXTURES / "nemo").iterdir()):
        if folder.is_dir() and nemo.sniff(FolderSource(str(folder))):
            reader = nemo.reader(FolderSource(str(folder)), {})
            loaded = [reader.load(ref) for ref in reader.refs()]
            assert loaded
            assert [each for row in loaded for each in nemo.weaknesses(row)] == []


WRITE = "echo 1 > /logs/verifier/reward.txt\n"
DOUBLES = "".join(f"A{at}=$A{at + 1}$A{at + 1}\n" for at in range(5_000))
HOSTILE: dict[str, str | bytes] = {
    "long line": "echo " + "a " * 100_000,
    "many quotes": "'" * 200_001,
    "deep parentheses": "(" * 100_000,
    "deep substitutions": "$(" * 100_000,
    "deep quotes": '"$(' * 50_000,
    "deep braces": "{ " * 100_000,
    "many pipes": "a | tee b " * 20_000 + f"\n{WRITE}",
    "many conditions": "if a | tee b; then\n" * 5_000,
    "variables that double": f"{DOUBLES}echo $A0 > /logs/verifier/reward.txt\n",
    "a variable everywhere": f"A={'x' * 250}\necho {'$A' * 60_000} > /logs/verifier/reward.txt\n",
    "many statuses": "x=$?\n" * 20_000 + WRITE,
    "a long condition": "while x $?\n" + "x $? | tee\n" * 20_000 + f"do {WRITE}done\n",
    "many heredocs": "cat <<E\n" * 20_000,
    "heredocs on a line": "cat " + "<<E " * 20_000 + "\n" + "E\n" * 20_000,
    "installers": "pip install " + "- " * 100_000,
    "nested json": f"echo '{'[' * 90_000}' > /logs/verifier/reward.json\n",
    "large number": f"echo {'9' * 100_000} > /logs/verifier/reward.txt\n",
    "binary": bytes(range(256)) * 500,
    "UTF-16": f"#!/bin/bash\n{SOUND}".encode("utf-16"),
    "huge": "# x\n" * (1 << 20),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_scripts_end_quickly(name: str) -> None:
    made = task({"tests/test.sh": HOSTILE[name], "solution/solve.sh": HOSTILE[name]})
    before = time.process_time()
    weaknesses(made)
    assert time.process_time() - before < 5


def test_hostile_trees_end_quickly() -> None:
    tests = {f"tests/test_{at}.py": f"{at:040}" for at in range(3_000)}
    seen = {f"environment/{at}.py": f"{at:040}" for at in range(3_000)}
    copies = "".join(f"COPY x{at}* /app\n" for at in range(5_000))
    made = task(tests | seen | {DOCKERFILE: f"FROM base\n{copies}"})
    before = time.process_time()
    assert told(made) == []
    assert time.process_time() - before < 10


def test_a_file_that_cannot_be_read_is_an_error_of_its_task(tmp_path: Path) -> None:
    """Large files are read only now; what has become of one since is not passed over."""
    gone = Blob.of_file(str(tmp_path / "gone"), 20, 0, name="tests/test.sh")
    with pytest.raises(RlconvertError, match=r"tests/test\.sh"):
        weaknesses(replace(task({}), tests=make_tree({"test.sh": File(gone)})))
