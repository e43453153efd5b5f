"""Which archives of a source say nothing of executable bits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from typing import BinaryIO

from rlconvert.errors import RlconvertError
from rlconvert.source import Source

from .finding import Archives
from .parquet import Cells
from .zipped import MAGIC, has_modes, opened_zip


def without_modes(source: Source, found: Archives) -> Iterator[str]:
    """What a person calls those that are read; of a parquet file the first archive speaks."""
    for table in found.tables:
        if any(_first_lacks(source, path) for path in table.files):
            yield table.said
    for path in found.sets:
        with suppress(RlconvertError), source.open(path) as file:
            if _lacks(file):
                yield path


def _first_lacks(source: Source, path: str) -> bool:
    with suppress(RlconvertError), Cells(source, path) as cells:
        return _lacks(BytesIO(cells.cell(0) or b""))
    return False


def _lacks(file: BinaryIO) -> bool:
    head = file.read(len(MAGIC[0]))
    file.seek(0)
    if head not in MAGIC:
        return False  # a tar file has modes
    with opened_zip(file) as archive:
        return not has_modes(archive)
