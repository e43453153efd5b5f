"""Folders that were made for tasks and wait to be moved to their place in the output."""

from __future__ import annotations

import os
import shutil
from typing import Protocol


class Staging(Protocol):
    """Where the folders of one task wait."""

    def take(self, name: str) -> str:
        """The path of a folder that may be moved away."""
        ...

    def drop(self, name: str) -> None:
        """A folder is not wanted after all."""
        ...


class Moved:
    """Folders that are used up."""

    def __init__(self, work: str) -> None:
        self._work = work

    def take(self, name: str) -> str:
        return f"{self._work}/{name}"

    def drop(self, name: str) -> None:
        shutil.rmtree(f"{self._work}/{name}", ignore_errors=True)


class Copied:
    """Folders that stay, for whoever wants to merge them again; `into` takes the copies."""

    def __init__(self, work: str, into: str) -> None:
        self._work = work
        self._into = into

    def take(self, name: str) -> str:
        copy = os.path.join(self._into, name)
        if not os.path.exists(copy):
            staged = f"{self._work}/{name}"
            if os.path.isdir(staged):
                shutil.copytree(staged, copy, symlinks=True)
            else:
                shutil.copyfile(staged, copy)
        return copy

    def drop(self, name: str) -> None:
        shutil.rmtree(os.path.join(self._into, name), ignore_errors=True)
