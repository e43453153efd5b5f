"""Trials as runners write them down, and what the files of one of Harbor's trials say.

For the scripts that run tasks inside a framework's own Python: several frameworks let Harbor hold
the trial, and all of them write the same lines. What the lines hold is said in rlconvert's
`runner.py`. Written for harbor 0.24.0 to 0.26.0.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

TAIL = 4000

KINDS = {
    "RewardFileNotFoundError": "no-reward",
    "RewardFileEmptyError": "no-reward",
    "VerifierOutputParseError": "bad-reward",
    "VerifierTimeoutError": "verifier-timeout",
    "AgentTimeoutError": "agent-timeout",
    "EnvironmentStartTimeoutError": "environment",
    "SandboxBuildFailedError": "environment",
    "HealthcheckError": "environment",
    "AgentSetupTimeoutError": "environment",
    "AddTestsDirError": "environment",
    "DownloadVerifierDirError": "environment",
}
COMPOSE = re.compile(
    r"compose command failed .*?Return code: (\d+)\. Stdout: (.*)\. Stderr: (.*?)\.\s*$", re.DOTALL
)
FOLLOWS = re.compile(r"^Error: no container with .*no such container\n?", re.MULTILINE)
"""What podman-compose adds to whatever went wrong before: it starts all the same."""
UNSET = ("not found in host environment", "Missing Environment Variables")


def is_unset(words: str) -> bool:
    """Whether Harbor misses a variable of the host, before a job or in a trial."""
    return any(each in words for each in UNSET)


class Trials:
    """The file of trials."""

    def __init__(self, path: str) -> None:
        self.stream = open(path, "a", encoding="utf-8")  # noqa: SIM115, PTH123 - to the very end

    def add(self, line: Mapping[str, object]) -> None:
        """One line."""
        self.stream.write(json.dumps(line) + "\n")
        self.stream.flush()


def tail_of(path: Path) -> str:
    """The end of a file that a task may have written: no link is followed, nothing waited for."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            file.seek(max(0, os.fstat(descriptor).st_size - TAIL))
            return file.read(TAIL).decode("utf-8", "replace")
    return ""


def error_of(info: Mapping[str, Any], *, started: bool, reached: bool) -> dict[str, str]:
    """An exception in words that all frameworks share.

    `started`: the environment stood; `reached`: the verifier began.
    """
    name, message = str(info["exception_type"]), str(info["exception_message"])
    kind = KINDS.get(name)
    if kind is None and is_unset(message):
        kind = "unset-variable"
    if kind is None:
        kind = "environment" if not started else "crash" if reached else "agent-failed"
    return {"kind": kind, "message": f"{name}: {cause_in(message)}"[-TAIL:]}


def cause_in(message: str) -> str:
    """What an engine said, without the command line before it and what follows from the cause."""
    if (failed := COMPOSE.search(message)) is None:
        return message
    code, out, err = failed.groups()
    said = "\n".join(each for each in (out, err) if each and each != "None")
    return FOLLOWS.sub("", said).strip() or f"compose ended with status {code} and said nothing"


def crash_of(error: Exception) -> dict[str, object]:
    """A trial that could not be held, or read; the others go on."""
    return {"error": {"kind": "crash", "message": f"{type(error).__name__}: {error}"[-TAIL:]}}


def seconds_of(result: Mapping[str, Any]) -> float:
    """How long a trial took."""
    begin, end = result.get("started_at"), result.get("finished_at")
    if not begin or not end:
        return 0.0
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()


def rewards_of(holder: Mapping[str, Any] | None) -> dict[str, float] | None:
    """What a verifier wrote."""
    found = ((holder or {}).get("verifier_result") or {}).get("rewards")
    return {str(key): value for key, value in found.items()} if isinstance(found, dict) else None


def exit_of(logs: Sequence[Path]) -> int | None:
    """The status that the oracle's script ended with: the first that is not 0.

    Harbor grades all the same; this file alone tells.
    """
    said = [tail_of(each / "agent" / "exit-code.txt").strip() for each in logs]
    codes = [int(each) for each in said if each.isdecimal()]
    return next((code for code in codes if code), codes[0] if codes else None)


def facts_of(result: Mapping[str, Any], folder: Path) -> dict[str, object]:
    """What the `result.json` of a trial and the logs beside it say; not which number counts."""
    steps = result.get("step_results") or []
    logs = [folder / "steps" / step["step_name"] for step in steps] or [folder]
    infos = [each["exception_info"] for each in (result, *steps) if each.get("exception_info")]
    started = any(each.get("agent_execution") for each in (result, *steps))
    reached = any(each.get("verifier") for each in (result, *steps))
    log = "".join(tail_of(each / "verifier" / "test-stdout.txt") for each in logs)
    status = exit_of(logs)
    if status or (infos and not reached):
        log = "".join(tail_of(each / "agent" / "oracle.txt") for each in logs) + log
    return {
        "rewards": rewards_of(result),
        "steps": [{"name": each["step_name"], "rewards": rewards_of(each)} for each in steps],
        "error": error_of(infos[0], started=started, reached=reached) if infos else None,
        "agent_exit": status,
        "log": log[-TAIL:],
        "seconds": seconds_of(result),
    }
