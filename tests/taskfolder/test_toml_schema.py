"""`task.toml`: what is read, what is refused and why, and that nothing is lost on the way back."""

from __future__ import annotations

import datetime as dt
import json
import re
from contextlib import suppress

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rlconvert.formats.taskfolder.documents import MAX_TOML_BYTES, Value
from rlconvert.formats.taskfolder.network import NetworkMode
from rlconvert.formats.taskfolder.problems import CannotEncode, DocumentRefused, Problem, Reason
from rlconvert.formats.taskfolder.tables import (
    AgentTable,
    ArtifactTable,
    EnvironmentTable,
    StepTable,
    Table,
    TaskTable,
)
from rlconvert.formats.taskfolder.toml_schema import TaskToml, decode_task_toml, encode_task_toml
from taskfolder.same import exact
from taskfolder.toml_cases import ACCEPTED, HOSTS, REFUSED, STRICTER
from taskfolder.toml_keys import TABLES, alone, values
from taskfolder.toml_texts import names, text


def decode(document: str) -> TaskToml:
    """From text, for the reader's sake."""
    return decode_task_toml(document.encode())


def problems(document: str | bytes) -> tuple[Problem, ...]:
    """Why a document is refused."""
    data = document.encode() if isinstance(document, str) else document
    with pytest.raises(DocumentRefused) as refused:
        decode_task_toml(data)
    return refused.value.problems


def there_and_back(toml: TaskToml) -> None:
    """The law: what is written is read as it was, and written the same again."""
    data = encode_task_toml(toml)
    again = decode_task_toml(data)
    assert exact(again) == exact(toml)
    assert encode_task_toml(again) == data


# What is read.


@pytest.mark.parametrize(("table", "name", "literal"), values(good=True))
def test_value_is_accepted(table: str, name: str, literal: str) -> None:
    there_and_back(decode(alone(table, name, literal)))


@pytest.mark.parametrize("document", ACCEPTED.values(), ids=ACCEPTED)
def test_document_is_accepted(document: str) -> None:
    there_and_back(decode(document))


@pytest.mark.parametrize(
    ("document", "read"),
    [
        ("agent.timeout_sec = '30'", AgentTable(timeout_sec=30.0)),
        ("agent.timeout_sec = true", AgentTable(timeout_sec=1.0)),
        ("agent.user = 1000.0", AgentTable(user=1000)),
        ("environment.cpus = 2.0", EnvironmentTable(cpus=2)),
        ("environment.cpus = '2.5'", EnvironmentTable(cpus=2.5)),
        ("environment.memory = '1.5g'", EnvironmentTable(memory_mb=1536)),
        ("environment.memory = '100K'", EnvironmentTable(memory_mb=0)),
        ("environment.storage = '-1e3M'", EnvironmentTable(storage_mb=-1000)),
        ("environment.allow_internet = 0", EnvironmentTable(network_mode=NetworkMode.NO_NETWORK)),
        ("environment.allow_internet = 'on'", EnvironmentTable(network_mode=NetworkMode.PUBLIC)),
        ("artifacts = [{ source = '/a', service = ' main ' }]",
         ArtifactTable(source="/a", service="main")),
    ],
)  # fmt: skip
def test_coercion(document: str, read: object) -> None:
    config = decode(document).config
    table: object = config.artifacts[0] if config.artifacts else config.environment
    table = config.agent if isinstance(read, AgentTable) else table
    assert exact(table) == exact(read)


@pytest.mark.parametrize(("written", "kept"), HOSTS.items())
def test_host(written: str, kept: str | None) -> None:
    document = f"agent = {{ network_mode = 'allowlist', allowed_hosts = [{json.dumps(written)}] }}"
    if kept is not None:
        assert decode(document).config.agent.allowed_hosts == (kept,)
        there_and_back(decode(document))
    else:
        assert [one.reason for one in problems(document)] == [Reason.NETWORK_HOST]


def test_given_is_not_default() -> None:
    unset, given_ = decode("").config, decode("[verifier]\ntimeout_sec = 600").config
    assert unset.verifier == given_.verifier
    assert not unset.model_fields_set
    assert given_.verifier.model_fields_set == {"timeout_sec"}


def test_legacy_spelling_is_given_too() -> None:
    config = decode("version = '1.0'\n[environment]\nmemory = '1G'\nallow_internet = true").config
    assert config.schema_version == "1.0"
    assert config.model_fields_set == {"schema_version", "environment"}
    assert config.environment.model_fields_set == {"memory_mb", "network_mode"}


# What Harbor ignores.


