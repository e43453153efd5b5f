"""Waiting for what other processes do, and seeing whether they are there."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

linux = pytest.mark.skipif(not Path("/proc/self").exists(), reason="reads /proc")
"""Marks a test that calls `alive`."""


def alive(text: str) -> list[str]:
    """Processes that have a text in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text.encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def wait_until(met: Callable[[], bool], seconds: float = 30) -> None:
    """Wait for something that must come soon."""
    end = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < end
        time.sleep(0.05)
