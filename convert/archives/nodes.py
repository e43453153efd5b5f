"""What stands in archives, node by node: folders, files, links, and tasks in rows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum

from rlconvert import errors
from rlconvert.errors import RlconvertError


class What(StrEnum):
    """What a node is. A row is a task, and a folder to whoever reads."""

    ROW = "row"
    FOLDER = "folder"
    FILE = "file"
    LINK = "link"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Node:
    """Something in an archive. `text` is a link's target, or the fault of a row or a member.

    `place` is the number of a row, or of a zip file's member, or where a tar file has the bytes.
    """

    path: str
    what: What
    file: int = 0
    place: int = 0
    size: int = 0
    executable: bool = False
    text: str | None = None

    @property
    def fault(self) -> RlconvertError | None:
        """Why it cannot be read, if that is known already."""
        if self.text is None or self.what not in (What.ROW, What.FAULT):
            return None
        said = json.loads(self.text)
        kind: type[RlconvertError] = getattr(errors, said.pop("kind"))
        return kind(said.pop("problem"), **said)


def text_of(error: RlconvertError) -> str:
    """An error as the `text` of a node."""
    return json.dumps({"kind": type(error).__name__, "problem": error.problem} | error.facts())
