"""Starts one command under limits. It runs alone, by the Python that runs rlconvert:

    python -I confined.py MEMORY LOOPBACK COMMAND...

MEMORY is in bytes, for each process. LOOPBACK is ``up`` in a network of its own, which begins with
every interface down, else ``-``. The command takes this process's place.
"""

from __future__ import annotations

import fcntl
import os
import resource
import socket
import struct
import sys
from contextlib import suppress

_SET_FLAGS, _UP = 0x8914, 0x1
"""`SIOCSIFFLAGS` and `IFF_UP` of Linux."""

_FILE_BYTES = 8 << 30


def main(memory: str, loopback: str, *command: str) -> None:
    """Set the limits, and become the command."""
    if loopback == "up":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH22x", b"lo", _UP))
    for kind, most in (
        (resource.RLIMIT_AS, int(memory)),
        (resource.RLIMIT_FSIZE, _FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # a lower limit is in force, or the system has none
            resource.setrlimit(kind, (most, most))
    os.execv(command[0], command)  # noqa: S606 - no shell is the point


if __name__ == "__main__":
    main(*sys.argv[1:])
