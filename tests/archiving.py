"""Archives made by other hands than ours: with `tarfile`, `zipfile` and pyarrow alone."""

from __future__ import annotations

import gzip
import tarfile
import warnings
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from rlconvert.files import FileTree, Link

Row = tuple[str | None, bytes | None]


@dataclass(frozen=True)
class Piece:
    """One member as it is to stand in an archive, however bad."""

    name: str
    data: bytes = b""
    kind: bytes = tarfile.REGTYPE
    target: str = ""
    mode: int = 0o644


def pieces_of(tree: FileTree, above: str = "") -> list[Piece]:
    """The members of a tree; `above` leads their names."""
    found = [Piece(f"{above}{path}/", kind=tarfile.DIRTYPE) for path in tree.empty_folders]
    for path, entry in tree:
        if isinstance(entry, Link):
            found.append(Piece(above + path, kind=tarfile.SYMTYPE, target=entry.target))
        else:
            mode = 0o755 if entry.executable else 0o644
            found.append(Piece(above + path, entry.blob.read(), mode=mode))
    return found


def tar(pieces: Iterable[Piece]) -> bytes:
    """A plain tar file."""
    out = BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for piece in pieces:
            info = tarfile.TarInfo(piece.name)
            info.type, info.mode, info.linkname = piece.kind, piece.mode, piece.target
            info.size = len(piece.data)
            archive.addfile(info, BytesIO(piece.data))
    return out.getvalue()


def tar_gz(pieces: Iterable[Piece]) -> bytes:
    """A gzipped one."""
    return gzip.compress(tar(pieces))


def zipped(pieces: Iterable[Piece]) -> bytes:
    """A zip file as Unix tools make it: with modes and links."""
    out = BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # of names that are there twice: that is meant
        for piece in pieces:
            info = zipfile.ZipInfo(piece.name)
            info.create_system = 3
            form, data = 0o100000, piece.data
            if piece.kind == tarfile.SYMTYPE:
                form, data = 0o120000, piece.target.encode()
            elif piece.kind == tarfile.DIRTYPE:
                form = 0o040000
            elif piece.kind == tarfile.FIFOTYPE:
                form = 0o010000
            info.external_attr = (form | piece.mode) << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def table(
    path: Path,
    rows: Sequence[Row],
    *,
    group: int = 2,
    others: Sequence[str] = (),
    columns: tuple[str, str] = ("path", "task_binary"),
    rooted: bool = False,
) -> Path:
    """A parquet file of archives, with small row groups and other columns."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    path.parent.mkdir(parents=True, exist_ok=True)
    made = {
        columns[0]: pa.array([name for name, _ in rows], pa.string()),
        columns[1]: pa.array([cell for _, cell in rows], pa.binary()),
    }
    made |= {name: pa.array([name] * len(rows)) for name in others}
    metadata = {"rlconvert.paths": "from the root"} if rooted else None
    write_table(pa.table(made, metadata=metadata), path, row_group_size=group)
    return path
