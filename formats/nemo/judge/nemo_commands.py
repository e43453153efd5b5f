"""What the scripts of this folder share: NeMo Gym's config parser, and its command line.

Written for nemo-gym 0.7.0, which puts its search roots in front of Python's own: with a repo as
such a root, a `json.py` in it would be run. So the root is always `codeless(REPO)`.
"""

# The frameworks are not dependencies, and not in the type checkers' environment: their objects
# are untyped here.
# mypy: disable-error-code="import-not-found"
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SMALL, ROWS = (".json", ".yaml", ".yml"), ".jsonl"
MODES = {
    "train": "train_preparation",
    "validation": "train_preparation",
    "benchmark": "train_preparation",
    "example": "example_validation",
}


def codeless(repo: Path, root: Path) -> Path:
    """The files of `repo` that NeMo Gym reads, in `root`; none that Python would run.

    Rows are linked; the rest is small, and a link would lead NeMo Gym back into the repo. Nothing
    of task folders: no config lies there.
    """
    root.mkdir()
    for folder, names, files in os.walk(repo):
        if "task.toml" in files:
            names.clear()
            continue
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in files:
            path = Path(folder, name)
            kind = path.suffix
            if kind not in (*SMALL, ROWS) or not path.resolve().is_relative_to(repo):
                continue
            copy = root / path.relative_to(repo)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if kind == ROWS:
                copy.symlink_to(path)
            else:
                shutil.copyfile(path, copy)
    return root


def parse_config(path: Path, overrides: Mapping[str, str]) -> Any:
    """The merged config, through NeMo Gym's parser, without servers, model or env.yaml."""
    from nemo_gym.global_config import GlobalConfigDictParser, GlobalConfigDictParserConfig
    from omegaconf import OmegaConf

    initial = OmegaConf.merge(
        GlobalConfigDictParserConfig.NO_MODEL_GLOBAL_CONFIG_DICT,
        {"config_paths": [str(path)], "policy_model_name": "none/none", **overrides},
    )
    return GlobalConfigDictParser().parse(
        GlobalConfigDictParserConfig(
            initial_global_config_dict=initial,
            skip_load_from_cli=True,
            skip_load_from_dotenv=True,
            offline=True,
        )
    )


def instances(parsed: Any) -> list[Any]:
    """Every server, agent and model that a parsed config sets up."""
    from nemo_gym.global_config import GlobalConfigDictParser

    return list(GlobalConfigDictParser().filter_for_server_instance_configs(parsed))


def count_lines(path: Path) -> int:
    """How many lines a file has, with the last one if no line end closes it."""
    with path.open("rb") as file:
        return sum(1 for _ in file)


class Counted:
    """How many rows each dataset of a config has, and so how many NeMo Gym should count."""

    def __init__(self) -> None:
        self.by_name: dict[str, int] = {}
        self.by_mode: dict[str, dict[str, int]] = {}

    def add(self, dataset: Any, rows: int) -> None:
        """One dataset, of so many lines."""
        self.by_name[dataset.name] = rows
        kinds = self.by_mode.setdefault(MODES[dataset.type], {})
        kinds[dataset.type] = kinds.get(dataset.type, 0) + rows * dataset.num_repeats


@dataclass(frozen=True)
class Ended:
    """What a command said, and its status."""

    status: int
    stdout: str
    stderr: str

    @property
    def last_words(self) -> str:
        """The end of it."""
        return (self.stderr or self.stdout).strip()[-1500:]


def gym(arguments: Sequence[str], scratch: Path) -> Ended:
    """Run NeMo Gym's command line in a scratch folder (it writes where it stands).

    In a process of its own, forked: to import it takes longer than all else that is done here.
    """
    import nemo_gym.cli.dataset
    import nemo_gym.cli.env
    import nemo_gym.environment.validation
    import nemo_gym.train_data_utils  # noqa: F401 - for the child
    from nemo_gym.cli.main import main

    said = scratch / ".stdout", scratch / ".stderr"
    sys.stdout.flush()
    sys.stderr.flush()
    if (child := os.fork()) == 0:
        status = 1
        try:
            os.chdir(scratch)
            for number, path in enumerate(said, 1):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), number)
            sys.argv = ["gym", *arguments]
            status = main() or 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:  # as Python does at the end of a program
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    _, status = os.waitpid(child, 0)
    texts = [path.read_text("utf-8", "replace") if path.exists() else "" for path in said]
    return Ended(os.waitstatus_to_exitcode(status), *texts)


def judge_validate(name: str, root: Path, counted: Counted) -> dict[str, object]:
    """`gym env validate NAME`: its JSON report must list the lines we counted."""
    with tempfile.TemporaryDirectory() as scratch:
        done = gym(["env", "validate", name, "--search-dir", str(root), "--json"], Path(scratch))
    faults: list[str] = []
    warnings: list[str] = []
    try:
        report: dict[str, Any] = json.loads(done.stdout)
        rows = {dataset["name"]: dataset["rows"] for dataset in report["datasets"]}
        if rows != counted.by_name:
            faults.append(f"it counts the rows {rows}, the files have {counted.by_name}")
        warnings += report["warnings"]
    except (json.JSONDecodeError, KeyError, TypeError):
        faults.append(f"no report: {done.last_words}")
    return {"status": done.status, "faults": faults, "warnings": warnings}


def judge_collate(
    config: Path, root: Path, counted: Counted, overrides: Sequence[str]
) -> list[dict[str, object]]:
    """`gym dataset collate`, once a mode: it must count and write as many rows as there are.

    It counts the rows that are requests and writes all of them, with status 0.
    """
    return [
        {"mode": mode, **_collated(config, root, mode, kinds, overrides)}
        for mode, kinds in counted.by_mode.items()
    ]


def _collated(
    config: Path, root: Path, mode: str, kinds: Mapping[str, int], overrides: Sequence[str]
) -> dict[str, object]:
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        arguments = ["dataset", "collate", "--config", str(config), "--search-dir", str(root)]
        arguments += ["--mode", mode, "--output-dir", "out", *overrides]
        done = gym(arguments, Path(scratch))
        for kind, count in kinds.items():
            metrics = Path(scratch, "out", f"{kind}_metrics.json")
            rows = Path(scratch, "out", f"{kind}.jsonl")
            if not metrics.is_file() or not rows.is_file():
                faults.append(f"no {kind}.jsonl: {done.last_words}")
                continue
            examples = json.loads(metrics.read_bytes())["Number of examples"]
            written = count_lines(rows)
            if not examples == written == count:
                faults.append(f"{kind}: {count} rows, {examples} examples, {written} written")
    return {"status": done.status, "faults": faults}
