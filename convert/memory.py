"""A source that is in memory already: for callers of the API, for restored sources, for tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from io import BytesIO
from typing import BinaryIO

from .errors import UnsafePath
from .files import Blob, FileTree, changed, check_path, make_tree, parents, printable
from .model import Origin
from .pointers import is_pointer, not_fetched
from .source import (
    Item,
    Kind,
    OnFault,
    bounded_lines,
    checked,
    kind_of_entry,
    not_a_file,
    not_a_folder,
    too_big,
)


class MemorySource:
    """A tree that is in memory already: for tests and for callers of the API."""

    def __init__(self, tree: FileTree, *, name: str = "memory") -> None:
        self._tree = tree
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    @property
    def origin(self) -> Origin:
        return Origin(label=self._name)

    def items(self, folder: str) -> list[Item]:
        inside = self._tree.below(folder) if folder else self._tree
        found: dict[str, Kind] = {}
        for path, entry in inside.entries.items():
            name, slash, _ = path.partition("/")
            found[name] = Kind.FOLDER if slash else kind_of_entry(entry)
        for path in inside.empty_folders:
            found[path.partition("/")[0]] = Kind.FOLDER
        return [Item(name, found[name]) for name in sorted(found)]

    def kind(self, path: str) -> Kind | None:
        if entry := self._tree.entries.get(path):
            return kind_of_entry(entry)
        return Kind.FOLDER if not path or self._tree.has_folder(path) else None

    def _blob(self, path: str) -> Blob:
        file = self._tree.file(path)
        if file is None:
            raise not_a_file(path)
        return file.blob

    def read(self, path: str, limit: int) -> bytes:
        blob = self._blob(path)
        if blob.size > limit:
            raise too_big(path, blob.size, limit)
        data = blob.read()
        if is_pointer(data, blob.size):
            raise not_fetched(path)
        return data

    def read_at(self, path: str, start: int, size: int) -> bytes:
        data = self._blob(path).read()[start : start + size]
        if len(data) != size:
            raise changed(path)
        return data

    def lines(self, path: str) -> Iterator[bytes]:
        yield from bounded_lines(BytesIO(self.read(path, 1 << 62)), path)

    def open(self, path: str) -> BinaryIO:
        return BytesIO(self.read(path, 1 << 62))

    def tree(
        self, folder: str, *, skip: Collection[str] = (), on_fault: OnFault | None = None
    ) -> FileTree:
        if self.kind(folder) is not Kind.FOLDER:
            raise not_a_folder(folder)
        above = f"{folder}/" if folder else ""
        gone = tuple(path + "/" for path in skip)

        def stays(path: str) -> bool:
            whole = above + path
            return whole not in skip and not whole.startswith(gone)

        inside = self._tree.below(folder) if folder else self._tree
        entries = {path: entry for path, entry in inside.entries.items() if stays(path)}
        empty = [path for path in inside.empty_folders if stays(path)]
        tree = make_tree(entries, empty)
        unsafe = dict(_unsafe_names((*entries, *empty)))
        for error in unsafe.values():
            if on_fault is None:
                raise error
            on_fault(error)
        return checked(tree.without(*unsafe) if unsafe else tree, on_fault)


def _unsafe_names(paths: Iterable[str]) -> Iterator[tuple[str, UnsafePath]]:
    """The topmost files and folders with an unsafe name, once each, with the error for it."""
    seen: set[str] = set()
    for path in paths:
        for whole in (*parents(path), path):
            if whole in seen:
                break
            try:
                check_path(whole.rpartition("/")[2])
            except UnsafePath as error:
                seen.add(whole)
                error.file = printable(whole)
                yield whole, error
                break
