"""What the real NeMo Gym makes of whole row files, by its own readers. Runs in its own Python.

    PYTHON nemo_files.py FILE... > ANSWERS

A line of JSON per file: what the two commands that read rows do with it. `collate` is how `gym
dataset collate` reads, checks and counts rows, `rollout` how rollouts are collected: "taken", or
"refused" with the reason; `rollout` is "changed" where it takes in other values than stand there.
Written for nemo-gym 0.7.0.
"""

# The framework is no dependency, and not in the type checkers' environment.
# mypy: disable-error-code="import-not-found"
# pyright: basic, reportMissingImports=false
# ruff: noqa: TID251

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

OUT = sys.stdout
sys.stdout = sys.stderr  # the framework prints

from nemo_gym.base_resources_server import BaseRunRequest  # noqa: E402
from nemo_gym.config_types import DatasetConfig  # noqa: E402
from nemo_gym.episode_types import is_materialized_task_row  # noqa: E402
from nemo_gym.rollout_collection import loads_jsonl_line  # noqa: E402
from nemo_gym.train_data_utils import TrainDataProcessor, compute_sample_metrics  # noqa: E402


def collate(path: Path) -> str:
    """As `_validate_samples_and_aggregate_metrics_single_dataset` goes about it."""
    dataset = DatasetConfig(name="asked", type="example", jsonl_fpath=str(path))
    for number, line in enumerate(TrainDataProcessor()._iter_dataset_lines(dataset), 1):
        if compute_sample_metrics(line)[1]:
            return f"refused: line {number}"
        json.loads(line).keys()
    return "taken"


def rollout(path: Path) -> str:
    """As `_preprocess_rows_from_config` reads rows; the request goes to the model that asks."""
    answer = "taken"
    with path.open() as rows:
        for number, line in enumerate(rows, 1):
            row = loads_jsonl_line(line, path, number)
            BaseRunRequest.model_validate(
                row["task_input"] if is_materialized_task_row(row) else row
            )
            if same(row) != same(json.loads(line)):
                answer = "changed"
    return answer


def same(value: object) -> str:
    """Equal for the same values only."""
    return json.dumps(value, sort_keys=True)


def said(read: Callable[[Path], str], path: Path) -> str:
    """The answer of a reader; whatever it raises is one."""
    try:
        return read(path)
    except Exception as error:  # noqa: BLE001
        return f"refused: {type(error).__name__}: {' '.join(str(error).split())[:200]}"


def main() -> None:
    for path in map(Path, sys.argv[1:]):
        answer = {"collate": said(collate, path), "rollout": said(rollout, path)}
        OUT.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
