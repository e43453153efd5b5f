"""What stands in the columns of a parquet file: texts, and values that may be files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from rlconvert.archives.parquet import ARCHIVE, PATH, damage_told, group_size, opened_parquet

if TYPE_CHECKING:
    from pyarrow import Array, DataType, RecordBatch
    from pyarrow.parquet import ParquetFile

_AT_ONCE = 4096
_BYTES_AT_ONCE = 8 << 20


def texts_of_columns(file: BinaryIO) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The columns that hold text, wherever in their values: a value a line, at least."""
    with _opened(file) as table:
        for column, kinds in _columns(table).items():
            if any(map(_is_text, kinds)):
                yield column, _lines(table, column)


def values_of_columns(file: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """The values that are bytes, each by its column and row; an archive by the path of its row."""
    with _opened(file) as table:
        for column, kinds in _columns(table).items():
            if not any(map(_is_bytes, kinds)):
                continue
            named = column == ARCHIVE and table.schema_arrow.names.count(PATH) == 1
            row = 0
            for batch in _batches(table, [PATH, column] if named else [column]):
                names = batch.column(PATH).to_pylist() if named else []
                for array in _leaves_of(batch, column, _is_bytes):
                    for at, value in enumerate(array):
                        buffer = value.as_buffer()
                        if buffer is not None:
                            name = str(names[at]) if named else f"{column}/{row + at}"
                            yield name, buffer.to_pybytes()
                row += batch.num_rows


def _lines(table: ParquetFile, column: str) -> Iterator[bytes]:
    import pyarrow as pa
    import pyarrow.compute as pc

    with damage_told(""):
        for batch in _batches(table, [column]):
            for array in _leaves_of(batch, column, _is_text):
                values = pc.fill_null(array.cast(pa.large_binary()), b"")
                ended = pc.binary_join_element_wise(
                    values, pa.scalar(b"", values.type), pa.scalar(b"\n", values.type)
                )
                buffer = ended.buffers()[2]
                if buffer is not None:
                    yield buffer.to_pybytes()


def _batches(table: ParquetFile, columns: list[str]) -> Iterator[RecordBatch]:
    """The rows of some columns, few at a time where they are large."""
    for group in range(table.metadata.num_row_groups):
        rows, size = table.metadata.row_group(group).num_rows, group_size(table, group, columns)
        fitting = _BYTES_AT_ONCE * rows // max(size, 1)
        yield from table.iter_batches(
            max(1, min(_AT_ONCE, fitting)), row_groups=[group], columns=columns, use_threads=False
        )


def _columns(table: ParquetFile) -> dict[str, list[DataType]]:
    """The columns by name, which two may have, with the types in them."""
    found: dict[str, list[DataType]] = {}
    for field in table.schema_arrow:
        found.setdefault(field.name, []).extend(_kinds(field.type))
    return found


def _leaves_of(
    batch: RecordBatch, column: str, wanted: Callable[[DataType], bool]
) -> Iterator[Array]:
    for name, array in zip(batch.schema.names, batch.columns, strict=True):
        if name == column:
            yield from _leaves(array, wanted)


def _kinds(kind: DataType) -> Iterator[DataType]:
    """A type and those that it is made of."""
    from pyarrow import types

    if types.is_dictionary(kind):
        yield from _kinds(kind.value_type)
    elif hasattr(kind, "storage_type"):
        yield from _kinds(kind.storage_type)
    elif kind.num_fields:
        for number in range(kind.num_fields):
            yield from _kinds(kind.field(number).type)
    else:
        yield kind


def _leaves(array: Array, wanted: Callable[[DataType], bool]) -> Iterator[Array]:
    """The arrays in an array that hold the values themselves."""
    from pyarrow import types

    kind = array.type
    if types.is_dictionary(kind):
        yield from _leaves(array.dictionary_decode(), wanted)
    elif hasattr(kind, "storage_type"):
        yield from _leaves(array.storage, wanted)
    elif types.is_map(kind):
        first, last = (array.offsets[at].as_py() for at in (0, -1))
        for each in (array.keys, array.items):
            yield from _leaves(each.slice(first, last - first), wanted)
    elif types.is_struct(kind):
        for inner in array.flatten():
            yield from _leaves(inner, wanted)
    elif kind.num_fields:
        yield from _leaves(array.flatten(), wanted)
    elif wanted(kind):
        yield array


def _is_text(kind: DataType) -> bool:
    from pyarrow import types

    return any(ask(kind) for ask in (types.is_string, types.is_large_string, types.is_string_view))


def _is_bytes(kind: DataType) -> bool:
    from pyarrow import types

    asked = (types.is_binary, types.is_large_binary, types.is_binary_view)
    return any(ask(kind) for ask in (*asked, types.is_fixed_size_binary))


@contextmanager
def _opened(file: BinaryIO) -> Iterator[ParquetFile]:
    with damage_told(""):
        file.seek(0)
        yield opened_parquet(file, "")
