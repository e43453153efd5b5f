"""Runs an order on the local machine: ``python -m rlconvert.formats.taskfolder.local``.

    ORDER TRIALS

Both are files; `rlconvert.runner` says what they hold.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from rlconvert.formats.taskfolder.local.running import run_order
from rlconvert.running.runner import Order


def main(order: str, trials: str) -> None:
    """Run what is ordered. A signal ends it at once; the kernel ends its machines."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with Path(trials).open("a", encoding="utf-8") as lines:
        run_order(Order.model_validate_json(Path(order).read_bytes()), lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
