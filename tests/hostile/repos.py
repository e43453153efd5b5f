"""Faults of a repository as a whole: its ``registry.json``, and tasks in each other's way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from .making import (
    EITHER,
    MALFORMED,
    REPO_FAULTS,
    TOO_BIG,
    UNSAFE_PATH,
    CannotMake,
    Generator,
    link,
    write_task,
)


def repo_fault(expected: str) -> Callable[[Callable[[Path], None]], Generator]:
    """Register a function that makes a whole repository in the folder it is given."""

    def register(make: Callable[[Path], None]) -> Generator:
        def generate(root: Path) -> str:
            make(root)
            return expected

        generate.__name__ = make.__name__
        generate.__doc__ = make.__doc__
        REPO_FAULTS[make.__name__] = generate
        return generate

    return register


def registry_fault(name: str, registry: object, expected: str = MALFORMED) -> None:
    """Register a repository with two good tasks and this ``registry.json`` (text or JSON)."""

    def make(root: Path) -> None:
        for task in ("alpha", "beta"):
            write_task(root / "tasks" / task)
        text = registry if isinstance(registry, str) else json.dumps(registry)
        (root / "registry.json").write_text(text, encoding="utf-8")

    make.__name__ = name
    repo_fault(expected)(make)


def dataset(*paths: str, **changes: object) -> list[dict[str, object]]:
    """The contents of a ``registry.json`` with one data set, with `changes` to it."""
    tasks = [{"name": f"task-{at}", "path": path} for at, path in enumerate(paths)]
    return [{"name": "set", "version": "1.0", "description": "", "tasks": tasks} | changes]


registry_fault("registry_broken", '[{"name": "set", ')
registry_fault("registry_is_object", {"datasets": dataset("tasks/alpha")})
registry_fault("registry_other_schema", {"recipes": [{"name": "x"}]})
registry_fault("registry_bom", "\ufeff" + json.dumps(dataset("tasks/alpha")))
registry_fault("registry_version_number", dataset("tasks/alpha", version=1.0))
registry_fault("registry_description_null", dataset("tasks/alpha", description=None))
registry_fault("registry_without_tasks", [{"name": "s", "version": "1", "description": ""}])
registry_fault("registry_task_missing", dataset("tasks/alpha", "tasks/gone"))
registry_fault("registry_path_twice", dataset("tasks/alpha", "tasks/alpha"), EITHER)
registry_fault("registry_path_escapes", dataset("../elsewhere/task"), UNSAFE_PATH)
registry_fault("registry_path_dots_inside", dataset("tasks/x/../alpha"), EITHER)
registry_fault("registry_path_absolute", dataset("/etc"), UNSAFE_PATH)
registry_fault("registry_path_backslash", dataset("tasks\\alpha"), UNSAFE_PATH)
registry_fault("registry_one_path_escapes", dataset("../x", "tasks/alpha"), UNSAFE_PATH)
registry_fault("registry_path_drive", dataset("C:/tasks/alpha"), UNSAFE_PATH)
registry_fault("registry_path_nul", dataset("tasks/al\0pha"), UNSAFE_PATH)
registry_fault("registry_path_too_long", dataset("tasks/" + "n" * 300), EITHER)
registry_fault("registry_path_surrogate", dataset("tasks/\ud800"), UNSAFE_PATH)
registry_fault("registry_nested", "[" * 100_000 + "]" * 100_000, TOO_BIG)


@repo_fault(UNSAFE_PATH)
def registry_path_through_link(root: Path) -> None:
    """The registry names a folder that is a link out of the repository."""
    write_task(root / "tasks" / "alpha")
    link(root / "tasks" / "door", root.resolve().anchor)
    (root / "registry.json").write_text(
        json.dumps(dataset("tasks/alpha", "tasks/door/etc")), encoding="utf-8"
    )


@repo_fault(EITHER)
def registry_duplicate_ids(root: Path) -> None:
    """Two tasks of one data set with the same folder name: Harbor cannot tell them apart."""
    for group in ("one", "two"):
        write_task(root / group / "river", answer=group)
    (root / "registry.json").write_text(
        json.dumps(dataset("one/river", "two/river")), encoding="utf-8"
    )


@repo_fault(EITHER)
def task_names_twice(root: Path) -> None:
    """Two folders whose ``[task].name`` is the same."""
    for folder in ("alpha", "beta"):
        write_task(root / "tasks" / folder, "[task]\nname = 'org/same'\n", answer=folder)


@repo_fault(UNSAFE_PATH)
def task_folders_clash_by_case(root: Path) -> None:
    """Two task folders that are one on macOS and Windows."""
    for name in ("Alpha", "alpha"):
        write_task(root / "tasks" / name, answer=name)
    if len(list((root / "tasks").iterdir())) != 2:
        raise CannotMake("this file system folds case")


@repo_fault(UNSAFE_PATH)
def task_folder_is_link(root: Path) -> None:
    """A task folder that is a link to a folder elsewhere."""
    write_task(root / "elsewhere" / "task")
    write_task(root / "tasks" / "good")
    link(root / "tasks" / "bad", root / "elsewhere" / "task")


@repo_fault(EITHER)
def task_inside_task(root: Path) -> None:
    """A task folder inside the ``environment/`` of another task is data, not a second task."""
    outer = write_task(root / "tasks" / "outer")
    write_task(outer / "environment" / "inner")


@repo_fault("UnknownFormat")
def nothing_there(root: Path) -> None:
    """A folder with a text file."""
    (root / "notes.txt").write_text("no tasks here\n", encoding="utf-8")
