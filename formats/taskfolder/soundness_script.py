"""What is weak about a shell script that grades, told from its commands.

The script is not run, so a rule speaks only where every place that may write the reward is of a
form known here; where one is not, it says nothing. Facts: harbor 0.26.0 makes the script executable
and starts it itself (its ``#!`` line counts); its exit code means nothing, the file it leaves does.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from .shell import Command, Shell
from .soundness_known import (
    ALWAYS,
    DECLARES,
    IDLE,
    LOOKS,
    MASKS,
    SETS,
    SILENT,
    is_harmless,
    may_write,
    name_of,
    runs_tests,
    uses_network,
)

_REWARD = re.compile(r"reward\.(?:txt|json)\b(?![.-]?\w)")
_ONCE = re.compile(r"(?<!\\)\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
_PLAIN_PATH = re.compile(r"[\w./-]*")
_USED = re.compile(r"\$\{?([A-Za-z_]\w*)")
_EXPANDED = re.compile(r"(?<!\\)[$`]")
_MAX_VALUE = 256
_MAX_BODY = 50


@dataclass(frozen=True, slots=True)
class Found:
    """A reason of `soundness.REASONS`, and the line."""

    reason: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class _Write:
    """A place that writes one known text to the reward file."""

    command: Command
    at: int
    values: frozenset[float] | None
    """Every number that may be written there; none at all when it is no number."""


def weak_places(shell: Shell, shebang: str, *, alone: bool) -> Iterator[Found]:
    """What is weak about a script. `alone`: no other file of the task can write the reward."""
    script = _Script(shell, shebang)
    yield from script.network()
    if alone:
        yield from script.early_end() or script.errexit() or script.constant()
        yield from script.never()
    yield from script.masked()


class _Script:
    """The commands of a script, with what its variables can be."""

    def __init__(self, shell: Shell, shebang: str) -> None:
        self._commands = shell.commands
        self._functions = shell.functions
        flags = shebang.partition(" ")[2]
        self._errexit = bool(re.search(r"(?:^|\s)-\w*e", flags)) and "env " not in shebang
        self._pipefail = "pipefail" in shebang
        self._values: dict[str, set[str]] = {}
        self._unsure = False
        for command in self._commands:
            for name, value in command.assigns:
                self._values.setdefault(name, set()).add(value)
            first = command.words[0] if command.words else ""
            if first in DECLARES:
                for word in command.words[1:]:
                    name, given, value = word.partition("=")
                    if given:
                        self._values.setdefault(name.rstrip("+"), set()).add(value)
            elif first in ("for", "select") and len(command.words) > 1:
                self._values.setdefault(command.words[1], set()).update(("", "$"))
            self._unsure |= first in SETS or (first == "printf" and "-v" in command.words)
        self._rewards = [at for at, each in enumerate(self._commands) if self._speaks(each)]
        self._speaking = frozenset(self._rewards)

    # what it says about the reward

    def _expand(self, text: str) -> str:
        """With the value of every variable that has one alone."""
        for _ in range(6):
            more = _ONCE.sub(self._value, text)
            if more == text or len(more) > 1 << 14:
                break
            text = more
        return text

    def _value(self, match: re.Match[str]) -> str:
        values = self._values.get(match[1] or match[2], ())
        value = next(iter(values)) if len(values) == 1 else match[0]
        return value if len(value) <= _MAX_VALUE else match[0]

    def _speaks(self, command: Command) -> bool:
        """Whether the command may write the reward, as far as it shows."""
        bodies = " ".join(redirect.body for redirect in command.redirects)
        targets = [self._expand(redirect.target) for redirect in command.redirects]
        name = name_of(command)
        if name in LOOKS and not any(map(may_write, targets)):
            return False
        if name == "rm" or (name in DECLARES and not command.redirects):
            words = [word for word in command.words[1:] if name != "rm" and "=" in word]
            return any(self._odd_path(word.partition("=")[2]) for word in words)
        if not command.words and not command.redirects:
            return any(self._odd_path(value) for _, value in command.assigns)
        said = [self._expand(word) for word in command.words]
        said += [self._expand(value) for _, value in command.assigns]
        return any(map(may_write, [*said, *targets, bodies]))

    def _odd_path(self, value: str) -> bool:
        """Whether a variable is given something that speaks of the file and is not its path."""
        value = self._expand(value)
        return may_write(value) and not _PLAIN_PATH.fullmatch(value)

    @cached_property
    def _writes(self) -> list[_Write] | None:
        """Everything that writes the reward; None when one of them is not understood."""
        found = []
        for at in self._rewards:
            write = self._write(at)
            if write is None:
                return None
            found.append(write)
        return found

    def _write(self, at: int) -> _Write | None:
        command = self._commands[at]
        targets = [self._expand(each.target) for each in command.redirects if each.writes]
        if name_of(command) == "tee" and command.before == "|":
            said, to = self._commands[at - 1], [self._expand(word) for word in command.words[1:]]
            if said.before or said.redirects:
                return None
            targets = [word for word in to if not word.startswith("-")]
        else:
            said = command
            if command.before == "|" or command.assigns:
                return None
        plain = len(targets) == 1 and _REWARD.search(targets[0])
        if not plain or any(each.operator == ">>" for each in command.redirects):
            return None
        match name_of(said):
            case "echo":
                words = [word for word in said.words[1:] if not re.fullmatch(r"-[neE]+", word)]
            case "printf" if len(said.words) == 2 and "%" not in said.words[1]:
                words = [said.words[1].removesuffix("\\n")]
            case "printf" if len(said.words) == 3 and said.words[1] in ("%s", "%s\\n"):
                words = [said.words[2]]
            case "cat" if len(said.words) == 1:
                words = [each.body for each in said.redirects if each.operator in ("<<", "<<-")]
            case _:
                return None
        text = " ".join(words).strip()
        if not text:
            return None  # which empties the file, for what comes after
        values = self._numbers(text, as_json=targets[0].endswith(".json"))
        return None if values is None else _Write(command, at, frozenset(values))

    def _numbers(self, text: str, *, as_json: bool) -> set[float] | None:
        """The numbers that a text may stand for; None when that is not known."""
        if match := _ONCE.fullmatch(text):
            values = self._values.get(match[1] or match[2])
            if self._unsure or not values:
                return None
            texts = list(values)
        else:
            texts = [text]
        found: set[float] = set()
        for each in texts:
            if _EXPANDED.search(each):
                return None
            found |= _numbers_in(each, as_json=as_json)
        return found

    # the rules

    def early_end(self) -> list[Found]:
        """It ends, come what may, before anything writes the reward."""
        if not self._rewards or self._traps:
            return []
        for command in self._commands[: self._rewards[0]]:
            if name_of(command) in ("exit", "exec") and command.top and not _joined(command):
                if name_of(command) == "exec" and len(command.words) == 1:
                    continue  # it only redirects what follows
                if command.before != "|":
                    return [Found("ends-early", command.line)]
        return []

    def errexit(self) -> list[Found]:
        """Its tests fail, ``set -e`` ends it, and no reward has been written."""
        if not self._rewards or self._traps:
            return []
        errexit, pipefail = self._errexit, self._pipefail
        for command in self._commands[: self._rewards[0]]:
            if name_of(command) == "set":
                flags = " ".join(command.words[1:])
                if re.search(r"(?:^|\s)\+\w*e|\+o\s+errexit", flags):
                    return []
                on = re.search(r"(?:^|\s)-\w*e|-\w*o\s+errexit", flags) is not None
                errexit |= on and command.top
                pipefail |= "pipefail" in flags
            inside = command.after == "|" and not pipefail
            if (
                errexit
                and command.top
                and not inside
                and not _asked(command)
                and runs_tests(command)
            ):
                return [Found("errexit", command.line)]
        return []

    def constant(self) -> list[Found]:
        """It writes what it writes whatever happened."""
        writes = self._writes
        if not writes:
            return []
        garbled = [write for write in writes if not write.values]
        if garbled:
            return [Found("not-a-number", garbled[0].command.line)]
        values = set().union(*(write.values or () for write in writes))
        last = writes[-1]
        if values == {0.0}:
            return [Found("always-zero", last.command.line)]
        if values != {1.0}:
            return []
        first = next((write for write in writes if write.command.top), None)
        if first is None or _joined(first.command) or self._may_stop_before(first.at):
            return [Found("no-zero", last.command.line)]
        removed = any(name_of(each) in ("rm", "mv") for each in self._commands[first.at :])
        return [] if removed else [Found("always-one", first.command.line)]

    def _may_stop_before(self, at: int) -> bool:
        return self._errexit or any(
            name_of(command) in ("exit", "exec", "return")
            or (name_of(command) == "set" and re.search(r"-\w*e|errexit", command.text))
            for command in self._commands[:at]
        )

    def never(self) -> list[Found]:
        """Nothing in it can write the reward, and it calls nothing that could."""
        if self._rewards:
            return []
        for command in self._commands:
            if not command.words or command.words[0] in self._functions:
                continue
            if may_write(command.text) and name_of(command) not in LOOKS:
                return []
            if not is_harmless(command.words):
                return []
        return [Found("never-writes")]

    def masked(self) -> Iterator[Found]:
        """The status that decides is that of another command than the one that matters."""
        pipefail = self._pipefail
        for at, command in enumerate(self._commands):
            if name_of(command) == "set" and "pipefail" in command.words:
                pipefail = True
            if command.condition:
                asks = self._decides(at)
            else:
                used = (self._last_use.get(name, 0) > at for name, _ in command.assigns)
                asks = not command.words and self._rewards[-1:] > [at] and any(used)
            if not asks or not at:
                continue
            if "$?" in command.text or "${?}" in command.text:
                if self._always(at - 1, command, pipefail=pipefail):
                    yield Found("failure-masked", command.line)
            elif command.condition and not pipefail and command.after != "|" and self._piped(at):
                yield Found("failure-masked", command.line)

    @cached_property
    def _last_use(self) -> Mapping[str, int]:
        """Where the value of each variable is taken for the last time."""
        return {
            name: at
            for at, command in enumerate(self._commands)
            for name in _USED.findall(command.text)
        }

    def _decides(self, at: int) -> bool:
        """Whether a reward is written on account of a condition."""
        command = self._commands[at]
        for inside in range(at + 1, min(len(self._commands), at + _MAX_BODY)):
            if self._commands[inside].depth < command.depth:
                return False
            if inside in self._speaking:
                return True
        return False

    def _always(self, at: int, asking: Command, *, pipefail: bool) -> bool:
        """Whether the command at `at`, whose status is asked, succeeds whatever came before it."""
        asked = self._commands[at]
        level = asking.depth - asking.condition
        if asked.depth not in (asking.depth, level) or asked.ends_group or asked.condition:
            return False
        if asked.in_function != asking.in_function or asking.before or asked.negated:
            return False
        if asked.before == "|":
            return not pipefail and self._piped(at)
        return name_of(asked) in ALWAYS and asked.before in ("", "||") and not asked.redirects

    def _piped(self, at: int) -> bool:
        """Whether the command ends a pipe and hides how what stands before it ended."""
        command = self._commands[at]
        if command.before != "|" or name_of(command) not in MASKS:
            return False
        while at and self._commands[at].before == "|":
            at -= 1
        return name_of(self._commands[at]) not in SILENT and not self._commands[at].ends_group

    def network(self) -> list[Found]:
        """It gets something from the network."""
        for command in self._commands:
            if uses_network(command):
                return [Found("needs-network", command.line)]
        return []

    @property
    def _traps(self) -> bool:
        return any(name_of(command) == "trap" for command in self._commands)


def _numbers_in(text: str, *, as_json: bool) -> set[float]:
    """The numbers of a reward file with this text; none when the file would be refused."""
    try:
        said = json.loads(text) if as_json else {"": float(text)}
        values = list(said.values()) if isinstance(said, dict) else []
        if not all(isinstance(value, int | float) for value in values):
            return set()
        numbers = set(map(float, values))
    except (ValueError, RecursionError, OverflowError):
        return set()
    return numbers if all(map(math.isfinite, numbers)) else set()


def _joined(command: Command) -> bool:
    return command.after in ("&&", "||", "|")


def _asked(command: Command) -> bool:
    """Whether `set -e` overlooks its failure."""
    return command.negated or command.after in ("&&", "||")


def idle(shell: Shell) -> bool:
    """Whether a script changes nothing: it only speaks, waits or ends."""
    return all(
        name_of(command) in IDLE
        and not command.redirects
        and not any("$(" in word or "`" in word for word in command.words)
        for command in shell.commands
    )
