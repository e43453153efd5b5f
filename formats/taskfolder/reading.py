"""Reading task folders as a framework other than Harbor finds them.

The folders are Harbor's, and so is what they say; where they stand, and which of them count, is
for the framework to say (`find`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

from rlconvert.errors import RlconvertError
from rlconvert.model import Native, Repo, Task, TaskRef
from rlconvert.source import BOOKKEEPING, Source

from .folder import task_from_folder
from .layouts import Layout, repo_of

Find: TypeAlias = Callable[[Source], Layout]


class FolderReader:
    """One source, read as `framework`. `find` is a function of a module, so that it is pickled.

    A worker gets it without the list of tasks: it is told which to load.
    """

    def __init__(
        self,
        source: Source,
        framework: str,
        find: Find,
        faults: Mapping[str, RlconvertError] | None = None,
    ) -> None:
        self._source = source
        self._framework = framework
        self._find = find
        self._known_faults = faults

    def __reduce__(self) -> tuple[object, ...]:
        return FolderReader, (self._source, self._framework, self._find, self._faults)

    @cached_property
    def _layout(self) -> Layout:
        return self._find(self._source)

    @cached_property
    def _faults(self) -> Mapping[str, RlconvertError]:
        if self._known_faults is not None:
            return self._known_faults
        return {ref.id: error for ref, error in self._layout.faults}

    def repo(self) -> Repo:
        return replace(repo_of(self._source, self._layout), format=self._framework)

    def refs(self) -> Iterator[TaskRef]:
        yield from self._layout.refs
        for ref, _ in self._layout.faults:
            yield ref

    def load(self, ref: TaskRef) -> Task:
        """The task in a folder, which is native to Harbor and to the framework alike."""
        if ref.id in self._faults:
            raise self._faults[ref.id]
        tree = self._source.tree(ref.path, skip=() if ref.path else BOOKKEEPING)
        task = task_from_folder(ref.id, ref.path, tree)
        return replace(task, native={**task.native, self._framework: Native(ref.path, tree)})
