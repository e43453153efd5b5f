"""Ask the real Harbor whether task folders load. Runs inside Harbor's own Python.

    PYTHON harbor_loads.py OUT.jsonl [--children FOLDER]... [TASK_FOLDER]... [@LIST]

Writes one JSON object a line: first the versions, then for each folder
`{path, loads, name, valid_dir, steps, error}`. `loads` means that `Task(folder)` succeeds *and*
`Task.is_valid_dir` is true: Harbor (0.25.0, 0.26.0) leaves a folder out of a dataset for the second
and stops the whole job for the first. The exit status is 0 when every folder was judged, whatever
the verdicts.
"""

# The framework is not a dependency, and not in the type checkers' environment.
# mypy: disable-error-code="import-not-found"
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import warnings
from importlib.metadata import version
from pathlib import Path


def verdict(folder: Path) -> dict[str, object]:
    """What Harbor says about one folder; never raises for what is wrong with the task."""
    from harbor.models.task.task import Task

    found: dict[str, object] = {"path": os.fspath(folder)}
    try:
        found["valid_dir"] = bool(Task.is_valid_dir(folder))
        task = Task(folder)
        found |= {"name": task.name, "steps": len(task.config.steps or []), "error": None}
        if not found["valid_dir"]:
            found["error"] = "Task.is_valid_dir is false: Harbor leaves the folder out of a dataset"
    except Exception as error:
        found |= {"name": None, "steps": None, "error": f"{type(error).__name__}: {error}"}
    found["loads"] = found["error"] is None
    return found


def main() -> int:
    """Judge every folder named on the command line."""
    parser = argparse.ArgumentParser(fromfile_prefix_chars="@")
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--children", type=Path, action="append", default=[])
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # deprecated keys in task.toml
    folders = list(options.folders)
    for parent in options.children:
        folders += sorted(path for path in parent.iterdir() if path.is_dir())
    header = {
        "framework": "harbor",
        "harbor": version("harbor"),
        "python": platform.python_version(),
    }
    with options.out.open("w", encoding="utf-8") as out:
        out.write(json.dumps(header) + "\n")
        for folder in folders:
            out.write(json.dumps(verdict(folder)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
