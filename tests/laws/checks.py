"""The laws as checks of one source; the tests say of which."""

from __future__ import annotations

import glob
import shutil
from pathlib import Path

from laws.comparing import differing, held
from laws.hub import published, pushed
from laws.running import Losses, Way, laid, room, run, stripped, tasks_in
from rlconvert.files import FileTree
from rlconvert.format import Fate
from trees import assert_same_tree

SIDECAR = [".rlconvert"]


def converted_alone(source: Path, name: str, way: Way, other: str, out: Path) -> Path:
    """The source less the tasks that did not go to `other`."""
    if not way.conversion.report.any_refused:
        return source
    ids = tuple(map(glob.escape, way.ids(other)))
    return run(source, name, name, out, include=ids).out


def check_identity(tree: FileTree, name: str) -> None:
    """Every byte, executable bit, link and empty folder, at its own place."""
    with room() as place:
        source = laid(place, tree)
        way = run(source, name, name, place / "out")
        assert not way.conversion.report.any_refused, way.conversion.report.facts()
        assert_same_tree(way.out, source, ignore=SIDECAR)


def check_rebuild(tree: FileTree, name: str) -> None:
    """The model alone gives the same tasks again, less what a note says is dropped."""
    with room() as place:
        source = laid(place, tree)
        way = run(source, stripped(name), name, place / "out")
        if way.empty:
            return
        before, after, ids = tasks_in(source, name), tasks_in(way.out, name), way.ids(name)
        assert sorted(after) == sorted(ids.values())
        losses = way.losses(name)
        for task, new in ids.items():
            changed = differing(before[task], after[new]) - dropped(losses, task, delegated=True)
            assert not changed, f"not the same when built again: {changed}"


def check_again(tree: FileTree, name: str, target: str) -> None:
    """A second run gives the same bytes, and a converted repo is converted to itself."""
    with room() as place:
        first = run(laid(place, tree), name, target, place / "first")
        if first.empty:
            return
        second = run(laid(place / "again", tree, backwards=True), name, target, place / "second")
        assert_same_tree(second.out, first.out)
        third = run(first.out, target, target, place / "third")
        assert_same_tree(third.out, first.out, ignore=SIDECAR)


def check_with_sidecar(tree: FileTree, one: str, other: str) -> None:
    """Byte for byte, and so it is when the Hub has lost modes, links and empty folders."""
    with room() as place:
        source = laid(place, tree)
        there = run(source, one, other, place / "there")
        if there.empty:
            return
        expected = converted_alone(source, one, there, other, place / "expected")
        back = run(there.out, other, one, place / "back")
        assert_same_tree(back.out, expected, ignore=SIDECAR)
        copy = published(there.out, place / "published")
        if copy is not None:
            from_copy = run(copy, other, one, place / "from-published")
            assert_same_tree(from_copy.out, expected, ignore=SIDECAR)
        from_hub = run(pushed(there.out), other, one, place / "from-hub")
        assert_same_tree(from_hub.out, expected, ignore=SIDECAR)


def check_without_sidecar(tree: FileTree, one: str, other: str) -> None:
    """Every field but those that are said to be lost, and those really are."""
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


def dropped(losses: Losses, task: str, *, delegated: bool = False) -> set[str]:
    """What cannot come back; a note on a `delegated` field may speak of the run, not the files."""
    gone = losses.fields(task, Fate.DROPPED)
    return gone if delegated else gone - losses.fields(task, Fate.DELEGATED)
