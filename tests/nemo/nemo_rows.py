"""Small repos of NeMo Gym rows."""

from __future__ import annotations

import json
from collections.abc import Mapping

from rlconvert.files import Blob, File, FileTree

DATA = "data/demo/rows.jsonl"
CONFIG = b"""\
demo:
  resources_servers:
    mcqa:
      entrypoint: app.py
      domain: knowledge
      grading_mode: lenient_boxed
demo_simple_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      resources_server: {type: resources_servers, name: demo}
      model_server: {type: responses_api_models, name: policy_model}
      datasets:
      - name: demo
        type: train
        jsonl_fpath: data/demo/rows.jsonl
        license: MIT
"""


def row(**fields: object) -> bytes:
    """A line: a request, an answer, and what is given; a field of None is null."""
    said = {"responses_create_params": {"input": "hi"}, "expected_answer": "A", **fields}
    return json.dumps(said).encode() + b"\n"


def repo_of(files: Mapping[str, bytes]) -> FileTree:
    """The files as a tree."""
    return FileTree({path: File(Blob(data)) for path, data in files.items()})
