"""A made-up set of NeMo Gym rows, as large as asked for: short questions, all different."""

from __future__ import annotations

import json
from pathlib import Path

ROWS = 20_000
MANY_ROWS = 1_000_000
ROWS_PER_SECOND = 5_000

_CONFIG = """\
letters:
  resources_servers:
    mcqa: {entrypoint: app.py, domain: knowledge}
letters_simple_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      resources_server: {type: resources_servers, name: letters}
      model_server: {type: responses_api_models, name: policy_model}
      datasets:
      - {name: train, type: train, jsonl_fpath: data/train.jsonl, license: MIT}
"""
_QUESTION = "Question {number}: which of these is the larger number, and why is it so? " * 6


def make_rows(where: Path, rows: int) -> None:
    """Write the config and so many rows, of about 1 kB each."""
    home = where / "environments" / "letters"
    home.mkdir(parents=True)
    (home / "config.yaml").write_text(_CONFIG, encoding="utf-8")
    (where / "data").mkdir()
    with (where / "data" / "train.jsonl").open("w", encoding="utf-8") as file:
        for number in range(rows):
            row = {
                "uuid": f"letters-{number}",
                "options": [{"A": str(number)}, {"B": str(number + 1)}, {"C": "neither"}],
                "expected_answer": "B",
                "grading_mode": "strict_single_letter_boxed",
                "metadata": {"number": number},
                "responses_create_params": {
                    "input": [
                        {"role": "system", "content": "Answer with a letter in a box."},
                        {"role": "user", "content": _QUESTION.format(number=number)},
                    ],
                    "temperature": 0.7,
                },
            }
            file.write(json.dumps(row) + "\n")
