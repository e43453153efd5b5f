"""The comparison of folders notices everything it says it notices."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from trees import assert_same_tree


def fill(root: Path) -> Path:
    """A folder with one of everything."""
    (root / "empty").mkdir(parents=True)
    (root / "sub").mkdir()
    (root / "sub" / "a.txt").write_bytes(b"one\ntwo\r\n")
    (root / "run.sh").write_bytes(b"#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("sub/a.txt")
    return root


def test_same(tmp_path: Path) -> None:
    actual, expected = fill(tmp_path / "actual"), fill(tmp_path / "expected")
    (actual / "sub" / "a.txt").chmod(0o600)  # of the mode, only "executable" is compared
    assert_same_tree(actual, expected)


def relink(root: Path) -> None:
    (root / "link").unlink()
    (root / "link").symlink_to("./sub/a.txt")


def follow(root: Path) -> None:
    (root / "link").unlink()
    (root / "link").write_bytes((root / "sub" / "a.txt").read_bytes())


def pipe(root: Path) -> None:
    (root / "run.sh").unlink()
    os.mkfifo(root / "run.sh")


CASES: list[tuple[Callable[[Path], object], str]] = [
    (lambda root: (root / "more").touch(), "only in actual: more (file)"),
    (lambda root: (root / "run.sh").unlink(), "only in expected: run.sh (executable file)"),
    (lambda root: (root / "empty").rmdir(), "only in expected: empty (folder)"),
    (lambda root: (root / "run.sh").chmod(0o644), "run.sh: file, expected executable file"),
    (
        lambda root: (root / "sub" / "a.txt").write_bytes(b"one\ntwo\n"),
        r"sub/a.txt: line 2 is b'two\n', expected b'two\r\n'",
    ),
    (
        lambda root: (root / "sub" / "a.txt").write_bytes(b"one\n"),
        r"sub/a.txt: line 2 is past the end, expected b'two\r\n'",
    ),
    (relink, "link: './sub/a.txt', expected 'sub/a.txt'"),
    (follow, "link: file, expected link"),
    (pipe, "run.sh: special file, expected executable file"),
]


@pytest.mark.parametrize(("change", "said"), CASES)
def test_differs(tmp_path: Path, change: Callable[[Path], object], said: str) -> None:
    actual, expected = fill(tmp_path / "actual"), fill(tmp_path / "expected")
    change(actual)
    with pytest.raises(AssertionError) as caught:
        assert_same_tree(actual, expected)
    assert str(caught.value).splitlines()[1:] == [said]


def test_ignore(tmp_path: Path) -> None:
    actual, expected = fill(tmp_path / "actual"), fill(tmp_path / "expected")
    (actual / "sub" / "a.txt").write_bytes(b"")
    (actual / "sub" / "b.txt").write_bytes(b"")
    assert_same_tree(actual, expected, ignore=["sub/*.txt"])
    assert_same_tree(actual, expected, ignore=["sub"])
    with pytest.raises(AssertionError, match=r"only in actual: sub/b\.txt"):
        assert_same_tree(actual, expected, ignore=["sub/a.*"])
    with pytest.raises(ValueError, match=r"match nothing: \*\.md"):
        assert_same_tree(actual, expected, ignore=["sub", "*.md"])


def test_not_a_folder(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="not a folder"):
        assert_same_tree(tmp_path / "missing", tmp_path)
