"""Ask the real Harbor whether pairs of task folders mean the same. Runs inside Harbor's own Python.

    PYTHON harbor_same_config.py PAIRS.jsonl OUT.jsonl

Each line of PAIRS is `[one, other]`, two folders of one name. Writes one JSON object a line: first
the versions, then for each pair `{path, same, differs}`. Compared are the whole parsed `task.toml`
(`Task.config`, values and their types), the task's name, its instruction as Harbor gives it to an
agent, and for each step the same. One spelling is not compared: an empty `allowed_hosts` beside a
`network_mode` is none at all, to Harbor too. The exit status is 0 when every pair was judged,
whatever the verdicts.
"""

# The framework is not a dependency, and not in the type checkers' environment.
# mypy: disable-error-code="import-not-found"
# pyright: basic, reportMissingImports=false
# ruff: noqa: ANN401, TID251

from __future__ import annotations

import json
import platform
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any


def said_by(folder: Path) -> dict[str, Any]:
    """All that Harbor makes of a folder's texts."""
    from harbor.models.task.task import Task

    task = Task(folder)
    said: dict[str, Any] = {"name": task.name, "instruction": task.instruction}
    for number, step in enumerate(task.config.steps or []):
        said[f"steps[{number}].instruction"] = task.step_instruction(step.name)
    config = without_empty_hosts(task.config.model_dump())
    return said | {f"config.{key}": value for key, value in config.items()}


def without_empty_hosts(value: Any) -> Any:
    """A dumped config in which no hosts are None, however that was written."""
    if isinstance(value, list):
        return [without_empty_hosts(each) for each in value]
    if not isinstance(value, dict):
        return value
    plain = {key: without_empty_hosts(each) for key, each in value.items()}
    if plain.get("network_mode") is not None and plain.get("allowed_hosts") == []:
        plain["allowed_hosts"] = None
    return plain


def differing(one: Path, other: Path) -> list[str]:
    """The names of what is not the same."""
    mine, theirs = said_by(one), said_by(other)
    return sorted(
        key
        for key in mine.keys() | theirs.keys()
        if key not in mine or key not in theirs or exactly(mine[key]) != exactly(theirs[key])
    )


def exactly(value: Any) -> str:
    """A text that tells 1 from 1.0 and from true, and does not tell the order of keys."""
    return json.dumps(value, sort_keys=True, default=repr)


def main() -> int:
    """Judge every pair of the file."""
    pairs, out = map(Path, sys.argv[1:])
    warnings.simplefilter("ignore")  # deprecated keys in task.toml
    header = {
        "framework": "harbor",
        "harbor": version("harbor"),
        "python": platform.python_version(),
    }
    with out.open("w", encoding="utf-8") as lines, pairs.open(encoding="utf-8") as asked:
        lines.write(json.dumps(header) + "\n")
        for line in asked:
            one, other = map(Path, json.loads(line))
            try:
                differs = differing(one, other)
            except Exception as error:  # noqa: BLE001 - whatever Harbor raises is its verdict
                differs = [f"{type(error).__name__}: {error}"]
            verdict = {"path": str(one), "same": not differs, "differs": differs}
            lines.write(json.dumps(verdict) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