def test_unknown_keys_are_kept_by_pointer() -> None:
    toml = decode(ACCEPTED["unknown keys"])
    assert repr(dict(toml.unknown)) == repr(
        {
            "/difficulty": "easy",
            "/unknown": {"a": [], "b": [{}, {"c": 1}]},
            "/artifacts/0/x~1y~0z": float("nan"),
            "/environment/definition": {"a": [1, {"b": "c"}]},
            "/steps/0/foo": {"bar": dt.date(1979, 5, 27)},
        }
    )


@pytest.mark.parametrize(
    ("document", "unknown"),
    [
        ("schema_version = '1.1'\nversion = 1.0", {"/version": 1.0}),
        ("environment.memory = 2048", {"/environment/memory": 2048}),
        ("verifier.environment.storage = []", {"/verifier/environment/storage": []}),
        ("[environment]\nallow_internet = 'no'\nnetwork_mode = 'public'",
         {"/environment/allow_internet": "no"}),
        ("[environment]\nallow_internet = false\nallowed_hosts = []",
         {"/environment/allow_internet": False}),
        ("[[steps]]\nname = 'a'\nartifacts = ['/b', { source = '/a', destination = '' }]",
         {"/steps/0/artifacts/1/destination": ""}),
        ("artifacts = []\n[environment]\nartifacts = ['/a']", {"/environment/artifacts": ["/a"]}),
        ("[metadata]\nanything = 1", {}),
    ],
)  # fmt: skip
def test_read_and_discarded_is_unknown(document: str, unknown: dict[str, Value]) -> None:
    toml = decode(document)
    assert exact(dict(toml.unknown)) == exact(unknown)
    there_and_back(toml)


# What is refused.


@pytest.mark.parametrize(("table", "name", "literal"), values(good=False))
def test_value_is_refused(table: str, name: str, literal: str) -> None:
    for problem in problems(alone(table, name, literal)):
        whole_table = problem.reason in (Reason.NETWORK_POLICY, Reason.MCP_TRANSPORT)
        assert name in re.split(r"[.\[]", problem.where) or whole_table
        assert not problem.harbor_accepts


@pytest.mark.parametrize(("document", "expected"), REFUSED.values(), ids=REFUSED)
def test_document_is_refused(document: str, expected: list[tuple[str, Reason]]) -> None:
    found = problems(document)
    assert [(one.where, one.reason) for one in found] == expected
    assert not any(one.harbor_accepts for one in found)


@pytest.mark.parametrize(("document", "where", "reason"), STRICTER.values(), ids=STRICTER)
def test_stricter_than_harbor(document: str, where: str, reason: Reason) -> None:
    (problem,) = problems(document)
    assert (problem.where, problem.reason, problem.harbor_accepts) == (where, reason, True)


def test_all_problems_come_at_once() -> None:
    with pytest.raises(DocumentRefused) as refused:
        decode(
            '[task]\nname = "a/b\\n"\n[environment]\nmemory = "x"\ncpus = []\n[agent]\nuser = []'
        )
    assert str(refused.value) == (
        "environment.memory: not a number with G, M or K: 'x' [legacy-size]; "
        "task.name: ends with a newline: 'a/b\\n' [control-character]; "
        "agent.user: Input should be a valid integer [wrong-type]; "
        "environment.cpus: Input should be a valid number [wrong-type]"
    )
    assert not refused.value.harbor_accepts


@pytest.mark.parametrize(
    ("data", "reason", "line", "column"),
    [
        (b"a = 1\r\nb = '\xff'", Reason.NOT_UTF8, 2, 6),
        ("a".encode("utf-16-be"), Reason.NUL_CHARACTER, 1, 1),
        ("a = 1".encode("utf-16"), Reason.NOT_UTF8, 1, 1),
        (b"a = '\xed\xa0\x80'", Reason.NOT_UTF8, 1, 6),
        (b"a = 1\rb = '\0'", Reason.NUL_CHARACTER, 2, 6),
        (b"\xef\xbb\xbfa = 1", Reason.BYTE_ORDER_MARK, 1, 1),
        (b"a = 1\r\nb = \xc3\xa9", Reason.BAD_TOML, 2, 5),
    ],
)
def test_place(data: bytes, reason: Reason, line: int, column: int) -> None:
    (problem,) = problems(data)
    assert (problem.reason, problem.line, problem.column) == (reason, line, column)


def test_secret_is_not_repeated() -> None:
    document = (
        "environment.mcp_servers = [{ name = 'a', url = 'x', headers = { X-Key = 'hunter2' } }]"
    )
    assert "hunter2" not in str(problems(document)[0])


def test_tables_made_by_hand_are_strict() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        EnvironmentTable.model_validate({"memory": "2G"})
    with pytest.raises(ValidationError, match="not a portable folder name"):
        StepTable(name="a/b")


