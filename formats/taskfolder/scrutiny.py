"""What reading tells about a task folder before it is run, for the formats that are made of them.

The modules that read are imported when they are asked for the first time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlconvert.model import Task
    from rlconvert.soundness import Weakness


def weaknesses(task: Task) -> tuple[Weakness, ...]:
    """What is weak about how a task is graded (`soundness.py`)."""
    from . import soundness

    return soundness.weaknesses(task)


def host_access(task: Task) -> tuple[str, ...]:
    """What a task asks of the host (`host_access.py`)."""
    from . import host_access

    return host_access.host_access(task)
