"""Reads NeMo Gym repos: rows that are tasks, and rows that name task folders for Harbor.

Facts: NeMo Gym 0.7.0. `rowfiles.py` says which files hold rows, `rows.py` what a row means,
`folders.py` has the tasks that Harbor runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from rlconvert.archives.finding import unread
from rlconvert.card import licence_of
from rlconvert.errors import UnknownFormat
from rlconvert.format import Finding, Options
from rlconvert.model import Repo, RowRef, Task, TaskRef
from rlconvert.provenance import targets_of
from rlconvert.source import BOOKKEEPING, Source

from .configs import MAX_YAML, find_configs, is_config
from .folders import HarborFolders
from .licences import spdx_licence
from .rowfiles import FORMAT, RowFiles, RowSource, bare_row_files, row_files
from .rowindex import RowIndex
from .rows import Place, task_from_row

_MAX_CARD = 4 << 20


class NemoReader:
    """One repo. A worker gets it without the index: it is told which row to load."""

    def __init__(self, source: Source, options: Options) -> None:
        self._source = source
        self._options = options

    def __reduce__(self) -> tuple[object, ...]:
        return _revived, (self._source, self._options, self._rows.files)

    @cached_property
    def _folders(self) -> HarborFolders:
        return HarborFolders(self._source)

    @cached_property
    def _rows(self) -> RowFiles:
        return row_files(self._source, self._options)

    @cached_property
    def _row_sources(self) -> dict[str, RowSource]:
        return self._rows.files

    @cached_property
    def _index(self) -> RowIndex:
        return RowIndex(self._source, list(self._row_sources))

    def repo(self) -> Repo:
        source, rows, folders = self._source, self._rows, self._folders
        if not rows.files and not folders.environments:
            raise self._nothing()
        faults = list(rows.faults)
        places = {ref.path for ref in folders.all}
        skip = places | folders.row_files | rows.files.keys() | BOOKKEEPING
        shared = source.tree("", skip=skip, on_fault=faults.append)
        card = source.read("README.md", _MAX_CARD) if "README.md" in shared else b""
        words = rows.licences | folders.licences
        return Repo(
            format=FORMAT,
            name=source.name,
            origin=source.origin,
            tasksets=(*folders.tasksets, *rows.tasksets),
            licence=licence_of(card) or (spdx_licence(words.pop()) if len(words) == 1 else None),
            shared=shared,
            faults=tuple(faults),
        )

    def _nothing(self) -> Exception:
        missing = [str(each.extras[FORMAT]["/dataset"]) for each in self._rows.tasksets]
        if self._rows.faults:
            return self._rows.faults[0]
        if (fault := unread(self._source)) is not None:
            return fault
        said = (
            f"no row file of {self._source.origin.label} is there"
            + (f"; its configs declare {', '.join(missing[:5])}" if missing else "")
        )  # fmt: skip
        return UnknownFormat(
            said,
            reason="no-rows",
            remedy="Put the files where the configs say, or name the server with --nemo-server",
        )

    def refs(self) -> Iterator[TaskRef]:
        """Tasks in the order of their rows; a row that cannot be read is a task that cannot."""
        yield from self._folders.refs()
        for name, row in self._index:
            tasksets = self._row_sources[row.path].tasksets
            yield TaskRef(id=name, path=row.path, tasksets=tasksets, rows=(row,))

    def load(self, ref: TaskRef) -> Task:
        file = self._row_sources.get(ref.path)
        if file is None:
            return self._folders.load(ref)
        return task_from_row(ref.id, self._line(ref.rows[0]), Place(file, ref.rows[0].number))

    def _line(self, row: RowRef) -> bytes:
        return self._source.read_at(row.path, row.start, row.size)


def _revived(source: Source, options: Options, files: dict[str, RowSource]) -> NemoReader:
    reader = NemoReader(source, options)
    reader.__dict__["_row_sources"] = files
    return reader


def open_reader(source: Source, options: Options) -> NemoReader:
    """A reader of NeMo Gym rows and environments."""
    return NemoReader(source, options)


def sniff(source: Source) -> Finding | None:
    """A config of NeMo Gym, or rows of its shape.

    A config is no sign of rows in a repo that was converted away from here, for others alone.
    """
    if (written_for := targets_of(source)) and FORMAT not in written_for:
        return None
    for path in find_configs(source):
        if is_config(source, path) and b"jsonl_fpath" in source.read(path, MAX_YAML):
            return Finding(format=FORMAT, layout="config and rows", because=path)
    for path in bare_row_files(source):
        return Finding(format=FORMAT, layout="rows", because=path)
    return None
