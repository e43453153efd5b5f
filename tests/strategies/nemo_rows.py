"""Repositories of NeMo Gym rows, spelled in ways a writer would not choose."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from hypothesis import strategies as st

from rlconvert.files import Blob, File, FileTree
from rlconvert.formats.scorers import scorers
from scorers.cases import cases_of
from strategies.words import coin, texts

Draw = st.DrawFn
Item = dict[str, Any]

CONFIG = """\
{name}:
  resources_servers:
    {server}: {{entrypoint: app.py, domain: knowledge, {rule}}}
{name}_agent:
  responses_api_agents:
    {agent}:
      entrypoint: app.py
      resources_server: {{type: resources_servers, name: {name}}}
      model_server: {{type: responses_api_models, name: policy_model}}
      datasets:
{datasets}"""
ENTRY = "      - {{name: {name}, type: {split}, jsonl_fpath: {path}, license: MIT}}\n"

nasty = texts.filter(lambda text: not any("\ud800" <= char <= "\udfff" for char in text)) | st.just(
    "a\u2028b\x85\r\n\0\U0001f600${x}"
)
_numbers = st.integers(-(2**70), 2**70) | st.sampled_from([0.1, 1e300, -0.0, 5e-324])
values = st.recursive(
    st.none() | st.booleans() | _numbers | nasty,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(nasty, inner, max_size=2),
    max_leaves=4,
)
_parts = st.one_of(
    st.builds(lambda text: {"type": "input_text", "text": text}, nasty),
    st.builds(
        lambda url, detail: {"type": "input_image", "image_url": url, "detail": detail},
        st.sampled_from(["http://x/y", "data:image/png;base64,YWI=", "data:image/png;base64,YWJ="]),
        st.sampled_from(["low", "high", "auto"]),
    ),
    st.just({"type": "input_file", "file_id": "f"}),
)
_roles = st.sampled_from(["user", "system", "developer", "assistant"])
_messages = st.builds(
    lambda role, content, typed: {"role": role, "content": content} | typed,
    _roles,
    nasty | st.lists(_parts, max_size=3),
    st.sampled_from([{}, {"type": "message"}]),
)
_items = st.one_of(
    _messages,
    st.builds(
        lambda text: {"type": "function_call", "call_id": "c", "name": "f", "arguments": text},
        nasty,
    ),
    st.builds(lambda text: {"type": "function_call_output", "call_id": "c", "output": text}, nasty),
    st.builds(
        lambda them: {
            "type": "reasoning",
            "id": "r",
            "summary": [{"type": "summary_text", "text": each} for each in them],
        },
        st.lists(nasty, max_size=2),
    ),
    st.builds(
        lambda them: {
            "type": "message",
            "role": "assistant",
            "id": "m",
            "status": "completed",
            "content": [{"type": "output_text", "text": each, "annotations": []} for each in them],
        },
        st.lists(nasty, min_size=1, max_size=2),
    ),
    st.sampled_from(
        [
            {"type": "compaction_trigger"},
            {"role": "tool", "tool_call_id": "c", "content": "4"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                ],
            },
            {"role": "user", "content": [{"type": "text", "text": "x"}]},
        ]
    ),
)
_tools = st.one_of(
    st.builds(
        lambda text, strict: {
            "type": "function",
            "name": "f",
            "description": text,
            "strict": strict,
            "parameters": {"type": "object", "properties": {}},
        },
        nasty,
        st.sampled_from([True, False, None]),
    ),
    st.just({"type": "function", "name": "g", "parameters": None}),
    st.just({"type": "function", "function": {"name": "h"}}),
    st.just({"type": "web_search"}),
)
_inputs = nasty | st.lists(_items, max_size=4)
_some_tools = st.none() | st.lists(_tools, max_size=3)
_fields = st.dictionaries(st.sampled_from(["x", "uuid", "é", "metadata"]), values)
_ids = nasty | st.just("one")


@cache
@st.composite
def requests(draw: Draw) -> Item:
    """`responses_create_params`."""
    request: Item = {"input": draw(_inputs)}
    if draw(coin):
        request["tools"] = draw(_some_tools)
    if draw(coin):
        request["instructions"] = draw(nasty)
    if draw(coin):
        request |= {"temperature": draw(st.sampled_from([0, 0.7, None])), "metadata": {"a": "b"}}
    return request


@cache
@st.composite
def lines(draw: Draw) -> bytes:
    """A row, with or without routing keys, in any of the shapes, spaced in some way."""
    fields: Item = draw(_fields)
    row: Item = {"responses_create_params": draw(requests())}
    match draw(st.integers(0, 3)):
        case 0:
            row["task_data"] = fields
        case 1:
            row |= {"verifier_metadata": fields}
        case _:
            row |= fields
    if draw(coin):
        row["task_id"] = draw(_ids)
    if draw(coin):
        row |= {"agent_ref": {"name": "some_agent"}, "_ng_task_index": 3}
    row = dict(draw(st.permutations(list(row.items()))))
    if draw(st.integers(0, 4)) == 0:
        row.pop("task_id", None)
        row = {"task_id": {"taskset": "t", "task_id": "b"}, "task_input": row}
    spaced = draw(st.sampled_from([(", ", ": "), (",", ":"), (" ,\t", " : ")]))
    text = json.dumps(row, ensure_ascii=draw(coin), separators=spaced)
    return text.encode() + draw(st.sampled_from([b"\n", b"\r\n", b" \n"]))


_some_lines = st.lists(lines(), min_size=1, max_size=3)


def _cases() -> dict[str, list[tuple[Item, Item]]]:
    """The configs and rows that each server's scorer is tried on, of those that can be graded."""
    found: dict[str, list[tuple[Item, Item]]] = {}
    for known in scorers():
        params = [each["params"] for each in cases_of(known) if each["outcome"] == "graded"]
        for server in known.servers:
            found[server] = [(each["config"], each["row"]) for each in params]
    return found


