"""NeMo Gym's files: what is written comes back, in PyYAML and under OmegaConf's rules."""

from __future__ import annotations

import json
import re

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st
from packaging.licenses import canonicalize_license_expression

from rlconvert.formats.nemo.layout import (
    AdoptedFrom,
    AgentConfig,
    DatasetEntry,
    LayoutError,
    Manifest,
    config_yaml,
    manifest_yaml,
    row_fault,
    row_line,
)
from rlconvert.formats.nemo.licences import (
    NEMO_LICENCES,
    SPDX_BY_LOWER,
    manifest_licensing,
    nemo_licence,
    spdx_licence,
)
from rlconvert.formats.nemo.parse import parse_config, parse_manifest, parse_row
from rlconvert.formats.nemo.yamltext import YamlError, dump, literal, load, quoted, resolved

NASTY = (
    "no", "NULL", "~", "1.10", "1_000", "0o17", "1:30", "2025-01-02", "1e5", ".inf", "=", "<<",
    "-", "- a", "a: b", "a #b", "#", "'", '"', "\\", "%", "@", "`", "|", ">", "!x", "&a", "*a",
    "{}", "[", "\t", "a\nb", "\r\n", "\x00", "\x1b", "\x85", "\xa0", "\u2028", "\ufeff", "\ufffe",
    "\U0001f600", "e\u0301", "\u202e", " x", "x ", "${x}", "\\${x}", "\\\\${", "${oc.env:HOME}",
    "???", "$", "{a}",
)  # fmt: skip
texts = st.one_of(
    st.sampled_from(NASTY),
    st.lists(st.sampled_from(NASTY), max_size=4).map("".join),
    st.text(alphabet="\\${}ab", max_size=8),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
)
words = texts.map(str.strip).filter(bool)
ENTRY = DatasetEntry("demo", "train", "data/default/harbor_agent_general-train.jsonl", "MIT")


def omegaconf(text: str) -> str:
    """What OmegaConf 2.3 makes of a string (its grammar, for strings without interpolation)."""
    if text == "${oc.decode:'\"???\"'}":
        return "???"
    assert text != "???"
    assert all(len(m[1]) % 2 for m in re.finditer(r"(\\*)\$\{", text)), "a live interpolation"
    return re.sub(r"(\\+)\$\{", lambda m: m[1][: len(m[1]) // 2] + "${", text)


@given(words)
def test_a_row_is_one_ascii_line_and_comes_back(name: str) -> None:
    line = row_line(name)
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert list(json.loads(line)) == ["task_name", "responses_create_params"]
    row = parse_row(line)
    assert (row.task_name, row.params, row.routing, row.extras) == (name, {"input": []}, {}, {})


def test_the_row_is_the_documented_one() -> None:
    expected = b'{"task_name": "a b", "responses_create_params": {"input": []}}\n'
    assert row_line("a b") == expected


def test_routing_keys_and_other_keys_are_told_apart() -> None:
    line = (
        b'{"task_name":"t","responses_create_params":{"input":[],"temperature":1},'
        b'"agent_ref":{"name":"x"},"task_source":"x","_ng_task_index":3,"difficulty":2}'
    )
    row = parse_row(line)
    assert row.routing == {"agent_ref": {"name": "x"}, "task_source": "x", "_ng_task_index": 3}
    assert row.extras == {"difficulty": 2}
    assert row.params == {"input": [], "temperature": 1}


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"[]",
        b'{"task_name":"t"}',
        b'{"task_name":"","responses_create_params":{"input":[]}}',
        b'{"task_name":1,"responses_create_params":{"input":[]}}',
        b'{"task_name":"t","responses_create_params":{}}',
        b'{"task_name":"t","task_name":"u","responses_create_params":{"input":[]}}',
        b'{"task_name":"t","responses_create_params":{"input":[]},"x":NaN}',
        b'{"task_name":"\xff","responses_create_params":{"input":[]}}',
        b'{"task_name":"t","responses_create_params":{"input":[]},"x":' + b"[" * 100_000,
    ],
)
def test_a_line_that_is_no_row_is_refused(line: bytes) -> None:
    with pytest.raises(LayoutError):
        parse_row(line)


