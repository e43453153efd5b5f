"""The records of the sidecar ``.rlconvert/``, as they stand on disk.

    provenance.json    what was read, by which version, for which targets
    manifest.jsonl     a line per task: where it stood, its files, modes, links, empty folders
    shared.jsonl       a line per file that belongs to no task
    native-NNNN.pack   bytes of the source that stand nowhere else in the output
    loss.jsonl         the fate of every field (report.py)

A newer schema is refused; an unknown key in a known schema is damage.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .errors import Malformed, NewerSchema
from .files import FileTree, Link
from .sink import OURS

SCHEMA = 1
PROVENANCE = f"{OURS}/provenance.json"
MANIFEST = f"{OURS}/manifest.jsonl"
SHARED = f"{OURS}/shared.jsonl"
LOSS = f"{OURS}/loss.jsonl"

Mode = Literal["x", "-"]


class Record(BaseModel):
    """A closed, frozen record."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, populate_by_name=True)


class Packed(Record):
    """Bytes in a pack: which shard, from where, how many."""

    shard: int
    start: int
    size: int


class FileRecord(Record):
    """A file: the digest of its bytes, its mode, and where they are when not in the output."""

    sha256: str
    mode: Mode = "-"
    packed: Packed | None = None


class RowRecord(Record):
    """A row: the file it stood in, and its bytes in a pack."""

    path: str
    file: FileRecord


class TargetRecord(Record):
    """A task in one layout of the output: its id there, and the digest of its native bytes.

    `way` is the column of fates that it went by; empty in a sidecar that does not say it.
    `rewritten` are the files that are not the source's own there, with what was written.
    """

    id: str
    digest: str
    way: str = ""
    rewritten: dict[str, str] = {}


class TaskTargets(Record):
    """The part of a `TaskRecord` by which its line is found."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    targets: dict[str, TargetRecord]


class TaskRecord(Record):
    """A task: `place` is where it stood in its source, `folder` where its own bytes are now."""

    task: str
    place: str
    folder: str | None = None
    targets: dict[str, TargetRecord]
    files: dict[str, FileRecord] = {}
    links: dict[str, str] = {}
    empty: tuple[str, ...] = ()
    rows: tuple[RowRecord, ...] = ()


class SharedRecord(Record):
    """A file, a link or an empty folder that belongs to no task."""

    path: str
    file: FileRecord | None = None
    link: str | None = None


class SourceRecord(Record):
    """What was read. `label` never holds a path of the machine it was read on."""

    format: str
    label: str
    repo: str | None = None
    commit: str | None = None


class ProvenanceRecord(Record):
    """One conversion. `complete`: every task of the source is in the output."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_: int = Field(alias="schema")
    version: str
    source: SourceRecord
    targets: tuple[str, ...]
    complete: bool
    tasks: int
    options: dict[str, str] = {}


Kind = TypeVar("Kind", bound=Record)
Records = TypeVar("Records", bound=BaseModel)


def line_of(record: Record) -> bytes:
    """A record as one line; what has its default is left out."""
    text = record.model_dump_json(by_alias=True, exclude_defaults=True)
    return text.encode() + b"\n"


def renamed(record: TaskRecord, ids: Mapping[str, str]) -> TaskRecord:
    """The record of a task that some targets call by these ids."""
    if not ids:
        return record
    changed = {name: record.targets[name].model_copy(update={"id": ids[name]}) for name in ids}
    return record.model_copy(update={"targets": record.targets | changed})


def renamed_line(line: bytes, ids: Mapping[str, str]) -> bytes:
    """`renamed` for a record that is a line already."""
    return line_of(renamed(parse(TaskRecord, line, MANIFEST), ids))


def parse(kind: type[Kind], data: bytes, name: str) -> Kind:
    """The record in `data`; `Malformed` names the file and the first fault."""
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise Malformed(
            f"the sidecar is damaged: {first['msg']}",
            reason="damaged-sidecar",
            file=name,
            where=where or None,
            remedy=f"Remove {OURS}/ to convert without it",
        ) from error


def parse_provenance(data: bytes) -> ProvenanceRecord:
    """``provenance.json``; `NewerSchema` when a later version wrote it."""

    class Head(BaseModel):
        schema_: int = Field(alias="schema")

    try:
        schema = Head.model_validate_json(data).schema_
    except ValidationError:
        schema = SCHEMA
    if schema > SCHEMA:
        raise NewerSchema(
            f"its schema is {schema}, and this version knows {SCHEMA}",
            reason="newer-sidecar",
            file=PROVENANCE,
            remedy="Use a newer rlconvert",
        )
    return parse(ProvenanceRecord, data, PROVENANCE)


def parse_records(kind: type[Records], data: bytes, file: str, newest: int, what: str) -> Records:
    """The records of `what` in a file of ours; `NewerSchema` when a later version wrote it.

    `Malformed` names the file and the first fault.
    """

    class Head(BaseModel):
        schema_: int = Field(alias="schema")

    try:
        schema = Head.model_validate_json(data).schema_
        if schema > newest:
            raise NewerSchema(
                f"its schema is {schema}, and this version knows {newest}",
                reason=f"newer-{what}",
                file=file,
                remedy="Use a newer rlconvert",
            )
        return kind.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise Malformed(
            f"the records of {what} are damaged: {first['msg']}",
            reason=f"damaged-{what}",
            file=file,
            where=".".join(str(part) for part in first["loc"]) or None,
            remedy="Remove the file, and have it made again",
        ) from error


def pack_name(shard: int) -> str:
    """The path of a pack."""
    return f"{OURS}/native-{shard:04}.pack"


def records_of(tree: FileTree) -> tuple[dict[str, FileRecord], dict[str, str], tuple[str, ...]]:
    """Files, links and empty folders of a tree whose bytes stand in the output."""
    files: dict[str, FileRecord] = {}
    links: dict[str, str] = {}
    for path, entry in tree:
        if isinstance(entry, Link):
            links[path] = entry.target
        else:
            mode: Mode = "x" if entry.executable else "-"
            files[path] = FileRecord(sha256=entry.blob.sha256, mode=mode)
    return files, links, tree.empty_folders
