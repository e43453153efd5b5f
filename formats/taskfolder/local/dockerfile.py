"""Reads the part of Dockerfiles that the local machine can build, and refuses the rest.

One stage, on a base that the user's root file system stands for. Known: FROM, RUN, COPY, ADD of
local files, WORKDIR, ENV, ARG, USER, SHELL. CMD, EXPOSE, LABEL, MAINTAINER, ONBUILD, STOPSIGNAL and
VOLUME change nothing of a task, which is run by commands of its own. Read as by BuildKit.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from .refusals import DOCKERFILE, Refused, check_base
from .words import BadWord, UnknownWord, expand, split_words

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What containers have where their image says nothing."""

_WITHOUT_EFFECT = frozenset(
    ("CMD", "EXPOSE", "LABEL", "MAINTAINER", "ONBUILD", "STOPSIGNAL", "VOLUME")
)
_DIRECTIVE = re.compile(r"#\s*([A-Za-z]+)\s*=\s*(.+?)\s*")
_CONTINUED = re.compile(r"(?:^|(?<=[^\\]))\\[ \t]*$")
_HEREDOC = re.compile(r"(?:^|\s)\d*<<-?\s*['\"]?[A-Za-z_]")
_URL = re.compile(r"(?:https?|ftp|git|ssh)://|git@")
_OWNER = re.compile(r"(\d+)(?::(\d+))?|root(?::root)?")
_MODE = re.compile(r"[0-7]{3,4}")
_ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
_PLATFORM = {
    f"{whose}{what}": value
    for whose in ("BUILD", "TARGET")
    for what, value in (
        ("PLATFORM", f"linux/{_ARCHITECTURE}"),
        ("OS", "linux"),
        ("ARCH", _ARCHITECTURE),
    )
}


class BadDockerfile(ValueError):
    """A Dockerfile that no builder takes."""


@dataclass(frozen=True, slots=True)
class Run:
    """A command, as `user` in `workdir`."""

    line: int
    command: tuple[str, ...]
    env: Mapping[str, str]
    workdir: str
    user: str | None


@dataclass(frozen=True, slots=True)
class Copy:
    """Files of the context. `target` is absolute; `folder`: it is one, there or not."""

    line: int
    sources: tuple[str, ...]
    target: str
    folder: bool
    owner: tuple[int, int] = (0, 0)
    mode: int | None = None
    unpacks: bool = False


@dataclass(frozen=True, slots=True)
class MakeFolder:
    """A folder that is made where there is none."""

    path: str


