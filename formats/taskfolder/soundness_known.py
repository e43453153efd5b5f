"""The commands that a verifier's script may have, as far as they are known by name.

What is not known here is taken for a command that may do anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .shell import Command

_NAMES = (
    *("with_suffix", "_REWARD", "REWARD_", "LOG_DIR", "LOGS_DIR", "LOG_PATH", "LOGS_PATH"),
    *("VERIFIER_DIR", "VERIFIER_PATH", "OUTPUT_DIR", "OUTPUT_PATH"),
)
_PATTERNS = (
    (
        "reward",
        re.compile(
            r"""reward(?:\.(?:txt|json)\b(?![.-]?\w)|\.?["']?\s*(?:\.\s*)?(?:\$|\{|%s|\*|\+))"""
        ),
    ),
    ("logs/verifier", re.compile(r"logs/verifier(?!/\w[\w-]*\.\w)")),
)
"""What the reward file is called, or may be called with; each pattern behind a word it has."""

LOOKS = frozenset((":", "[", "[[", "cat", "cd", "chmod", "grep", "head", "ls", "mkdir"))
LOOKS |= frozenset(("pushd", "stat", "tail", "test", "touch", "true", "wc", "chown"))
"""They leave a file as it is, but for where their output goes."""
SETS = frozenset(("read", "mapfile", "readarray", "let", "eval", "((", "getopts"))
"""They give variables a value that is not told."""
DECLARES = frozenset(("local", "declare", "typeset", "export", "readonly"))
SILENT = frozenset(("echo", "printf", "true", ":", "cat"))
"""Nobody wants to know whether they failed."""
MASKS = frozenset(("tee", "cat", "head", "tail", "sed", "tr", "ts"))
"""At the end of a pipe they succeed whatever came in."""
ALWAYS = frozenset(("echo", "printf", "true", ":"))
"""They succeed."""
IDLE = frozenset(
    ("echo", "printf", "true", ":", "exit", "set", "sleep", "cd", "pwd", "date", "ls", "whoami")
)
"""They change nothing."""

_RUNNERS = re.compile(
    r"(?:\S*/)?(?:"
    r"(?:pytest|py\.test|nosetests|unittest|ctest|tox|nox|jest|vitest|mocha|phpunit|rspec|bats)\b"
    r"|python[\d.]*\s(?:.*\s)?-m\s*(?:pytest|unittest)\b"
    r"|(?:uv|uvx|poetry|pipenv|pdm|hatch|npx|conda|coverage)\s.*\b(?:pytest|unittest|jest|vitest)\b"
    r"|(?:npm|pnpm|yarn|bun|deno|cargo|go|dotnet|mvn|gradle|gradlew|mix|swift|make)\s(?:.*\s)?test\b"
    r"|(?:python[\d.]*|bash|sh|node|ruby|perl|Rscript|uv\s+run)\s(?:-\S+\s)*/?(?:\S*/)?tests?/\S"
    r"|(?:cmp|diff)\s"
    r")|/tests/\S"
)
_NETWORK = re.compile(
    r"(?:curl|wget)\s.*https?://(?:[\w-]+\.)+(?!(?:local|localhost|internal|test)\b)[a-z]{2,}"
    r"|(?:apt|apt-get|apk|yum|dnf|zypper)\s(?:.*\s)?(?:install|add|update)\b"
    r"|(?:uv\s+|python[\d.]*\s+-m\s+)?pip[\d.]*\s+install\s"
    r"(?!.*--no-index)(?!(?:-e\s+|--editable\s+)?[./]\S*$)"
    r"|(?:uvx|uv\s+add|uv\s+tool\s+(?:run|install)|uv\s+run\s(?=.*--with))\b(?!.*--offline)"
    r"|npm\s+(?:install|i|ci)\b(?!.*--offline)|(?:pnpm|yarn)\s+(?:install|add)\b(?!.*--offline)"
    r"|git\s+clone\s+(?:\S+\s+)*(?:https?://|git@|ssh://)"
    r"|(?:cargo|go|gem|conda|mamba)\s+install\s"
)
# What is known to leave no reward by itself: for "never writes" nothing else may be called.
_HARMLESS = re.compile(
    r"(?:\S*/)?(?:"
    r"echo|printf|true|false|:|test|\[|\[\[|\(\(|set|unset|shift|exit|return|cd|pushd|popd|pwd"
    r"|export|local|declare|readonly|typeset|read|let|sleep|wait|cat|ls|mkdir|rm|cp|mv|chmod|chown"
    r"|touch|head|tail|grep|egrep|fgrep|sort|uniq|wc|cut|tr|sed|awk|tee|cmp|diff|find|xargs|date"
    r"|for|select|which|command|type|seq|basename|dirname|trap|apt|apt-get|pip|pip3|curl|wget|jq"
    r"|sha256sum|md5sum|id|whoami|kill|pytest|uname|ps|stat|du|break|continue|umask|ulimit"
    r")(?:\s|$)"
    r"|python[\d.]*\s+-m\s+(?:pytest|unittest|pip)\b|(?:uv|uvx)\s.*\bpytest\b"
    r"|uv\s+(?:init|add|pip|venv|sync)\b|(?:python[\d.]*|bash|sh)\s+(?:-\S+\s+)*/tests/\S"
    r"|/tests/\S|(?:source|\.)\s+\S*(?:\.local/bin/env|bin/activate|/tests/\S+)$"
)
_MAX_LINE = 1 << 12
"""As much of a command is looked at where its words are searched for."""


