"""Runs one command in a machine that stands. It runs alone, by the Python that runs rlconvert:

    python -IS enter.py PROCESS REPORT < REQUEST

PROCESS is the first process of the machine. REQUEST is a line of JSON: `command`,
`env`, `workdir`, `user`, and `kill`, whether what is left running is killed. The command reads what
comes after that line. To the descriptor REPORT go lines of JSON: a `fault` that kept it from being
started, or its `status`.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
import warnings  # noqa: F401 - `os.execvpe` wants it when the host's files are out of sight
from collections.abc import Callable
from contextlib import suppress

_LIBC = ctypes.CDLL(None, use_errno=True)
_SPACES = {
    "user": 0x10000000,
    "mnt": 0x00020000,
    "ipc": 0x08000000,
    "uts": 0x04000000,
    "net": 0x40000000,
    "pid": 0x20000000,
}
_PARENT_DEATH, _DROP_BOUND, _LAST_CAPABILITY = 1, 24, 63
_KEPT = frozenset((0, 1, 3, 4, 5, 6, 7, 8, 10, 18, 31))
"""What root may do in the machine: change owners, pass by permissions, signal, become others, bind
low ports, change its root, give files capabilities. What containers of podman have."""

_FILE_BYTES = 8 << 30
_MAX_TABLE = 1 << 20


def main(process: str, report: str) -> None:
    """Run the command that is asked for, then kill what it left where that is asked for."""
    sys.path.clear()  # nothing is imported from the machine
    out = int(report)
    os.set_inheritable(out, False)
    try:
        request = json.loads(_line())
        _join(int(process))
        status = _in_child(out, lambda: _become(request)) if request["command"] else 0
        if request["kill"]:
            _in_child(out, _kill_all)
        _tell(out, status=status if status >= 0 else 128 - status)
    except BaseException as error:  # noqa: BLE001 - told to whoever asks
        _tell(out, fault=str(error))


def _in_child(out: int, action: Callable[[], None]) -> int:
    """The status of a child that does one thing. We ourselves are no process of the machine."""
    child = os.fork()
    if not child:
        try:
            action()
        except BaseException as error:  # noqa: BLE001 - told to whoever asks
            _tell(out, fault=str(error))
        signal.raise_signal(signal.SIGKILL)  # a second parent would run what follows again
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _tell(out: int, **facts: object) -> None:
    os.write(out, json.dumps(facts).encode() + b"\n")


def _kill_all() -> None:
    """Kill all processes of the machine but its first, which heeds no signal from within."""
    with suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)


def _line() -> bytes:
    """The first line of the input, and not a byte more: the rest is the command's."""
    line = b""
    while not line.endswith(b"\n"):
        line += os.read(0, 1)
    return line


def _join(process: int) -> None:
    kinds = 0
    for name, kind in _SPACES.items():
        if _space(process, name) != _space(os.getpid(), name):
            kinds |= kind
    descriptor = os.pidfd_open(process)
    if _LIBC.setns(descriptor, kinds):
        raise OSError(ctypes.get_errno(), "cannot enter the machine")
    os.close(descriptor)


def _space(process: int, name: str) -> str:
    return os.readlink(f"/proc/{process}/ns/{name}")  # noqa: PTH115 - pathlib takes its time


def _become(request: dict[str, object]) -> None:
    """Take the place of the child, or raise."""
    command, env = request["command"], request["env"]
    if not isinstance(command, list) or not isinstance(env, dict):
        raise TypeError("a command is a list, an environment an object")
    os.setsid()
    os.umask(0o022)
    try:
        os.chdir(str(request["workdir"]))
    except OSError as error:
        raise OSError(f"no working directory {request['workdir']}: {error.strerror}") from None
    user = request["user"]
    uid, gid, groups, home = _identity("root" if user is None else str(user))
    for kind, most in ((resource.RLIMIT_FSIZE, _FILE_BYTES), (resource.RLIMIT_CORE, 0)):
        with suppress(ValueError, OSError):  # a lower limit is in force
            resource.setrlimit(kind, (most, most))
    for capability in range(_LAST_CAPABILITY + 1):
        if capability not in _KEPT:
            _LIBC.prctl(_DROP_BOUND, capability, 0, 0, 0)
    if (uid, gid) != (0, 0) or os.getgroups():
        with suppress(PermissionError):  # where a user space allows one group
            os.setgroups(groups)
        try:
            os.setgid(gid)
            os.setuid(uid)
        except OSError:
            raise OSError(f"this user cannot run anything as {user}") from None
    _LIBC.prctl(_PARENT_DEATH, signal.SIGKILL, 0, 0, 0)  # after the change, which undoes it
    os.execvpe(command[0], command, {"HOME": home, **env})  # noqa: S606 - no shell is the point


def _identity(user: str) -> tuple[int, int, list[int], str]:
    """User, group, further groups and home of ``name``, ``uid``, ``name:group``, ``uid:gid``."""
    name, _, group = user.partition(":")
    people = [line.split(":") for line in _table("/etc/passwd")]
    groups = [line.split(":") for line in _table("/etc/group")]
    found = next((each for each in people if len(each) > 5 and name in (each[0], each[2])), None)
    if found is not None:
        uid, gid, home, name = int(found[2]), int(found[3]), found[5] or "/", found[0]
    elif name.isdecimal() or name == "root":
        uid, gid, home = int(name) if name != "root" else 0, 0, "/"
    else:
        raise LookupError(f"there is no user {name}")
    if group:
        named = next((each for each in groups if len(each) > 2 and each[0] == group), None)
        if named is None and not group.isdecimal():
            raise LookupError(f"there is no group {group}")
        return uid, int(named[2] if named else group), [], home
    more = [int(each[2]) for each in groups if len(each) > 3 and name in each[3].split(",")]
    return uid, gid, more, home


def _table(path: str) -> list[str]:
    """The lines of a file of the machine, which may be anything."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            return os.read(descriptor, _MAX_TABLE).decode(errors="replace").splitlines()
        finally:
            os.close(descriptor)
    return []


if __name__ == "__main__":
    main(*sys.argv[1:])