@pytest.mark.parametrize(
    ("folder", "declared", "from_repo", "runs"),
    [
        ("same", None, True, True),
        ("same", "org/same", True, True),
        ("other", "org/same", False, False),
        ("a[1]", None, False, False),
        ("a*", None, False, False),
        ("é", None, False, True),
        ("é", None, True, False),
        ('a"b', None, True, False),
        ("a b", None, True, True),
        ("#h", None, True, True),
    ],
)
def test_which_folders_a_row_can_name(
    folder: str, declared: str | None, from_repo: bool, runs: bool
) -> None:
    assert (row_fault(folder, declared, from_repo=from_repo) is None) is runs


@given(texts)
@example("???")
@example("\\${oc.env:HOME}\\")
def test_omegaconf_gives_the_literal_text_back(text: str) -> None:
    written = literal(text)
    assert omegaconf(written) == text
    assert resolved(written) == text


@pytest.mark.parametrize("text", ["${x}", "a\\\\${x}", "???", "${"])
def test_only_omegaconf_knows_an_interpolation(text: str) -> None:
    assert resolved(text) is None


@given(texts)
def test_a_quoted_scalar_is_the_same_string_in_both_loaders(text: str) -> None:
    document = f"a: {quoted(text)}\n".encode()
    assert yaml.safe_load(document) == {"a": text}
    assert load(document) == {"a": text}
    assert b"\r" not in document


@given(words, words, st.sampled_from(sorted(NEMO_LICENCES)))
def test_a_config_comes_back(name: str, key: str, licence: str) -> None:
    assume("${" not in name and name != "???")
    entry = DatasetEntry(name, "train", "data/é $x/rows.jsonl", licence, "org/name", 3)
    example_entry = DatasetEntry(name + "2", "example", "data/e.jsonl")
    spec = AgentConfig("demo", (entry, example_entry), reward_key=key, harness=name)
    data = config_yaml(spec)
    parsed = parse_config(data)
    assert (parsed.ignored, parsed.problems) == ((), ())
    (agent,) = parsed.agents
    assert agent.datasets == spec.datasets
    assert agent.reward_key == key
    assert agent.harbor_dataset == {"path": "${harbor_dataset_path}"}
    assert agent.tasks_path is None
    assert yaml.safe_load(data) == load(data), "PyYAML and OmegaConf agree on every value"
    assert config_yaml(spec) == data


def test_a_config_with_a_repository_names_it() -> None:
    url = "https://huggingface.co/datasets/org/name@v1"
    (agent,) = parse_config(config_yaml(AgentConfig("demo", (ENTRY,), repo_url=url))).agents
    assert agent.harbor_dataset == {"repo": url, "path": "tasks"}
    assert agent.tasks_path == "tasks"
    assert agent.reward_key == "reward"


def test_every_reference_of_a_config_is_ours() -> None:
    written = config_yaml(
        AgentConfig("demo", (ENTRY,), reward_key="${a}", harness="${b}", backend="${c}")
    )
    assert set(re.findall(rb"(?<!\\)\$\{[^:}]+[:}]", written)) == {
        b"${oc.select:",
        b"${.harbor_agent.name}",
        b"${harbor_dataset_path}",
        b"${policy_model_name}",
    }


