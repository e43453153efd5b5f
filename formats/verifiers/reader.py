"""Reads task folders as Verifiers' taskset `harbor` finds them.

Facts: verifiers 0.4.0. It loads one dataset of a repo's `registry.json`, or with an empty name the
folders in `tasks/`. Here all entries are read: where some are marked for Verifiers, those alone.
"""

from __future__ import annotations

from rlconvert.errors import UnsafePath
from rlconvert.files import check_path
from rlconvert.format import Finding, Options
from rlconvert.formats.taskfolder.folder import CONFIG
from rlconvert.formats.taskfolder.layouts import (
    REGISTRY,
    Found,
    Layout,
    find_layout,
    has_tasks,
    layout_of,
    task_folders,
)
from rlconvert.formats.taskfolder.reading import FolderReader
from rlconvert.model import Taskset
from rlconvert.provenance import targets_of
from rlconvert.source import Kind, Source

from .writer import FORMAT

_TASKS = "tasks"


def find(source: Source) -> Layout:
    """Where the tasks stand; folders elsewhere than in `tasks/` are read where there are no others,
    since Verifiers can be told another folder (`REPO/tree/REVISION/FOLDER`)."""
    if source.kind(CONFIG) is not None or source.kind(REGISTRY) is Kind.FILE:
        return find_layout(source, FORMAT)
    taskset = Taskset(key=source.name, name=source.name)
    found = Found()
    for path in task_folders(source, _TASKS, 1):
        try:
            found.add(check_path(path), taskset.key)
        except UnsafePath as error:
            found.refuse(path, path, (taskset.key,), error)
    if not found.places:
        return find_layout(source, FORMAT)
    return layout_of(f"folders in {_TASKS}", (taskset,), found)


def open_reader(source: Source, _: Options) -> FolderReader:
    """A reader of what Verifiers loads; there are no options to read with."""
    return FolderReader(source, FORMAT, find)


def sniff(source: Source) -> Finding | None:
    """Only a sidecar tells that task folders are meant for Verifiers: else they are Harbor's."""
    if FORMAT not in targets_of(source) or has_tasks(source) is None:
        return None
    return Finding(format=FORMAT, layout="task folders", because="its sidecar names it")
