"""Ask the real Harbor which tasks it finds in a repository. Runs inside Harbor's own Python.

    PYTHON harbor_datasets.py JOB.json OUT.json

JOB names the `repo` folder, the `url` under which git gets a copy of it, its `tasks` and the
`parents` of their folders (relative to it), and whether it has a `registry`. Asked are

* what `harbor lint --json` lists of every task by the rules about its config;
* each parent as a local dataset (`-p FOLDER`), and `registry.json` (`--registry-path`);
* the same from the Hub, by Harbor's own loader: `--repo URL`, `-p SUB` with it, `--dataset` of it;
* every task that the Hub's datasets name: it is fetched over git, and loaded where it arrives.

OUT gets one JSON object. The exit status is 0 when it was written, whatever it says. Written for
harbor 0.26.0.
"""

# The framework is not a dependency, and not in the type checkers' environment.
# mypy: disable-error-code="import-not-found"
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RULES = ("invalid-task-config", "unknown-config-field", "invalid-task-files")
DEFAULT_PARENT = "tasks"


def said(error: BaseException) -> str:
    """An error in a line; git's own words when it was git."""
    if isinstance(error, subprocess.CalledProcessError):
        return (error.stderr or b"").decode("utf-8", "replace").strip() or str(error)
    return f"{type(error).__name__}: {error}"


def lint(folders: list[Path], repo: Path) -> Iterator[dict[str, str]]:
    """What the linter finds; a folder that it cannot judge is a finding, and stops no other.

    Without Docker's program it cannot read compose files, and says nothing of the task at all:
    then it is asked again about the rest.
    """
    from harbor.lint import LintRule, lint_task
    from harbor.lint.compose import ComposeLoadError
    from harbor.lint.task import COMPOSE_RULES

    rules = {LintRule(rule) for rule in RULES}
    blind = 0
    for folder in folders:
        try:
            try:
                findings = lint_task(folder, selected_rules=rules)
            except ComposeLoadError:
                blind += 1
                findings = lint_task(folder, selected_rules=rules - COMPOSE_RULES)
        except Exception as error:  # the linter stops at what it cannot read
            yield {"path": relative(folder, repo), "rule": "lint-failed", "message": said(error)}
            continue
        for each in findings:
            place = relative(Path(each.path), repo)
            yield {"path": place, "rule": str(each.rule), "message": str(each.message)}
    if blind:
        problem = f"compose files that could not be linted: {blind}"
        yield {"path": ".", "rule": "lint-failed", "message": problem}


def relative(path: Path, repo: Path) -> str:
    """A path as the repository has it."""
    whole = os.path.normpath(repo / path)
    inner = os.path.relpath(whole, repo)
    return "" if inner == "." else inner


def resolve(config: dict[str, object]) -> list[Any]:
    """The tasks of one dataset, by the framework's own resolution."""
    from harbor.models.job.config import DatasetConfig

    return list(asyncio.run(DatasetConfig.model_validate(config).get_task_configs()))


class Datasets:
    """Every way of naming the repository's datasets, and what each one found."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.repo = Path(job["repo"])
        self.url = job["url"]
        self.found: list[dict[str, object]] = []
        self.remote: dict[str, Any] = {}

    def ask(self, way: str, where: str, config: dict[str, object], declared: int | None) -> None:
        """Resolve one dataset."""
        entry: dict[str, object] = {"way": way, "where": where, "declared": declared}
        self.found.append(entry)
        try:
            tasks = resolve(config)
        except Exception as error:
            entry["error"] = said(error)
            return
        entry["found"] = [relative(Path(task.path), self.repo) for task in tasks]
        for task in tasks:
            if task.git_url == self.url:
                self.remote[relative(Path(task.path), self.repo)] = task.get_task_id()

    def ask_all(self, parents: list[str], *, registry: bool) -> None:
        """Each parent folder and each dataset of the registry, here and from the Hub."""
        for parent in parents:
            self.ask("-p", parent, {"path": str(self.repo / parent)}, None)
            config: dict[str, object] = {"repo": self.url}
            if parent != DEFAULT_PARENT:
                config["path"] = parent or "."
            self.ask("--repo", parent, config, None)
        if not registry:
            return
        path = self.repo / "registry.json"
        try:
            entries = [
                (each["name"], each["version"], len(each["tasks"]))
                for each in json.loads(path.read_bytes())
            ]
        except Exception as error:
            self.found.append(
                {"way": "registry.json", "where": "", "declared": None, "error": said(error)}
            )
            return
        for name, version, count in entries:
            named = {"name": name, "version": version}
            where = f"{name}@{version}"
            self.ask("--registry-path", where, {**named, "registry_path": str(path)}, count)
            self.ask("--repo --dataset", where, {**named, "repo": self.url}, count)


def fetch(ids: dict[str, Any], folder: Path) -> Iterator[dict[str, object]]:
    """Fetch tasks over git, all at once; when that fails, halves, to find who is to blame."""
    from harbor.models.task.task import Task
    from harbor.tasks.client import TaskClient

    if not ids:
        return
    paths = list(ids)
    try:
        done = asyncio.run(
            TaskClient().download_tasks(list(ids.values()), overwrite=True, output_dir=folder)
        )
    except Exception as error:
        if len(ids) == 1:
            yield {"path": paths[0], "error": said(error)}
            return
        half = len(paths) // 2
        for some in (paths[:half], paths[half:]):
            yield from fetch({path: ids[path] for path in some}, folder)
        return
    for path, result in zip(paths, done.results, strict=True):
        try:
            Task(result.path)
            valid = Task.is_valid_dir(result.path)
            yield {"path": path, "error": None if valid else "Task.is_valid_dir is false"}
        except Exception as error:
            yield {"path": path, "error": said(error)}


def main() -> int:
    """Do one job."""
    job_path, out = map(Path, sys.argv[1:])
    warnings.simplefilter("ignore")  # deprecated keys in task.toml
    job = json.loads(job_path.read_bytes())
    repo = Path(job["repo"])
    os.chdir(repo)  # a registry names folders relative to where it is used
    folders = [repo / place for place in job["tasks"]]
    findings = list(lint(folders, repo))
    datasets = Datasets(job)
    datasets.ask_all(job["parents"], registry=job["registry"])
    with tempfile.TemporaryDirectory() as scratch:
        fetched = list(fetch(datasets.remote, Path(scratch)))
    answer = {"lint": findings, "datasets": datasets.found, "fetched": fetched}
    out.write_text(json.dumps(answer) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
