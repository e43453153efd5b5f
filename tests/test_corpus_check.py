"""`scripts/corpus_check` on the fixtures, and that its comparison of folders forgives nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from shutil import copytree
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, "-m", "scripts.corpus_check", *arguments],
        env={**os.environ, "PYTHONPATH": path, **more},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def verdicts(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line.split()[0] for line in done.stdout.split("\n\n")[0].splitlines()]


def test_every_promise_holds_on_the_fixtures(tmp_path: Path) -> None:
    done = run("--work", str(tmp_path))

    assert done.returncode == 0, done.stdout + done.stderr
    assert verdicts(done) == ["ok"] * 6
    assert "every promise holds" in done.stdout
    assert "NOT IN THE TABLE" not in done.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.framework
def test_the_frameworks_agree(tmp_path: Path) -> None:
    for name in ("RLCONVERT_HARBOR_PYTHON", "RLCONVERT_NEMO_PYTHON"):
        if not os.environ.get(name):
            pytest.skip(f'{name} is not set: eval "$(scripts/frameworks DIR)"')

    for name in ("features", "dataset-toml"):  # NeMo Gym takes ten seconds for an environment
        copytree(ROOT / "fixtures" / "harbor" / name, tmp_path / "corpus" / name, symlinks=True)

    done = run(str(tmp_path / "corpus"), "--frameworks", "--work", str(tmp_path))

    assert done.returncode == 0, done.stdout + done.stderr
    assert verdicts(done) == ["ok"] * 10


def test_without_a_framework_it_says_how_to_get_one() -> None:
    done = run("--frameworks", RLCONVERT_HARBOR_PYTHON="")

    assert done.returncode == 2
    assert "scripts/frameworks" in done.stderr


@pytest.fixture(scope="module")
def trees() -> ModuleType:
    spec = spec_from_file_location("corpus_trees", ROOT / "scripts" / "corpus_trees.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "one"
    (folder / "empty").mkdir(parents=True)
    (folder / "file").write_bytes(b"text\n")
    (folder / "link").symlink_to("file")
    return folder


def test_a_copy_made_backwards_is_the_same(trees: ModuleType, folder: Path) -> None:
    copy = folder.parent / "two"
    trees.copy_backwards(folder, copy)
    one, two = trees.snapshot(folder), trees.snapshot(copy)

    assert trees.differences(two, one) == []
    assert trees.tree_digest(two) == trees.tree_digest(one)


@pytest.mark.parametrize("change", ["bytes", "mode", "link", "missing", "more", "no empty folder"])
def test_the_comparison_sees(trees: ModuleType, folder: Path, change: str) -> None:
    before = trees.snapshot(folder)
    if change == "bytes":
        (folder / "file").write_bytes(b"text\r\n")
    elif change == "mode":
        (folder / "file").chmod(0o755)
    elif change == "link":
        (folder / "link").unlink()
        (folder / "link").symlink_to("./file")
    elif change == "missing":
        (folder / "file").unlink()
    elif change == "more":
        (folder / "file2").touch()
    else:
        (folder / "empty").rmdir()
    after = trees.snapshot(folder)

    assert len(trees.differences(after, before)) == 1
    assert trees.tree_digest(after) != trees.tree_digest(before)


def test_what_is_left_out_takes_its_empty_parents_along(trees: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a" / "b" / "task").mkdir(parents=True)
    (tmp_path / "a" / "b" / "task" / "task.toml").touch()
    (tmp_path / "c" / "empty").mkdir(parents=True)

    assert sorted(trees.snapshot(tmp_path, without={"a/b/task"})) == ["c", "c/empty"]