Action: TypeAlias = Run | Copy | MakeFolder


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is done to the base, and how commands start in what comes of it."""

    actions: tuple[Action, ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: {"PATH": PATH})
    workdir: str = "/"
    user: str | None = None


def read_dockerfile(text: str) -> Recipe:
    """The recipe in `text`; `Refused` for what the local machine cannot do, `BadDockerfile` else.

    Both name the line.
    """
    reading = _Reading()
    for statement in _statements(text):
        try:
            reading.take(statement)
        except UnknownWord as unknown:
            raise _refused(statement.line, str(unknown), "variable") from unknown
        except BadWord as bad:
            raise BadDockerfile(f"line {statement.line}: {bad}") from bad
        except RecursionError as deep:
            raise _refused(statement.line, "it is nested too deep", "too-deep") from deep
    if not reading.based:
        raise BadDockerfile("there is no FROM")
    return Recipe(tuple(reading.actions), reading.env, reading.workdir, reading.user)


def _refused(line: int, problem: str, reason: str) -> Refused:
    return Refused(
        problem,
        reason=reason,
        file=DOCKERFILE,
        where=f"line {line}",
        remedy="Run it in a sandbox of containers",
    )


# --- lines to statements -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Statement:
    line: int
    word: str
    flags: Mapping[str, str]
    rest: str

    @property
    def argv(self) -> list[str] | None:
        """The strings of the JSON form, or None for the other form."""
        if not self.rest.startswith("["):
            return None
        try:
            found = json.loads(self.rest)
        except ValueError:
            return None
        return found if all(isinstance(each, str) for each in found) else None


def _statements(text: str) -> Iterator[_Statement]:
    lines = text.removeprefix("\ufeff").split("\n")
    begin, whole = 0, ""
    directives = True
    for number, raw in enumerate(lines, 1):
        line = raw.removesuffix("\r")
        stripped = line.strip()
        if directives and (directive := _DIRECTIVE.fullmatch(stripped)):
            if directive[1].lower() == "escape" and directive[2] != "\\":
                raise _refused(number, "it escapes by another character", "escape")
            continue
        directives = False
        if not stripped or stripped.startswith("#"):
            continue
        if not begin:
            begin, line = number, line.lstrip()
        goes_on = _CONTINUED.search(line)
        whole += line[: goes_on.start()] if goes_on else line
        if not goes_on:
            if whole.strip():
                yield _statement(begin, whole)
            begin, whole = 0, ""
    if whole.strip():
        yield _statement(begin, whole)


def _statement(line: int, whole: str) -> _Statement:
    word, *after = whole.split(None, 1)
    rest = after[0].strip() if after else ""
    flags: dict[str, str] = {}
    while rest.startswith("--"):
        flag, *after = rest.split(None, 1)
        rest = after[0] if after else ""
        if flag == "--":
            break
        name, _, value = flag[2:].partition("=")
        # A mount is the one flag that may come twice.
        flags[f"{name}={value}" if name in flags else name] = value
    return _Statement(line, word.upper(), flags, rest)


# --- statements to a recipe --------------------------------------------------------------------


class _Reading:
    def __init__(self) -> None:
        self.based = False
        self.actions: list[Action] = []
        self.global_args = dict(_PLATFORM)
        self.args: dict[str, str] = {}
        self.env: dict[str, str] = {"PATH": PATH}
        self.workdir = "/"
        self.user: str | None = None
        self.shell: tuple[str, ...] = ("/bin/sh", "-c")

    @property
    def variables(self) -> Mapping[str, str]:
        return {**self.args, **self.env}

    def take(self, statement: _Statement) -> None:
        line, word = statement.line, statement.word
        if not self.based and word not in ("FROM", "ARG"):
            raise BadDockerfile(f"line {line}: {word} stands before FROM")
        if word in ("RUN", "COPY", "ADD") and _HEREDOC.search(statement.rest):
            # Not told apart from the operator of a shell: both are refused.
            raise _refused(line, "it has a here-document", "here-document")
        match word:
            case "FROM":
                self._from(statement)
            case "ARG":
                self._arg(statement)
            case "ENV":
                self._env(statement)
            case "RUN":
                self._run(statement)
            case "COPY" | "ADD":
                self._copy(statement)
            case "WORKDIR":
                self.workdir = self._absolute(expand(statement.rest, self.variables))
                self.actions.append(MakeFolder(self.workdir))
            case "USER":
                self.user = expand(statement.rest, self.variables) or None
            case "SHELL":
                self.shell = tuple(statement.argv or ())
                if not self.shell:
                    raise BadDockerfile(f"line {line}: SHELL wants a list in JSON")
            case "HEALTHCHECK" if statement.rest.strip().upper() != "NONE":
                raise _refused(line, "it waits for a health check", "healthcheck")
            case "ENTRYPOINT" if statement.argv != []:
                raise _refused(line, "its ENTRYPOINT would start with the container", "entrypoint")
            case "HEALTHCHECK" | "ENTRYPOINT":
                pass
            case _ if word not in _WITHOUT_EFFECT:
                raise BadDockerfile(f"line {line}: unknown instruction {word}")

    def _absolute(self, path: str) -> str:
        # POSIX lets a path begin with two slashes; no container does.
        return "/" + posixpath.normpath(posixpath.join(self.workdir, path)).lstrip("/")

    def _from(self, statement: _Statement) -> None:
        if self.based:
            raise _refused(statement.line, "it has several stages", "several-stages")
        words = statement.rest.split()
        if not words:
            raise BadDockerfile(f"line {statement.line}: FROM names no image")
        self.global_args |= self.args
        base = expand(words[0], self.global_args)
        check_base(base, DOCKERFILE, f"line {statement.line}")
        self.args, self.based = {}, True

    def _arg(self, statement: _Statement) -> None:
        for each in split_words(statement.rest):
            name, given, default = each.partition("=")
            if given:
                self.args[name] = expand(default, self.variables)
            elif self.based and name in self.global_args:
                self.args[name] = self.global_args[name]

    def _env(self, statement: _Statement) -> None:
        words = split_words(statement.rest)
        if not words:
            raise BadDockerfile(f"line {statement.line}: ENV sets nothing")
        before = self.variables
        if "=" not in words[0]:
            name, *value = statement.rest.split(None, 1)
            words = [f"{name}={value[0] if value else ''}"]
        for each in words:
            name, given, value_text = each.partition("=")
            if not given:
                raise BadDockerfile(f"line {statement.line}: ENV gives {name} no value")
            self.env[expand(name, before)] = expand(value_text, before)

    def _run(self, statement: _Statement) -> None:
        for name, value in statement.flags.items():
            cached = name.startswith("mount") and "type=cache" in value.split(",")
            if not cached and (name, value) != ("network", "default"):
                raise _refused(statement.line, f"RUN has the flag --{name}", "flag")
        command = statement.argv
        self.actions.append(
            Run(
                statement.line,
                tuple(command) if command else (*self.shell, statement.rest),
                dict(self.variables),
                self.workdir,
                self.user,
            )
        )

    def _copy(self, statement: _Statement) -> None:
        line, flags = statement.line, dict(statement.flags)
        flags.pop("link", None)
        owner = _OWNER.fullmatch(expand(flags.pop("chown", "0"), self.variables))
        mode = _MODE.fullmatch(flags["chmod"]) if "chmod" in flags else None
        if owner is None or ("chmod" in flags and mode is None):
            raise _refused(line, f"{statement.word} gives files to others by name", "owner")
        flags.pop("chmod", None)
        if flags:
            raise _refused(line, f"{statement.word} has the flag --{next(iter(flags))}", "flag")
        words = [expand(each, self.variables) for each in statement.argv or statement.rest.split()]
        if len(words) < 2:
            raise BadDockerfile(f"line {line}: {statement.word} wants a source and a target")
        *sources, target = words
        if any(_URL.match(source) for source in sources):
            raise _refused(line, f"{statement.word} fetches from elsewhere", "remote-source")
        uid = int(owner[1] or 0)
        self.actions.append(
            Copy(
                line,
                tuple(sources),
                self._absolute(target),
                folder=target.endswith(("/", "/.")) or target == "." or len(sources) > 1,
                owner=(uid, int(owner[2] or uid)),
                mode=int(mode[0], 8) if mode else None,
                unpacks=statement.word == "ADD",
            )
        )
