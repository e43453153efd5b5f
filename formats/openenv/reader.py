"""Reads task folders as `openenv harbor` finds them.

Facts: openenv 0.10.0, `openenv/harbor/tasks.py`. Tasks are the sub-folders of `tasks/` (of the root
where there is none) that are not hidden, in the order of their names, and *every* one of them
counts; only where none has a `task.toml` are folders further down looked at, links aside. A task at
the root is none to OpenEnv; it is read here all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from rlconvert.errors import Malformed, ReadError, UnsafePath
from rlconvert.files import check_path
from rlconvert.format import Finding, Options
from rlconvert.formats.taskfolder.folder import CONFIG
from rlconvert.formats.taskfolder.layouts import (
    Found,
    Layout,
    find_layout,
    has_tasks,
    layout_of,
)
from rlconvert.formats.taskfolder.reading import FolderReader
from rlconvert.model import Taskset
from rlconvert.provenance import targets_of
from rlconvert.source import BOOKKEEPING, Kind, Source

from .writer import FORMAT

_TASKS = "tasks"
_DEPTH = 6


def find(source: Source) -> Layout:
    """Where the tasks stand. A folder that counts and is no task is a task that cannot be read."""
    if source.kind(CONFIG) is not None:
        return find_layout(source)
    taskset = Taskset(key=source.name, name=source.name)
    base = _TASKS if source.kind(_TASKS) is Kind.FOLDER else ""
    places = list(_folders(source, base))
    flat = any(_is_task(source, path) for path in places)
    if not flat:
        places = list(_nested(source, base, _DEPTH))
    found = Found()
    for path in places:
        try:
            check_path(path)
            if not _is_task(source, path):
                raise Malformed(
                    f"it has no {CONFIG}, and OpenEnv counts it as a task",
                    reason="not-a-task",
                    file=path,
                    remedy=f"Move it out of {base or 'the root'}",
                )
            found.add(path, taskset.key)
        except (Malformed, UnsafePath) as error:
            found.refuse(path, path, (taskset.key,), error)
    where = f"folders in {base or 'its root'}" if flat else "deeper folders"
    return layout_of(where, (taskset,), found)


def _folders(source: Source, folder: str) -> Iterator[str]:
    for item in source.items(folder):
        hidden = item.name.startswith(".") or (not folder and item.name in BOOKKEEPING)
        if item.kind is Kind.FOLDER and not hidden:
            yield f"{folder}/{item.name}".lstrip("/")


def _nested(source: Source, folder: str, depth: int) -> Iterator[str]:
    try:
        below = list(_folders(source, folder))
    except ReadError:
        if not folder:
            raise
        return  # `shared_files` comes by here too, and reports it
    for path in below:
        if _is_task(source, path):
            yield path
        elif depth > 1:
            yield from _nested(source, path, depth - 1)


def _is_task(source: Source, path: str) -> bool:
    return source.kind(f"{path}/{CONFIG}") is not None


def open_reader(source: Source, _: Options) -> FolderReader:
    """A reader of what OpenEnv loads; there are no options to read with."""
    return FolderReader(source, FORMAT, find)


def sniff(source: Source) -> Finding | None:
    """Only a sidecar tells that task folders are meant for OpenEnv: else they are Harbor's."""
    if FORMAT not in targets_of(source) or has_tasks(source) is None:
        return None
    return Finding(format=FORMAT, layout="task folders", because="its sidecar names it")
