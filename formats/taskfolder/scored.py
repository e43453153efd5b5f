"""A task whose answer a scorer grades, as one that runs in a container: the answer is a file.

    instruction.md           the prompt, and where the answer goes
    environment/Dockerfile   the base image, what the scorer needs; the prompt's media
    tests/test.sh            runs the grader: one of two fixed texts
    tests/grade.py, score.py the grader and the scorer, as they stand in `formats/scorers/`
    tests/rule.json          scorer, parameters, what is submitted
    tests/row.json           the row that the task was, as it was
    solution/                the answer that earns all, where the scorer knows one; or how to ask it

Nothing of the data enters a shell script, a program or a Dockerfile: it stands in JSON and text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from rlconvert.data import Data
from rlconvert.errors import RlconvertError
from rlconvert.files import Blob, Entry, File, FileTree
from rlconvert.format import Refusal
from rlconvert.formats.scorers import Scorer, scorer
from rlconvert.model import Agent, Oracle, Step, Task, Verifier, differing_fields
from rlconvert.prompt import Messages
from rlconvert.reward import Scored, Submission
from rlconvert.runtime import Build, Function, Image, Resources, Runtime

from .documents import Value, format_json, parse_json
from .fates import REFUSALS
from .problems import CannotEncode, DocumentRefused
from .scored_answers import answer_of, trouble_of
from .scored_prompt import FOLDER, SHOWN, CannotSay, instruction_from_prompt

BASE_IMAGE = "python:3.13-slim"
RULE, ROW = "rule.json", "row.json"
_PINS = "requirements.txt"
KEYS = ("reward",)
"""What the grader writes."""

_HOME = "/app"
_ANSWERS: Mapping[Submission, str] = {
    Submission.FINAL_MESSAGE: "answer.txt",
    Submission.TOOL_CALLS: "tool_calls.json",
}
_AGENT_SECONDS, _VERIFIER_SECONDS, _BUILD_SECONDS = 3600.0, 120.0, 600.0
_MACHINE = Resources(cpus=1, memory=2 << 30, storage=10 << 30)
"""The source states no limits, and a container needs some. The grader's own are less."""

_SECTIONS = {
    Submission.FINAL_MESSAGE: """\


---

# Where the answer goes

Write the final answer, as the whole text of the last message, to the file `/app/answer.txt`
(UTF-8). Only that file is graded.
""",
    Submission.TOOL_CALLS: """\


---

# Where the answer goes

Write the function calls of the answer to the file `/app/tool_calls.json`: a JSON list of objects,
each with the `name` of the function and its `arguments`, in the order of the calls. An answer that
calls nothing is an empty list. Nothing is called. Only that file is graded.
""",
}
_TEST = """\
#!/bin/bash
# Grades {answer} by rule.json, and writes the reward where there is one.
mkdir -p /logs/verifier
exec python3 -I /tests/grade.py /tests/rule.json /app/{answer} /logs/verifier
"""
_FIND = """\
#!/bin/bash
exec python3 -I /solution/gold.py /solution/rule.json /app/{answer}
"""
_SOLVE = """\
#!/bin/bash
exec cp /solution/{answer} /app/{answer}
"""


def in_container(task: Task, base_image: str | None) -> Task | Refusal:
    """The task as a container can run it: its answer in a file, graded by the same scorer.

    A task that no scorer grades, or whose answer is a file already, is given back as it is. What
    only its source's row says is kept in `tests/row.json`; without a row it stays in `extras`.
    """
    rule = task.reward
    if not isinstance(rule, Scored) or rule.submission is Submission.FILE:
        return task
    if rule.submission not in _ANSWERS or _beyond(task):
        return _refuse("no-reward-script", "reward", f": {_beyond(task) or rule.submission}")
    functions = [tool for tool in task.runtime.tools or () if isinstance(tool, Function)]
    try:
        known = scorer(rule.scorer)
        text, media = instruction_from_prompt(task.steps[0].prompt, functions)
        rows, tests = _row(task), _tests(known, rule)
    except CannotSay as error:
        return _refuse(error.reason, "steps.prompt", f": {error.detail}" if error.detail else "")
    except CannotEncode as error:
        return _refuse("no-reward-script", "reward", f": its rule is not JSON: {error}")
    except RlconvertError as error:
        return _refuse("no-reward-script", "reward", f": {error}")
    if not known.requirements and (trouble := trouble_of(known, rule)):
        return _refuse("not-gradable", "reward", f": {trouble}")
    name = _ANSWERS[rule.submission]
    return Task(
        id=task.id,
        steps=(Step(name="", prompt=Messages.user(text + _SECTIONS[rule.submission])),),
        runtime=Runtime(
            place=Build(_context(known, media, base_image or BASE_IMAGE)),
            resources=_MACHINE,
            build_timeout=_BUILD_SECONDS,
        ),
        tests=tests.union(rows),
        oracle=_oracle(known, rule, name, tests.entries[RULE]),
        agent=Agent(timeout=_AGENT_SECONDS),
        verifier=Verifier(timeout=_VERIFIER_SECONDS),
        reward=replace(rule, submission=Submission.FILE, path=f"{_HOME}/{name}"),
        extras={} if rows else task.extras,
        native=task.native,
    )


