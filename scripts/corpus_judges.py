"""The real frameworks, asked in their own Pythons (scripts/frameworks makes those)."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOADS = ROOT / "formats" / "harbor" / "judge" / "harbor_loads.py"
ACCEPTS = ROOT / "formats" / "nemo" / "judge" / "nemo_accepts.py"
SAME = ROOT / "scripts" / "judges" / "harbor_same_config.py"
HARBOR, NEMO = "RLCONVERT_HARBOR_PYTHON", "RLCONVERT_NEMO_PYTHON"
_HOUR = 3600


class Judges:
    """Both frameworks. `LookupError` names the variable of one that is not there."""

    def __init__(self) -> None:
        self._harbor = _python(HARBOR)
        self._nemo = _python(NEMO)

    def loads(self, folders: Sequence[Path]) -> dict[Path, str | None]:
        """For each task folder why Harbor does not load it; None when it does."""
        with tempfile.TemporaryDirectory() as scratch:
            asked, out = Path(scratch, "asked"), Path(scratch, "out")
            asked.write_text("".join(f"{folder}\n" for folder in folders), encoding="utf-8")
            _run(self._harbor, LOADS, [str(out), f"@{asked}"])
            verdicts = _lines(out)
        found = {Path(str(each["path"])): each["error"] for each in verdicts[1:]}
        return {folder: None if found[folder] is None else str(found[folder]) for folder in folders}

    def same_config(self, pairs: Iterable[tuple[Path, Path]]) -> list[str]:
        """The pairs of task folders that Harbor does not read alike."""
        with tempfile.TemporaryDirectory() as scratch:
            asked, out = Path(scratch, "asked"), Path(scratch, "out")
            lines = [json.dumps([str(one), str(other)]) + "\n" for one, other in pairs]
            asked.write_text("".join(lines), encoding="utf-8")
            _run(self._harbor, SAME, [str(asked), str(out)])
            verdicts = _lines(out)[1:]
        faults = [f"{each['path']}: {each['differs']}" for each in verdicts if not each["same"]]
        if len(verdicts) != len(lines):
            faults.append(f"{len(lines)} pairs were asked about, {len(verdicts)} judged")
        return faults

    def accepts(self, repo: Path) -> tuple[int, int, list[str]]:
        """How many environments and rows of a repository NeMo Gym judged, and what it minds."""
        with tempfile.TemporaryDirectory() as scratch:
            out = Path(scratch, "out")
            _run(
                self._nemo,
                ACCEPTS,
                [str(repo), str(out), "--dataset-path", str(repo / "tasks")],
            )
            verdict = json.loads(out.read_bytes())
        faults = list(_faults(verdict, repo.name))
        if verdict["accepted"] == bool(faults):
            faults.append(f"{repo.name}: accepted is {verdict['accepted']}")
        rows = sum(
            dataset["rows"]
            for environment in verdict["environments"]
            for agent in environment["agents"]
            for dataset in agent["datasets"]
        )
        return len(verdict["environments"]), rows, faults


def _python(variable: str) -> str:
    found = os.environ.get(variable)
    if not found:
        raise LookupError(variable)
    return found


def _run(python: str, judge: Path, arguments: Sequence[str]) -> None:
    kept = {key: os.environ[key] for key in ("PATH", "TMPDIR") if key in os.environ}
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [python, str(judge), *arguments],
            env={**kept, "HOME": home, "LC_ALL": "C.UTF-8"},
            cwd=home,
            capture_output=True,
            text=True,
            timeout=_HOUR,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"{judge.name} ended with {done.returncode}: {done.stderr[-2000:]}")


def _lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _faults(verdict: object, at: str) -> Iterable[str]:
    """Every entry of every list called `faults`, with where it stands."""
    if isinstance(verdict, dict):
        for key, value in verdict.items():
            if key == "faults":
                yield from (f"{at}: {fault}" for fault in value)
            else:
                yield from _faults(value, f"{at}.{key}")
    elif isinstance(verdict, list):
        for index, value in enumerate(verdict):
            yield from _faults(value, f"{at}[{index}]")
