"""The real NeMo Gym on every row of our table, and on every rarer item and tool of a request.

`eval "$(scripts/frameworks DIR)"` makes the framework's environment and names its Python.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from nemo.nemo_rows import row
from nemo.request_cases import said, tooled
from nemo.row_cases import ROWS
from nemo.test_row_cases import ours
from rlconvert.formats.nemo.requests import request_types
from rlconvert.formats.nemo.rowtypes import Type

pytestmark = pytest.mark.framework

ROOT = Path(__file__).parents[2]
FORMAT = ROOT / "formats" / "nemo"
READ_LATE = {"tool namespace 0", "tool namespace 0 with another tools"}
"""Rollouts look at the tools in a namespace late; `collate` breaks off at every namespace."""
PLAIN = {"message", "function_call", "function_call_output", "reasoning", "function"}
"""Words that the table of requests has cases of."""


def nemo_python() -> str:
    """NeMo Gym's own Python, or a skipped test that says how to get one."""
    python = os.environ.get("RLCONVERT_NEMO_PYTHON")
    if not python:
        pytest.skip('RLCONVERT_NEMO_PYTHON is not set: eval "$(scripts/frameworks DIR)"')
    return python


def asked(files: Mapping[str, bytes], tmp_path: Path) -> dict[str, tuple[str, str]]:
    """What `collate` and the collection of rollouts do with each file."""
    paths = []
    for number, data in enumerate(files.values()):
        paths.append(tmp_path / f"{number}.jsonl")
        paths[-1].write_bytes(data)
    judge = ROOT / "scripts" / "judges" / "nemo_files.py"
    done = subprocess.run(
        [nemo_python(), judge, *paths], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    answers = map(json.loads, done.stdout.splitlines())
    return {
        name: (each["collate"].partition(":")[0], each["rollout"].partition(":")[0])
        for name, each in zip(files, answers, strict=True)
    }


def test_every_row(tmp_path: Path) -> None:
    found = asked({name: case.data for name, case in ROWS.items()}, tmp_path)
    assert found == {name: (case.collate, case.rollout) for name, case in ROWS.items()}


def test_table_of_requests_is_that_of_the_release(tmp_path: Path) -> None:
    nemo_python()
    subprocess.run([ROOT / "scripts" / "nemo_servers", tmp_path / "servers.json"], check=True)
    assert (tmp_path / "requests.json").read_bytes() == (FORMAT / "requests.json").read_bytes()


def test_every_rarer_item_and_tool(tmp_path: Path) -> None:
    """The smallest of each, and that with each of its fields gone, null, or of another type."""
    requests: dict[str, Any] = {}
    for what, kinds, request in (
        ("item", request_types().items, said),
        ("tool", request_types().tools, tooled),
    ):
        for word in kinds.keys() - PLAIN:
            for name, each in variants(kinds[word]):
                requests[f"{what} {word} {name}"] = request(each)
    rows = {name: row(responses_create_params=each) for name, each in requests.items()}
    found = asked(rows, tmp_path)
    good = {tuple(name.split()[:2]) for name, answer in found.items() if "taken" in answer}
    assert len(good) == len(request_types().items) + len(request_types().tools) - len(PLAIN)
    wrong = {}
    for name, theirs in found.items():
        mine = "taken" if ours(rows[name]) == "taken" else "refused"
        if theirs != (mine, "taken" if name in READ_LATE else mine):
            wrong[name] = (mine, theirs, requests[name])
    assert not wrong


def variants(kind: Type) -> Iterator[tuple[str, dict[str, Any]]]:
    """Examples of an object type, good ones and bad ones."""
    for number, form in enumerate(forms(kind)):
        good = smallest(form)
        yield f"{number}", good
        for name in sorted(good.keys() - {"type"}):
            yield f"{number} without {name}", {key: good[key] for key in good if key != name}
        for name in sorted(form["object"].keys() - {"type"}):
            yield f"{number} with another {name}", {**good, name: [{"?": 1}]}
            yield f"{number} with {name} null", {**good, name: None}
        yield f"{number} with more", {**good, "smell": 1}


def forms(kind: Any) -> list[Any]:  # noqa: ANN401 - a type of the table, whatever it is
    """The members of a union, or the type alone."""
    found: list[Any] = kind["one"] if isinstance(kind, Mapping) and "one" in kind else [kind]
    return found


def smallest(kind: Any) -> Any:  # noqa: ANN401 - a type of the table, whatever it is
    """The plainest value of a type: what it must have."""
    match forms(kind)[0]:
        case {"is": [first, *_]}:
            return first
        case {"list": inner}:
            return [smallest(inner)]
        case {"map": _}:
            return {}
        case {"object": fields, "required": required}:
            names = {*required, "type"} & fields.keys()
            return {name: smallest(fields[name]) for name in sorted(names)}
        case word:
            return {"str": "a", "int": 1, "num": 0.5, "bool": True, "null": None, "any": "a"}[word]
