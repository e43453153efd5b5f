"""PAIRS.md says what the code does now."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_table_is_what_the_code_does() -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "pairs.py")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    page = (ROOT / "PAIRS.md").read_text(encoding="utf-8")
    assert run.stdout == page, "scripts/pairs --write brings it up to date"