def _beyond(task: Task) -> str | None:
    """The first field of a task that is more than a prompt, functions and a rule; None: it is not.

    Then it lives somewhere already, and nobody has said how an answer gets out of there.
    """
    step = task.steps[0]
    bare = Task(
        id=task.id,
        steps=(Step(name="", prompt=step.prompt),),
        runtime=Runtime(tools=task.runtime.tools),
        reward=task.reward,
        extras=task.extras,
    )
    more = sorted(differing_fields(task, bare))
    return more[0] if more else None


def _context(known: Scorer, media: FileTree, base_image: str) -> FileTree:
    lines, files = [f"FROM {base_image}", f"WORKDIR {_HOME}"], {}
    if known.requirements:
        # What a distribution has installed cannot be replaced, but stood before.
        options = "--no-cache-dir --ignore-installed" + " --no-deps" * known.no_deps
        lines += [f"COPY {_PINS} /opt/", f"RUN python3 -m pip install {options} -r /opt/{_PINS}"]
        files[_PINS] = _text("".join(f"{each}\n" for each in known.requirements))
    if media:
        lines.append(f"COPY {FOLDER}/ {SHOWN}/")
    files["Dockerfile"] = _text("\n".join(lines) + "\n")
    return FileTree(files).union(media.moved(FOLDER))


def _tests(known: Scorer, rule: Scored) -> FileTree:
    said: dict[str, Value] = {
        "scorer": rule.scorer,
        "params": cast("Value", rule.params),
        "submission": rule.submission.value,
    }
    return FileTree({**_programs(known, rule.submission), RULE: File(Blob(format_json(said)))})


def _programs(known: Scorer, submission: Submission) -> dict[str, Entry]:
    """What is the same for every task of a scorer."""
    script = _TEST.format(answer=_ANSWERS[submission])
    return {
        "test.sh": _text(script, executable=True),
        "grade.py": File(Blob(known.grade)),
        "score.py": File(Blob(known.source)),
    }


def _row(task: Task) -> FileTree:
    """The one row that the task is in its source."""
    rows = [row for native in task.native.values() for row in native.rows]
    return FileTree({ROW: File(Blob(rows[0].line))}) if len(rows) == 1 else FileTree()


def _oracle(known: Scorer, rule: Scored, name: str, said: Entry) -> Oracle | None:
    """The answer, as a file. A scorer that needs more than Python is asked in the container.

    What it needs may be here or not, and the same task is to be the same folder everywhere.
    """
    if known.requirements:
        files = {
            "solve.sh": _text(_FIND.format(answer=name), executable=True),
            "gold.py": File(Blob(known.finder)),
            "score.py": File(Blob(known.source)),
            RULE: said,
        }
        return Oracle(files=FileTree(files))
    answer = answer_of(known, rule)
    if answer is None:
        return None
    script = _text(_SOLVE.format(answer=name), executable=True)
    return Oracle(files=FileTree({"solve.sh": script, name: File(Blob(answer))}))


def _text(text: str, *, executable: bool = False) -> Entry:
    return File(Blob(text.encode()), executable)


def _refuse(reason: str, field: str, more: str) -> Refusal:
    return Refusal(reason=reason, problem=REFUSALS[reason] + more, field=field)


# --- back ----------------------------------------------------------------------------------------


def rule_of(tests: FileTree) -> Scored | None:
    """The rule by which these tests grade; None unless all of them is what is written here.

    Its programs must be those of the scorer's very version, byte for byte, and nothing may stand
    beside them but the rule and the row.
    """
    script = tests.file("test.sh")
    known = {_TEST.format(answer=name).encode(): kind for kind, name in _ANSWERS.items()}
    submission = None if script is None else known.get(script.blob.read())
    file = tests.file(RULE)
    if submission is None or file is None:
        return None
    try:
        rule = _rule(parse_json(file.blob.read()), submission)
        programs = {} if rule is None else _programs(scorer(rule.scorer), submission)
    except (DocumentRefused, RlconvertError):
        return None
    blobs = {path: entry.blob for path, entry in tests if isinstance(entry, File)}
    ours = {path: entry.blob for path, entry in programs.items() if isinstance(entry, File)}
    extra = tests.entries.keys() - ours.keys() - {RULE, ROW}
    same = all(blobs.get(path) == blob for path, blob in ours.items())
    return rule if ours and same and not extra and not tests.empty_folders else None


def _rule(said: Value, submission: Submission) -> Scored | None:
    match said:
        case {"scorer": str(name), "params": dict(params), "submission": str(word), **more} if (
            word == submission.value and not more
        ):
            return Scored(
                scorer=name,
                params=cast("Mapping[str, Data]", params),
                submission=Submission.FILE,
                path=f"{_HOME}/{_ANSWERS[submission]}",
            )
    return None


def base_image_of(task: Task) -> str:
    """The image that the container of a task of ours is made from."""
    place = task.runtime.place
    file = place.context.file("Dockerfile") if isinstance(place, Build | Image) else None
    first = b"" if file is None else file.blob.read().partition(b"\n")[0]
    return first.decode("utf-8", "replace").removeprefix("FROM ")
