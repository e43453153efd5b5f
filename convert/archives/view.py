"""A source whose archives are shown as the folders that they were made of.

Readers see a task in an archive as an ordinary folder, with its modes, links and empty folders,
and need no code for it. The archives themselves are not seen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from rlconvert.errors import Malformed, RlconvertError
from rlconvert.files import Blob, Entry, File, FileTree, Link, changed, make_tree, parents
from rlconvert.format import Fate, Note
from rlconvert.model import Origin
from rlconvert.opening import open_source
from rlconvert.source import (
    FolderSource,
    Item,
    Kind,
    OnFault,
    Source,
    bounded_lines,
    checked,
    kind_of_entry,
    not_a_file,
    not_a_folder,
    too_big,
)

from .finding import (
    MARK,
    TABLE,
    Archives,
    find_archives,
    is_archive,
    set_alone,
    stem_of,
)
from .index import ArchiveIndex
from .members import check_unpacked
from .modes import without_modes
from .nodes import What
from .parquet import task_table
from .reading import Contents

_KINDS = {What.ROW: Kind.FOLDER, What.FOLDER: Kind.FOLDER, What.FILE: Kind.FILE}


@contextmanager
def open_tasks(address: str) -> Iterator[Source]:
    """`open_source`, with the tasks in its archives; `address` may be an archive itself."""
    path = Path(address)
    if path.is_file() and is_archive(path.name):
        name = stem_of(path.name).removesuffix(TABLE)
        yield archive_file(FolderSource(str(path.parent), name=name), path.name)
        return
    with open_source(address) as source:
        name = address.rpartition("/")[2]
        alone = is_archive(name) and source.kind(name) is Kind.FILE  # of the Hub, by its address
        yield archive_file(source, name) if alone else unpacked(source)


def unpacked(source: Source) -> Source:
    """The source with the tasks that are in its archives; itself where it has no such archives."""
    if isinstance(source, ArchiveSource):
        return source
    found = find_archives(source)
    return ArchiveSource(source, found) if found else source


def archive_file(folder: FolderSource, name: str) -> ArchiveSource:
    """One archive of a folder as a source of its own; `Malformed` when it holds no tasks."""
    found = set_alone(folder, name)
    return ArchiveSource(folder, found, alone=True)


class ArchiveSource:
    """`inner` with its archives shown as folders. It can be pickled.

    A row of a parquet file of archives is taken for a task without a look into it: whoever looks
    for tasks sees a folder with a `MARK` and nothing else, and `tree` has all that it really has,
    or says why it is no task. `alone`: nothing but the archives is seen, and a zip or tar file is
    the source itself.
    """

    def __init__(self, inner: Source, found: Archives, *, alone: bool = False) -> None:
        self._inner = inner
        self.found = found
        self._alone = alone
        self._files = (*(path for table in found.tables for path in table.files), *found.sets)
        self._hidden = frozenset(self._files)

    def __reduce__(self) -> tuple[object, ...]:
        return _revived, (self._inner, self.found, self._alone, self._index.folder)

    @cached_property
    def _index(self) -> ArchiveIndex:
        return ArchiveIndex.made(self._inner, self.found, at_root=self._alone)

    @cached_property
    def _contents(self) -> Contents:
        return Contents(self._inner, self._files, self._index.folder)

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def origin(self) -> Origin:
        """That of the folder; what is in archives has the modes that those keep."""
        read = self.found.tables or self.found.sets
        origin = self._inner.origin
        return replace(origin, modes_inferred=False) if read else origin

    @property
    def root(self) -> str | None:
        """The folder on this machine that is read, if there is one: no output may be in it."""
        if self._alone or not isinstance(self._inner, FolderSource):
            return None
        return self._inner.root

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """What becomes of the archives themselves, and of what else they hold."""
        return tuple(_notes(self._inner, self.found))

    # what stands where

    def items(self, folder: str) -> list[Item]:
        """The names in a folder, sorted; those of rows come last, in the order of the rows."""
        row = self._index.row_above(folder) if folder else None
        if row is not None and row.path == folder:
            return [Item(MARK, Kind.FILE)]
        if row is not None:
            return _items(self._contents.task(row).below(folder[len(row.path) + 1 :]))
        others: list[Item] = []
        rows: list[Item] = []
        for name, what in self._index.names(folder):
            kept = rows if what is What.ROW else others
            kept.append(Item(name, _KINDS.get(what, Kind.LINK)))
        above = f"{folder}/" if folder else ""
        for item in [] if self._alone else self._inner.items(folder):
            path = above + item.name
            if path not in self._hidden and self._index.get(path) is None:
                others.append(item)
        return sorted(others, key=lambda item: item.name) + rows

    def kind(self, path: str) -> Kind | None:
        if not path:
            return Kind.FOLDER if self._alone else self._inner.kind(path)
        folder, _, name = path.rpartition("/")
        if name == MARK and (row := self._index.get(folder)) and row.what is What.ROW:
            return Kind.FILE  # asked of every row
        node = self._index.get(path)
        if node is not None:
            return _KINDS.get(node.what, Kind.LINK)
        row = self._index.row_above(path)
        if row is None:
            gone = self._alone or path in self._hidden
            return None if gone else self._inner.kind(path)
        inside = path[len(row.path) + 1 :]
        try:
            tree = self._contents.task(row)
        except RlconvertError:
            return None
        if entry := tree.entries.get(inside):
            return kind_of_entry(entry)
        return Kind.FOLDER if tree.has_folder(inside) else None

    # bytes

    def _blob(self, path: str) -> Blob | None:
        """The bytes of a file in an archive; None for what is in none."""
        node = self._index.get(path)
        if node is not None and node.what is What.FILE:
            return Blob(self._contents.bytes_of(node))
        row = self._index.row_above(path)
        if node is None and row is None and not self._alone and path not in self._hidden:
            return None
        file = None if row is None else self._contents.task(row).file(path[len(row.path) + 1 :])
        if file is None:
            raise not_a_file(path)
        return file.blob

    def read(self, path: str, limit: int) -> bytes:
        blob = self._blob(path)
        if blob is None:
            return self._inner.read(path, limit)
        if blob.size > limit:
            raise too_big(path, blob.size, limit)
        return blob.read()

    def read_at(self, path: str, start: int, size: int) -> bytes:
        blob = self._blob(path)
        if blob is None:
            return self._inner.read_at(path, start, size)
        data = blob.read()[start : start + size]
        if len(data) != size:
            raise changed(path)
        return data

    def lines(self, path: str) -> Iterator[bytes]:
        blob = self._blob(path)
        if blob is None:
            yield from self._inner.lines(path)
        else:
            yield from bounded_lines(BytesIO(blob.read()), path)

    def open(self, path: str) -> BinaryIO:
        blob = self._blob(path)
        return self._inner.open(path) if blob is None else BytesIO(blob.read())

    def lay_out(self, paths: Iterable[str]) -> None:
        """Get ready the tasks at these paths for other processes, who got this one pickled."""
        nodes = map(self._index.get, paths)
        rows = (node for node in nodes if node is not None and node.what is What.ROW)
        self._contents.lay_out(rows)

    # trees

    def tree(
        self, folder: str, *, skip: Collection[str] = (), on_fault: OnFault | None = None
    ) -> FileTree:
        row = self._index.row_above(folder) if folder else None
        if row is not None:
            tree = self._contents.task(row)
            inside = folder[len(row.path) + 1 :]
            if inside and not tree.has_folder(inside):
                raise not_a_folder(folder)
            above = f"{folder}/"
            gone = [path.removeprefix(above) for path in skip if path.startswith(above)]
            tree = tree.below(inside) if inside else tree
            return tree.without(*gone) if gone else tree
        if self.kind(folder) is not Kind.FOLDER:
            raise not_a_folder(folder)
        theirs = FileTree()
        if not self._alone and self._inner.kind(folder) is Kind.FOLDER:
            hidden = {*skip, *self._hidden}
            theirs = self._inner.tree(folder, skip=hidden, on_fault=on_fault)
        mine = self._gathered(folder, skip, on_fault)
        return checked(theirs.union(mine), on_fault) if mine else theirs

    def _gathered(self, folder: str, skip: Collection[str], on_fault: OnFault | None) -> FileTree:
        """All that archives have below a folder."""
        entries: dict[str, Entry] = {}
        folders: list[str] = []
        filled: set[str] = set()
        cut, total = len(folder) + 1 if folder else 0, 0
        for node in self._index.below(folder):
            filled.add(node.path.rpartition("/")[0])  # by what is skipped, too
            if skip and (node.path in skip or any(up in skip for up in parents(node.path))):
                continue
            path = node.path[cut:]
            try:
                match node.what:
                    case What.FOLDER:
                        folders.append(path)
                    case What.LINK:
                        entries[path] = Link(node.text or "")
                    case What.FILE:
                        total += node.size
                        check_unpacked(total, total)
                        entries[path] = File(Blob(self._contents.bytes_of(node)), node.executable)
                    case What.ROW:
                        tree = self._contents.task(node).moved(path)
                        entries |= tree.entries
                        folders += tree.empty_folders
                    case What.FAULT:
                        raise node.fault or Malformed("", reason="archive-damaged")
            except RlconvertError as error:
                if on_fault is None:
                    raise
                on_fault(error)
        return make_tree(entries, set(folders) - {each[cut:] for each in filled})


def _items(tree: FileTree) -> list[Item]:
    found: dict[str, Kind] = {}
    for path, entry in tree:
        name, slash, _ = path.partition("/")
        found[name] = Kind.FOLDER if slash else kind_of_entry(entry)
    for path in tree.empty_folders:
        found[path.partition("/")[0]] = Kind.FOLDER
    return [Item(name, found[name]) for name in sorted(found)]


def _revived(inner: Source, found: Archives, alone: bool, folder: str) -> ArchiveSource:
    source = ArchiveSource(inner, found, alone=alone)
    source.__dict__["_index"] = ArchiveIndex(folder)
    return source


def _notes(source: Source, found: Archives) -> Iterator[Note]:
    """What a person should know of an output whose tasks came out of archives."""
    for table in found.tables:
        reason = "tasks were taken out of parquet files of archives; those files are not carried"
        yield Note(field="files", fate=Fate.TRANSLATED, reason=reason, detail=table.said)
        columns: dict[str, None] = {}
        for path in table.files:
            with suppress(RlconvertError):
                said = task_table(source, path)
                columns |= dict.fromkeys(said.others if said else ())
        if columns:
            reason = "other columns of the parquet files are not carried"
            detail = f"{table.said}: {', '.join(columns)}"
            yield Note(field="metadata", fate=Fate.DROPPED, reason=reason, detail=detail)
    if found.sets:
        reason = "tasks were taken out of zip or tar files; those files are not carried"
        detail = ", ".join(found.sets)
        yield Note(field="files", fate=Fate.TRANSLATED, reason=reason, detail=detail)
    if modeless := ", ".join(without_modes(source, found)):
        reason = "zip files that keep no executable bit; files that begin with #! have it"
        yield Note(field="files", fate=Fate.TRANSLATED, reason=reason, detail=modeless)
    if found.unread:
        reason = f"archives of tasks beside {found.beside} were not read, and carried as they are"
        yield Note(field="files", fate=Fate.EXACT, reason=reason, detail=", ".join(found.unread))
