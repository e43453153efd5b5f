"""Score one submission by one rule. Runs alone, beside a `score.py`, on any Python from 3.9 on.

    python3 grade.py RULE.json SUBMISSION OUT_DIR

RULE.json says `scorer` (its name and version, for the record), `params` and `submission`:
`final message` (SUBMISSION is its text) or `tool calls` (SUBMISSION is a JSON list of objects with
`name` and `arguments`). No SUBMISSION is an empty one, and so is one that cannot be read: a link on
the way to it, anything but a regular file, more than 10 MiB, calls that are none.

`score.py` is run in a process of its own, with limits. OUT_DIR/outcome.json gets all it said, and
OUT_DIR/reward.json `{"reward": x}` exactly when there is a reward. Exit status: 0 graded or not
extractable, 3 the task itself cannot be graded, 4 an error of the infrastructure: no reward.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import signal
import stat
import subprocess
import sys
from typing import Any

MOST_BYTES = 10 * 1024 * 1024
SECONDS = 60
MEMORY = 1024**3
DEPTH = 10_000
MOST_ANSWERED = 1024 * 1024
GRADED, NOT_EXTRACTABLE, INVALID = "graded", "not extractable", "invalid task"
INFRASTRUCTURE = "infrastructure error"
STATUS = {GRADED: 0, NOT_EXTRACTABLE: 0, INVALID: 3, INFRASTRUCTURE: 4}
HERE = os.path.dirname(os.path.abspath(__file__))


def read_hostile(path: str) -> tuple[bytes, str]:
    """What a regular file holds, and why it is not read if it is not."""
    nofollow = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    parts = [part for part in os.path.abspath(path).split(os.sep) if part]
    here = os.open(os.sep, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for number, part in enumerate(parts, 1):
            folder = os.O_DIRECTORY if number < len(parts) else 0
            there = os.open(part, nofollow | folder, dir_fd=here)
            os.close(here)
            here = there
        found = os.fstat(here)
        if not stat.S_ISREG(found.st_mode):
            return b"", "the submission is not a regular file"
        if found.st_size > MOST_BYTES:
            return b"", "the submission has more than %d bytes" % MOST_BYTES
        chunks, left = [], MOST_BYTES
        while left and (chunk := os.read(here, left)):
            chunks.append(chunk)
            left -= len(chunk)
        return b"".join(chunks), ""
    except FileNotFoundError:
        return b"", "no submission"
    except OSError as error:
        return b"", "the submission cannot be read: %s" % error.strerror
    finally:
        os.close(here)


def calls_in(text: str) -> tuple[list[dict[str, str]], str]:
    """The tool calls that a text lists; arguments that are no string become one."""
    calls = []
    try:
        for call in json.loads(text):
            name, arguments = call["name"], call["arguments"]
            if not isinstance(name, str):
                raise TypeError(name)
            if not isinstance(arguments, str):
                arguments = json.dumps(arguments, ensure_ascii=False)
            calls.append({"name": name, "arguments": arguments})
    except (ValueError, TypeError, KeyError, RecursionError):
        return [], "the submission is not a JSON list of objects with name and arguments"
    return calls, ""


def submitted(path: str, kind: str) -> tuple[dict[str, Any], str]:
    """The submission as `score` takes it, and what was wrong with the file."""
    data, wrong = read_hostile(path)
    text = data.decode("utf-8", "replace")
    if kind == "final message":
        return {"text": text, "calls": []}, wrong
    if kind != "tool calls":
        raise ValueError("no such kind of submission: %r" % kind)
    calls, no_calls = ([], "") if wrong else calls_in(text)
    return {"text": "", "calls": calls}, wrong or no_calls


def score_alone(params: Any, submission: dict[str, Any]) -> dict[str, Any]:
    """What `score` returns in a process of its own; how that ended, if it did not return."""
    job = json.dumps({"params": params, "submission": submission}).encode("ascii")
    child = subprocess.Popen(
        [sys.executable, "-I", os.path.abspath(__file__), "--score"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        answer, complaint = child.communicate(job, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return failed("the scorer took more than %d seconds" % SECONDS)
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
    if child.returncode:
        last = complaint.decode("utf-8", "replace").strip().splitlines()[-1:]
        return failed("the scorer ended with status %d %s" % (child.returncode, " ".join(last)))
    return checked(answer)


def checked(answer: bytes) -> dict[str, Any]:
    """An answer that keeps the contract of `score`, or the error that it is none."""
    try:
        said = dict(json.loads(answer)) if len(answer) <= MOST_ANSWERED else {}
        outcome, reward = said["outcome"], said["reward"]
        if reward is None:
            sound = outcome in (NOT_EXTRACTABLE, INVALID)
        else:
            sound = outcome in (GRADED, NOT_EXTRACTABLE) and math.isfinite(float(reward))
    except (ValueError, TypeError, KeyError, RecursionError):
        sound = False
    return said if sound else failed("the scorer did not answer as agreed")


def failed(why: str) -> dict[str, Any]:
    """No verdict on the submission."""
    return {"outcome": INFRASTRUCTURE, "reward": None, "parts": {}, "detail": why[:500]}


def serve() -> None:
    """The process of its own: a job on standard input, the answer on standard output."""
    import resource

    for what, most in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (limit, limit))
    sys.setrecursionlimit(DEPTH)
    spec = importlib.util.spec_from_file_location("score", os.path.join(HERE, "score.py"))
    if spec is None or spec.loader is None:
        raise ImportError("score.py")
    scorer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scorer)
    job = json.load(sys.stdin)
    answer = scorer.score(job["params"], job["submission"])
    sys.stdout.write(json.dumps(answer))


def write(folder: str, name: str, content: dict[str, Any]) -> None:
    """Write a file whole; a link that lies there is replaced, not followed."""
    path = os.path.join(folder, name)
    part = path + ".part"
    remove(part)
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "w") as file:
        json.dump(content, file)
    os.replace(part, path)


def remove(path: str) -> None:
    """Remove a file or a link, if it is there."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def main(rule_file: str, submission_file: str, out: str) -> int:
    """Grade, write what came of it, and say so by the exit status."""
    os.makedirs(out, exist_ok=True)
    remove(os.path.join(out, "reward.json"))
    scorer, wrong = None, ""
    try:
        with open(rule_file, encoding="utf-8") as file:
            rule = json.load(file)
        scorer, params, kind = rule["scorer"], rule["params"], rule["submission"]
        submission, wrong = submitted(submission_file, kind)
        said = score_alone(params, submission)
    except (OSError, ValueError, TypeError, KeyError, RecursionError, MemoryError) as error:
        said = failed("%s: %s" % (type(error).__name__, error))
    if wrong:
        said["detail"] = "; ".join(part for part in (wrong, said.get("detail")) if part)
    write(out, "outcome.json", {"scorer": scorer, **said})
    if said["reward"] is not None:
        write(out, "reward.json", {"reward": said["reward"]})
    return STATUS[said["outcome"]]


if __name__ == "__main__":
    if sys.argv[1:] == ["--score"]:
        serve()
    else:
        sys.exit(main(*sys.argv[1:]))