@pytest.mark.parametrize(
    "spec",
    [
        AgentConfig("demo", ()),
        AgentConfig("a/b", (ENTRY,)),
        AgentConfig("demo", (ENTRY, ENTRY)),
        AgentConfig("demo", (ENTRY,), instance="a.b"),
        AgentConfig("demo", (ENTRY,), repo_url="org/name"),
        AgentConfig("demo", (ENTRY,), repo_url="https://user:word@host/org/name"),
        AgentConfig("demo", (ENTRY,), repo_url="https://host/o/n", tasks_path="../x"),
        AgentConfig("demo", (ENTRY,), reward_key=""),
        AgentConfig("demo", (DatasetEntry("d", "train", "/abs.jsonl", "MIT"),)),
        AgentConfig("demo", (DatasetEntry("${d}", "train", "a.jsonl", "MIT"),)),
        AgentConfig("demo", (DatasetEntry("???", "train", "a.jsonl", "MIT"),)),
        AgentConfig("demo", (DatasetEntry("d", "train", "a${d}.jsonl", "MIT"),)),
        AgentConfig("demo", (DatasetEntry("d", "train", "a.jsonl", "Apache-2.0"),)),
        AgentConfig("demo", (DatasetEntry("d", "train", "a.jsonl"),)),
        AgentConfig("demo", (DatasetEntry("d", "example", "a.jsonl", "nonsense"),)),
        AgentConfig("demo", (DatasetEntry(" d", "train", "a.jsonl", "MIT"),)),
        AgentConfig("demo", (DatasetEntry("d", "train", "a.jsonl", "MIT", num_repeats=0),)),
    ],
)
def test_a_config_that_nemo_would_refuse_is_not_written(spec: AgentConfig) -> None:
    with pytest.raises(LayoutError):
        config_yaml(spec)


def test_a_foreign_config_is_read_as_far_as_it_goes() -> None:
    parsed = parse_config(
        b"""
config_paths: [other.yaml]
plain: 1
mine:
  responses_api_agents:
    harbor_agent_general:
      entrypoint: app.py
      harbor_reward_key: ${key}
      harbor_dataset: {path: tasks/, n_tasks: 3}
      harbor_agent: {name: terminus-2}
      datasets:
      - {name: 3, type: train, jsonl_fpath: a.jsonl, license: MIT}
      - {name: b, type: benchmark, jsonl_fpath: b.jsonl, prepare_script: p.py}
      - {name: c, type: example, jsonl_fpath: c.jsonl, huggingface_identifier: {repo_id: o/n}}
child: {_inherit_from: mine}
front:
  environment_servers:
    legacy_agent: {entrypoint: app.py, agent_server: {name: mine}}
"""
    )
    (agent,) = parsed.agents
    assert agent.name == "mine"
    assert agent.harbor_dataset == {"path": "tasks/", "n_tasks": 3}
    assert agent.datasets == (DatasetEntry("c", "example", "c.jsonl", hub_repo_id="o/n"),)
    assert agent.settings == {"entrypoint": "app.py", "harbor_agent": {"name": "terminus-2"}}
    assert parsed.ignored == ("config_paths", "plain", "child")
    assert len(parsed.problems) == 5


BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join(['*' + old] * 10)}]\n"
    for old, new in zip("abcdef", "bcdefg", strict=True)
)


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        "a: " + "[" * 5_000,
        "a: " + "{b: " * 60 + "1" + "}" * 60,
        "a: &a [*a]",
        "a: 1\na: 2",
        "1: a",
        "? [a]\n: b",
        "a: !!python/object/apply:os.system [x]",
        "a: !!binary aGk=",
        "a: !!timestamp 2025-01-02",
        "a: 1\n---\nb: 2",
        "- a",
        "a: [",
        "a: *b",
        "a: \x07",
        "a: !!int x",
        "a: " + "x" * (1 << 20),
    ],
)
def test_yaml_that_is_hostile_or_broken_is_refused(text: str) -> None:
    with pytest.raises(YamlError):
        load(text.encode())
    with pytest.raises(LayoutError):
        parse_config(text.encode())


