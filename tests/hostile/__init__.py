"""Bad task repositories, made at run time: each function here writes one.

A generator gets an empty folder and makes a repository of Harbor task folders in it with exactly
one fault. It returns the name of the class in `rlconvert.errors` that a reader should raise or
report (a subclass is right too), `OK` when the oddity must be read without loss, or `EITHER` when
a reader may accept or refuse it, as long as it does not crash, hang or leave the folder.

`TASK_FAULTS` put the fault into the task ``tasks/bad`` and leave a good ``tasks/good`` beside it,
which must still be read. `REPO_FAULTS` concern the repository as a whole. A generator raises
`CannotMake` where the machine does not allow its fault (root reads every file, say).
"""

from . import configs, files, repos  # they fill the two tables
from .making import EITHER, OK, REPO_FAULTS, TASK_FAULTS, CannotMake, Generator, write_task

__all__ = [
    "EITHER",
    "OK",
    "REPO_FAULTS",
    "TASK_FAULTS",
    "CannotMake",
    "Generator",
    "configs",
    "files",
    "repos",
    "write_task",
]
