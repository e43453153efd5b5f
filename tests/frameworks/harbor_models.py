"""Run by Harbor's own Python: says for each document on standard input what Harbor makes of it.

One JSON object per line: `{"kind": "task", "bytes": "<latin-1>"}` in; out `{"refused": "..."}` or
`{"read": "..."}`, the latter a text that is equal for equal models only. Standard library only,
but for Harbor itself, which is imported by name: nothing else in this project may.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
import warnings
from collections.abc import Callable
from enum import Enum
from pathlib import Path, PurePath
from typing import cast


def _exact(value: object) -> object:
    if isinstance(value, dict):
        return {key: _exact(item) for key, item in cast("dict[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_exact(item) for item in cast("list[object]", value)]
    if type(value) is int:
        return hex(value)  # no limit on digits
    plain = value.value if isinstance(value, Enum) else value
    return repr(str(plain) if isinstance(plain, PurePath) else plain)


def _compared(dump: object) -> str:
    try:
        return json.dumps(_exact(dump), sort_keys=True)
    except RecursionError:
        return "read, but too deep to compare"


def main() -> None:
    """Answer every line."""
    warnings.simplefilter("ignore")  # Harbor warns of its legacy keys
    task = importlib.import_module("harbor.models.task.config").TaskConfig
    manifest = importlib.import_module("harbor.models.dataset.manifest").DatasetManifest
    registry = importlib.import_module("harbor.models.registry").Registry
    readers: dict[str, Callable[[Path], object]] = {
        "task": lambda path: task.model_validate_toml(path.read_text()).model_dump(),
        "dataset": lambda path: manifest.from_toml_file(path).model_dump(),
        "registry": lambda path: [one.model_dump() for one in registry.from_path(path).datasets],
    }
    path = Path(tempfile.mkdtemp()) / "document"
    for line in sys.stdin:
        question = json.loads(line)
        path.write_bytes(question["bytes"].encode("latin-1"))
        try:
            answer = {"read": _compared(readers[question["kind"]](path))}
        except Exception as error:  # noqa: BLE001 - whatever stops Harbor is a refusal
            answer = {"refused": f"{type(error).__name__}: {error}"[:300]}
        sys.stdout.write(json.dumps(answer) + "\n")
    path.unlink(missing_ok=True)
    path.parent.rmdir()


if __name__ == "__main__":
    main()
