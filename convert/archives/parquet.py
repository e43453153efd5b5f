"""Parquet files whose rows are archives of tasks: a column `path`, a column `task_binary`.

The convention is that of the published sets of archives. A row is found by its number; the rows
around it are never in memory together with all others of the file.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, BinaryIO, Self

from rlconvert.errors import Malformed, RlconvertError, TooBig
from rlconvert.source import Source

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyarrow.parquet import ParquetFile

PATH, ARCHIVE = "path", "task_binary"
ROOTED = b"rlconvert.paths"
"""The key of a file's metadata that says that its paths start at the root of the repo."""

MAX_CELL = 1 << 30
MAX_GROUP = 4 << 30
"""Bytes of a column in one row group: more than its reader could be made to unpack at once."""
_NAMES_AT_ONCE = 4096
_AT_ONCE_BYTES = 8 << 20
_AT_ONCE = 64
_BUFFER = 1 << 20


@dataclass(frozen=True, slots=True)
class TaskTable:
    """What a parquet file says of itself. `others`: its other columns; `rooted`: see `ROOTED`."""

    rows: int
    others: tuple[str, ...]
    rooted: bool


def task_table(source: Source, path: str) -> TaskTable | None:
    """What the file says, when its rows are archives of tasks; None for any other parquet file.

    `Malformed` when it cannot be read at all.
    """
    import pyarrow.types as kinds

    with source.open(path) as file:
        opened = opened_parquet(file, path)
        schema = opened.schema_arrow
        types = dict(zip(schema.names, schema.types, strict=True))
        name, archive = types.get(PATH), types.get(ARCHIVE)
        if name is None or archive is None or len(types) != len(schema.names):
            return None
        texts = kinds.is_string(name) or kinds.is_large_string(name)
        if not texts or not (kinds.is_binary(archive) or kinds.is_large_binary(archive)):
            return None
        others = tuple(str(each) for each in types if each not in (PATH, ARCHIVE))
        rooted = ROOTED in (schema.metadata or {})
        return TaskTable(int(opened.metadata.num_rows), others, rooted)


def names_columns(source: Source, path: str) -> bool:
    """Whether the file has the two columns, of whatever types."""
    with source.open(path) as file:
        return {PATH, ARCHIVE} <= set(opened_parquet(file, path).schema_arrow.names)


def row_paths(source: Source, path: str) -> Iterator[str | None]:
    """The `path` of each row; the archives are not read."""
    with source.open(path) as file:
        opened = opened_parquet(file, path)
        batches = opened.iter_batches(_NAMES_AT_ONCE, columns=[PATH], use_threads=False)
        while (batch := _next(batches, path)) is not None:
            for value in batch.column(0):
                yield _text(value, path)


def _text(value: object, path: str) -> str | None:
    try:
        text = value.as_py()  # type: ignore[attr-defined]
    except UnicodeDecodeError as error:
        raise broken(path, "a path is not UTF-8") from error
    return None if text is None else str(text)


class Cells:
    """The archives of one file, best asked for in the order of their rows."""

    def __init__(self, source: Source, path: str) -> None:
        self._path = path
        self._file = source.open(path)
        self._opened = opened_parquet(self._file, path)
        meta = self._opened.metadata
        sizes = [meta.row_group(number).num_rows for number in range(meta.num_row_groups)]
        self._starts = [0, *accumulate(sizes)]
        self._group = -1
        self._batches: Iterator[RecordBatch] = iter(())
        self._batch: RecordBatch | None = None
        self._first = self._last = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._batches, self._batch = iter(()), None
        self._file.close()

    def cell(self, row: int) -> bytes | None:
        """The archive in a row (from 0 on), None where there is none.

        `TooBig` for one above `MAX_CELL`, `Malformed` where the file is damaged.
        """
        group = bisect_right(self._starts, row) - 1
        if not 0 <= group < len(self._starts) - 1:
            raise broken(self._path, "it has fewer rows than it had")
        if group != self._group or row < self._first:
            self._begin(group)
        while self._batch is None or row >= self._last:
            self._batch = _next(self._batches, self._path)
            if self._batch is None:
                self._group = -1
                raise broken(self._path, "a row group has fewer rows than it says")
            self._first, self._last = self._last, self._last + self._batch.num_rows
        value = self._batch.column(0)[row - self._first]
        buffer = value.as_buffer()
        if buffer is None:
            return None
        if buffer.size > MAX_CELL:
            raise TooBig(
                f"an archive of {buffer.size:,} bytes; {MAX_CELL:,} are allowed",
                reason="too-big",
                remedy="Leave it out, or make it smaller",
            )
        return bytes(buffer)

    def _begin(self, group: int) -> None:
        self._group, self._batch = -1, None
        rows = self._starts[group + 1] - self._starts[group]
        size = group_size(self._opened, group, [ARCHIVE])
        at_once = max(1, min(_AT_ONCE, _AT_ONCE_BYTES * rows // max(size, 1)))
        self._batches = self._opened.iter_batches(
            at_once, row_groups=[group], columns=[ARCHIVE], use_threads=False
        )
        self._first = self._last = self._starts[group]
        self._group = group


def group_size(opened: ParquetFile, group: int, columns: Collection[str]) -> int:
    """Bytes that these columns of a row group unpack to; `TooBig` beyond `MAX_GROUP`."""
    meta = opened.metadata.row_group(group)
    chunks = (meta.column(number) for number in range(meta.num_columns))
    size = sum(
        each.total_uncompressed_size
        for each in chunks
        if each.path_in_schema.partition(".")[0] in columns
    )
    if size > MAX_GROUP:
        raise TooBig(
            f"a row group of {size:,} bytes; {MAX_GROUP:,} are allowed",
            reason="too-big",
            remedy="Write the file again with smaller row groups",
        )
    return int(size)


def opened_parquet(file: BinaryIO, path: str) -> ParquetFile:
    """The file, read from its beginning; `Malformed` where it is damaged."""
    from pyarrow.parquet import ParquetFile

    with damage_told(path):
        # In pieces, not whole column chunks: those may be hundreds of megabytes.
        return ParquetFile(file, buffer_size=_BUFFER, pre_buffer=False)


def _next(batches: Iterator[RecordBatch], path: str) -> RecordBatch | None:
    with damage_told(path):
        return next(batches, None)


@contextmanager
def damage_told(path: str) -> Iterator[None]:
    """Turn what the library raises at a damaged file into `Malformed`."""
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError, ValueError) as error:
        raise broken(path, " ".join(str(error).split())[:200].rstrip(".")) from error


def broken(path: str, said: str) -> RlconvertError:
    """The error for a parquet file that cannot be read."""
    return Malformed(
        f"the parquet file cannot be read: {said}",
        reason="parquet-damaged",
        file=path,
        remedy="Fetch the file again",
    )