def test_dates_and_exponents_are_what_omegaconf_makes_of_them() -> None:
    assert load(b"a: 2025-01-02\nb: 1e5\nc: 1:30\n") == {"a": "2025-01-02", "b": 1e5, "c": 90}


def test_a_lone_surrogate_cannot_be_written() -> None:
    with pytest.raises(YamlError):
        dump({"a": "\ud800"})


@given(words, words, st.lists(words, min_size=1, max_size=3, unique=True), st.none() | words)
def test_a_manifest_comes_back(
    version: str, description: str, authors: list[str], licence: str | None
) -> None:
    origin = AdoptedFrom("https://huggingface.co/datasets/o/n", "0123456", "2025-01-02")
    spec = Manifest(
        "demo", version, description, tuple(authors), (ENTRY,), licence, (-1, 2), origin
    )
    data = manifest_yaml(spec)
    assert manifest_yaml(spec) == data
    document = yaml.safe_load(data)
    assert document == load(data)
    assert document["description"] == description
    assert document["version"] == version
    assert document["authors"] == authors
    assert document["reward"]["range"] == [-1.0, 2.0]
    parsed = parse_manifest(data)
    assert parsed.adopted_from == origin
    assert (parsed.name, parsed.version, parsed.description) == ("demo", version, description)
    assert parsed.authors == tuple(authors)


@pytest.mark.parametrize(
    "spec",
    [
        Manifest("a/b", "1", "d", ("x",), (ENTRY,)),
        Manifest("demo", " ", "d", ("x",), (ENTRY,)),
        Manifest("demo", "1", "", ("x",), (ENTRY,)),
        Manifest("demo", "1", "d", (), (ENTRY,)),
        Manifest("demo", "1", "d", ("x", "x "), (ENTRY,)),
        Manifest("demo", "1", "d", ("x",), ()),
        Manifest("demo", "1", "d", ("x",), (ENTRY,), reward_range=(1, 0)),
        Manifest("demo", "1", "d", ("x",), (ENTRY,), reward_range=(0, float("inf"))),
        *(
            Manifest("demo", "1", "d", ("x",), (ENTRY,), adopted_from=origin)
            for origin in (
                AdoptedFrom("hf://x", "r", "2025-01-02"),
                AdoptedFrom("https://x", "r s", "2025-01-02"),
                AdoptedFrom("https://x", "r", "today"),
            )
        ),
    ],
)
def test_a_manifest_that_nemo_would_refuse_is_not_written(spec: Manifest) -> None:
    with pytest.raises(LayoutError):
        manifest_yaml(spec)


@pytest.mark.parametrize(
    ("spdx", "words", "exact"),
    [
        ("Apache-2.0", "Apache 2.0", True),
        ("apache-2.0", "Apache 2.0", True),
        ("mit", "MIT", True),
        ("CC-BY-SA-4.0", "Creative Commons Attribution-ShareAlike 4.0 International", True),
        ("GPL-3.0-or-later", "TBD", False),
        ("bsd-3-clause", "TBD", False),
        ("other", "TBD", False),
        (None, "TBD", False),
    ],
)
def test_licences(spdx: str | None, words: str, exact: bool) -> None:
    assert nemo_licence(spdx) == (words, exact)
    if exact and spdx is not None:
        back = spdx_licence(words)
        assert back is not None
        assert back.lower() == spdx.lower()


@given(st.none() | texts)
@example("mit OR apache-2.0")
@example("odc-by")
@example("openrail")
def test_a_manifest_names_a_licence_that_spdx_knows(spdx: str | None) -> None:
    written = manifest_licensing(spdx)
    assert written == "unknown" or canonicalize_license_expression(written) == written


def test_every_licence_of_the_table_is_spdx() -> None:
    for name in SPDX_BY_LOWER:
        written = manifest_licensing(name)
        assert canonicalize_license_expression(written) == written
    assert {nemo_licence(name)[0] for name in SPDX_BY_LOWER} <= NEMO_LICENCES
