"""The generators of bad repositories do what they promise."""

from pathlib import Path

import pytest

from hostile import EITHER, OK, REPO_FAULTS, TASK_FAULTS, CannotMake, Generator
from rlconvert import errors


def make(generate: Generator, root: Path) -> str:
    try:
        return generate(root)
    except CannotMake as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", TASK_FAULTS)
def test_one_task_is_bad_and_one_is_good(name: str, tmp_path: Path) -> None:
    expected = make(TASK_FAULTS[name], tmp_path)
    assert expected in (OK, EITHER) or issubclass(
        getattr(errors, expected), (errors.ReadError, errors.UnsafeInput)
    )
    assert sorted(path.name for path in (tmp_path / "tasks").iterdir()) == ["bad", "good"]
    good = tmp_path / "tasks" / "good"
    assert sorted(str(p.relative_to(good)) for p in good.rglob("*") if p.is_file()) == [
        "environment/Dockerfile",
        "instruction.md",
        "solution/solve.sh",
        "task.toml",
        "tests/test.sh",
    ]


@pytest.mark.parametrize("name", REPO_FAULTS)
def test_a_repository_is_made(name: str, tmp_path: Path) -> None:
    expected = make(REPO_FAULTS[name], tmp_path)
    assert expected == EITHER or issubclass(
        getattr(errors, expected), (errors.ReadError, errors.UnsafeInput)
    )
    assert list(tmp_path.iterdir())
