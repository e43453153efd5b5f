"""What is searched for secrets: every file that would be published, and what is packed in it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from rlconvert.files import open_regular, printable, read_piece
from rlconvert.proof.published import members
from rlconvert.sidecar import (
    MANIFEST,
    SHARED,
    Packed,
    SharedRecord,
    TaskRecord,
    pack_name,
    parse,
)
from rlconvert.sink import OURS
from rlconvert.source import FolderSource, Kind

from .packed import HEAD, Text, Unseen, form_of, packed_in, pieces_from, unpacked_member

_PIECE = 1 << 20


def texts(source: FolderSource) -> Iterator[Text | Unseen]:
    """The bytes of every file, as they are; those of packed files also unpacked.

    What a packed file holds has the path of that file before its own.
    """
    for folder in ("", OURS):
        for member in members(source, folder):
            if member.kind is Kind.FILE:  # a link is published as a copy of what is here
                yield from _file(source, member.path)
    yield from _kept_files(source)


def _file(source: FolderSource, path: str) -> Iterator[Text | Unseen]:
    name = printable(path)
    with open_regular(f"{source.root}/{path}", name) as descriptor:
        first = read_piece(descriptor, _PIECE, name)
        yield path, chain([first], _rest(descriptor, name))
    if form_of(first) is not None:
        with source.open(path) as file:
            yield from packed_in(path, file)


def _kept_files(source: FolderSource) -> Iterator[Text | Unseen]:
    """What is packed in the files that stand one after the other in the packs of our records."""
    if source.kind(pack_name(0)) is None:
        return
    for path, place in _places(source):
        pack = pack_name(place.shard)
        head = source.read_at(pack, place.start, min(place.size, HEAD))
        if form_of(head) is not None:
            with source.open(pack) as file:
                file.seek(place.start)
                yield from unpacked_member(f"{pack}/{path}", pieces_from(file, place.size))


def _places(source: FolderSource) -> Iterator[tuple[str, Packed]]:
    for raw in source.lines(MANIFEST) if source.kind(MANIFEST) is Kind.FILE else ():
        task = parse(TaskRecord, raw, MANIFEST)
        for path, file in task.files.items():
            if file.packed is not None:
                yield f"{task.place}/{path}".lstrip("/"), file.packed
    for raw in source.lines(SHARED) if source.kind(SHARED) is Kind.FILE else ():
        shared = parse(SharedRecord, raw, SHARED)
        if shared.file is not None and shared.file.packed is not None:
            yield shared.path, shared.file.packed


def _rest(descriptor: int, name: str) -> Iterator[bytes]:
    while piece := read_piece(descriptor, _PIECE, name):
        yield piece
