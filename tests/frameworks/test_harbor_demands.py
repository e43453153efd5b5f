"""Which task folders are loaded: ours against the real Harbor 0.26.0.

RLCONVERT_HARBOR_PYTHON=<python of a venv with harbor> pytest -m framework
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from hostile import REPO_FAULTS, TASK_FAULTS, CannotMake
from rlconvert.errors import RlconvertError
from rlconvert.formats.taskfolder.folder import task_from_folder
from rlconvert.source import BOOKKEEPING, FolderSource

pytestmark = pytest.mark.framework

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "formats" / "harbor" / "judge" / "harbor_loads.py"

STRICTER = {
    "link-escapes": "Harbor looks at tests/, solution/ and steps/ only",
    "link-cycle": "Harbor looks at tests/, solution/ and steps/ only",
    "config-is-a-link": "Harbor follows it",
    "instruction-is-a-link": "Harbor shows the agent whatever it leads to",
    "folder-is-a-link": "Harbor follows it",
    "script-not-a-file": "Harbor asks whether it exists",
    "lfs-pointer": "Harbor takes the pointer for the file",
    "not-a-file": "Harbor does not look",
    "unsafe-name": "Harbor does not look",
    "names-clash": "Harbor does not look",
    "too-deep": "our limit",
    "too-big": "our limit",
    "unreadable": "Harbor does not look at the environment",
    "control-character": "Harbor lets a final newline pass",
}


def ask(folders: list[Path], tmp_path: Path) -> dict[str, dict[str, object]]:
    """Harbor's verdict on each folder."""
    python = os.environ.get("RLCONVERT_HARBOR_PYTHON")
    if not python:
        pytest.skip("RLCONVERT_HARBOR_PYTHON does not name a Python with harbor")
    listed = tmp_path / "folders"
    listed.write_text("".join(f"{folder}\n" for folder in folders), encoding="utf-8")
    subprocess.run(
        [python, str(SCRIPT), str(tmp_path / "verdicts"), f"@{listed}"],
        check=True,
        timeout=600,
        capture_output=True,
    )
    lines = (tmp_path / "verdicts").read_text(encoding="utf-8").splitlines()[1:]
    found = [json.loads(line) for line in lines]
    assert len(found) == len(folders)
    return {str(verdict["path"]): verdict for verdict in found}


def ours(folder: Path) -> RlconvertError | None:
    """Why we refuse a folder."""
    try:
        task_from_folder("task", "", FolderSource(str(folder)).tree("", skip=BOOKKEEPING))
    except RlconvertError as error:
        return error
    return None


def compare(folders: list[Path], tmp_path: Path) -> set[str]:
    """Assert that we accept nothing that Harbor refuses; the reasons where we are stricter."""
    stricter: set[str] = set()
    wrong = []
    for path, verdict in ask(folders, tmp_path).items():
        error = ours(Path(path))
        if not verdict["loads"] and error is None:
            wrong.append(f"{path}: Harbor refuses it: {verdict['error']}")
        elif verdict["loads"] and error is not None:
            stricter.add(error.reason)
            if error.reason not in STRICTER:
                wrong.append(f"{path}: Harbor loads it, and we say {error}")
    assert not wrong, "\n".join(wrong)
    return stricter


def test_fixtures(tmp_path: Path) -> None:
    folders = [path.parent for path in sorted((ROOT / "fixtures" / "harbor").rglob("task.toml"))]
    assert len(folders) > 30
    assert compare(folders, tmp_path) == set()


def test_every_bad_task(tmp_path: Path) -> None:
    folders = []
    for name, generate in TASK_FAULTS.items():
        root = tmp_path / name
        root.mkdir()
        try:
            generate(root)
        except CannotMake:
            continue
        if "fifo_as_instruction" not in name:  # Harbor would wait for ever
            folders.append(root / "tasks" / "bad")
        folders.append(root / "tasks" / "good")
    assert compare(folders, tmp_path) <= STRICTER.keys()


def test_every_task_of_a_bad_repository(tmp_path: Path) -> None:
    for name, generate in REPO_FAULTS.items():
        (tmp_path / name).mkdir()
        generate(tmp_path / name)
    folders = [path.parent for path in sorted(tmp_path.rglob("task.toml"))]
    assert compare(folders, tmp_path) == set()
