"""The real NeMo Gym on rows: the table of schemas, and the verdict on every kind of request.

`eval "$(scripts/frameworks DIR)"` makes the framework's environment and names its Python.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from nemo.nemo_rows import CONFIG, DATA, repo_of, row
from nemo.request_cases import REQUESTS
from rlconvert.format import get_format
from rlconvert.pipe import Settings, convert
from rlconvert.source import FolderSource
from strategies.files import lay

pytestmark = pytest.mark.framework

ROOT = Path(__file__).parents[2]


def nemo_python() -> str:
    """NeMo Gym's own Python, or a skipped test that says how to get one."""
    python = os.environ.get("RLCONVERT_NEMO_PYTHON")
    if not python:
        pytest.skip('RLCONVERT_NEMO_PYTHON is not set: eval "$(scripts/frameworks DIR)"')
    return python


def test_table_of_servers_is_that_of_the_release(tmp_path: Path) -> None:
    nemo_python()
    made = tmp_path / "servers.json"
    subprocess.run([ROOT / "scripts" / "nemo_servers", made], check=True)
    assert made.read_bytes() == (ROOT / "formats" / "nemo" / "servers.json").read_bytes()


def judged(rows: Path) -> list[dict[str, Any]]:
    """What NeMo Gym says of each row of a file of mcqa."""
    script = ROOT / "formats" / "nemo" / "judge" / "nemo_rows.py"
    asked, answers = rows.with_suffix(".asked"), rows.with_suffix(".answers")
    question = {"path": str(rows), "components": ["mcqa"], "routed": False}
    asked.write_text(json.dumps(question) + "\n")
    subprocess.run([nemo_python(), script, asked, answers], check=True, cwd=rows.parent)
    return [json.loads(line) for line in answers.read_text().splitlines()]


def test_verdict_on_every_request(tmp_path: Path) -> None:
    """Refused by us, or said to be refused: NeMo Gym refuses. Lost: it takes it in otherwise."""
    rows = tmp_path / "rows.jsonl"
    cases = list(REQUESTS.items())
    rows.write_bytes(b"".join(row(responses_create_params=params) for _, (params, _) in cases))
    wrong = {}
    for (name, (_, verdict)), answer in zip(cases, judged(rows), strict=True):
        seen = "refused" if not answer["accepted"] else "lost" if answer["lost"] else "ok"
        ours = verdict if verdict in ("ok", "lost") else "refused"
        if seen != ours:
            wrong[name] = (verdict, seen, answer["why"])
    assert not wrong


def test_normalised_rows_are_taken_in_whole(tmp_path: Path) -> None:
    lines = [
        row(responses_create_params=params)
        for params, verdict in REQUESTS.values()
        if verdict in ("ok", "refused", "lost")
    ]
    files = {"environments/demo/config.yaml": CONFIG, DATA: b"".join(lines)}
    source = lay(tmp_path / "source", repo_of(files))
    settings = Settings(jobs=1, options={"normalise": "yes"})
    nemo = get_format("nemo")
    convert(FolderSource(str(source)), nemo, ["nemo"], str(tmp_path / "out"), settings)
    answers = judged(tmp_path / "out" / DATA)
    assert len(answers) > 50
    assert not [each for each in answers if not each["accepted"] or each["lost"] or each["schema"]]


def test_written_environment_is_valid(tmp_path: Path) -> None:
    """A config and a manifest of ours, for rows that came without any."""
    source = lay(tmp_path / "source", repo_of({"train.jsonl": row(options=[{"A": "x"}])}))
    settings = Settings(jobs=1, options={"nemo-server": "mcqa", "licence": "mit"})
    nemo = get_format("nemo")
    out = tmp_path / "out"
    convert(FolderSource(str(source)), nemo, ["nemo", "harbor"], str(out), settings)
    (folder,) = (out / "environments").iterdir()
    gym = Path(nemo_python()).with_name("gym")
    clean = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    for command in (
        ["env", "validate", folder.name, "--search-dir", str(out)],
        ["dataset", "collate", "--config", str(folder / "config.yaml"), "--mode",
         "train_preparation", "--output-dir", str(tmp_path / "collated")],
    ):  # fmt: skip
        done = subprocess.run(
            [gym, *command],
            env=clean | {"NEMO_GYM_EXTRA_ROOTS": str(out)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert len((tmp_path / "collated" / "train.jsonl").read_bytes().splitlines()) == 1
