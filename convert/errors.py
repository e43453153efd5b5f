"""Every way a run can fail, and the one table of exit codes.

    RlconvertError
    ├── UsageError                 2   the command line asks for something that does not exist
    ├── ReadError                 10   the source cannot be read
    │   ├── UnknownFormat         11
    │   ├── AmbiguousFormat       12
    │   ├── NewerSchema           13
    │   ├── Malformed             14
    │   └── SourceChanged         10   a file vanished or changed while it was read
    ├── WriteError                20   the target cannot be written
    │   ├── NothingRepresentable  21
    │   └── OutputExists          22
    ├── UnsafeInput               30   reading on would be dangerous
    │   ├── UnsafePath            31
    │   ├── TooBig                32
    │   └── SecretFound           33   what is to be published holds what looks like a secret
    ├── StaleProvenance           40   the converted repo was edited against its sidecar
    ├── CheckFailed               50   a framework does not load what it should
    │   ├── JudgeMissing          51   the framework itself cannot be had
    │   ├── VerifyFailed          52   a task was run and is not sound, or differs from its twin
    │   └── NotVerified           54   a task could not be run: nothing is known of it
    ├── RoundTripDiffers          53
    └── HubError                  60
        ├── HubDenied             61   not allowed, or gated
        ├── HubNotFound           62
        ├── HubUnavailable        63   rate limit, network, offline
        └── HubConflict           64

An error names the task, the file, the place in it and the remedy. Library code raises; only the
command line prints and exits. A fault of one task is caught by the pipe and reported; the same
class raised for the whole source ends the run.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """The process exit codes; the names appear in ``--json`` and in the README's table."""

    DONE = 0
    INTERNAL = 1
    USAGE = 2
    LOSS = 3
    REFUSED = 4
    CANNOT_READ = 10
    UNKNOWN_FORMAT = 11
    AMBIGUOUS = 12
    NEWER_SCHEMA = 13
    MALFORMED = 14
    CANNOT_WRITE = 20
    NOTHING_REPRESENTABLE = 21
    OUTPUT_EXISTS = 22
    UNSAFE = 30
    UNSAFE_PATH = 31
    TOO_BIG = 32
    SECRET = 33
    STALE_PROVENANCE = 40
    CHECK_FAILED = 50
    JUDGE_MISSING = 51
    VERIFY_FAILED = 52
    ROUND_TRIP_DIFFERS = 53
    NOT_VERIFIED = 54
    HUB = 60
    HUB_DENIED = 61
    HUB_NOT_FOUND = 62
    HUB_UNAVAILABLE = 63
    HUB_CONFLICT = 64
    INTERRUPTED = 130


