"""Run tasks with the real Harbor. Runs inside its own Python.

    PYTHON harbor_runs.py ORDER TRIALS

What ORDER and TRIALS hold is said in rlconvert's `runner.py`. Tasks go through `harbor run` in one
job; where that ends without a result for some, these are halved and tried again. `harbor run` ends
with status 0 whatever happened: what counts are the `result.json` of trials. For harbor 0.26.0.
"""

# The framework is no dependency, and not in the type checkers' environment.
# mypy: disable-error-code="import-not-found"
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[2] / "taskfolder" / "judge"))

from harbor_trials import Trials, facts_of, is_unset, rewards_of, tail_of

MOST_TASKS = 32
"""So many in a job: what Harbor holds of a trial stays in its memory until the job is over."""

UNSUPPORTED = "is not supported by"
"""What Harbor says of a demand that the sandbox cannot meet, before any trial."""

CANCELLED = "CancelledError"
"""What ends the trials beside one that Harbor cannot begin with: no result of theirs."""

ALIKE = 3
"""So many tasks alone that end alike without a trial: it is not them, and no more are run."""


def number_of(rewards: Mapping[str, float] | None) -> float | None:
    """The one number: of the key `reward`, else of the only key there is."""
    if not rewards:
        return None
    if "reward" in rewards:
        return rewards["reward"]
    return next(iter(rewards.values())) if len(rewards) == 1 else None


def trial_of(result: Mapping[str, Any], folder: Path) -> dict[str, object]:
    """A result of Harbor as a line."""
    return {**facts_of(result, folder), "reward": number_of(rewards_of(result))}


class Job:
    """One `harbor run`: some tasks, each by the same agents."""

    def __init__(self, order: Mapping[str, Any], number: int, tasks: Sequence[Any]) -> None:
        self.order = order
        self.name = f"job-{number}"
        self.folder = Path(order["work"], "jobs", self.name)
        self.tasks = {str(Path(task["folder"])): task for task in tasks}
        self.attempts: dict[tuple[str, str], int] = {}
        self.seen: set[Path] = set()
        self.last_words = ""

    def config(self) -> dict[str, object]:
        """What Harbor is asked for."""
        seconds = self.order["seconds"]
        agents = next(iter(self.tasks.values()))["agents"]
        return {
            "job_name": self.name,
            "jobs_dir": str(self.folder.parent),
            "n_attempts": self.order["repeat"],
            "n_concurrent_trials": self.order["jobs"],
            "quiet": True,
            "retry": {"max_retries": 0},
            "environment": {"type": self.order["sandbox"]},
            "verifier": {"max_timeout_sec": seconds},
            "agents": [{"name": name, "max_timeout_sec": seconds} for name in agents],
            "tasks": [{"path": folder} for folder in self.tasks],
        }

    def run(self, trials: Trials) -> list[Any]:
        """Run it, and write down each trial that is over; the tasks that have not had all."""
        work = Path(self.order["work"])
        config = work / f"{self.name}.json"
        config.write_text(json.dumps(self.config()), encoding="utf-8")
        log = work / f"{self.name}.log"
        program = Path(sys.executable).with_name("harbor")
        with log.open("wb") as output:
            process = subprocess.Popen(
                [str(program), "run", "--config", str(config), "--yes"],
                cwd=work,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            while process.poll() is None:
                self.collect(trials)
                time.sleep(0.3)
        self.collect(trials)
        self.last_words = tail_of(log)
        return [
            task
            for folder, task in self.tasks.items()
            if any(
                self.attempts.get((folder, name), 0) < self.order["repeat"]
                for name in task["agents"]
            )
        ]

    def collect(self, trials: Trials) -> None:
        """Write down the trials that are over."""
        for path in sorted(self.folder.glob("*/result.json")):
            if path in self.seen:
                continue
            try:
                result = json.loads(path.read_bytes())
            except ValueError:
                continue  # it is being written
            if not result.get("finished_at"):
                continue
            self.seen.add(path)
            if (result.get("exception_info") or {}).get("exception_type") == CANCELLED:
                continue
            folder, agent = str(result["config"]["task"]["path"]), result["agent_info"]["name"]
            attempt = self.attempts.get((folder, agent), 0)
            self.attempts[folder, agent] = attempt + 1
            head = {"task": self.tasks[folder]["task"], "agent": agent, "attempt": attempt}
            trials.add({**head, **trial_of(result, path.parent)})

    def missing(self, task: Any) -> Iterator[dict[str, object]]:
        """A line for each trial of a task that Harbor has no result of."""
        for agent in task["agents"]:
            done = self.attempts.get((str(Path(task["folder"])), agent), 0)
            for attempt in range(done, self.order["repeat"]):
                error = {"kind": "crash", "message": self.last_words}
                if is_unset(self.last_words):
                    error["kind"] = "unset-variable"
                elif UNSUPPORTED in self.last_words:
                    error["kind"] = "environment"
                yield {"task": task["task"], "agent": agent, "attempt": attempt, "error": error}


def groups_of(tasks: Sequence[Any]) -> Iterator[list[Any]]:
    """Tasks that the same agents are asked for, some at a time."""
    grouped: dict[tuple[str, ...], list[Any]] = {}
    for task in tasks:
        grouped.setdefault(tuple(task["agents"]), []).append(task)
    for group in grouped.values():
        for start in range(0, len(group), MOST_TASKS):
            yield group[start : start + MOST_TASKS]


class Runs:
    """All jobs of an order. A job that ends early is followed by one for each half of what is left,
    so that a task that Harbor does not even begin with stops no other.
    """

    def __init__(self, order: Mapping[str, Any], trials: Trials) -> None:
        self.order = order
        self.trials = trials
        self.number = 0
        self.alike = 0
        self.words = ""

    def run(self, tasks: Sequence[Any]) -> None:
        """Run some tasks that the same agents are asked for."""
        self.number += 1
        job = Job(self.order, self.number, tasks)
        left = job.run(self.trials) if self.alike < ALIKE else tasks
        if len(tasks) == 1:
            self.note(job, left)
        elif left:
            half = (len(left) + 1) // 2
            for part in (left[:half], left[half:]):
                if part:
                    self.run(part)

    def note(self, job: Job, left: Sequence[Any]) -> None:
        """Write down what a task alone came to, and whether it is the tasks."""
        job.last_words = job.last_words or self.words
        silent = bool(left) and not job.seen and not is_unset(job.last_words)
        self.alike = self.alike + 1 if silent and job.last_words == self.words else int(silent)
        self.words = job.last_words if silent else ""
        for task in left:
            for line in job.missing(task):
                self.trials.add(line)


def main() -> None:
    """Run what is ordered."""
    order = json.loads(Path(sys.argv[1]).read_bytes())
    trials = Trials(sys.argv[2])
    versions = {"harbor": version("harbor")}
    trials.add({"versions": versions, "python": platform.python_version()})
    os.environ.update(order["variables"])
    runs = Runs(order, trials)
    for group in groups_of(order["tasks"]):
        runs.run(group)


if __name__ == "__main__":
    main()
