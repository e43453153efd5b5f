"""A shell script as the list of its simple commands, each with what decides whether it runs.

Nothing is expanded and nothing is run. A script that uses what is not followed here, or whose
parts do not close, is `Unreadable`: whoever asks then says nothing about it.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field

from .shell_words import (
    MAX_DEPTH,
    Unreadable,
    end_of_double,
    end_of_expansion,
    end_of_parens,
    unescaped,
)

MAX_SCRIPT = 1 << 18
"""Longer scripts are not read."""

_SPACE = re.compile(r"(?:[ \t]|\\\n)+")
_BLANK = re.compile(r"(?:[ \t]|\\\n)+|#[^\n]*")
_NO_ARGUMENTS = re.compile(r"[ \t]*\)")
_FUNCTION = re.compile(r"[ \t]+([^\s(){}]+)[ \t]*(?:\([ \t]*\))?")
_IN_CONDITION = re.compile(r"[\s<>|&();]+")
_PLAIN = re.compile(r"[^\s\\'\"$`|&;()<>]+")
_REDIRECT = re.compile(r"(?:\d+|\{\w+\})?(?:<<<|<<-?|<>|<&|>&|&>>|&>|>>|>\||<(?!\()|>(?!\())")
_OPERATOR = re.compile(r"&&|\|\||\|&|;;&|;;|;&|[|&;()\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_CLOSES = {"fi": "if", "done": "loop", "esac": "case", "}": "{", ")": "("}
_ENDS = frozenset({"\n", ";", "&", ";;", ";&", ";;&"})
_CASE_ENDS = frozenset({";;", ";&", ";;&"})


@dataclass(frozen=True, slots=True)
class Redirect:
    """``> target``, with what stands in a heredoc."""

    operator: str
    target: str
    body: str = ""

    @property
    def writes(self) -> bool:
        """Whether it sends the standard output to its target."""
        return self.operator in (">", ">>", ">|", "1>", "1>>", "&>", "&>>")


@dataclass(slots=True)
class Command:
    """A simple command: `words` without their quotes, after the assignments that lead it.

    `before` and `after` are ``&&``, ``||``, ``|`` or nothing: what joins it to its neighbours.
    `depth` counts the compound commands around it; `condition`: an ``if`` or a loop asks it.
    A command without words carries the redirections of a compound one that ends at its line.
    """

    line: int
    depth: int
    in_function: bool
    condition: bool
    before: str
    negated: bool = False
    after: str = ""
    assigns: list[tuple[str, str]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    ends_group: bool = False

    @property
    def top(self) -> bool:
        """Whether it runs whenever the script comes to its line."""
        joined = self.before in ("&&", "||")
        return not (self.depth or self.in_function or self.condition or joined)

    @property
    def text(self) -> str:
        """All of it as one line, for searching."""
        parts = [f"{name}={value}" for name, value in self.assigns]
        parts += self.words
        parts += [f"{each.operator} {each.target}" for each in self.redirects]
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class Shell:
    """The simple commands of a script in the order of its lines, and the functions it defines."""

    commands: tuple[Command, ...]
    functions: frozenset[str]


def read_shell(script: str) -> Shell:
    """What a script consists of; `Unreadable` when it cannot be told."""
    if len(script) > MAX_SCRIPT or "\0" in script:
        raise Unreadable
    return _Script(script).read()


@dataclass(slots=True)
class _Frame:
    """A compound command that is open."""

    kind: str
    function: bool = False
    condition: bool = False
    pattern: bool = False
    before: str = ""


class _Script:
    """One pass over the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._counted = 0
        self._line = 1
        self._frames: list[_Frame] = []
        self._commands: list[Command] = []
        self._current: Command | None = None
        self._joined = ""
        self._negated = False
        self._function = False
        self._functions: set[str] = set()
        self._waiting: deque[tuple[Command, str, str]] = deque()

    def read(self) -> Shell:
        text = self._text
        while self._at < len(text):
            if match := _BLANK.match(text, self._at):
                self._at = match.end()
            elif match := _REDIRECT.match(text, self._at):
                self._redirect(match)
            elif match := _OPERATOR.match(text, self._at):
                self._at = match.end()
                self._operator(match[0])
            else:
                self._word()
        self._end_command()
        if self._frames or self._waiting:
            raise Unreadable
        return Shell(tuple(self._commands), frozenset(self._functions))

    # words

    def _word(self) -> None:
        start = self._at
        word, quoted = self._take_word()
        raw = self._text[start : self._at]
        frame = self._frames[-1] if self._frames else None
        if frame is not None and frame.pattern:
            if raw == "esac" and self._current is None:
                self._close(raw)
            return  # a pattern, or the word of a `case`
        if self._current is None and not quoted and self._reserved(raw):
            return
        command = self._command()
        if not command.words and (match := _ASSIGNMENT.match(word)):
            if self._at < len(self._text) and self._text[self._at] == "(":  # NAME=(...)
                self._at = end_of_parens(self._text, self._at)
                word += "$"  # a list: no one value
            command.assigns.append((match[0].rstrip("=").rstrip("+"), word[match.end() :]))
            return
        command.words.append(word)

    def _take_word(self) -> tuple[str, bool]:
        """The word at the place, without its quotes, and whether it had any."""
        text, pieces, quoted = self._text, [], False
        start = self._at
        while self._at < len(text):
            at = self._at
            char = text[at]
            if match := _PLAIN.match(text, at):
                pieces.append(match[0])
                self._at = match.end()
            elif char == "\\":
                escaped = text[at + 1 : at + 2]
                if escaped != "\n":
                    pieces.append(f"\\{escaped}" if escaped == "$" else escaped)
                    quoted = True
                self._at = at + 2
            elif char == "'":
                end = text.find("'", at + 1)
                if end < 0:
                    raise Unreadable
                pieces.append(text[at + 1 : end].replace("$", "\\$"))
                self._at, quoted = end + 1, True
            elif char == '"':
                self._at = end_of_double(text, at)
                pieces.append(unescaped(text[at + 1 : self._at - 1]))
                quoted = True
            elif char in "$`":
                self._at = end_of_expansion(text, at)
                pieces.append(text[at : self._at])
            elif char in "<>" and text[at + 1 : at + 2] == "(":
                self._at = end_of_parens(text, at + 1)
                pieces.append(text[at : self._at])
            else:
                break
        if self._at == start:
            raise Unreadable
        return "".join(pieces), quoted

    def _reserved(self, word: str) -> bool:
        """Whether the word begins, continues or ends a compound command."""
        match word:
            case "if" | "while" | "until":
                self._open("if" if word == "if" else "loop", condition=True)
            case "then" | "do":
                self._inside("if" if word == "then" else "loop").condition = False
            case "elif":
                self._inside("if").condition = True
            case "else":
                self._inside("if").condition = False
            case "for" | "select":
                self._command().words.append(word)
                self._loop_head()
                self._end_command()
                self._open("loop")
            case "case":
                self._open("case").pattern = True
            case "{":
                self._open("{", function=self._function)
            case "fi" | "done" | "esac" | "}":
                self._close(word)
            case "!":
                self._negated = not self._negated
            case "function":
                self._function = True
                self._skip_name()
            case "time":
                pass
            case "[[":
                self._conditional()
            case _:
                return False
        return True

    def _loop_head(self) -> None:
        """The name of a loop and what it goes over."""
        command = self._command()
        while self._at < len(self._text):
            if match := _SPACE.match(self._text, self._at):
                self._at = match.end()
            elif self._text[self._at] in ";\n":
                return
            elif self._text[self._at] == "(":
                self._at = end_of_parens(self._text, self._at)
            else:
                command.words.append(self._take_word()[0])
        raise Unreadable

    def _skip_name(self) -> None:
        match = _FUNCTION.match(self._text, self._at)
        if match is None:
            raise Unreadable
        self._functions.add(match[1])
        self._at = match.end()

    def _conditional(self) -> None:
        """``[[ ... ]]``, in which ``&&`` and ``<`` are no operators of the shell."""
        command = self._command()
        command.words.append("[[")
        while True:
            if match := _IN_CONDITION.match(self._text, self._at):
                self._at = match.end()
            if self._at >= len(self._text):
                raise Unreadable
            word, _ = self._take_word()
            command.words.append(word)
            if word == "]]":
                return

    # operators

    def _operator(self, operator: str) -> None:
        frame = self._frames[-1] if self._frames else None
        if frame is not None and frame.pattern:
            if operator == ")":
                frame.pattern = False
            elif operator not in ("(", "|", "\n"):
                raise Unreadable
            return
        match operator:
            case "(":
                self._parenthesis()
            case ")":
                self._close(")")
            case "&&" | "||" | "|" | "|&":
                joined = "|" if operator == "|&" else operator
                if self._current is not None:
                    self._current.after = joined
                elif self._commands and not self._joined:
                    self._commands[-1].after = joined
                self._end_command()
                self._joined = joined
            case _:
                blank = operator == "\n" and self._current is None
                self._end_command()
                if not blank:
                    self._joined, self._negated = "", False
                if operator in _CASE_ENDS:
                    self._inside("case").pattern = True
        if operator == "\n":
            self._heredocs()

    def _parenthesis(self) -> None:
        command = self._current
        if command is None:
            if self._text.startswith("(", self._at):  # ((...))
                self._at = end_of_parens(self._text, self._at - 1)
                self._command().words.append("((")
                return
            self._open("(", function=self._function)
            return
        match = _NO_ARGUMENTS.match(self._text, self._at)
        if match is None or len(command.words) != 1:
            raise Unreadable
        self._at = match.end()
        self._commands.pop()
        self._functions.add(command.words[0])
        self._current, self._function = None, True

    def _redirect(self, match: re.Match[str]) -> None:
        self._at = match.end()
        if space := _SPACE.match(self._text, self._at):
            self._at = space.end()
        if self._frames and self._frames[-1].pattern:
            raise Unreadable
        command = self._command()
        target, _ = self._take_word()
        operator = match[0]
        if operator.lstrip("0123456789") in ("<<", "<<-"):
            self._waiting.append((command, operator, target))
            return
        body = target if operator.endswith("<<<") else ""
        command.redirects.append(Redirect(operator, target, body))

    def _heredocs(self) -> None:
        """The heredocs that were announced on the line that has just ended."""
        while self._waiting:
            command, operator, tag = self._waiting.popleft()
            tabs = r"\t*" if operator.endswith("-") else ""
            end = re.compile(rf"(?m)^{tabs}{re.escape(tag)}$").search(self._text, self._at)
            if end is None:
                raise Unreadable
            body = self._text[self._at : end.start()]
            command.redirects.append(Redirect(operator, tag, body))
            self._at = min(end.end() + 1, len(self._text))

    # structure

    def _command(self) -> Command:
        if self._current is None:
            self._counted, self._line = (
                self._at,
                self._line + self._text.count("\n", self._counted, self._at),
            )
            self._current = Command(
                line=self._line,
                depth=sum(not frame.function for frame in self._frames),
                in_function=any(frame.function for frame in self._frames),
                condition=any(frame.condition for frame in self._frames),
                before=self._joined,
                negated=self._negated,
            )
            self._commands.append(self._current)
            self._joined, self._negated = "", False
        return self._current

    def _end_command(self) -> None:
        self._current = None

    def _open(self, kind: str, *, function: bool = False, condition: bool = False) -> _Frame:
        if len(self._frames) >= MAX_DEPTH:
            raise Unreadable
        frame = _Frame(kind, function=function, condition=condition, before=self._joined)
        self._joined, self._negated, self._function = "", False, False
        self._frames.append(frame)
        return frame

    def _inside(self, kind: str) -> _Frame:
        if not self._frames or self._frames[-1].kind != kind:
            raise Unreadable
        self._joined, self._negated = "", False
        return self._frames[-1]

    def _close(self, word: str) -> None:
        self._end_command()
        if not self._frames or self._frames[-1].kind != _CLOSES[word]:
            raise Unreadable
        frame = self._frames.pop()
        self._joined = frame.before
        self._command().ends_group = True  # which takes the redirections and joins that follow
