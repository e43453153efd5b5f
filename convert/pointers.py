"""Git LFS pointers: a few lines of text that stand where a file was not fetched."""

from __future__ import annotations

from .errors import Malformed
from .files import printable

MARK = b"version https://git-lfs.github.com/spec/v1"
SIZES = range(100, 1025)
NOT_FETCHED = "lfs-pointer"
"""The reason in the error for one."""


def is_pointer(head: bytes, size: int) -> bool:
    """Whether a file of `size` bytes that begins with `head` is a pointer."""
    return size in SIZES and head.startswith(MARK)


def not_fetched(path: str, then: str = "convert again") -> Malformed:
    """The error for a pointer in the place of a file."""
    return Malformed(
        "this is a Git LFS pointer, not the file it stands for",
        reason=NOT_FETCHED,
        file=printable(path),
        remedy=f"Fetch the object (`git lfs pull`) and {then}",
    )