CASES = _cases()


def rows_of(server: str, *rows: Mapping[str, object], rule: Mapping[str, object]) -> FileTree:
    """One file of these rows, for one agent and its server with these settings."""
    path = "data/one/train.jsonl"
    settings = ", ".join(f"{key}: {json.dumps(value)}" for key, value in rule.items())
    config = CONFIG.format(
        name="one",
        server=server,
        rule=settings,
        agent="simple_agent",
        datasets=ENTRY.format(name="one", split="train", path=path),
    )
    text = "".join(json.dumps(row) + "\n" for row in rows)
    files = {path: text, "environments/one/config.yaml": config}
    return FileTree({path: File(Blob(text.encode())) for path, text in files.items()})


@st.composite
def scored_repos(draw: Draw) -> FileTree:
    """One file of rows that a scorer grades, by one config."""
    server = draw(st.sampled_from(sorted(CASES)))
    rule, first = draw(st.sampled_from(CASES[server]))
    rows = [first, *(row for config, row in CASES[server] if config == rule)]
    chosen = draw(st.lists(st.sampled_from(rows), min_size=1, max_size=2))
    drawn = [
        {"responses_create_params": draw(requests()), "note": draw(values), **row} for row in chosen
    ]
    return rows_of(server, *drawn, rule=rule)


@st.composite
def row_repos(draw: Draw) -> FileTree:
    """One or two agents with one or two row files each, and files that are no tasks."""
    files: dict[str, bytes] = {}
    for name in draw(st.sampled_from([["one"], ["one", "other"]])):
        entries = ""
        for split in draw(st.sampled_from([["train"], ["train", "validation"], ["example"]])):
            path = f"data/{name}/{split}.jsonl"
            rows = draw(_some_lines)
            if draw(coin):
                rows.append(rows[0])
            if draw(coin):
                rows[-1] = rows[-1].rstrip()
            files[path] = b"".join(rows)
            entries += ENTRY.format(name=f"{name}-{split}", split=split, path=path)
        files[f"environments/{name}/config.yaml"] = CONFIG.format(
            name=name,
            server=draw(st.sampled_from(["mcqa", "xstest", "a_server_of_their_own"])),
            rule=draw(st.sampled_from(["grading_mode: x", "judge: {input: [], x: no}", "n: 1e-5"])),
            agent=draw(st.sampled_from(["simple_agent", "gymnasium_agent"])),
            datasets=entries,
        ).encode()
    files["data/one/rollouts.jsonl"] = b'{"response": {}, "reward": 1}\n'
    return FileTree({path: File(Blob(data)) for path, data in files.items()})
