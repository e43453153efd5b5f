"""Ask the real NeMo Gym about a repository of rows for Harbor tasks. Runs inside its own Python.

    PYTHON nemo_accepts.py REPO OUT.json [--dataset-path FOLDER] [--environment NAME]... [--fetch N]

For each `environments/<name>/config.yaml` of REPO:

* the config goes through NeMo Gym's own parser, and each `harbor_agent_general` in it becomes the
  framework's `HarborAgentConfig`, as its server would build it;
* each row of each dataset is a `BaseRunRequest` and, with the two index keys that rollout
  collection adds, a `HarborRunRequest`;
* each row names exactly one task: the pattern is applied by Harbor's own `DatasetConfig`, and the
  finished trial would be found again, which NeMo looks for by the task's declared name;
* N tasks (default 3) are really fetched when the config names a git repository;
* `gym env validate` and `gym dataset collate` run, and what they report is compared with the number
  of lines (they end with status 0 in many a failure).

`--dataset-path` is the value of `harbor_dataset_path`, for configs that name no repository. OUT
gets one JSON object; `accepted` is true when no list `faults` in it has an entry. The exit status
is 0 when the verdict was written. Written for nemo-gym 0.7.0 with harbor 0.25.0.
"""

# The frameworks are not dependencies, and not in the type checkers' environment: their objects
# are untyped here.
# mypy: disable-error-code="import-not-found"
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nemo_commands import (
    Counted,
    codeless,
    count_lines,
    instances,
    judge_collate,
    judge_validate,
    parse_config,
)

AGENT = "harbor_agent_general"
INDEXES = {"_ng_task_index": 0, "_ng_rollout_index": 0}
ALL_PAIRS = 30_000_000
"""Up to so many (row, task) pairs every row goes through Harbor's own filter."""


@dataclass(frozen=True)
class Found:
    """A task as Harbor listed it; stands in for a task id, whose `get_name` asks the disk."""

    name: str
    config: Any

    def get_name(self) -> str:
        """What a row's pattern is compared with."""
        return self.name


def server_config(parsed: Any, name: str) -> Any:
    """The agent's config as its server builds it at start (`load_config_from_global_config`)."""
    from nemo_gym.global_config import get_first_server_config_dict
    from omegaconf import OmegaConf
    from responses_api_agents.harbor_agent_general.app import HarborAgentConfig

    settings = OmegaConf.to_container(get_first_server_config_dict(parsed, name), resolve=True)
    return HarborAgentConfig.model_validate({**settings, "name": name})


def tasks_of(config: Any) -> list[Found]:
    """Every task of the agent's `harbor_dataset`, by the framework's own resolution."""
    tasks = asyncio.run(config.harbor_dataset.get_task_configs())
    return [Found(task.get_task_id().get_name(), task) for task in tasks]


def matches(config: Any, task_name: str, tasks: Sequence[Found]) -> list[Found]:
    """The tasks that a row would run: Harbor's own filter, with the pattern NeMo Gym gives it."""
    dataset = config.harbor_dataset.model_copy(update={"task_names": [task_name]})
    try:
        return list(dataset._filter_task_ids(list(tasks)))
    except ValueError:  # "No tasks matched the filter(s)"
        return []