def may_write(text: str) -> bool:
    """Whether a text speaks of the reward file, or of what could be put together to its name."""
    if any(name in text for name in _NAMES):
        return True
    return any(word in text and pattern.search(text) for word, pattern in _PATTERNS)


def may_write_bytes(data: bytes) -> bool:
    """`may_write` for a file of whatever kind."""
    return may_write(data.decode("latin-1"))


def name_of(command: Command) -> str:
    """What a command is called, without its folder; empty when it only sets variables."""
    return command.words[0].rpartition("/")[2] if command.words else ""


def runs_tests(command: Command) -> bool:
    """Whether the command is a run of tests, by itself or as what one variable is set to."""
    if not command.words:
        inner = [value[2:].strip() for _, value in command.assigns if value.startswith("$(")]
        return len(command.assigns) == 1 and any(map(_RUNNERS.match, inner))
    return _RUNNERS.match(_line(_unwrapped(command.words))) is not None


def uses_network(command: Command) -> bool:
    """Whether the command gets something from the network."""
    return _NETWORK.match(_line(_unwrapped(command.words))) is not None


def is_harmless(words: Sequence[str]) -> bool:
    """Whether a command, and every one that is run to make its words, can leave no reward."""
    line = _line(words)
    if "$(" in line or "`" in line:
        inner = [piece.strip() for piece in re.split(r"[$`(]+", line)[1:]]
        if not all(_HARMLESS.match(piece) for piece in inner if re.match(r"\w", piece)):
            return False
    return _HARMLESS.match(line) is not None


def _unwrapped(words: Sequence[str]) -> list[str]:
    """The words without what only says how to run the command."""
    rest = list(words)
    while rest:
        match rest[0]:
            case "sudo" | "env" | "nice" | "time" | "command" | "exec" | "nohup" | "xvfb-run":
                rest = rest[1:]
            case "timeout":
                rest = rest[1:]
                while rest and (rest[0].startswith("-") or re.fullmatch(r"[\d.]+[smhd]?", rest[0])):
                    rest = rest[1:]
                continue
            case _:
                break
        while rest and (rest[0].startswith("-") or "=" in rest[0]):
            rest = rest[1:]
    return rest


def _line(words: Sequence[str]) -> str:
    return " ".join(words)[:_MAX_LINE].rstrip()
