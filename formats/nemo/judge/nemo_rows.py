"""What the real NeMo Gym makes of rows, one by one. Runs inside its own Python.

    PYTHON nemo_rows.py ASKED ANSWERS

ASKED is a line of JSON per file: `{"path": ..., "components": [...], "routed": ...}`. The
components grade the rows; each is a server, or an agent written `responses_api_agents/NAME`. With
`routed` a component that a row itself names takes their place. ANSWERS is a line per row: `path`,
`line`, `accepted` (the request model of a rollout takes it), `why` it does not, `lost` (what it
took in as something else, or not at all), `schema` (why a component's own row schema, applied as it
is to rows that a server declares, does not take it), `unknown` (keys which that schema does not
know), and with `routed` the `route` that the row names, and its `grader`. Written for nemo-gym
0.7.0.
"""

# The framework is no dependency, and not in the type checkers' environment.
# mypy: disable-error-code="import-not-found"
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from nemo_gym import PARENT_DIR
from nemo_gym.base_resources_server import BaseRunRequest
from nemo_gym.episode_types import TaskId, is_materialized_task_row
from nemo_gym.task_data import TaskDataValidator, load_task_data_schema
from nemo_named import graded_by, route_of

SERVERS = "resources_servers"
MOST = 300


@cache
def schema_of(component: str) -> Any:
    """The shipped row schema of a component, if there is one."""
    home = component if "/" in component else f"{SERVERS}/{component}"
    return load_task_data_schema(Path(PARENT_DIR, home))


def request_in(row: Any) -> Any:
    """The part of a row that is a request: all of it, or what is in the envelope."""
    if not isinstance(row, dict) or not is_materialized_task_row(row):
        return row
    TaskId.model_validate(row["task_id"])
    if not isinstance(row["task_input"], Mapping):
        raise TypeError("task_input is no object")
    return row["task_input"]


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


def by_schema(row: Any, component: str, adapter: Any) -> tuple[str | None, list[str]]:
    """Why a row is none of the component's, and the keys that its schema does not know."""
    validator = TaskDataValidator(component, adapter, "")
    validator.validate_row(0, row)
    report = validator.report
    wrong = [each.partition(": ")[2] for each in report.errors]
    if report.conflicting_keys:
        wrong.append(
            f"different values at two places: {', '.join(sorted(report.conflicting_keys))}"
        )
    if report.misplaced_keys:
        wrong.append(f"not in verifier_metadata: {', '.join(sorted(report.misplaced_keys))}")
    said = f"the rows of {component}: {'; '.join(wrong)}" if wrong else None
    return said and said[:MOST], sorted(report.unknown_keys)


def judged(line: str, components: Sequence[str], *, routed: bool) -> dict[str, Any]:
    """The answer on one row."""
    answer: dict[str, Any] = {"accepted": False, "why": None, "lost": [], "schema": None}
    answer |= {"unknown": [], "route": None, "grader": None}
    try:
        row = json.loads(line)
        inner = request_in(row)
        parsed = BaseRunRequest.model_validate(inner)
    except Exception as error:
        said = " ".join(str(error).split())[:MOST]
        return answer | {"why": f"{type(error).__name__}: {said}"}
    answer |= {"accepted": True, "lost": list(lost(inner, parsed))}
    if routed and (route := route_of(row)) is not None:
        answer |= {"route": route, "grader": graded_by(route)}
    if answer["grader"] is not None:
        components = [answer["grader"]]
    for component in components:
        adapter = schema_of(component)
        if adapter is not None:
            misfit, unknown = by_schema(row, component, adapter)
            answer["schema"] = answer["schema"] or misfit
            answer["unknown"] = sorted({*answer["unknown"], *unknown})
    return answer


def answers(asked: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A line for every row of every file."""
    for each in asked:
        path, components, routed = each["path"], each["components"], each["routed"]
        with Path(path).open(encoding="utf-8", errors="surrogateescape", newline="\n") as rows:
            for number, line in enumerate(rows, 1):
                where = {"path": path, "line": number}
                yield json.dumps(where | judged(line, components, routed=routed)) + "\n"


def main(asked_file: str, answers_file: str) -> None:
    """Judge what is asked about."""
    with (
        Path(asked_file).open(encoding="utf-8") as asked,
        Path(answers_file).open("w", encoding="utf-8") as out,
    ):
        out.writelines(answers(map(json.loads, asked)))


if __name__ == "__main__":
    main(*sys.argv[1:])
