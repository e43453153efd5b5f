"""Law 1: a format read and written again is the same, by its own bytes and by the model alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.checks import check_identity, check_rebuild
from laws.comparing import differing
from laws.sources import ALONE, NAMES, sources, toy
from rlconvert.format import Aim, Refusal, Written, get_format
from rlconvert.formats.taskfolder.folder import folder_from_task, task_from_folder
from rlconvert.model import Origin, Repo, Task, Taskset
from strategies.tasks import tasks

__all__ = ["toy"]


@settings(max_examples=ALONE)
@pytest.mark.parametrize("name", NAMES)
@given(st.data())
def test_identity(name: str, data: st.DataObject) -> None:
    check_identity(data.draw(sources(name)), name)


@settings(max_examples=ALONE)
@pytest.mark.parametrize("name", NAMES)
@given(st.data())
def test_rebuild(name: str, data: st.DataObject) -> None:
    """The first half alone could be passed by a copier."""
    check_rebuild(data.draw(sources(name)), name)


@given(tasks())
def test_a_folder_says_the_whole_task(task: Task) -> None:
    """A task that no folder was ever read for: every kind of runtime, verifier and step."""
    assert not differing(task, task_from_folder(task.id, "", folder_from_task(task)))


@given(tasks())
def test_every_writer_takes_or_refuses_any_task(task: Task) -> None:
    repo = Repo(
        format="elsewhere",
        name="source",
        origin=Origin(label="source"),
        tasksets=(Taskset(key="source", name="source"),),
    )
    for name in NAMES:
        known = get_format(name)
        answer = known.writer(repo, Aim(options={})).task(task, ("source",))
        if isinstance(answer, Refusal):
            assert answer.reason in known.refusals
        else:
            assert isinstance(answer, Written)
            assert answer.way in known.ways
