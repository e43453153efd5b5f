"""Law 2: A -> B -> A gives A back; without the sidecar, all of it that B was said to hold.

And law 4 with it: what does not come back is what the report says is lost, no less and no more.
"""

from __future__ import annotations

import glob
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.comparing import differing, held
from laws.hub import publish
from laws.running import Losses, Way, laid, room, run, tasks_in
from laws.sources import EACH, PAIRS, convertible, toy
from rlconvert.format import Fate
from trees import assert_same_tree

__all__ = ["toy"]

SIDECAR = [".rlconvert"]


def converted_alone(source: Path, name: str, way: Way, other: str, out: Path) -> Path:
    """The source less the tasks that did not go to `other`."""
    if not way.conversion.report.any_refused:
        return source
    ids = tuple(map(glob.escape, way.ids(other)))
    return run(source, name, name, out, include=ids).out


@settings(max_examples=EACH)
@pytest.mark.parametrize(("one", "other"), PAIRS)
@given(st.data())
def test_with_sidecar(one: str, other: str, data: st.DataObject) -> None:
    """Byte for byte, and so it is when the Hub has lost modes, links and empty folders."""
    tree = data.draw(convertible(one))
    with room() as place:
        source = laid(place, tree)
        there = run(source, one, other, place / "there")
        if there.empty:
            return
        expected = converted_alone(source, one, there, other, place / "expected")
        back = run(there.out, other, one, place / "back")
        assert_same_tree(back.out, expected, ignore=SIDECAR)
        from_hub = run(publish(there.out), other, one, place / "from-hub")
        assert_same_tree(from_hub.out, expected, ignore=SIDECAR)


@settings(max_examples=EACH)
@pytest.mark.parametrize(("one", "other"), PAIRS)
@given(st.data())
def test_without_sidecar(one: str, other: str, data: st.DataObject) -> None:
    tree = data.draw(convertible(one))
    with room() as place:
        source = laid(place, tree)
        there = run(source, one, other, place / "there")
        if there.empty:
            return
        names, losses = there.ids(other), there.losses(other)
        shutil.rmtree(there.out / ".rlconvert")
        back = run(there.out, other, one, place / "back")
        if back.empty:
            assert back.conversion.report.refused
            return
        returned, more = back.ids(one), back.losses(one)
        before, after = tasks_in(source, one), tasks_in(back.out, one)
        assert len(after) == len(returned)
        for task, between in names.items():
            if between not in returned:
                assert back.conversion.report.refused
                continue
            changed = differing(before[task], after[returned[between]])
            said = said_lost(losses, task) | said_lost(more, between)
            assert changed <= said, f"lost in silence: {changed - said}"
            gone = dropped(losses, task) & held(before[task])
            assert gone <= changed, f"said to be lost and still there: {gone - changed}"


def said_lost(losses: Losses, task: str) -> set[str]:
    return losses.fields(task, Fate.DROPPED, Fate.TRANSLATED)


def dropped(losses: Losses, task: str) -> set[str]:
    """What cannot come back. Of delegated fields a note speaks of the run, not of the files."""
    return losses.fields(task, Fate.DROPPED) - losses.fields(task, Fate.DELEGATED)
