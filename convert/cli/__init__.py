"""The command line: the only place that prints and exits.

stdout is the result, stderr the talk. Exit codes are those of `rlconvert.errors.ExitCode`.
"""

from __future__ import annotations

from .commands import main

__all__ = ["main"]