class Resolver:
    """Says why a row would not run exactly its task, with the declared names looked up once."""

    def __init__(self, config: Any, repo: Path) -> None:
        self.config = config
        self.repo = repo
        self.tasks = tasks_of(config)
        self.exact = {task.name: task for task in self.tasks}
        self.declared: dict[str, str | None] = {}

    def fault(self, task_name: str, rows: int) -> str | None:
        plain = not set("*?[") & set(task_name)
        if plain and rows * len(self.tasks) > ALL_PAIRS:
            # Without one of these a pattern matches what is equal to it (fnmatch), so look it up.
            hits = [self.exact[task_name]] if task_name in self.exact else []
        else:
            hits = matches(self.config, task_name, self.tasks)
        if len(hits) != 1:
            return f"the row matches {len(hits)} tasks: {[task.name for task in hits][:3]}"
        name = self.declared_name(hits[0])
        if name is None:
            return "Harbor does not load the task"
        if name != task_name and Path(name).name != task_name:
            return f"the trial would be called {name!r} and not be found again: reward 0.0"
        return None

    def declared_name(self, task: Found) -> str | None:
        if task.name not in self.declared:
            from harbor.models.task.task import Task

            local = (
                task.config.path if task.config.git_url is None else self.repo / task.config.path
            )
            try:
                self.declared[task.name] = Task(local).name
            except Exception:  # whatever Harbor raises, the task does not load
                self.declared[task.name] = None
        return self.declared[task.name]

    def fetch(self, count: int) -> list[str]:
        """Fetch some tasks over git, the first and the last among them; the faults."""
        from harbor.tasks.client import TaskClient

        remote = [task for task in self.tasks if task.config.git_url is not None]
        faults: list[str] = []
        step = max(1, (len(remote) - 1) // max(1, count - 1))
        for task in remote[::step][:count]:
            # Of a registry. Harbor hands them to git, which runs what `--upload-pack=` names.
            if any(
                (value or "").startswith("-")
                for value in (task.config.git_url, task.config.git_commit_id)
            ):
                faults.append(f"{task.name}: git would take its address or commit for an option")
                continue
            with tempfile.TemporaryDirectory() as folder:
                try:
                    asyncio.run(
                        TaskClient().download_tasks(
                            [task.config.get_task_id()], overwrite=True, output_dir=Path(folder)
                        )
                    )
                except Exception as error:
                    faults.append(f"{task.name}: not fetched: {type(error).__name__}: {error}")
        return faults


def judge_rows(path: Path, resolver: Resolver) -> tuple[int, list[dict[str, object]]]:
    """How many lines a file has, and what is wrong with which."""
    from nemo_gym.base_resources_server import BaseRunRequest
    from responses_api_agents.harbor_agent_general.app import HarborRunRequest

    with path.open(encoding="utf-8", newline="\n") as file:
        lines = list(file)
    faults: list[dict[str, object]] = []
    for number, line in enumerate(lines, 1):
        name: object = None
        try:
            row = json.loads(line)
            BaseRunRequest.model_validate(row)
            name = HarborRunRequest.model_validate({**row, **INDEXES}).task_name
            fault = resolver.fault(str(name), len(lines))
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
        if fault is not None:
            faults.append({"line": number, "task_name": name, "fault": fault})
    return len(lines), faults


def judge_environment(
    folder: Path, repo: Path, root: Path, dataset_path: Path | None, fetch: int
) -> dict[str, object]:
    """Everything about one `environments/<name>`; `root` is where NeMo Gym looks for files."""
    config_path = root / folder.relative_to(repo) / "config.yaml"
    verdict: dict[str, Any] = {"name": folder.name, "faults": [], "agents": []}
    path_given = {} if dataset_path is None else {"harbor_dataset_path": str(dataset_path)}
    try:
        parsed = parse_config(config_path, path_given)
        servers = {server.name: server for server in instances(parsed)}
        configs = {
            name: server_config(parsed, name)
            for name, server in servers.items()
            if AGENT in (getattr(server, "responses_api_agents", None) or {})
        }
    except Exception as error:
        verdict["faults"].append(f"config.yaml: {type(error).__name__}: {error}")
        return verdict
    if not configs:
        verdict["faults"].append(f"no {AGENT} in the config")
    counted = Counted()
    for name, server in servers.items():
        for dataset in getattr(server, "datasets", None) or ():
            path = repo / dataset.jsonl_fpath
            if path.is_file():
                counted.add(dataset, count_lines(path))
            elif name not in configs:
                verdict["faults"].append(f"{name}, {dataset.name}: no {dataset.jsonl_fpath}")
    for name, config in configs.items():
        agent: dict[str, Any] = {"name": name, "faults": [], "datasets": []}
        verdict["agents"].append(agent)
        agent["harbor_dataset"] = config.harbor_dataset.model_dump(mode="json", exclude_none=True)
        agent["harbor_jobs_dir"] = str(config.harbor_jobs_dir)
        agent["harbor_reward_key"] = config.harbor_reward_key
        try:
            resolver = Resolver(config, repo)
        except Exception as error:
            agent["faults"].append(f"harbor_dataset: {type(error).__name__}: {error}")
            continue
        agent["tasks"] = len(resolver.tasks)
        agent["faults"] += resolver.fetch(fetch)
        for dataset in servers[name].datasets or []:
            path = repo / dataset.jsonl_fpath
            count, faults = judge_rows(path, resolver) if path.is_file() else (0, [])
            agent["datasets"].append(
                {
                    "name": dataset.name,
                    "type": dataset.type,
                    "path": dataset.jsonl_fpath,
                    "rows": count,
                    "faults": faults,
                }
            )
    if (folder / "manifest.yaml").is_file():
        verdict["validate"] = judge_validate(folder.name, root, counted)
    else:
        verdict["faults"].append("no manifest.yaml")
    overrides = [f"++harbor_dataset_path={dataset_path}"] if dataset_path is not None else []
    verdict["collate"] = judge_collate(config_path, root, counted, overrides)
    return verdict


def has_faults(verdict: object) -> bool:
    """Whether any list called `faults`, at any depth, has an entry."""
    if isinstance(verdict, dict):
        return bool(verdict.get("faults")) or any(map(has_faults, verdict.values()))
    return isinstance(verdict, list) and any(map(has_faults, verdict))


def main() -> int:
    """Judge one repository."""
    parser = argparse.ArgumentParser()
    parser.add_argument("repo", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--dataset-path", type=Path)
    parser.add_argument("--environment", action="append", default=[])
    parser.add_argument("--fetch", type=int, default=3)
    options = parser.parse_args()
    repo, out = options.repo.resolve(), options.out.resolve()
    dataset_path = options.dataset_path and options.dataset_path.resolve()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        root = codeless(repo, Path(scratch, "root"))
        os.chdir(scratch)  # NeMo Gym writes caches and logs where it stands
        os.environ["NEMO_GYM_EXTRA_ROOTS"] = str(root)
        folders = sorted((repo / "environments").glob("*/config.yaml"))
        chosen = [path.parent for path in folders if path.parent.name in options.environment]
        if not options.environment:
            chosen = [path.parent for path in folders]
        verdict: dict[str, Any] = {
            "framework": "nemo",
            "nemo-gym": version("nemo-gym"),
            "harbor": version("harbor"),
            "python": platform.python_version(),
            "environments": [
                judge_environment(folder, repo, root, dataset_path, options.fetch)
                for folder in chosen
            ],
            "faults": [] if chosen else ["no environments/<name>/config.yaml"],
        }
        verdict["accepted"] = not has_faults(verdict)
        verdict["seconds"] = round(time.monotonic() - started, 1)
        out.write_text(json.dumps(verdict, indent=1) + "\n", encoding="utf-8")
        os.chdir("/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