class RlconvertError(Exception):
    """Something a person can act on.

    `problem` is one sentence without a full stop. `reason` is a short stable slug for machines
    (``link-escapes``); it never changes once released. `task` is a task id, `file` a path inside
    that task, or inside the source where none is named, `where` a key path or ``line 3 column
    5``, `remedy` what to do about it.
    """

    code: ClassVar[ExitCode] = ExitCode.INTERNAL

    def __init__(
        self,
        problem: str,
        *,
        reason: str,
        task: str | None = None,
        file: str | None = None,
        where: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.reason = reason
        self.task = task
        self.file = file
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        place = ", ".join(part for part in (self.task, self.file, self.where) if part)
        text = f"{place}: {self.problem}" if place else self.problem
        return f"{text}. {self.remedy}" if self.remedy else text

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions with keyword arguments do not survive pickling; workers send them home.
        return (_revive, (type(self), self.problem, self.facts()))

    def facts(self) -> dict[str, str | None]:
        """The fields for ``--json`` and `loss.jsonl`, without the problem text."""
        return {
            "reason": self.reason,
            "task": self.task,
            "file": self.file,
            "where": self.where,
            "remedy": self.remedy,
        }

    def for_task(self, task: str) -> RlconvertError:
        """The error as that of `task`; itself it stays as it is."""
        facts = self.facts() | {"task": task}
        return _revive(type(self), self.problem, facts)


def _revive(
    kind: type[RlconvertError], problem: str, facts: dict[str, str | None]
) -> RlconvertError:
    reason = facts.pop("reason") or ""
    return kind(problem, reason=reason, **facts)


class UsageError(RlconvertError):
    """The command line or an option asks for something that does not exist."""

    code = ExitCode.USAGE


class ReadError(RlconvertError):
    """The source cannot be read."""

    code = ExitCode.CANNOT_READ


class UnknownFormat(ReadError):
    """Nothing in the source looks like a layout we know; the problem lists what was found."""

    code = ExitCode.UNKNOWN_FORMAT


class AmbiguousFormat(ReadError):
    """Several layouts fit; the remedy names the flag that decides."""

    code = ExitCode.AMBIGUOUS


class NewerSchema(ReadError):
    """A file of ours states a schema this version does not know. It is never guessed at."""

    code = ExitCode.NEWER_SCHEMA


class Malformed(ReadError):
    """A file does not say what its format demands."""

    code = ExitCode.MALFORMED


class SourceChanged(ReadError):
    """A file vanished, grew or was rewritten between listing and reading."""


class WriteError(RlconvertError):
    """The output cannot be written: a full disk, a missing right, two writers at one path."""

    code = ExitCode.CANNOT_WRITE


class NothingRepresentable(WriteError):
    """Not one task of the source can be carried to the target."""

    code = ExitCode.NOTHING_REPRESENTABLE


class OutputExists(WriteError):
    """The output folder is there already, and overwriting was not asked for."""

    code = ExitCode.OUTPUT_EXISTS


class UnsafeInput(RlconvertError):
    """Reading on would be dangerous."""

    code = ExitCode.UNSAFE


class UnsafePath(UnsafeInput):
    """A path or link that leaves its tree, or a name that cannot exist everywhere."""

    code = ExitCode.UNSAFE_PATH


class TooBig(UnsafeInput):
    """A size, depth or count above the limit stated in the problem."""

    code = ExitCode.TOO_BIG


class SecretFound(UnsafeInput):
    """Something that looks like a secret is in what would be published; its value is not told."""

    code = ExitCode.SECRET


class StaleProvenance(RlconvertError):
    """The converted repo was edited in a way that contradicts its sidecar; we never guess."""

    code = ExitCode.STALE_PROVENANCE


class CheckFailed(RlconvertError):
    """A framework does not load what it should, or gave no verdict."""

    code = ExitCode.CHECK_FAILED


class JudgeMissing(CheckFailed):
    """A framework cannot be installed or found: nothing was proved, and nothing disproved."""

    code = ExitCode.JUDGE_MISSING


class VerifyFailed(CheckFailed):
    """A task was run, and its oracle, its verifier or its conversion is not sound."""

    code = ExitCode.VERIFY_FAILED


class NotVerified(CheckFailed):
    """A task could not be run here: that says nothing of it."""

    code = ExitCode.NOT_VERIFIED


class RoundTripDiffers(RlconvertError):
    """A -> B -> A did not give A back."""

    code = ExitCode.ROUND_TRIP_DIFFERS


class HubError(RlconvertError):
    """The Hub said no, in a way that none of the classes below describes."""

    code = ExitCode.HUB


class HubDenied(HubError):
    """A gated repo, or a token without the right."""

    code = ExitCode.HUB_DENIED


class HubNotFound(HubError):
    """No such repo, revision or file, or private to others: the Hub does not tell these apart."""

    code = ExitCode.HUB_NOT_FOUND


class HubUnavailable(HubError):
    """Rate limit, network trouble, or offline mode without a cached copy."""

    code = ExitCode.HUB_UNAVAILABLE


class HubConflict(HubError):
    """Somebody else committed in between."""

    code = ExitCode.HUB_CONFLICT
