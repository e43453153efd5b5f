"""What the fixtures convert to, byte for byte: a change of output is a change of these files.

`pytest --update-golden` writes them; the reviewer reads the diff first.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from rlconvert import convert
from rlconvert.pipe import Settings
from trees import assert_same_tree

FIXTURES = Path(__file__).parents[1] / "fixtures"
GOLDEN = FIXTURES / "golden"
HARBOR_SETS = ("hello", "registry", "same-names", "root-level", "dataset-toml")

FOUR = ("harbor", "verifiers", "openenv", "nemo")
# What is to be read, as what, and for whom; with an image where Verifiers is among them.
CASES: list[tuple[str, Path, str, Sequence[str]]] = [
    *(
        (f"harbor-to-nemo/{name}", FIXTURES / "harbor" / name, "harbor", ["nemo"])
        for name in HARBOR_SETS
    ),
    ("nemo-to-harbor/registry", GOLDEN / "harbor-to-nemo" / "registry", "nemo", ["harbor"]),
    ("nemo-to-harbor/scored", FIXTURES / "nemo" / "scored", "nemo", ["harbor"]),
    ("harbor-to-verifiers/registry", FIXTURES / "harbor" / "registry", "harbor", ["verifiers"]),
    ("harbor-to-openenv/registry", FIXTURES / "harbor" / "registry", "harbor", ["openenv"]),
    ("harbor-to-four/root-level", FIXTURES / "harbor" / "root-level", "harbor", FOUR),
]
IMAGES = {"image-template": "registry.example.org/{task}:1"}


@pytest.mark.parametrize(("name", "source", "read_as", "targets"), CASES, ids=[c[0] for c in CASES])
def test_golden(
    name: str,
    source: Path,
    read_as: str,
    targets: Sequence[str],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    settings = Settings(options=IMAGES if "verifiers" in targets else {})
    out = str(tmp_path / "out")
    run = convert(str(source), out, to=targets, read_as=read_as, settings=settings)
    assert run.error is None
    golden = GOLDEN / name
    if request.config.getoption("update_golden"):
        shutil.rmtree(golden, ignore_errors=True)
        shutil.copytree(tmp_path / "out", golden, symlinks=True)
    assert_same_tree(tmp_path / "out", golden)


def test_every_golden_has_a_case() -> None:
    found = {f"{pair.name}/{each.name}" for pair in GOLDEN.iterdir() for each in pair.iterdir()}
    assert found == {case[0] for case in CASES}


def test_options_that_change_the_output(tmp_path: Path) -> None:
    options = {"repo-id": "org/name", "licence": "mit"}
    source = str(FIXTURES / "harbor" / "hello")
    run = convert(source, str(tmp_path / "out"), to=["nemo"], settings=Settings(options=options))
    assert run.error is None
    changed = tmp_path / "out" / "environments" / "hello" / "config.yaml"
    golden = GOLDEN / "harbor-to-nemo" / "hello" / "environments" / "hello" / "config.yaml"
    before, after = golden.read_text().splitlines(), changed.read_text().splitlines()
    assert [line.strip() for line in after if line not in before] == [
        'repo: "https://huggingface.co/datasets/org/name"',
        "path: tasks",
        "license: MIT",
        "source:",
        "type: huggingface",
        "repo_id: org/name",
        "artifact_fpath: data/hello/harbor_agent_general-train.jsonl",
    ]