def test_every_key_is_in_the_manual() -> None:
    legacy = {"version", "memory", "storage", "allow_internet"}
    names: dict[str, type[Table]] = {
        "step": StepTable,
        "environment": EnvironmentTable,
        "root": TaskTable,
    }
    for table, model in names.items():
        assert set(TABLES[table]) - legacy == set(model.model_fields)


# What is written.


def test_written_form() -> None:
    toml = decode(
        "version = '1.0'\nfoo = 1\n[environment]\nallow_internet = false\nmemory = '2G'\nbar = 2\n"
        "artifacts = ['/x']\n[[steps]]\nname = 'a'\nagent.user = 5\n[[steps]]\nname = 'b'\n"
        '[metadata]\nb = "\\u0001\\u007f\\"\\n"\na = 07:32:00\n'
    )
    assert encode_task_toml(toml).decode() == (
        'schema_version = "1.0"\nfoo = 1\n\n'
        '[metadata]\nb = "\\u0001\\u007f\\"\\n"\na = 07:32:00\n\n'
        '[environment]\nmemory_mb = 2048\nnetwork_mode = "no-network"\n'
        'artifacts = [\n    "/x",\n]\nbar = 2\n\n'
        '[[steps]]\nname = "a"\n\n[steps.agent]\nuser = 5\n\n[[steps]]\nname = "b"\n'
    )


def test_only_given_keys_are_written() -> None:
    config = TaskTable(agent=AgentTable(timeout_sec=None), environment=EnvironmentTable())
    assert encode_task_toml(TaskToml(config)) == b"[agent]\n\n[environment]\n"


def test_missing_table_is_made_for_an_unknown_key() -> None:
    toml = TaskToml(TaskTable(), {"/environment/definition": 1, "/tool": [{}]})
    assert tomli.loads(encode_task_toml(toml).decode()) == {
        "tool": [{}],
        "environment": {"definition": 1},
    }


@pytest.mark.parametrize(
    ("unknown", "message"),
    [
        ({"": 1}, "not a pointer"),
        ({"foo": 1}, "not a pointer"),
        ({"/foo~2": 1}, "not a pointer"),
        ({"/steps/0/foo": 1}, "no place"),
        ({"/source/foo": 1}, "no place"),
        ({"/source": "b"}, "no place"),
        ({"/environment/cpus": 1}, "read back as ignored: /environment/cpus"),
        ({"/environment/memory": "2G"}, "read back as ignored: /environment/memory"),
        ({"/environment/definition/x": 1}, "read back as ignored"),
        ({"/metadata/foo": 1}, "read back as ignored: /metadata/foo"),
        ({"/foo": None}, "NoneType"),
        ({"/foo": "\ud800"}, "surrogates not allowed"),
        ({"/foo": "x" * MAX_TOML_BYTES}, "the limit is"),
        ({"/foo": 10**4300}, "4300 decimal digits"),
    ],
)
def test_cannot_encode(unknown: dict[str, Value], message: str) -> None:
    with pytest.raises(CannotEncode, match=message):
        encode_task_toml(TaskToml(TaskTable(source="a"), unknown))


# The laws, for any document.

NASTY = st.sampled_from(
    ["", ".", "a.b", "/", "~1", "é", "e\u0301", "\0", "\r\n", '"', "'''", "\x7f"]
)
TEXTS = NASTY | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
OFFSETS = st.integers(-1439, 1439).map(lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)))
SCALARS = (
    st.booleans()
    | st.integers()
    | st.sampled_from([2**64, -(10**4299)])
    | st.floats()
    | TEXTS
    | st.dates()
    | st.times().map(lambda time: time.replace(fold=0))
    | st.datetimes(timezones=st.none() | OFFSETS).map(lambda time: time.replace(fold=0))
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4)
)
SEEDS = st.integers(0, 10**9)


@given(st.dictionaries(TEXTS, VALUES), st.dictionaries(TEXTS.map("?".__add__), VALUES))
def test_any_value_survives(metadata: dict[str, Value], others: dict[str, Value]) -> None:
    unknown = {"/" + key.replace("~", "~0").replace("/", "~1"): one for key, one in others.items()}
    there_and_back(TaskToml(TaskTable(metadata=metadata), unknown))


@given(SEEDS)
def test_any_document_survives(seed: int) -> None:
    with suppress(DocumentRefused):
        there_and_back(decode(text(seed)))


@given(SEEDS)
def test_any_string_survives(seed: int) -> None:
    with suppress(DocumentRefused):
        there_and_back(decode(names(seed)))


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda one: one.encode(errors="ignore")))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with suppress(DocumentRefused):
        there_and_back(decode_task_toml(data))
