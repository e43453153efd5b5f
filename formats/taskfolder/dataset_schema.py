"""`dataset.toml`: the manifest of a published dataset, bytes to typed tables.

Facts: harbor 0.26.0, `harbor/models/dataset/manifest.py` (`DatasetManifest.from_toml`). The same
refusals as `toml_schema`, with no legacy keys. It is never written: it goes over as it is, or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import AfterValidator, Field

from .documents import Value, parse_toml
from .naming import bare_file_name, digest, optional_digest, package_name
from .sifting import Findings, read
from .tables import AuthorTable, FreeTable, Table


class DatasetTable(Table):
    """``[dataset]``."""

    name: Annotated[str, AfterValidator(package_name)]
    version: str | None = Field(default=None, min_length=1)
    description: str = ""
    authors: tuple[AuthorTable, ...] = ()
    keywords: tuple[str, ...] = ()


class TaskReference(Table):
    """``[[tasks]]``: a published task, pinned by the digest of its content."""

    name: Annotated[str, AfterValidator(package_name)]
    digest: Annotated[str, AfterValidator(digest)]


class FileReference(Table):
    """``[[files]]``: a file beside the manifest; publishing fills in an empty digest."""

    path: Annotated[str, AfterValidator(bare_file_name)]
    digest: Annotated[str, AfterValidator(optional_digest)] = ""


class ManifestTable(Table):
    """The whole `dataset.toml`."""

    schema_version: str = "1.0"
    dataset: DatasetTable
    tasks: tuple[TaskReference, ...] = ()
    files: tuple[FileReference, ...] = ()
    metadata: FreeTable = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DatasetToml:
    """A `dataset.toml`: what Harbor reads, and by RFC 6901 pointer what it ignores."""

    manifest: ManifestTable
    unknown: Mapping[str, Value] = field(default_factory=dict[str, Value])


def decode_dataset_toml(data: bytes) -> DatasetToml:
    """Read a `dataset.toml`, or raise `DocumentRefused` with every problem found."""
    findings = Findings()
    manifest = read(parse_toml(data), ManifestTable, findings)
    return DatasetToml(manifest, findings.ignored)
