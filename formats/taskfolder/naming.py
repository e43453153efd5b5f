"""Harbor's rules for names and container paths.

Facts: harbor 0.26.0, `harbor/constants.py`, `harbor/models/task/step_name.py`,
`harbor/models/task/config.py` and `harbor/models/dataset/manifest.py`.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath

from .problems import Reason, RuleBroken

MAIN_SERVICE = "main"
"""The compose service the agent is in."""

_PACKAGE = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*/[a-zA-Z0-9][a-zA-Z0-9._-]*")
_DIGEST = re.compile(r"sha256:[a-f0-9]{64}")
_SERVICE = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.-]*")
_NOT_IN_STEP_NAME = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
_WINDOWS_DEVICE = re.compile(
    r"CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[1-9\u00b9\u00b2\u00b3]", re.IGNORECASE
)
_WINDOWS_ROOT = re.compile(r"[A-Za-z]:[/\\]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def package_name(name: str) -> str:
    """``org/name``, as it is. Also refused, though Harbor lets it pass: a final newline."""
    _no_final_newline(name, _PACKAGE)
    if not _PACKAGE.fullmatch(name) or ".." in name:
        raise RuleBroken(
            Reason.PACKAGE_NAME,
            "not org/name, each half of ASCII letters, digits, '.', '_' and '-', starting with"
            f" a letter or digit, without '..': {name!r}",
        )
    return name


def digest(text: str) -> str:
    """``sha256:`` and 64 lower-case hexadecimal digits, without the final newline Harbor allows."""
    _no_final_newline(text, _DIGEST)
    if not _DIGEST.fullmatch(text):
        raise RuleBroken(Reason.DIGEST, f"not sha256: and 64 lower-case hex digits: {text!r}")
    return text


def optional_digest(text: str) -> str:
    """A digest, or nothing: `harbor publish` fills it in."""
    return digest(text) if text else text


def bare_file_name(name: str) -> str:
    """A file name without a directory. Ours alone: nor empty, `.`, `..`, or with controls."""
    if "/" in name or "\\" in name:
        raise RuleBroken(Reason.FILE_NAME, f"must not have a directory part: {name!r}")
    if name in ("", ".", "..") or _CONTROL.search(name):
        raise RuleBroken(Reason.RESERVED_FILE_NAME, f"not a file name: {name!r}")
    return name


def service_name(name: str) -> str:
    """A Docker Compose service name, stripped."""
    plain = name.strip()
    if not _SERVICE.fullmatch(plain):
        raise RuleBroken(Reason.SERVICE_NAME, f"not a compose service name: {name!r}")
    return plain


def step_name(name: str) -> str:
    """A name that is one folder on every system: no separator, device name, trailing dot."""
    if (
        not name.strip()
        or name.endswith((".", " "))
        or _NOT_IN_STEP_NAME.search(name)
        or _WINDOWS_DEVICE.fullmatch(name.partition(".")[0].rstrip(" "))
    ):
        raise RuleBroken(
            Reason.STEP_NAME,
            "not a portable folder name (empty, separators, control or Windows-reserved"
            f" characters, device names, trailing dot or space): {name!r}",
        )
    if len(name.encode()) > 255:
        raise RuleBroken(Reason.STEP_NAME, "longer than 255 bytes of UTF-8")
    return name


def step_key(name: str) -> str:
    """Equal for step names that some file systems would take for the same folder."""
    return unicodedata.normalize("NFC", name).casefold()


def artifact_source(source: str) -> str:
    """A path in a container, without ``..``; the empty path is allowed."""
    if ".." in PurePosixPath(source).parts:
        raise RuleBroken(Reason.ARTIFACT_PATH, f"must not contain '..': {source!r}")
    return source


def artifact_destination(destination: str) -> str:
    """A path below the artifacts folder: relative, ``/`` only, no ``..``, not its manifest."""
    path = PurePosixPath(destination)
    if (
        "\\" in destination
        or path.is_absolute()
        or not path.parts
        or ".." in path.parts
        or destination.rstrip("/") == "manifest.json"
    ):
        raise RuleBroken(
            Reason.ARTIFACT_PATH,
            "must be relative, with forward slashes, without '..', name something, and not be"
            f" manifest.json: {destination!r}",
        )
    return destination


def is_absolute_in_container(path: str) -> bool:
    """POSIX, or with a Windows drive."""
    return path.startswith("/") or _WINDOWS_ROOT.match(path) is not None


def _no_final_newline(text: str, pattern: re.Pattern[str]) -> None:
    if text.endswith("\n") and pattern.fullmatch(text[:-1]) and ".." not in text:
        raise RuleBroken(Reason.CONTROL_CHARACTER, f"ends with a newline: {text!r}")
