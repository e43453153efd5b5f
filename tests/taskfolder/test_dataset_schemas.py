"""`registry.json` and `dataset.toml`: what is read, what is refused, and the way back."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlconvert.formats.taskfolder.dataset_schema import decode_dataset_toml
from rlconvert.formats.taskfolder.documents import Value
from rlconvert.formats.taskfolder.problems import CannotEncode, DocumentRefused, Problem, Reason
from rlconvert.formats.taskfolder.registry_schema import (
    RegistryDataset,
    RegistryJson,
    RegistryTask,
    decode_registry_json,
    encode_registry_json,
)
from taskfolder.dataset_cases import (
    DATASET_ACCEPTED,
    DATASET_REFUSED,
    DATASET_STRICTER,
    REGISTRY_ACCEPTED,
    REGISTRY_REFUSED,
    REGISTRY_STRICTER,
)
from taskfolder.same import exact


def registry_problems(document: str) -> tuple[Problem, ...]:
    with pytest.raises(DocumentRefused) as refused:
        decode_registry_json(document.encode())
    return refused.value.problems


def dataset_problems(document: str) -> tuple[Problem, ...]:
    with pytest.raises(DocumentRefused) as refused:
        decode_dataset_toml(document.encode())
    return refused.value.problems


def there_and_back(registry: RegistryJson) -> None:
    data = encode_registry_json(registry)
    again = decode_registry_json(data)
    assert exact(again) == exact(registry)
    assert encode_registry_json(again) == data


@pytest.mark.parametrize("document", REGISTRY_ACCEPTED.values(), ids=REGISTRY_ACCEPTED)
def test_registry_is_accepted(document: str) -> None:
    there_and_back(decode_registry_json(document.encode()))


@pytest.mark.parametrize(("document", "expected"), REGISTRY_REFUSED.values(), ids=REGISTRY_REFUSED)
def test_registry_is_refused(document: str, expected: list[tuple[str, Reason]]) -> None:
    found = registry_problems(document)
    assert [(one.where, one.reason) for one in found] == expected
    assert not any(one.harbor_accepts for one in found)


@pytest.mark.parametrize(("document", "reason"), REGISTRY_STRICTER.values(), ids=REGISTRY_STRICTER)
def test_registry_is_read_strictly(document: str, reason: Reason) -> None:
    (problem,) = registry_problems(document)
    assert (problem.reason, problem.harbor_accepts) == (reason, True)


def test_registry_unknown_keys() -> None:
    registry = decode_registry_json(REGISTRY_ACCEPTED["unknown keys"].encode())
    assert registry.unknown == {
        "/0/a~1b": None,
        "/0/tasks/0/split": ["x"],
        "/0/metrics/0/k": "\ud800",
        "/1/": {"a": 1},
    }


def test_registry_written_form() -> None:
    entry = RegistryDataset(
        name="d", version="1", description="é", tasks=(RegistryTask(name="a", path="tasks/a"),)
    )
    assert encode_registry_json(RegistryJson((entry,), {"/0/tasks/0/x": 1})).decode() == (
        '[\n  {\n    "name": "d",\n    "version": "1",\n    "description": "é",\n    "tasks": [\n'
        '      {\n        "name": "a",\n        "path": "tasks/a",\n        "x": 1\n      }\n'
        "    ]\n  }\n]\n"
    )


@pytest.mark.parametrize(
    ("unknown", "message"),
    [
        ({"/0": 1}, "no place"),
        ({"/1/x": 1}, "no place"),
        ({"/x/y": 1}, "no place"),
        ({"/00/x": 1}, "no place"),
        ({"/0/tasks/0/x": 1}, "no place"),
        ({"/0/name": "e"}, "no place"),
        ({"/0/metrics": []}, "read back as ignored"),
        ({"/0/x": float("inf")}, "no infinite numbers"),
    ],
)
def test_registry_cannot_encode(unknown: dict[str, Value], message: str) -> None:
    entry = RegistryDataset(name="d", version="1", description="", tasks=())
    with pytest.raises(CannotEncode, match=message):
        encode_registry_json(RegistryJson((entry,), unknown))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=8) | st.sampled_from(["\ud800", "a/~", "\u2028\x7f\0"]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["name", "path", "x/~", ""]) | st.text(), inner, max_size=4),
)  # fmt: skip


@given(
    st.lists(st.dictionaries(st.text(max_size=5).map("?".__add__), JSON, max_size=3), max_size=3)
)
def test_any_registry_survives(extras: list[dict[str, Value]]) -> None:
    entry: dict[str, Value] = {"name": "d", "version": "1", "description": "", "tasks": []}
    document = json.dumps([{**entry, **extra} for extra in extras])
    registry = decode_registry_json(document.encode())
    assert len(registry.unknown) == sum(map(len, extras))
    there_and_back(registry)


@given(JSON)
def test_any_json_is_read_or_refused(value: Value) -> None:
    with suppress(DocumentRefused):
        there_and_back(decode_registry_json(json.dumps(value).encode()))


@pytest.mark.parametrize("document", DATASET_ACCEPTED.values(), ids=DATASET_ACCEPTED)
def test_dataset_is_accepted(document: str) -> None:
    assert decode_dataset_toml(document.encode()).manifest.dataset.name == "org/demo"


def test_dataset_unknown_keys() -> None:
    toml = decode_dataset_toml(DATASET_ACCEPTED["unknown keys"].encode())
    assert toml.unknown == {"/version": 1, "/dataset/x": 1, "/files/0/y": [[]]}


@pytest.mark.parametrize(("document", "expected"), DATASET_REFUSED.values(), ids=DATASET_REFUSED)
def test_dataset_is_refused(document: str, expected: list[tuple[str, Reason]]) -> None:
    assert [(one.where, one.reason) for one in dataset_problems(document)] == expected


@pytest.mark.parametrize(("document", "reason"), DATASET_STRICTER.values(), ids=DATASET_STRICTER)
def test_dataset_is_read_more_strictly(document: str, reason: Reason) -> None:
    (problem,) = dataset_problems(document)
    assert (problem.reason, problem.harbor_accepts) == (reason, True)
