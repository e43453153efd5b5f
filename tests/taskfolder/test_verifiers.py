"""Which task folders go to Verifiers, and the one line that an image adds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st

from rlconvert.errors import UsageError
from rlconvert.format import Aim, Options, Refusal, Written, get_format
from rlconvert.formats.taskfolder.choices import is_reference
from rlconvert.formats.taskfolder.documents import parse_toml
from rlconvert.formats.taskfolder.folder import FORMAT as FOLDER
from rlconvert.formats.taskfolder.folder import task_from_folder
from rlconvert.formats.verifiers.fates import FAILS_TO_LOAD, LOADS_BUT_DIFFERS, REFUSALS
from rlconvert.formats.verifiers.images import with_image
from rlconvert.formats.verifiers.writer import open_writer
from rlconvert.model import Origin, Repo, Task
from taskfolder.verifiers_cases import (
    FAILING,
    STRICTER,
    TAKEN,
    TOML,
    UNFETCHED,
    Case,
    folder_of,
)

REPO = Repo(format=FOLDER, name="set", origin=Origin(label="set"), tasksets=())
CASES = [*TAKEN, *FAILING, *STRICTER, *UNFETCHED]


def task_of(case: Case) -> Task:
    """The task in a case's folder."""
    return task_from_folder(case.name, f"tasks/{case.name}", folder_of(case))


def written(task: Task, options: Options | None = None, *, alone: bool = True) -> Written | Refusal:
    """What the writer makes of a task."""
    return open_writer(REPO, Aim(options=options or {}, alone=alone)).task(task, ("set",))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_acceptance(case: Case) -> None:
    made = written(task_of(case))
    reason = made.reason if isinstance(made, Refusal) else ""
    assert reason == case.reason, made


def test_every_reason_has_a_case() -> None:
    """And is told apart by what the framework does."""
    failing = {case.reason for case in (*FAILING, *UNFETCHED)}
    assert failing == set(FAILS_TO_LOAD)
    stricter = {case.reason for case in STRICTER}
    assert stricter - failing == set(LOADS_BUT_DIFFERS)
    assert set(REFUSALS) <= set(get_format("verifiers").refusals)


BUILT = next(case for case in FAILING if case.name == "Dockerfile")


def test_an_image_makes_a_dockerfile_acceptable() -> None:
    made = written(task_of(BUILT._replace(name="a.b")), {"image-template": "ghcr.io/org/{task}:1"})
    assert isinstance(made, Written)
    assert made.way == "imaged"
    assert made.rewritten == ("task.toml",)
    assert made.native.path == "tasks/a.b"
    file = made.native.tree.file("task.toml")
    assert file is not None
    assert file.blob.read() == b'[environment]\ndocker_image = "ghcr.io/org/a.b:1"\ncpus = 1\n'


def test_beside_other_targets_the_folder_with_an_image_stands_apart() -> None:
    made = written(task_of(BUILT._replace(name="b")), {"image-template": "{task}"}, alone=False)
    assert isinstance(made, Written)
    assert made.native.path == "tasks-verifiers/b"


def test_the_map_wins_and_an_image_that_is_there_stays(tmp_path: Path) -> None:
    file = tmp_path / "images.json"
    file.write_text(json.dumps({"b": "other/b@sha256:" + "0" * 64}))
    options = {"image-map": str(file), "image-template": "x/{task}"}
    made = written(task_of(BUILT._replace(name="b")), options)
    assert isinstance(made, Written)
    assert made.notes[0].detail.startswith("other/b@sha256:")
    for case in TAKEN:
        kept = written(task_of(case), options)
        assert isinstance(kept, Written), kept
        assert kept.way == "delegated"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"image-template": "ghcr.io/org/x"}, "bad-image-template"),
        ({"image-template": "Bad Image/{task}"}, "bad-image-template"),
        ({"image-map": "/nowhere"}, "bad-image-map"),
        ({"repo-id": "x"}, "bad-repo-id"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, str], reason: str) -> None:
    with pytest.raises(UsageError) as caught:
        written(task_of(TAKEN[0]), options)
    assert caught.value.reason == reason


@pytest.mark.parametrize("text", ["[]", '{"a": 1}', "{", '{"a": "b", "a": "c"}'])
def test_a_map_that_is_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "map").write_text(text)
    with pytest.raises(UsageError):
        written(task_of(TAKEN[0]), {"image-map": str(tmp_path / "map")})


def test_a_name_that_no_image_can_have() -> None:
    made = written(task_of(BUILT._replace(name="Big Name")), {"image-template": "x/{task}"})
    assert isinstance(made, Refusal)
    assert made.reason == "image-not-a-reference"


@pytest.mark.parametrize(
    ("image", "good"),
    [
        ("busybox", True),
        ("localhost:5000/a/b_c:Tag-1", True),
        ("ghcr.io/org/x@sha256:" + "a" * 64, True),
        ("a" * 20 + "/B", False),
        ("x:", False),
        ("x y", False),
        ("", False),
        ("a/../b", False),
        ("x\n", False),
    ],
)
def test_references(image: str, good: bool) -> None:
    assert is_reference(image) is good


EDITS = [
    ("", '[environment]\ndocker_image = "i"\n'),
    ("a = 1", 'a = 1\n\n[environment]\ndocker_image = "i"\n'),
    ("[environment]", '[environment]\ndocker_image = "i"\n'),
    ("[environment]\r\ncpus = 1\r\n", '[environment]\r\ndocker_image = "i"\r\ncpus = 1\r\n'),
    ("  [ environment ] # why\ncpus = 1", '  [ environment ] # why\ndocker_image = "i"\ncpus = 1'),
    ("environment.cpus = 1\n", 'environment.docker_image = "i"\nenvironment.cpus = 1\n'),
    ("environment = {cpus = 1}\n", 'environment = {docker_image = "i", cpus = 1}\n'),
    ("environment = {}\n", 'environment = {docker_image = "i"}\n'),
    ('[environment]\ndocker_image = ""\n', '[environment]\ndocker_image = "i"\n'),
    (
        '[environment.env]\nA = "b"\n',
        '[environment.env]\nA = "b"\n\n[environment]\ndocker_image = "i"\n',
    ),
    (
        'x = """\n[environment]\n"""\n[environment]\n',
        'x = """\n[environment]\n"""\n[environment]\ndocker_image = "i"\n',
    ),
    ("[environment]\ncpus = nan\n", '[environment]\ndocker_image = "i"\ncpus = nan\n'),
    ('["environment"]\ncpus = 1\n', None),
]


@pytest.mark.parametrize(("before", "after"), EDITS)
def test_the_line_that_an_image_adds(before: str, after: str | None) -> None:
    made = with_image(before.encode(), "i")
    assert (None if made is None else made.decode()) == after


@given(st.text(alphabet="[]environment=.{}\"'# \n1,a", max_size=60))
def test_an_edit_adds_one_key_or_nothing(before: str) -> None:
    try:
        old = parse_toml(before.encode())
    except Exception:  # noqa: BLE001 - a text that is no document
        return
    made = with_image(before.encode(), "i")
    if made is None:
        return
    new = tomli.loads(made.decode())
    assert new["environment"].pop("docker_image") == "i"
    if "environment" not in old:
        assert new.pop("environment") == {}
    assert new == old or "docker_image" in before


def test_base_is_what_it_says() -> None:
    assert tomli.loads(TOML)["environment"]["docker_image"] == "busybox"
