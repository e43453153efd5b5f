"""Ask the real OpenEnv which tasks a repository has. Runs inside its own Python.

    PYTHON openenv_loads.py REPO OUT.json

What OpenEnv would download from the Hub is laid out first: the files below `tasks/` and nothing
else, without empty folders, a link as a file that holds its target. Then

* `resolve_task_dirs` lists the tasks, whose order is their identity;
* each of them goes through Harbor's `Task.is_valid_dir` and `Task(...)`, and its text through
  OpenEnv's own `read_instruction`;
* `openenv harbor info` counts them.

OUT gets one JSON object: the versions, `tasks` in OpenEnv's order as `{name, error}`, `info`, the
number that the command reports, and `error` where the set as a whole does not resolve. The exit
status is 0 when the verdict was written. Written for openenv 0.10.0 with harbor 0.25.0.
"""

# The frameworks are not dependencies, and not in the type checkers' environment.
# mypy: disable-error-code="import-not-found"
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import warnings
from importlib.metadata import version
from pathlib import Path


def download(repo: Path, target: Path) -> None:
    """What `snapshot_download(allow_patterns=["tasks/**"], local_dir=...)` leaves of a repo."""
    target.mkdir()
    for source in (repo / "tasks").rglob("*"):  # which goes through no link
        if source.is_dir() and not source.is_symlink():
            continue
        place = target / source.relative_to(repo)
        place.parent.mkdir(parents=True, exist_ok=True)
        held = str(source.readlink()).encode() if source.is_symlink() else source.read_bytes()
        place.write_bytes(held)


def error_of(task: Path, dataset: Path) -> str | None:
    """Why Harbor or OpenEnv would not take one folder; None when both do."""
    from harbor.models.task.task import Task
    from openenv.harbor.tasks import read_instruction

    try:
        found = Task(task)
        if not Task.is_valid_dir(task):
            return "Task.is_valid_dir is false"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    wanted = found.instruction.strip()
    if wanted and not found.has_steps and not read_instruction(task, spec=str(dataset)):
        return "its instruction is not shown"
    return None


def info_of(dataset: Path, scratch: Path) -> int | str:
    """How many tasks `openenv harbor info` counts; what it says where it does not."""
    program = Path(sys.executable).with_name("openenv")
    done = subprocess.run(
        [program, "harbor", "info", "--dataset", dataset, "--json"],
        cwd=scratch,
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        return int(json.loads(done.stdout[done.stdout.index("{") :])["datasets"][0]["num_tasks"])
    except (ValueError, KeyError, IndexError, TypeError):
        return (done.stderr or done.stdout).strip()[-1000:]


def main() -> int:
    """Judge one repository."""
    parser = argparse.ArgumentParser()
    parser.add_argument("repo", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    repo, out = options.repo.resolve(), options.out.resolve()
    warnings.simplefilter("ignore")  # deprecated keys in task.toml
    verdict: dict[str, object] = {
        "framework": "openenv",
        "openenv": version("openenv"),
        "harbor": version("harbor"),
        "python": platform.python_version(),
        "tasks": [],
        "info": None,
        "error": None,
    }
    with tempfile.TemporaryDirectory(prefix="judge-") as scratch:
        home = Path(scratch, "home")
        home.mkdir()
        os.environ |= {"HOME": str(home), "HF_HUB_OFFLINE": "1"}
        dataset = Path(scratch, repo.name)
        download(repo, dataset)
        from openenv.harbor.tasks import resolve_task_dirs

        try:
            tasks = resolve_task_dirs(str(dataset))
            verdict["tasks"] = [
                {"name": task.relative_to(dataset / "tasks").as_posix(), "error": error}
                for task, error in ((task, error_of(task, dataset)) for task in tasks)
            ]
        except Exception as error:
            verdict["error"] = f"{type(error).__name__}: {error}"
        verdict["info"] = info_of(dataset, home)
    out.write_text(json.dumps(verdict, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
