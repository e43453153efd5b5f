"""An output whose task folders are rows of parquet files: a `path`, and the folder as an archive.

For sets beyond the Hub's limit of entries in a folder. The archives keep what the Hub does not:
modes, links and empty folders. Row groups and files are small enough for its viewer.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from rlconvert.card import REPO
from rlconvert.format import CardRows, CardSection, Fate, Note
from rlconvert.sink import Sink, writing

from .parquet import ARCHIVE, PATH, ROOTED

if TYPE_CHECKING:
    from pyarrow import Schema
    from pyarrow.parquet import ParquetWriter

_GROUP_ROWS, _GROUP_BYTES = 100, 32 << 20
_FILE_BYTES = 500 << 20
_BEGIN, _END = "data/train-", ".parquet"


class Layout(StrEnum):
    """How the task folders of an output stand in it."""

    FOLDERS = "folders"
    ARCHIVE = "archive"


ARCHIVED = Note(
    field="files",
    fate=Fate.TRANSLATED,
    reason="the tasks are in archives, which no framework loads; rlconvert gives the folders back",
)


def is_ours(path: str) -> bool:
    """Whether a file of another origin would be taken for a file of the archive."""
    return path.startswith(_BEGIN) and path.endswith(_END)


class Packing:
    """The parquet files of one output, in the order in which tasks are given."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._files: list[str] = []
        self._writer: ParquetWriter | None = None
        self._paths: list[str] = []
        self._cells: list[bytes] = []
        self._waiting = self._written = 0

    def add(self, made: str, path: str) -> None:
        """Take the archive in the file `made`, which is gone then, as the folder at `path`."""
        with writing(path):
            data = Path(made).read_bytes()
            os.unlink(made)  # noqa: PTH108 - as quick as it can be
        if self._written + self._waiting + len(data) > _FILE_BYTES:
            self._end_file()
        self._paths.append(path)
        self._cells.append(data)
        self._waiting += len(data)
        if len(self._paths) >= _GROUP_ROWS or self._waiting >= _GROUP_BYTES:
            self._end_group()

    def close(self) -> tuple[str, ...]:
        """Put the files in their places, and say where; nothing where there was no task."""
        self._end_file()
        count = len(self._files)
        places = []
        for number, made in enumerate(self._files):
            places.append(f"{_BEGIN}{number:05}-of-{count:05}{_END}")
            self._sink.adopt(made, places[-1])
        return tuple(places)

    def _end_group(self) -> None:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        schema: Schema = pa.schema(
            {PATH: pa.string(), ARCHIVE: pa.binary()}, metadata={ROOTED: b"from the root"}
        )
        if self._writer is None:
            self._files.append(f"{self._sink.work}/packed-{len(self._files)}")
            with writing(ARCHIVE):
                self._writer = ParquetWriter(
                    self._files[-1],
                    schema,
                    compression={PATH: "zstd", ARCHIVE: "none"},  # those are compressed
                    use_dictionary=False,
                    write_statistics=[PATH],
                    write_page_index=True,
                )
        columns = [pa.array(self._paths, pa.string()), pa.array(self._cells, pa.binary())]
        with writing(ARCHIVE):
            self._writer.write_table(pa.Table.from_arrays(columns, schema=schema))
        self._written += self._waiting
        self._waiting = 0
        self._paths.clear()
        self._cells.clear()

    def _end_file(self) -> None:
        if self._paths:
            self._end_group()
        if self._writer is not None:
            with writing(ARCHIVE):
                self._writer.close()
        self._writer = None
        self._written = 0


def card_rows(places: Sequence[str]) -> CardRows:
    """What viewers are told of the files."""
    return CardRows("tasks", "train", f"{_BEGIN}*-of-{len(places):05}{_END}")


def section(targets: Sequence[str]) -> CardSection:
    """What the card says of them, before it says what is true of the folders."""
    commands = "\n".join(
        f"rlconvert convert {REPO} OUT --from {target} --to {target}" for target in targets
    )
    one = "\nOUT is for one framework then." if len(targets) > 1 else ""
    text = f"""\
Each row of `{_BEGIN}*{_END}` is a task: `path` is where its folder belongs, `{ARCHIVE}` the
folder as a gzipped tar file, with modes, links and empty folders. No framework reads tasks from
there: what is said below is of the folders. They come out with

```bash
pip install rlconvert=={version("rlconvert")}
{commands}
```{one}"""
    return CardSection("The tasks are in archives", text)
