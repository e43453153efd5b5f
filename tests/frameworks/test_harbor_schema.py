"""Our reading of `task.toml`, `dataset.toml` and `registry.json` against the real Harbor 0.26.0.

    RLCONVERT_HARBOR_PYTHON=<python of a venv with harbor> pytest -m framework

`RLCONVERT_CORPUS`, a folder of published task folders, adds every `task.toml` below it.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from rlconvert.formats.taskfolder.dataset_schema import decode_dataset_toml
from rlconvert.formats.taskfolder.problems import DocumentRefused
from rlconvert.formats.taskfolder.registry_schema import decode_registry_json, encode_registry_json
from rlconvert.formats.taskfolder.toml_schema import decode_task_toml, encode_task_toml
from taskfolder.dataset_cases import (
    DATASET_ACCEPTED,
    DATASET_REFUSED,
    DATASET_STRICTER,
    REGISTRY_ACCEPTED,
    REGISTRY_REFUSED,
    REGISTRY_STRICTER,
)
from taskfolder.toml_cases import ACCEPTED, HOSTS, REFUSED, STRICTER
from taskfolder.toml_keys import alone, values
from taskfolder.toml_texts import names, text

pytestmark = pytest.mark.framework

SCRIPT = Path(__file__).with_name("harbor_models.py")
RANDOM = 6000

Document = tuple[str, bytes]


def only_read(decode: Callable[[bytes], object], data: bytes) -> bytes:
    """The document as it is, where we never write one: what remains is the verdict."""
    decode(data)
    return data


REWRITE: dict[str, Callable[[bytes], bytes]] = {
    "task": lambda data: encode_task_toml(decode_task_toml(data)),
    "dataset": lambda data: only_read(decode_dataset_toml, data),
    "registry": lambda data: encode_registry_json(decode_registry_json(data)),
}


def ask(documents: Iterable[Document]) -> list[dict[str, str]]:
    """Harbor's answer to each document, from one subprocess."""
    python = os.environ.get("RLCONVERT_HARBOR_PYTHON")
    if not python:
        pytest.skip("RLCONVERT_HARBOR_PYTHON does not name a Python with harbor")
    questions = [
        json.dumps({"kind": kind, "bytes": data.decode("latin-1")}) for kind, data in documents
    ]
    run = subprocess.run(
        [python, str(SCRIPT)],
        input="\n".join(questions),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=600,
    )
    answers: list[dict[str, str]] = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(answers) == len(questions)
    return answers


def agree(documents: list[Document]) -> tuple[int, int, int]:
    """Assert the same verdict and, where accepted, the same model after a rewrite.

    How many both accept, both refuse, and Harbor alone accepts (by a rule of ours alone).
    """
    refused: dict[int, DocumentRefused] = {}
    rewritten: dict[int, Document] = {}
    for i, (kind, data) in enumerate(documents):
        try:
            rewritten[i] = (kind, REWRITE[kind](data))
        except DocumentRefused as error:
            refused[i] = error
    answers = ask([*documents, *rewritten.values()])
    for i, again in zip(rewritten, answers[len(documents) :], strict=True):
        assert "read" in answers[i], (documents[i], answers[i])
        assert again == answers[i], (documents[i], rewritten[i])
    for i, ours in refused.items():
        assert ("read" in answers[i]) == ours.harbor_accepts, (documents[i], answers[i], ours)
    stricter = sum(ours.harbor_accepts for ours in refused.values())
    return len(rewritten), len(refused) - stricter, stricter


def of_kind(kind: str, texts: Iterable[str]) -> list[Document]:
    return [(kind, one.encode()) for one in texts]


def tasks(texts: Iterable[str]) -> list[Document]:
    return of_kind("task", texts)


def test_every_value_alone() -> None:
    keys = values(good=True) + values(good=False)
    accepted, refused, stricter = agree(tasks(alone(*key) for key in keys))
    assert (accepted, refused, stricter) == (len(values(good=True)), len(values(good=False)), 0)


def test_documents_of_the_manual() -> None:
    hosts = [
        f"agent = {{ network_mode = 'allowlist', allowed_hosts = [{json.dumps(host)}] }}"
        for host in HOSTS
    ]
    agree(tasks([*ACCEPTED.values(), *(document for document, _ in REFUSED.values()), *hosts]))


@pytest.mark.parametrize("name", STRICTER)
def test_stricter_cases_are_loaded_by_harbor(name: str) -> None:
    assert agree(tasks([STRICTER[name][0]])) == (0, 0, 1)


def test_random_documents() -> None:
    """One in four has some characters changed; of the others, most are good."""
    accepted, refused, stricter = agree(tasks(map(text, range(RANDOM))))
    assert accepted > RANDOM / 3
    assert refused > RANDOM / 10
    assert stricter < RANDOM / 100


def test_random_strings() -> None:
    """For every key with a rule of its own."""
    accepted, refused, stricter = agree(tasks(map(names, range(RANDOM))))
    assert accepted > RANDOM / 8
    assert refused > RANDOM / 3
    assert stricter < RANDOM / 50


def test_datasets_and_registries() -> None:
    good = of_kind("registry", REGISTRY_ACCEPTED.values()) + of_kind(
        "dataset", DATASET_ACCEPTED.values()
    )
    bad = of_kind("registry", (text for text, _ in REGISTRY_REFUSED.values())) + of_kind(
        "dataset", (text for text, _ in DATASET_REFUSED.values())
    )
    ours = of_kind("registry", (text for text, _ in REGISTRY_STRICTER.values())) + of_kind(
        "dataset", (text for text, _ in DATASET_STRICTER.values())
    )
    assert agree(good + bad + ours) == (len(good), len(bad), len(ours))


def test_corpus() -> None:
    corpus = os.environ.get("RLCONVERT_CORPUS")
    if not corpus:
        pytest.skip("RLCONVERT_CORPUS does not name a folder of task folders")
    paths = sorted(Path(corpus).rglob("task.toml"))
    documents = [("task", path.read_bytes()) for path in paths]
    assert documents
    agree(documents)
