"""A source that is in memory already: for callers of the API, for restored sources, for tests."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from .files import FileTree, changed, check_path, make_tree
from .model import Origin
from .source import Item, Kind, OnFault, checked, kind_of_entry, not_a_file, too_big


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

    def read(self, path: str, limit: int) -> bytes:
        file = self._tree.file(path)
        if file is None:
            raise not_a_file(path)
        if file.blob.size > limit:
            raise too_big(path, file.blob.size, limit)
        return file.blob.read()

    def read_at(self, path: str, start: int, size: int) -> bytes:
        data = self.read(path, 1 << 62)[start : start + size]
        if len(data) != size:
            raise changed(path)
        return data

    def lines(self, path: str) -> Iterator[bytes]:
        yield from self.read(path, 1 << 62).splitlines(keepends=True)

    def tree(
        self, folder: str, *, skip: Collection[str] = (), on_fault: OnFault | None = None
    ) -> FileTree:
        above = f"{folder}/" if folder else ""
        gone = tuple(path + "/" for path in skip)

        def stays(path: str) -> bool:
            whole = above + path
            return whole not in skip and not whole.startswith(gone)

        inside = self._tree.below(folder) if folder else self._tree
        entries = {path: entry for path, entry in inside.entries.items() if stays(path)}
        empty = [path for path in inside.empty_folders if stays(path)]
        for path in (*entries, *empty):
            check_path(path)
        return checked(make_tree(entries, empty), on_fault)
