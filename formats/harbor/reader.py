"""Reads Harbor task sets: folders of tasks, one task, or a repo with a registry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from rlconvert.errors import RlconvertError
from rlconvert.format import Finding, Options
from rlconvert.formats.taskfolder.folder import FORMAT, task_from_folder
from rlconvert.formats.taskfolder.layouts import Layout, find_layout, has_tasks, repo_of
from rlconvert.model import Repo, Task, TaskRef
from rlconvert.source import BOOKKEEPING, Source


class HarborReader:
    """One source. A worker gets it without the list of tasks: it is told which to load."""

    def __init__(self, source: Source, faults: Mapping[str, RlconvertError] | None = None) -> None:
        self._source = source
        self._known_faults = faults

    def __reduce__(self) -> tuple[object, ...]:
        return HarborReader, (self._source, self._faults)

    @cached_property
    def _layout(self) -> Layout:
        return find_layout(self._source)

    @cached_property
    def _faults(self) -> Mapping[str, RlconvertError]:
        if self._known_faults is not None:
            return self._known_faults
        return {ref.id: error for ref, error in self._layout.faults}

    def repo(self) -> Repo:
        return repo_of(self._source, self._layout)

    def refs(self) -> Iterator[TaskRef]:
        yield from self._layout.refs
        for ref, _ in self._layout.faults:
            yield ref

    def load(self, ref: TaskRef) -> Task:
        """The task in a folder; what Harbor 0.26.0 would not load is a typed error."""
        if ref.id in self._faults:
            raise self._faults[ref.id]
        tree = self._source.tree(ref.path, skip=() if ref.path else BOOKKEEPING)
        return task_from_folder(ref.id, ref.path, tree)


def open_reader(source: Source, _: Options) -> HarborReader:
    """A reader of Harbor task folders; Harbor has no options to read with."""
    return HarborReader(source)


def sniff(source: Source) -> Finding | None:
    """Harbor's layout, recognised by its `task.toml` or `registry.json`."""
    because = has_tasks(source)
    if because is None:
        return None
    return Finding(format=FORMAT, layout="task folders", because=because)
