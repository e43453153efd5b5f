"""Running foreign code: a private home, no secrets, limits, and no way out of the machine.

What the system does not allow is left out and told: `Enclosure.network_blocked`.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rlconvert.errors import CheckFailed

_CONFINED = str(Path(__file__).with_name("confined.py"))
_PROCESSES = ("--pid", "--fork", "--kill-child", "--mount-proc")
_WAYS = (
    ("--net", *_PROCESSES),
    ("--map-root-user", "--net", *_PROCESSES),
    ("--net",),
    ("--map-root-user", "--net"),
)
"""Flags of `unshare`, best first: a process space of its own ends with its first process."""

_PROBE = """
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(server.getsockname(), timeout=5).close()
"""
_LAST_WORDS = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one script may use: seconds of time, and bytes of memory for each process."""

    seconds: float = 3600
    memory: int = 32 << 30


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A folder in which scripts run; `home` and `scratch` in it are theirs."""

    work: str
    limits: Limits

    def __post_init__(self) -> None:
        for folder in (self.home, self.scratch):
            Path(folder).mkdir(parents=True, exist_ok=True)

    @property
    def home(self) -> str:
        """The HOME of what runs."""
        return f"{self.work}/home"

    @property
    def scratch(self) -> str:
        """Its folder for temporary files, and where it stands."""
        return f"{self.work}/scratch"

    @property
    def network_blocked(self) -> bool:
        """Whether what runs can reach nothing but this machine's own loopback."""
        return bool(_wall())

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """All that a script sees of the environment."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "HOME": self.home,
            "TMPDIR": self.scratch,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            **(more or {}),
        }

    def run(self, command: Sequence[str], more: Mapping[str, str] | None = None) -> str:
        """Run a command, and everything it starts, to its end; its last words.

        `CheckFailed` when it takes too long; then, and when the run is interrupted, all of it is
        killed. The exit status is not looked at.
        """
        log = Path(self.work, "log")
        wall = _wall()
        loopback = "up" if wall else "-"
        confined = [sys.executable, "-I", _CONFINED, str(self.limits.memory), loopback, *command]
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*wall, *confined],
                env=self.environment(more),
                cwd=self.scratch,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                process.wait(self.limits.seconds)
            except subprocess.TimeoutExpired as error:
                raise CheckFailed(
                    f"the framework gave no verdict within {self.limits.seconds:g} s",
                    reason="timed-out",
                    remedy="Give it more time with --timeout",
                ) from error
            finally:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return _tail(log)


def _tail(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _LAST_WORDS))
        return file.read().decode("utf-8", "replace").strip()


@cache
def _wall() -> tuple[str, ...]:
    """The command that leads another into a network of its own; empty where none can be had."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return ()
    for flags in _WAYS:
        wall = (unshare, *flags, "--")
        probe = [sys.executable, "-I", _CONFINED, str(1 << 40), "up", sys.executable, "-I", "-c"]
        with suppress(OSError, subprocess.TimeoutExpired):
            done = subprocess.run(
                [*wall, *probe, _PROBE],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=30,
                check=False,
            )
            if done.returncode == 0:
                return wall
    return ()
