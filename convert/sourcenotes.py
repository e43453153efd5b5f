"""What a report says of a source as a whole: what is lost or inferred, whatever the tasks are."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace

from .archives.view import ArchiveSource
from .format import Fate, Note
from .provenance import left_behind
from .source import Source

_MODES_INFERRED = Note(
    field="files",
    fate=Fate.TRANSLATED,
    reason="the Hub keeps no executable bit; files that begin with #! have it",
)
_FIRST_SOURCE = Note(
    field="origin",
    fate=Fate.DROPPED,
    reason="what an earlier conversion kept, to give its own source back, stays behind",
)


def notes_on(source: Source, read_as: str, targets: Container[str]) -> Iterator[Note]:
    """The notes on `source`, read as one format and converted for `targets`."""
    if source.origin.modes_inferred:
        yield _MODES_INFERRED
    first = left_behind(source, read_as, targets)
    if first is not None:
        yield replace(_FIRST_SOURCE, detail=first)
    if isinstance(source, ArchiveSource):
        yield from source.notes
