"""Why a file of a task folder is refused: a closed list of reasons, and the exception for them.

Every reason says whether the rule behind it is Harbor's (harbor 0.26.0) or only ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

PathPart = str | int

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class Reason(StrEnum):
    """What is wrong. Closed: a new reason is a change of this list and of its test."""

    # The bytes.
    TOO_BIG = "too-big"
    NOT_UTF8 = "not-utf8"
    BYTE_ORDER_MARK = "byte-order-mark"
    NUL_CHARACTER = "nul-character"
    # The document.
    BAD_TOML = "bad-toml"
    BAD_JSON = "bad-json"
    TOO_DEEP = "too-deep"
    NUMBER_TOO_LONG = "number-too-long"
    NOT_FINITE = "not-finite"
    DUPLICATE_KEY = "duplicate-key"
    EMPTY_NOT_ARRAY = "empty-not-array"
    # The keys.
    MISSING_KEY = "missing-key"
    WRONG_TYPE = "wrong-type"
    BAD_VALUE = "bad-value"
    # The rules of single keys.
    PACKAGE_NAME = "package-name"
    CONTROL_CHARACTER = "control-character"
    DIGEST = "digest"
    FILE_NAME = "file-name"
    RESERVED_FILE_NAME = "reserved-file-name"
    LEGACY_SIZE = "legacy-size"
    LEGACY_CONFLICT = "legacy-conflict"
    NETWORK_HOST = "network-host"
    NETWORK_POLICY = "network-policy"
    MCP_TRANSPORT = "mcp-transport"
    MCP_HEADER = "mcp-header"
    MCP_CREDENTIAL = "mcp-credential"
    TPU_TOPOLOGY = "tpu-topology"
    SERVICE_NAME = "service-name"
    ARTIFACT_PATH = "artifact-path"
    VERIFIER_ENVIRONMENT = "verifier-environment"
    STEP_NAME = "step-name"
    STEP_NAME_TAKEN = "step-name-taken"
    GIT_OPTION = "git-option"

    @property
    def harbor_accepts(self) -> bool:
        """Whether the rule is ours alone: on this account Harbor 0.26.0 would load the file."""
        return self in _OURS_ALONE


_OURS_ALONE = frozenset(
    {
        Reason.TOO_BIG,
        # Harbor has no limit but its parsers': some 330 tables within each other on one line, 490
        # arrays, 1,000 levels of JSON. Dotted keys it always follows.
        Reason.TOO_DEEP,
        # A hexadecimal number that has no decimal form Python will write.
        Reason.NUMBER_TOO_LONG,
        # NaN, Infinity and 1e999 are not JSON; Python's reader takes them.
        Reason.NOT_FINITE,
        # Python's JSON reader keeps the last one.
        Reason.DUPLICATE_KEY,
        # `{}` and `""` are looped over without a turn.
        Reason.EMPTY_NOT_ARRAY,
        # Patterns that end in `$` let one final newline pass.
        Reason.CONTROL_CHARACTER,
        # "", "." and ".." are file names without a slash.
        Reason.RESERVED_FILE_NAME,
        # It hands to git whatever is there: `--upload-pack=COMMAND` is run.
        Reason.GIT_OPTION,
    }
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault: the key it is at (empty: the document), and the place in the text if known."""

    reason: Reason
    where: str
    message: str
    line: int | None = None
    column: int | None = None

    @property
    def harbor_accepts(self) -> bool:
        """Whether Harbor 0.26.0 has no such rule."""
        return self.reason.harbor_accepts

    def __str__(self) -> str:
        at = self.where or "document"
        place = "" if self.line is None else f" (line {self.line}, column {self.column})"
        return f"{at}: {self.message}{place} [{self.reason}]"


class DocumentRefused(ValueError):
    """A file was refused; carries every problem found, at least one.

    Problems of the bytes and of the document come alone (nothing after them can be judged);
    problems of keys come all at once.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        shown = [str(problem) for problem in problems[:10]]
        if len(problems) > len(shown):
            shown.append(f"and {len(problems) - len(shown)} more")
        super().__init__("; ".join(shown))
        self.problems = tuple(problems)

    @property
    def harbor_accepts(self) -> bool:
        """Whether every rule found broken is ours alone, so that Harbor 0.26.0 may load this file.

        May: rules across the keys of a table are tried only once its keys are right one by one.
        """
        return all(problem.harbor_accepts for problem in self.problems)


class CannotEncode(ValueError):
    """A value was asked to be written that would not be read back as it is."""


class RuleBroken(ValueError):
    """Raised by a validator of one key; becomes a `Problem` at the path of that key."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def dotted(path: Sequence[PathPart]) -> str:
    """A key path for people: ``steps[0].verifier.env."A B"``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            key = part if _BARE_KEY.fullmatch(part) else json.dumps(part)
            text += f".{key}" if text else key
    return text
