"""Ask the real Verifiers whether the tasks of a repository load. Runs inside its own Python.

    PYTHON verifiers_loads.py REPO OUT.json [--dataset NAME@VERSION]... [--each]

REPO is published, as one commit, in a private stand-in of the Hub on this machine, and loaded by
the address it would have there (`https://huggingface.co/datasets/ORG/NAME`, led aside by a rewrite
rule of Git): the `harbor` taskset downloads the dataset with Harbor's own command line and every
task of it is iterated. Without `--dataset` every entry of `registry.json` is loaded; an empty NAME
takes the folders in `tasks/`.

OUT gets one JSON object: the versions, and for each dataset `{dataset, count, names, error}`.
Verifiers (0.4.0) stops at the first task that it cannot load, so `error` is about that one; with
`--each` every folder is also loaded by itself: `each: {folder: error or null}`, where a folder of
a task that contributes another number of tasks than one is an error too. The exit status is 0 when
the verdict was written. Written for verifiers 0.4.0 with harbor 0.24.0.
"""

# The framework is not a dependency, and not in the type checkers' environment: its objects are
# untyped here.
# mypy: disable-error-code="import-not-found"
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

HUB = "https://huggingface.co/"
REPO = "datasets/org/name"


def git(where: Path, *arguments: str) -> None:
    """Run Git, quietly; its words go into the error."""
    done = subprocess.run(
        ["git", *arguments], cwd=where, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"git {arguments[0]}: {done.stderr.strip()}")


def publish(source: Path, hub: Path) -> None:
    """`source` as a Git repository of the stand-in Hub; it serves what huggingface.co serves.

    Without any `.git` of its own: the Hub has none, and their hooks and filters are programs.
    """
    place = hub / REPO
    shutil.copytree(source, place, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    git(place, "init", "--quiet", "--initial-branch", "main")
    for key, value in (
        ("user.name", "judge"),
        ("user.email", "judge@localhost"),
        ("core.autocrlf", "false"),
        ("core.excludesFile", os.devnull),
        ("uploadpack.allowFilter", "true"),
        ("uploadpack.allowAnySHA1InWant", "true"),
    ):
        git(place, "config", key, value)
    git(place, "add", "--all", "--force")
    git(place, "commit", "--quiet", "--message", "published")


def load(dataset: str, tasks: list[str] | None = None) -> list[Any]:
    """Every task of the dataset, iterated as a run would; raises what Verifiers raises."""
    import verifiers.v1 as vf

    kind = vf.taskset_config_type("harbor")
    config = kind(id="harbor", repo=HUB + REPO, dataset=dataset, tasks=tasks)
    return list(vf.load_taskset(config))


def folders(dataset: str) -> list[str]:
    """The folders that were downloaded for a dataset, each of which should be one task."""
    import verifiers.v1 as vf
    from verifiers.v1.tasksets.harbor.taskset import dataset_dir

    kind = vf.taskset_config_type("harbor")
    root = dataset_dir(kind(id="harbor", repo=HUB + REPO, dataset=dataset))
    tops = (top for top in root.iterdir() if top.is_dir())  # one, named after the dataset
    return sorted(path.name for top in tops for path in top.iterdir() if path.is_dir())


def judge_each(dataset: str) -> dict[str, str | None]:
    """What Verifiers says about each folder on its own."""
    found: dict[str, str | None] = {}
    for name in folders(dataset):
        try:
            tasks = load(dataset, [name])
            inner = Path(tasks[0].data.task_dir)
            extra = [path for path in inner.rglob("task.toml") if path.parent != inner]
            found[name] = f"{len(extra)} more tasks inside" if extra else None
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


def judge(dataset: str, *, each: bool) -> dict[str, object]:
    """What Verifiers makes of one dataset."""
    verdict: dict[str, object] = {"dataset": dataset, "count": 0, "names": [], "error": None}
    try:
        tasks = load(dataset)
        verdict["count"] = len(tasks)
        verdict["names"] = [Path(task.data.task_dir).name for task in tasks]
    except Exception as error:
        verdict["error"] = f"{type(error).__name__}: {error}"
    if each:
        try:
            verdict["each"] = judge_each(dataset)
        except Exception as error:  # it was not even downloaded
            verdict["each"] = {"": f"{type(error).__name__}: {error}"}
    return verdict


def datasets_of(repo: Path) -> list[str]:
    """Every entry of `registry.json`, else the folders in `tasks/`."""
    registry = repo / "registry.json"
    if not registry.is_file():
        return [""]
    return [f"{entry['name']}@{entry['version']}" for entry in json.loads(registry.read_bytes())]


def main() -> int:
    """Judge one repository."""
    parser = argparse.ArgumentParser()
    parser.add_argument("repo", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--dataset", action="append", default=[])
    parser.add_argument("--each", action="store_true")
    options = parser.parse_args()
    repo, out = options.repo.resolve(), options.out.resolve()
    with tempfile.TemporaryDirectory(prefix="judge-") as scratch:
        home, hub = Path(scratch, "home"), Path(scratch, "hub")
        home.mkdir()
        # Before Verifiers is imported: its cache, which it never renews, lies in the home folder.
        os.environ |= {
            "HOME": str(home),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.file://{hub}/.insteadOf",
            "GIT_CONFIG_VALUE_0": HUB,
            "GIT_TERMINAL_PROMPT": "0",
        }
        publish(repo, hub)
        verdict = {
            "framework": "verifiers",
            "verifiers": version("verifiers"),
            "harbor": version("harbor"),
            "python": platform.python_version(),
            "datasets": [
                judge(name, each=options.each) for name in options.dataset or datasets_of(repo)
            ],
        }
    out.write_text(json.dumps(verdict, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
