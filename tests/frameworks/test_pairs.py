"""What PAIRS.md says that the frameworks load is what they say now: the cheap pairs, asked again.

`eval "$(scripts/frameworks DIR)"` makes the frameworks' environments and names them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rlconvert.format import format_names

pytestmark = pytest.mark.framework

ROOT = Path(__file__).parents[2]


def test_the_proofs_are_what_the_frameworks_say() -> None:
    """A set of three tasks to every format, and rows: what is not asked again stands as it was."""
    for name in format_names():
        if f"RLCONVERT_{name.upper()}_PYTHON" not in os.environ:
            pytest.skip(f'no Python of {name} is named: eval "$(scripts/frameworks DIR)"')
    again = [part for title in ("verifiers", "nemo rows") for part in ("--check", title)]
    run = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "pairs.py"), *again],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "loaded by" in run.stdout
    assert run.stdout == (ROOT / "PAIRS.md").read_text(encoding="utf-8")
