"""What is hidden from the agent stays hidden: tests and oracle reach no place that it sees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.running import laid, room, run, stripped, tasks_in
from laws.sources import FEW, NAMES, convertible, toy
from rlconvert.files import File, FileTree
from rlconvert.format import Format, get_format
from rlconvert.model import Task
from rlconvert.prompt import Messages
from rlconvert.runtime import Build, Compose, EnvServer, Image, NoRuntime, Place

__all__ = ["toy"]

HIDDEN = "<hidden from the agent>"
PROMPT = re.compile(r"(?!.*(tests|solution)/)(.*/)?instruction\.md")


def contents(*trees: FileTree) -> Iterator[bytes]:
    for tree in trees:
        for _, entry in tree:
            if isinstance(entry, File):
                yield entry.blob.read()


def context(place: Place) -> FileTree:
    match place:
        case Image(context=tree) | Build(context=tree) | Compose(context=tree):
            return tree
        case EnvServer(place=inner):
            return context(inner)
        case NoRuntime():
            return FileTree()


def hidden(task: Task) -> set[bytes]:
    """What the agent must not see."""
    oracle = FileTree() if task.oracle is None else task.oracle.files
    inner = [tree for step in task.steps for tree in (step.tests, step.oracle)]
    return set(contents(task.tests, oracle, *inner))


def seen(task: Task) -> set[bytes]:
    """What the agent sees."""
    inner = [tree for step in task.steps for tree in (step.seed, step.prior)]
    found = set(contents(task.seed, context(task.runtime.place), *inner))
    for step in task.steps:
        if isinstance(step.prompt, Messages) and step.prompt.plain is not None:
            found.add(step.prompt.plain.encode())
    return found


def prompts(repo: FileTree) -> set[bytes]:
    """The prompts as they stand in a repo, before a framework strips them."""
    return {
        entry.blob.read()
        for path, entry in repo
        if PROMPT.fullmatch(path) and isinstance(entry, File)
    }


def seen_in_folder(folder: Path) -> set[bytes]:
    """What a container of a task folder is given, whatever its reader says."""
    if not (folder / "task.toml").is_file():
        return set()
    places = [folder / "environment", *folder.glob("steps/*/workdir")]
    files = [path for place in places for path in place.rglob("*")]
    files += [folder / "instruction.md", folder / "trajectory.json"]
    files += folder.glob("steps/*/*.*")
    return {path.read_bytes() for path in files if path.is_file() and not path.is_symlink()}


@settings(max_examples=FEW)
@pytest.mark.parametrize("rebuilt", [False, True], ids=["own bytes", "rebuilt"])
@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize("name", NAMES)
@given(st.data())
def test_hidden(name: str, target: str, rebuilt: bool, data: st.DataObject) -> None:
    tree = data.draw(convertible(name))
    read_as: Format = stripped(name) if rebuilt else get_format(name)
    with room() as place:
        source = laid(place, tree)
        way = run(source, read_as, target, place / "out")
        if way.empty:
            return
        before, after = tasks_in(source, name), tasks_in(way.out, target)
        for task, new in way.ids(target).items():
            # What the conversion itself hides, a rule and its answer, is as secret.
            secret = (hidden(before[task]) | hidden(after[new])) - seen(before[task])
            secret -= {b"", *prompts(tree)}  # a hidden file may have the very bytes of one
            assert not secret & seen(after[new])
            for row in way.out.glob("data/**/*.jsonl"):
                assert not any(one in row.read_bytes() for one in secret if len(one) > 20)
            for folder in {path.parent for path in way.out.rglob("task.toml")}:
                if folder.name == new:
                    assert not secret & seen_in_folder(folder)
