"""What the real NeMo Gym makes of rows, one by one. Runs inside its own Python.

    PYTHON nemo_rows.py < ASKED > ANSWERS

ASKED is a line of JSON per file: `{"path": ..., "component": ... or null}`. ANSWERS is a line per
row: `path`, `line`, `accepted` (the request model of a rollout takes it), `why` it does not, `lost`
(what it took in as something else, or not at all), `schema` (why the component's own row schema
does not take it; null when it does or there is none). Written for nemo-gym 0.7.0.
"""

# The framework is no dependency, and not in the type checkers' environment.
# mypy: disable-error-code="import-not-found"
# pyright: basic, reportMissingImports=false
# ruff: noqa: ANN401, TID251

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OUT = sys.stdout
sys.stdout = sys.stderr  # the framework prints

from nemo_gym.base_resources_server import BaseRunRequest  # noqa: E402
from nemo_gym.episode_types import is_materialized_task_row  # noqa: E402
from nemo_gym.task_data import (  # noqa: E402
    TaskDataValidator,
    find_server_dir,
    load_task_data_schema,
)

AGENTS = "responses_api_agents"


def schema_of(component: str | None) -> Any:
    """The row schema of a server, or of an agent written `responses_api_agents/NAME`."""
    if component is None:
        return None
    folder = (
        find_server_dir(component.removeprefix(f"{AGENTS}/"), base_folder=AGENTS)
        if component.startswith(f"{AGENTS}/")
        else find_server_dir(component)
    )
    return None if folder is None else load_task_data_schema(folder)


def lost(source: Any, parsed: Any) -> Iterator[str]:
    """What of the input items did not arrive."""
    given = source["responses_create_params"]["input"]
    if isinstance(given, str):
        return
    for item, taken in zip(given, parsed.responses_create_params.input, strict=True):
        kind = getattr(taken, "type", None)
        if kind == "mcp_list_tools" and item.get("type") != "mcp_list_tools":
            yield "an item became mcp_list_tools"
            continue
        if kind == "message":
            known = set(type(taken).model_fields) | {"id", "status"}
            if gone := sorted(key for key in item if key not in known and item[key]):
                yield f"keys of a message dropped: {', '.join(gone)}"


def judged(path: str, number: int, line: str, component: str | None, adapter: Any) -> Any:
    """The answer on one row."""
    answer: dict[str, Any] = {"path": path, "line": number, "accepted": False, "why": None}
    answer |= {"lost": [], "schema": None}
    try:
        row = json.loads(line)
    except ValueError as error:
        return answer | {"why": f"not JSON: {error}"[:200]}
    except RecursionError:
        return answer | {"why": "nested too deeply"}
    inner = row
    if isinstance(row, dict) and is_materialized_task_row(row):
        inner = row["task_input"]
    try:
        parsed = BaseRunRequest.model_validate(inner)
    except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
        return answer | {"why": " ".join(str(error).split())[:300]}
    answer |= {"accepted": True, "lost": list(lost(inner, parsed))}
    if adapter is not None:
        validator = TaskDataValidator(str(component), adapter, path)
        validator.validate_row(0, row)
        if not validator.report.clean:
            answer["schema"] = " ".join(validator.report.summary().split())[:300]
    return answer


def main() -> None:
    for asked in map(json.loads, sys.stdin):
        path, component = asked["path"], asked["component"]
        adapter = schema_of(component)
        with Path(path).open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            for number, line in enumerate(file, 1):
                OUT.write(json.dumps(judged(path, number, line, component, adapter)) + "\n")


if __name__ == "__main__":
    main()
