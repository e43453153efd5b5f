"""Rows of NeMo Gym: what each means, what is refused, by file and line; the rest goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from converting import ONE_JOB, loss_lines
from nemo.nemo_rows import CONFIG, DATA, repo_of, row
from nemo.request_cases import REQUESTS
from rlconvert.errors import RlconvertError, UsageError
from rlconvert.files import Blob
from rlconvert.format import get_format
from rlconvert.formats.nemo.noticing import LOST, REFUSED, UNHEARD
from rlconvert.formats.nemo.rules import hosted_rule
from rlconvert.formats.nemo.yamltext import load
from rlconvert.memory import MemorySource
from rlconvert.model import Task
from rlconvert.pipe import Settings, convert
from rlconvert.prompt import Media, Message, Messages, Text, ToolCall, ToolResult
from rlconvert.runtime import Function
from rlconvert.source import FolderSource
from strategies.files import lay

NEMO = get_format("nemo")


def load_all(files: dict[str, bytes], **options: str) -> dict[str, Task | str]:
    """Each task, or the reason why it cannot be read."""
    named = {name.replace("_", "-"): value for name, value in options.items()}
    reader = NEMO.reader(MemorySource(repo_of(files)), named)
    reader.repo()
    found: dict[str, Task | str] = {}
    places, wanted = list[object](), list[object]()
    for ref in reader.refs():
        try:
            found[ref.id] = reader.load(ref)
        except RlconvertError as error:
            found[ref.id] = error.reason
            places.append((error.file, error.where))
            wanted.append((ref.path, f"line {ref.rows[0].number}"))
    assert places == wanted
    return found


def load_one(line: bytes, config: bytes = CONFIG) -> Task | str:
    (only,) = load_all({"environments/demo/config.yaml": config, DATA: line}).values()
    return only


def request(params: dict[str, Any]) -> Task | str:
    return load_one(row(responses_create_params=params))


@pytest.mark.parametrize("name", REQUESTS)
def test_request(name: str) -> None:
    params, verdict = REQUESTS[name]
    task = request(params)
    if isinstance(task, str):
        assert task == verdict
        return
    reasons = {each.reason for each in task.native["nemo"].remarks if each.harm}
    expected: dict[str, list[set[str]]] = {
        "ok": [set()],
        "refused": [{REFUSED}],
        "lost": [{LOST}, {UNHEARD}],
    }
    assert reasons in expected.get(verdict, []), verdict


def messages(name: str) -> tuple[Message, ...]:
    task = request(REQUESTS[name][0])
    assert isinstance(task, Task)
    prompt = task.steps[0].prompt
    assert isinstance(prompt, Messages)
    return prompt.messages


def test_what_chat_completions_mean() -> None:
    assert messages("tool_role") == (Message("tool", (ToolResult("c", "4"),)),)
    assert messages("chat_calls") == (
        Message("assistant", (Text("hm"),)),
        Message("assistant", (ToolCall("c", "f", "{}"),)),
    )
    assert messages("chat_text") == messages("text_part") == Messages.user("x").messages


def test_media() -> None:
    png = Media("image", Blob(b"\x89PNG\r\n\x1a\n"), "image/png", detail="high")
    assert messages("image") == (Message("user", (png,)),)
    assert messages("image_address")[0].parts == (Media("image", "http://x/y", detail="low"),)
    assert messages("audio")[0].parts == (Media("audio", Blob(b"a"), "audio/wav"),)


def test_instructions_are_the_system_message() -> None:
    assert messages("instructions")[0] == Message("system", (Text("be kind"),))


def test_payload_config_and_tools() -> None:
    task = load_one(row(responses_create_params=REQUESTS["tool_other"][0], options=[{"A": "x"}]))
    assert isinstance(task, Task)
    rule = hosted_rule(task)
    assert rule is not None
    assert rule.component == "mcqa"
    assert rule.config == {"grading_mode": "lenient_boxed"}
    assert rule.payload["options"] == [{"A": "x"}]
    tools = task.runtime.tools
    assert tools is not None
    assert [type(tool) for tool in tools] == [Function]
    assert task.extras["nemo"] == {"/responses_create_params/tools/0": {"type": "web_search"}}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"a": 1, "a": 2}\n', "duplicate-key"),
        (row(x=1).replace(b'"x": 1', b'"x": {"y": 1, "y": 1}'), "duplicate-key"),
        (row(x=1).replace(b'"x": 1', b'"x": NaN'), "not-a-number"),
        (row(x=1).replace(b'"x": 1', b'"x": -Infinity'), "not-a-number"),
        (row(x=1).replace(b'"x": 1', b'"x": 1e400'), "not-a-number"),
        (row(x=1).replace(b'"x": 1', b'"x": ' + b"9" * 5000), "number-too-long"),
        (row(x="\ud800"), "lone-surrogate"),
        (row(x=1).replace(b'"x"', b'"\\uDfff"'), "lone-surrogate"),
        (row(x=1).replace(b'"x"', b'"\0"'), "nul-character"),
        (row(x=1).replace(b'"x"', b'"\xff"'), "not-utf8"),
        (row(x=1).replace(b'"x"', b'"\xed\xa0\x80"'), "not-utf8"),
        (b"\xef\xbb\xbf" + row(), "byte-order-mark"),
        (b"\n", "blank-line"),
        (b"  \r\n", "blank-line"),
        (row().replace(b", ", b",\r ", 1), "carriage-return"),
        (row()[:-10], "bad-json"),
        (b"[1]\n", "row-not-object"),
        (b"5\n", "row-not-object"),
        (b"null\n", "row-not-object"),
        (b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n", "too-deep"),
        (row(x=json.loads("[" * 300 + "]" * 300)), "too-deep"),
        (row(x=1, verifier_metadata={"x": 2}), "contradictory-fields"),
        (row(x=1, task_data={"x": 2}), "contradictory-fields"),
        (row(verifier_metadata=5), "bad-metadata"),
        (row(responses_create_params=None), "no-request"),
        (b'{"question": "x"}\n', "no-request"),
        (row(response={"output": []}, reward=1.0), "rollout"),
        (row(task_id={"taskset": "t"}, task_input={}), "bad-envelope"),
    ],
)
def test_bad_rows(line: bytes, reason: str) -> None:
    """Each in the middle of good ones, which go on."""
    good = [row(uuid=str(number)) for number in range(3)]
    lines = b"".join([good[0], line.removesuffix(b"\n") + b"\n", *good[1:]])
    found = load_all({"environments/demo/config.yaml": CONFIG, DATA: lines})
    reasons = [each for each in found.values() if isinstance(each, str)]
    assert reasons == [reason]
    assert len(found) == 4


@pytest.mark.parametrize(
    "line",
    [
        row(x=2**63, y=-(2**64), z=10**100),
        row(x=1).replace(b"\n", b"\r\n"),
        row(x=1).removesuffix(b"\n"),
        row(x="a\u2028b\u2029c\x85d", y="\x0b\x0c\x1c"),
        json.dumps({"a": "\u2028\x85\u2029", **json.loads(row())}, ensure_ascii=False).encode(),
        row(x="\x00"),
        row(x="\U0001f600", verifier_metadata={"x": "\U0001f600"}),
        row(x=[1.0, -0.0, 1e-300, 0.1]),
        row(agent_ref={"name": "old"}, _ng_task_index=5, task_source="mc"),
        row(x="a" * 5_000_000),
    ],
)
def test_odd_but_good_rows_come_back(line: bytes, tmp_path: Path) -> None:
    files = {"environments/demo/config.yaml": CONFIG, DATA: line}
    source = lay(tmp_path / "source", repo_of(files))
    made = convert(FolderSource(str(source)), NEMO, ["nemo"], str(tmp_path / "out"), ONE_JOB)
    assert not made.report.any_refused
    assert (tmp_path / "out" / DATA).read_bytes() == line


def test_shapes_mean_the_same() -> None:
    fields = {"expected_answer": "A", "options": [{"A": "x"}]}
    params = {"responses_create_params": {"input": "hi"}}
    shapes: list[dict[str, Any]] = [
        params | fields,
        params | {"task_data": fields},
        {"task_id": {"taskset": "t", "task_id": "one"}, "task_input": params | fields},
    ]
    rewards, ids = [], []
    for shape in shapes:
        task = load_one(json.dumps(shape).encode() + b"\n")
        assert isinstance(task, Task)
        rewards.append(task.reward)
        ids.append(task.id)
    assert rewards[0] == rewards[1] == rewards[2]
    assert ids[2] == "one"


def test_fields_that_the_server_does_not_see() -> None:
    config = CONFIG.replace(b"mcqa", b"xstest")
    task = load_one(row(label="safe", type="x"), config)
    assert isinstance(task, Task)
    rule = hosted_rule(task)
    assert rule is not None
    assert rule.payload["verifier_metadata"] == {"label": "safe", "type": "x"}
    assert [each.reason for each in task.native["nemo"].remarks] == [LOST]


def test_padding_of_tables_is_taken_out() -> None:
    """`id` of workplace_assistant is no field that may be null; `metadata` of mcqa is."""
    padded = row(uuid=None, metadata=None, grading_mode=None, verifier_metadata=None)
    task = load_one(padded)
    assert isinstance(task, Task)
    rule = hosted_rule(task)
    assert rule is not None
    assert rule.payload == {"expected_answer": "A", "uuid": None, "metadata": None}
    assert REFUSED in [each.reason for each in task.native["nemo"].remarks]


# --- ids -----------------------------------------------------------------------------------------


def test_ids() -> None:
    lines = [
        row(task_id="one"), row(problem_id="two"), row(instance_id="three"), row(x=1), row(x=1),
        row(task_id="twice", x=1), row(task_id="TWICE", x=2), row(task_id=7), row(task_id=" pad "),
    ]  # fmt: skip
    ids = list(load_all({"environments/demo/config.yaml": CONFIG, DATA: b"".join(lines)}))
    assert ids[:3] == ["one", "two", "three"]
    assert ids[4] == f"{ids[3]}~2"
    assert all(len(each.partition("~")[0]) == 20 for each in ids[3:])
    assert len(set(ids)) == len(lines)


def test_ids_are_not_positions() -> None:
    files = [row(x=1) + row(x=2), row(x=2) + row(x=1).replace(b", ", b",  ")]
    found = [load_all({"environments/demo/config.yaml": CONFIG, DATA: each}) for each in files]
    assert set(found[0]) == set(found[1])


# --- who grades ----------------------------------------------------------------------------------

FIELDS = {"schema_str": "{}"}
REQUEST = {"responses_create_params": {"input": "x"}}


@pytest.mark.parametrize(
    ("line", "component"),
    [
        (row(**FIELDS), None),  # more than one server takes `expected_answer` beside nothing else
        (json.dumps({**REQUEST, **FIELDS}).encode(), "structured_outputs"),
        (row(question="q"), None),
        (row(question="q", agent_ref={"name": "simpleqa_simple_agent"}), "simpleqa"),
        (row(question="q", agent_ref={"name": "mcqa_simple_agent"}), None),
        (row(nobody_knows=1, agent_ref={"name": "verifif_simple_agent"}), "verifif"),
    ],
)  # fmt: skip
def test_recognised_without_a_config(line: bytes, component: str | None) -> None:
    (task,) = load_all({"train.jsonl": line}).values()
    assert isinstance(task, Task)
    rule = hosted_rule(task)
    assert (None if rule is None else rule.component) == component


def test_stated_server() -> None:
    (task,) = load_all({"train.jsonl": row(question="q")}, nemo_server="simpleqa").values()
    assert isinstance(task, Task)
    rule = hosted_rule(task)
    assert rule is not None
    assert rule.component == "simpleqa"
    with pytest.raises(UsageError, match="simpleqa"):
        load_all({"train.jsonl": row()}, nemo_server="simpleq")


def test_stated_config(tmp_path: Path) -> None:
    config = tmp_path / "mine.yaml"
    config.write_bytes(CONFIG)
    (task,) = load_all({"rows.jsonl": row(question="q")}, nemo_config=str(config)).values()
    assert isinstance(task, Task)
    rule = hosted_rule(task)
    assert rule is not None
    assert (rule.component, dict(rule.config)) == (
        "mcqa",
        {"grading_mode": "lenient_boxed"},
    )


def test_only_what_a_config_lists_is_read() -> None:
    files = {
        "environments/demo/config.yaml": CONFIG,
        DATA: row(),
        "data/example_rollouts.jsonl": row(response={}, reward=1),
        "data/other.jsonl": row(),
    }
    assert len(load_all(files)) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"a: &x [*x]\nresources_servers: 1", "bad-config"),
        (CONFIG.replace(b"demo:", b"demo: 1\ndemo:"), "bad-config"),
        (CONFIG.replace(b"data/demo/rows.jsonl", b"${oc.env:HOME}/x.jsonl"), "bad-dataset"),
        (CONFIG.replace(b"type: train", b"type: no"), "bad-dataset"),
        (CONFIG.replace(b"license: MIT", b"num_repeats: 1_0x"), "bad-dataset"),
        (CONFIG.replace(b"data/demo/rows.jsonl", b"../x.jsonl"), "unsafe-name"),
    ],
)
def test_bad_configs(text: bytes, reason: str) -> None:
    """Named by file; the tasks of the other config go on."""
    files = {
        "environments/demo/config.yaml": CONFIG,
        "environments/bad/config.yaml": text,
        DATA: row(),
    }
    reader = NEMO.reader(MemorySource(repo_of(files)), {})
    (fault,) = reader.repo().faults
    assert fault.file == "environments/bad/config.yaml"
    assert fault.reason == reason
    assert len(list(reader.refs())) == 1


# --- writing -------------------------------------------------------------------------------------


def test_normalise_makes_rows_that_are_taken_in(tmp_path: Path) -> None:
    lines = [
        row(uuid=name, responses_create_params=params)
        for name, (params, verdict) in REQUESTS.items()
        if verdict in ("ok", "refused", "lost")
    ]
    files = {"environments/demo/config.yaml": CONFIG, DATA: b"".join(lines)}
    source = lay(tmp_path / "source", repo_of(files))
    settings = Settings(jobs=1, options={"normalise": "yes"})
    made = convert(FolderSource(str(source)), NEMO, ["nemo"], str(tmp_path / "out"), settings)
    refused = sum(each.count for each in made.report.refused.values())
    assert [key.what for key in made.report.refused] == ["row-cannot-say"]
    found = load_all({
        "environments/demo/config.yaml": CONFIG,
        DATA: (tmp_path / "out" / DATA).read_bytes(),
    })  # fmt: skip
    assert len(found) == len(lines) - refused
    for task in found.values():
        assert isinstance(task, Task)
        assert not [each for each in task.native["nemo"].remarks if each.harm]


def test_a_key_that_is_dropped_is_told(tmp_path: Path) -> None:
    """The model does not hold the name of who speaks: a rewritten row has lost it."""
    line = row(responses_create_params=REQUESTS["named"][0])
    source = lay(
        tmp_path / "source", repo_of({"environments/demo/config.yaml": CONFIG, DATA: line})
    )
    for normalise, lost in (("no", False), ("yes", True)):
        settings = Settings(jobs=1, options={"normalise": normalise})
        out = str(tmp_path / normalise)
        made = convert(FolderSource(str(source)), NEMO, ["nemo"], out, settings)
        assert made.report.any_loss is lost


def test_a_set_without_rows_and_a_benchmark_are_written_anew(tmp_path: Path) -> None:
    """The benchmark's type demands a script that would make the rows, and they are there."""
    more = (
        b"      - {name: v, type: validation, jsonl_fpath: empty.jsonl, license: MIT}\n"
        b"      - {name: b, type: benchmark, jsonl_fpath: b.jsonl, prepare_script: p.py}\n"
    )
    other = CONFIG.replace(b"demo", b"other").replace(b"data/other/rows.jsonl", b"none.jsonl")
    files = {
        "environments/demo/config.yaml": CONFIG + more,
        "environments/other/config.yaml": other,
        DATA: row(),
        "empty.jsonl": b"",
        "b.jsonl": row(x=1),
        "none.jsonl": b"",
    }
    source = lay(tmp_path / "source", repo_of(files))
    out = tmp_path / "out"
    convert(FolderSource(str(source)), NEMO, ["nemo", "harbor"], str(out), ONE_JOB)
    found = {path.name: path.read_bytes() for path in (out / "data" / "demo").iterdir()}
    assert found["simple_agent-validation.jsonl"] == b""
    assert len(found) == 3
    listed = load((out / "environments" / "demo" / "config.yaml").read_bytes())
    agent = listed["demo_simple_agent"]["responses_api_agents"]["simple_agent"]  # type: ignore[index,call-overload]
    assert [(each["name"], each["type"]) for each in agent["datasets"]] == [  # type: ignore[index,call-overload,union-attr]
        ("simple_agent-train", "train"),
        ("simple_agent-benchmark", "validation"),
        ("simple_agent-validation", "validation"),
    ]
    told = [each for each in loss_lines(out) if each.get("field") == "tasksets"]
    assert [(each["fate"], each["detail"]) for each in told] == [
        ("dropped", "environments/other/config.yaml: none.jsonl"),
        ("translated", "data/demo/simple_agent-benchmark.jsonl"),
    ]
    home = tmp_path / "home"
    made = convert(FolderSource(str(source)), NEMO, ["nemo"], str(home), ONE_JOB)
    assert (home / "empty.jsonl").read_bytes() == b""
    assert not made.report.any_loss


def test_how_the_server_was_found_is_told(tmp_path: Path) -> None:
    line = json.dumps({**REQUEST, **FIELDS}).encode()
    source = lay(tmp_path / "source", repo_of({"train.jsonl": line}))
    convert(FolderSource(str(source)), NEMO, ["nemo"], str(tmp_path / "out"), ONE_JOB)
    (told,) = [each for each in loss_lines(tmp_path / "out") if each.get("field") == "reward"]
    assert "told by the fields" in str(told["reason"])
    assert told["detail"] == "train.jsonl: structured_outputs"


def test_harbor_does_not_get_a_row_that_a_model_grades(tmp_path: Path) -> None:
    files = {"environments/demo/config.yaml": CONFIG.replace(b"mcqa", b"simpleqa"), DATA: row()}
    source = lay(tmp_path / "source", repo_of(files))
    made = convert(FolderSource(str(source)), NEMO, ["harbor"], str(tmp_path / "out"), ONE_JOB)
    assert [key.what for key in made.report.refused] == ["no-reward-script"]
