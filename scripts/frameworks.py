"""Make the virtual environments of the frameworks that judge, and say where they are.

    eval "$(scripts/frameworks DIR)" && pytest -m framework

One for each format, at the releases that it declares, as `rlconvert check` makes them; DIR takes
the place of its cache. An environment that is there and complete is left alone. Standard output:
one `export` line for each judge that can be used. A judge that cannot be installed is named on
standard error and makes the exit status 51 (`check`'s code for it).
"""

from __future__ import annotations

import shlex
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rlconvert.errors import ExitCode, JudgeMissing
from rlconvert.format import format_names, get_format
from rlconvert.proof.judges import judge_python


def main() -> int:
    """Make them all."""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return ExitCode.USAGE
    root = Path(sys.argv[1]).absolute()
    judges = {name: judge for name in format_names() if (judge := get_format(name).judge)}
    status = ExitCode.DONE
    with ThreadPoolExecutor() as pool:  # each waits for downloads most of the time
        made = {
            name: pool.submit(judge_python, name, judge, root) for name, judge in judges.items()
        }
        for name, python in made.items():
            try:
                found = shlex.quote(python.result())
            except JudgeMissing as missing:
                print(f"frameworks: {missing}", file=sys.stderr)
                status = ExitCode.JUDGE_MISSING
                continue
            said = " ".join(judges[name].requirements)
            print(f"frameworks: {name}: ready ({said})", file=sys.stderr)
            print(f"export RLCONVERT_{name.upper()}_PYTHON={found}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
