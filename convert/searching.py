"""Looking through the folders of a source for tasks: what cannot be read there is passed over."""

from __future__ import annotations

from collections.abc import Iterator

from .errors import ReadError
from .source import BOOKKEEPING, Item, Kind, Source


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
    for item in items_to_search(source, folder):
        if item.kind is not Kind.FOLDER or (not folder and item.name in BOOKKEEPING):
            continue
        path = f"{folder}/{item.name}" if folder else item.name
        if source.kind(f"{path}/{mark}") is not None:
            yield path
        elif depth > 1:
            yield from marked_folders(source, mark, path, depth - 1)
