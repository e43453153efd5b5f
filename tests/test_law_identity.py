"""Law 1: a format read and written again is the same, by its own bytes and by the model alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.comparing import differing
from laws.running import laid, room, run, stripped, tasks_in
from laws.sources import NAMES, sources, toy
from rlconvert.format import Aim, Refusal, Written, get_format
from rlconvert.formats.taskfolder.folder import folder_from_task, task_from_folder
from rlconvert.model import Origin, Repo, Task, Taskset
from strategies.tasks import tasks
from trees import assert_same_tree

__all__ = ["toy"]


@pytest.mark.parametrize("name", NAMES)
@given(st.data())
def test_identity(name: str, data: st.DataObject) -> None:
    """Every byte, executable bit, link and empty folder, at its own place."""
    tree = data.draw(sources(name))
    with room() as place:
        source = laid(place, tree)
        way = run(source, name, name, place / "out")
        assert not way.conversion.report.any_refused, way.conversion.report.facts()
        assert_same_tree(way.out, source, ignore=[".rlconvert"])


@pytest.mark.parametrize("name", NAMES)
@given(st.data())
def test_rebuild(name: str, data: st.DataObject) -> None:
    """The first half alone could be passed by a copier."""
    tree = data.draw(sources(name))
    with room() as place:
        source = laid(place, tree)
        way = run(source, stripped(name), name, place / "out")
        if way.empty:
            return
        before, after, ids = tasks_in(source, name), tasks_in(way.out, name), way.ids(name)
        assert sorted(after) == sorted(ids.values())
        for task, new in ids.items():
            assert not differing(before[task], after[new])


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
