"""What is known of a dataset of the Hub without fetching what is large in it.

Whether a stored record counts is told by a digest of every file. The Hub lists the SHA-256 of those
that are kept in LFS; only the others are fetched.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from rlconvert.address import HubAddress
from rlconvert.hub.git import clone_dataset
from rlconvert.hub.write import Access, RemoteFile, hash_files, read_file
from rlconvert.proof.published import ATTRIBUTES, in_layout, layout_digest, listed_digest
from rlconvert.proof.records import CHECKS, CheckRecord, parse_checks
from rlconvert.source import FolderSource, too_big

_MAX_RECORDS = 64 << 20
_MAX_ATTRIBUTES = 1 << 20

Files = Mapping[str, RemoteFile]


def read_small(
    place: HubAddress, path: str, files: Files, access: Access, *, most: int
) -> bytes:  # fmt: skip
    """The bytes of a file at a commit, none where it has none; `TooBig` beyond `most`."""
    if path not in files:
        return b""
    if files[path].size > most:
        raise too_big(path, files[path].size, most)
    return read_file(place, path, access)


def remote_checks(place: HubAddress, files: Files, access: Access) -> dict[str, CheckRecord]:
    """The records of checks at a commit; `NewerSchema`, `Malformed`, `TooBig`."""
    data = read_small(place, CHECKS, files, access, most=_MAX_RECORDS)
    return parse_checks(data) if CHECKS in files else {}


def remote_digest(place: HubAddress, files: Files, access: Access, *, by_git: bool) -> str:
    """`layout_digest` of the repo at a commit, as it would be fetched, over HTTP or by git."""
    large = {path: file.sha256 for path, file in files.items() if file.sha256 is not None}
    if by_git:
        with tempfile.TemporaryDirectory(prefix="rlconvert-") as work:
            copy = Path(work, "repo")
            clone_dataset(
                place,
                dest=copy,
                endpoint=access.endpoint,
                token=access.token,
                large=ATTRIBUTES in large,  # what is in that, decides
            )
            return layout_digest(FolderSource(str(copy)), known=large)
    small = [path for path in files if in_layout(path) and path not in large]
    attributes = read_small(place, ATTRIBUTES, files, access, most=_MAX_ATTRIBUTES)
    return listed_digest(hash_files(place, small, access) | large, attributes)
