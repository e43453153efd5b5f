"""Reads what a verifier left: its reward files, and the end of a log.

The folder is a stranger's: no link is followed out of it, nothing is waited for, no more is read
than a reward can be. Which file counts and what it may say is as in Harbor 0.26.0.
"""

from __future__ import annotations

import errno
import json
import math
import os
import stat
from contextlib import suppress
from pathlib import Path

from rlconvert.running.runner import MAX_LOG, ErrorKind

MAX_REWARD = 1 << 20
"""Bytes of a reward file."""

_MAX_LINKS = 8
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class RewardFault(Exception):
    """There is no reward, or none that can be read."""

    def __init__(self, kind: ErrorKind, problem: str) -> None:
        super().__init__(problem)
        self.kind = kind


def read_rewards(folder: Path) -> dict[str, float]:
    """The named rewards: of `reward.json` where it exists, else the number in `reward.txt`.

    `RewardFault` when there is none, and when there is something else.
    """
    for name, parse in (("reward.json", _rewards_of_json), ("reward.txt", _rewards_of_text)):
        data = _read(folder, name)
        if data is None:
            continue
        if not data:
            raise RewardFault(ErrorKind.NO_REWARD, f"{name} is empty")
        try:
            rewards = parse(data.decode())
        except (ValueError, OverflowError, RecursionError) as error:
            raise RewardFault(ErrorKind.BAD_REWARD, f"{name}: {error}") from error
        if not all(map(math.isfinite, rewards.values())):
            raise RewardFault(ErrorKind.BAD_REWARD, f"{name} has a number that is not finite")
        return rewards
    raise RewardFault(ErrorKind.NO_REWARD, "there is neither reward.json nor reward.txt")


def tail_of(folder: Path, name: str) -> str:
    """The end of a log of `folder`, or nothing where it is not a file."""
    with suppress(OSError):
        descriptor = os.open(folder / name, _OPEN)
        with os.fdopen(descriptor, "rb") as file:
            file.seek(max(0, os.fstat(descriptor).st_size - 4 * MAX_LOG))
            return file.read(4 * MAX_LOG).decode("utf-8", "replace")[-MAX_LOG:]
    return ""


def _rewards_of_text(text: str) -> dict[str, float]:
    return {"reward": float(text)}


def _rewards_of_json(text: str) -> dict[str, float]:
    found: object = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("it is not an object")
    rewards = {}
    for name, value in found.items():
        if not isinstance(value, int | float):
            raise ValueError(f"{name} is not a number")
        name.encode()  # a lone surrogate is no name
        rewards[name] = float(value)
    return rewards


def _read(folder: Path, name: str) -> bytes | None:
    """The bytes of a regular file of `folder`, or None where there is none."""
    at = name
    for _ in range(_MAX_LINKS):
        try:
            descriptor = os.open(folder / at, _OPEN)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise _unreadable(name, error.strerror or "cannot be opened") from error
            at = _next(folder / at, name)
            continue
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise _unreadable(name, "is not a file")
            data = os.read(descriptor, MAX_REWARD + 1)
        finally:
            os.close(descriptor)
        if len(data) > MAX_REWARD:
            raise _unreadable(name, f"is longer than {MAX_REWARD} bytes")
        return data
    raise _unreadable(name, "is a link to a link without end")


def _next(path: Path, name: str) -> str:
    """Where a link leads in its own folder."""
    target = str(path.readlink())
    if "/" in target or target in ("", ".", ".."):
        raise _unreadable(name, "is a link out of its folder")
    return target


def _unreadable(name: str, problem: str) -> RewardFault:
    return RewardFault(ErrorKind.BAD_REWARD, f"{name} {problem}")
