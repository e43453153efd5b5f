"""The trials of a run that has not ended, so that `--resume` can go on from there.

They stand in the user's cache, not in the repo: an unfinished run proves nothing. A trial counts
for the very files of its task, for the same question, and once.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path

from rlconvert.errors import CheckFailed
from rlconvert.proof.answers import Answer, answer
from rlconvert.sink import writing

from .runner import Head, Trial


class _Entry(Answer):
    """A line: the head of a run, or a trial of the task with this digest."""

    digest: str = ""
    head: Head | None = None
    trial: Trial | None = None


def book_folder() -> Path:
    """Where they are kept: ``${XDG_CACHE_HOME:-~/.cache}/rlconvert/trials``."""
    above = os.environ.get("XDG_CACHE_HOME")
    return (Path(above) if above else Path.home() / ".cache") / "rlconvert" / "trials"


class TrialBook:
    """The trials that answer one `question`: what is run, by what, and how.

    With `resume` those of a run that did not end are known; without, they are forgotten.
    """

    def __init__(self, question: dict[str, object], *, resume: bool) -> None:
        name = hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()[:32]
        self.path = book_folder() / f"{name}.jsonl"
        self.head: Head | None = None
        self._known: dict[str, list[Trial]] = {}
        with writing(str(self.path)):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if resume:
                self._read()
            self._stream = self.path.open("ab" if resume else "wb")

    def _read(self) -> None:
        with suppress(FileNotFoundError):
            for line in self.path.read_bytes().splitlines():
                # A run that was killed may have left half a line.
                with suppress(CheckFailed):
                    entry = answer(_Entry, line)
                    self.head = entry.head or self.head
                    if entry.trial is not None:
                        self._known.setdefault(entry.digest, []).append(entry.trial)

    def known(self, digest: str) -> list[Trial]:
        """The trials of the task with these files."""
        return self._known.get(digest, [])

    def begin(self, head: Head) -> None:
        """Who runs."""
        if self.head != head:
            self.head = head
            self._add(_Entry(head=head))

    def add(self, digest: str, trial: Trial) -> None:
        """A trial that is over."""
        self._add(_Entry(digest=digest, trial=trial))

    def _add(self, entry: _Entry) -> None:
        with writing(str(self.path)):
            self._stream.write(entry.model_dump_json(exclude_none=True).encode() + b"\n")
            self._stream.flush()

    def close(self, *, ended: bool) -> None:
        """Put it away; the trials of a run that ended are no longer needed."""
        self._stream.close()
        if ended:
            self.path.unlink(missing_ok=True)
