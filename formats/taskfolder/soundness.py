"""What is weak about how a task folder is graded, as far as its files tell.

Nothing is run, and nothing is said where reading does not tell: each reason is meant to be true
wherever it is given. Facts: harbor 0.26.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from rlconvert.files import File, FileTree
from rlconvert.model import Step, Task
from rlconvert.reward import Scored, Script
from rlconvert.runtime import Build, Compose, Image
from rlconvert.soundness import Weakness

from .shell import MAX_SCRIPT, read_shell
from .shell_words import Unreadable
from .soundness_known import may_write, may_write_bytes
from .soundness_script import Found, idle, weak_places
from .soundness_seen import seen_by_agent

REASONS: Mapping[str, str] = MappingProxyType(
    {
        "never-writes": "nothing in its tests writes a reward",
        "always-one": "its verifier writes 1, whatever the agent did",
        "always-zero": "its verifier never writes a reward above 0",
        "not-a-number": "its verifier writes a reward that is no number",
        "no-zero": "its verifier writes 1 or nothing: a failure is an error, and no reward of 0",
        "ends-early": "its verifier ends before it comes to the reward",
        "errexit": "`set -e` ends its verifier when a test fails, before a reward is written",
        "failure-masked": "its verifier asks for the result of a command that hides a failure",
        "crlf": "its script has the line ends of Windows, and does not run",
        "needs-variable": "it takes a variable of the host that has no default",
        "needs-network": "its verifier needs the network when it grades",
        "oracle-idle": "its solution does nothing",
        "oracle-seen": "the agent can see a file of its solution",
        "tests-seen": "the agent can see a file of its tests",
    }
)
"""Every reason there is, and its sentence."""

_TEMPLATE = re.compile(r"\$\{([^}:]+)\}")
_SHELL = re.compile(rb"#![^\n]*\b(?:ba|da|k|z)?sh\b|(?!#!)")
_SOLVE = "solve.sh"
_MAX_READ = 1 << 20


def weaknesses(task: Task) -> tuple[Weakness, ...]:
    """Every weakness of a task whose verifier is a script; none of a task of another kind."""
    found = [
        *_of_verifiers(task),
        *_of_oracles(task),
        *_of_variables(task),
    ]
    if any(isinstance(step.reward or task.reward, Script | Scored) for step in task.steps):
        found += [
            _weakness(each.reason, each.field, each.file, f"as {each.seen}")
            for each in seen_by_agent(task)
        ]
    return tuple(dict.fromkeys(found))


def _weakness(reason: str, field: str, file: str = "", where: str = "") -> Weakness:
    return Weakness(reason=reason, problem=REASONS[reason], field=field, file=file, where=where)


# --- scripts -----------------------------------------------------------------------------------


def _of_verifiers(task: Task) -> Iterator[Weakness]:
    for step in task.steps:
        reward = step.reward or task.reward
        if isinstance(reward, Script) and reward.command.endswith(".sh"):
            yield from _of_verifier(task, step, reward.command)


def _of_verifier(task: Task, step: Step, script: str) -> Iterator[Weakness]:
    own = step.tests.follow(script)
    file = own or task.tests.follow(script)
    if file is None or file.blob.size > MAX_SCRIPT:
        return
    field = "steps.tests" if own else "tests"
    path = f"{_home(step)}tests/{script}" if own else f"tests/{script}"
    data = file.blob.read()
    if (line := _crlf(data)) is not None:
        yield _weakness("crlf", field, path, f"line {line}")
        return
    tests = task.tests.union(step.tests)
    others = tests.without(script)
    alone = not _speaks(others) and not any(map(may_write, _env_values(task, step)))
    for found in _in_script(data, alone):
        if found.reason == "never-writes" and _may_be_written_elsewhere(task, step, tests):
            continue
        where = "" if found.line is None else f"line {found.line}"
        yield _weakness(found.reason, field, path, where)


@lru_cache(maxsize=64)  # a set often has one script for all its tasks
def _in_script(data: bytes, alone: bool) -> tuple[Found, ...]:
    if not _SHELL.match(data):
        return ()
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        shell = read_shell(text)
    except (Unreadable, RecursionError):
        return ()
    shebang = text.partition("\n")[0] if text.startswith("#!") else ""
    return tuple(dict.fromkeys(weak_places(shell, shebang, alone=alone)))


def _crlf(data: bytes) -> int | None:
    """The line whose CR keeps a script from running; None when there is no such line.

    A shell takes the CR for a part of the last word; the kernel, for a part of the name of the
    interpreter. Comments and what a heredoc holds may have it.
    """
    if data.startswith(b"#!") and data.partition(b"\n")[0].endswith(b"\r"):
        return 1
    if b"\r\n" not in data or not _SHELL.match(data) or b"<<" in data:
        return None
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.endswith(b"\r") and line.strip() and not line.lstrip().startswith(b"#"):
            return number
    return None


def _speaks(tree: FileTree) -> bool:
    """Whether a file may write a reward, by what it speaks of; one too big to read may."""
    for _, entry in tree:
        if isinstance(entry, File):
            if entry.blob.size > _MAX_READ:
                return True
            if may_write_bytes(entry.blob.read()):
                return True
    return False


def _may_be_written_elsewhere(task: Task, step: Step, tests: FileTree) -> bool:
    """Whether a program that is no part of the tests may write the reward."""
    verifier = step.verifier.runtime or task.verifier.runtime
    bundled = {"Dockerfile", "docker-compose.yaml"} & {path for path, _ in tests}
    return verifier is not None or bool(bundled) or _speaks(_visible(task).union(step.seed))


def _visible(task: Task) -> FileTree:
    match task.runtime.place:
        case Build(context=context) | Compose(context=context) | Image(context=context):
            return context.union(task.seed)
        case _:
            return task.seed


def _env_values(task: Task, step: Step) -> Iterator[str]:
    for env in (task.runtime.env, task.verifier.env, step.verifier.env):
        for name, value in (env or {}).items():
            yield f"{name}={value}"


def _of_oracles(task: Task) -> Iterator[Weakness]:
    trees = [("oracle", "", FileTree() if task.oracle is None else task.oracle.files)]
    trees += [("steps.oracle", _home(step), step.oracle) for step in task.steps]
    for field, home, tree in trees:
        file = tree.follow(_SOLVE)
        if file is None or file.blob.size > MAX_SCRIPT:
            continue
        data, path = file.blob.read(), f"{home}solution/{_SOLVE}"
        if (line := _crlf(data)) is not None:
            yield _weakness("crlf", field, path, f"line {line}")
        elif _is_idle(data):
            yield _weakness("oracle-idle", field, path)


def _is_idle(data: bytes) -> bool:
    try:
        return bool(_SHELL.match(data)) and idle(read_shell(data.decode("utf-8", "replace")))
    except (Unreadable, RecursionError):
        return False


def _home(step: Step) -> str:
    return f"steps/{step.name}/" if step.name else ""


# --- variables ---------------------------------------------------------------------------------


def _of_variables(task: Task) -> Iterator[Weakness]:
    envs = [
        ("runtime", "environment.env", task.runtime.env),
        ("verifier", "verifier.env", task.verifier.env),
        ("oracle", "solution.env", None if task.oracle is None else task.oracle.env),
    ]
    if task.verifier.runtime is not None:
        envs.append(("verifier", "verifier.environment.env", task.verifier.runtime.env))
    for number, step in enumerate(task.steps):
        where = f"steps[{number}].verifier"
        envs.append(("steps.verifier", f"{where}.env", step.verifier.env))
        if step.verifier.runtime is not None:
            runtime = step.verifier.runtime
            envs.append(("steps.verifier", f"{where}.environment.env", runtime.env))
    for field, where, env in envs:
        for name, value in (env or {}).items():
            if _TEMPLATE.fullmatch(value):
                yield _weakness("needs-variable", field, "task.toml", f"{where}.{name}")
