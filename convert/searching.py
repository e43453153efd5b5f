"""Looking through the folders of a source for tasks: what cannot be read there is passed over."""

from __future__ import annotations

from collections.abc import Iterator

from .errors import ReadError
from .source import BOOKKEEPING, Item, Kind, Source

_MAX_FOLDERS = 2_000


def items_to_search(source: Source, folder: str) -> list[Item]:
    """The names in a folder for those who look for tasks: none where it cannot be read.

    Whoever reads the files of no task comes by too, and reports it. The root must be readable.
    """
    try:
        return source.items(folder)
    except ReadError:
        if not folder:
            raise
        return []


def marked_folders(source: Source, mark: str, folder: str, depth: int) -> Iterator[str]:
    """Folders below `folder` with a file `mark`, parents first, in order of their names.

    What is inside such a folder is not looked through.
    """
    names = [
        item.name
        for item in items_to_search(source, folder)
        if item.kind is Kind.FOLDER and (folder or item.name not in BOOKKEEPING)
    ]
    for name in names:
        path = f"{folder}/{name}" if folder else name
        if source.kind(f"{path}/{mark}") is not None:
            yield path
        elif depth > 1:
            yield from marked_folders(source, mark, path, depth - 1)


def files_called(source: Source, endings: tuple[str, ...]) -> Iterator[str]:
    """Files whose names end so, those near the root first; of very many folders not all."""
    todo = [""]
    for folder in todo:
        above = f"{folder}/" if folder else ""
        for item in items_to_search(source, folder):
            path = above + item.name
            if item.kind is Kind.FILE and item.name.endswith(endings):
                yield path
            elif item.kind is Kind.FOLDER and (folder or item.name not in BOOKKEEPING):
                todo += [path] if len(todo) < _MAX_FOLDERS else []
