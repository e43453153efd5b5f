"""What is told of rows beside the rows themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rlconvert.data import Data
from rlconvert.format import Fate, Note, RepoNote, RepoPart
from rlconvert.model import Task, Taskset

from .noticing import UNHEARD
from .rowfiles import FORMAT

_FOUND = (
    ("/missing", "tasksets", "rows that a config declares and that are not here"),
    ("/unfollowed", "tasksets", "parts of a config that were not followed"),
)
"""What a taskset says of its source -> a note on the whole output."""


def said_of(taskset: Taskset) -> Mapping[str, Data]:
    """What the reader of rows says of a taskset."""
    return taskset.extras.get(FORMAT, {})


def notes_on(task: Task, fate: Fate) -> Iterator[Note]:
    """The remarks on a row's own bytes, which has this fate; what it loses when rewritten."""
    native = task.native.get(FORMAT)
    for remark in native.remarks if native is not None else ():
        gone = remark.reason == UNHEARD and fate is not Fate.EXACT
        yield Note(
            field=remark.field,
            fate=Fate.DROPPED if gone else fate,
            reason=remark.reason,
            detail=remark.detail,
        )


def what_was_found(tasksets: Iterable[Taskset]) -> Iterator[RepoPart]:
    """Who grades which file and how that is known; what the configs name and is not here."""
    told: set[str] = set()
    for said in map(said_of, tasksets):
        because, grader = said.get("/because"), str(said.get("/grader"))
        if isinstance(because, str) and grader not in told:
            told.add(grader)
            yield RepoNote(Note(field="reward", fate=Fate.EXACT, reason=because, detail=grader))
        for key, field, reason in _FOUND:
            words = said.get(key)
            for each in [words] if isinstance(words, str) else _texts(words):
                if each not in told:
                    told.add(each)
                    note = Note(field=field, fate=Fate.EXACT, reason=reason, detail=each)
                    yield RepoNote(note)


def _texts(value: Data) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list | tuple) else []


def set_note(reason: str, *details: str, fate: Fate = Fate.TRANSLATED) -> RepoNote:
    """A note on the output's sets of rows."""
    detail = ", ".join(details)
    return RepoNote(Note(field="tasksets", fate=fate, reason=reason, detail=detail))
