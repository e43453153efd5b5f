"""What the output of a verifier tells of the machine it ran on.

A reward of 0 for want of a tool looks like a wrong answer. These are signs, not proofs: they are
asked only where a reward is not what it should be.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Symptom:
    """A sign that the machine failed, not the work. `line` is where it shows."""

    reason: str
    problem: str
    line: str


_SIGNS = (
    (
        "windows-line-ends",
        "its script has Windows line ends",
        (
            r"\$'\\r': command not found"
            r"|\^M: bad interpreter"
            r"|\\r: command not found"
            r"|/env: .*\\r.*No such file"
        ),
    ),
    (
        "no-network",
        "it needs a network that is not there",
        (
            r"[Cc]ould not resolve"
            r"|[Tt]emporary failure in name resolution"
            r"|[Nn]ame or service not known"
            r"|[Nn]etwork is unreachable"
            r"|[Nn]o route to host"
        ),
    ),
    (
        "cannot-start",
        "its script could not be started: no such interpreter, or Windows line ends",
        r"bad interpreter|cannot execute: required file not found|[Ee]xec format error",
    ),
    (
        "command-not-found",
        "it calls a program that is not there",
        r"(?:command |: )not found$|No module named (?:pytest|uv)\b",
    ),
    (
        "no-test-ran",
        "its test runner found no test, or could not be started",
        (
            r"no tests ran"
            r"|^collected 0 items"
            r"|^ERROR: file or directory not found"
            r"|^ERROR: usage:"
            r"|unrecognized arguments:"
        ),
    ),
    (
        "out-of-resources",
        "the machine had too little memory or room",
        r"[Nn]o space left on device|[Cc]annot allocate memory|^Killed$|MemoryError",
    ),
)
_COMPILED = tuple(
    (reason, problem, re.compile(sign, re.MULTILINE)) for reason, problem, sign in _SIGNS
)


def symptom_in(log: str) -> Symptom | None:
    """The first sign, in the order of this table, or None."""
    for reason, problem, sign in _COMPILED:
        if found := sign.search(log):
            start = log.rfind("\n", 0, found.start()) + 1
            end = log.find("\n", found.end() - 1)
            line = log[start : end if end >= 0 else len(log)]
            return Symptom(reason, problem, line.strip()[:200])
    return None
