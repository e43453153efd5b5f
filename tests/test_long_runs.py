"""Runs that are interrupted and go on, and runs that are shared out: the same bytes as one run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rlconvert import workers
from rlconvert.errors import Malformed, OutputExists, StaleProvenance, UsageError
from rlconvert.format import get_format
from rlconvert.journal import Journal
from rlconvert.model import TaskRef
from rlconvert.pipe import Settings, convert, convert_shard, merge
from rlconvert.selection import Selection
from rlconvert.source import FolderSource
from rlconvert.workers import Plan, Result
from trees import assert_same_tree

HARBOR = Path(__file__).parents[1] / "fixtures" / "harbor"
SETTINGS = Settings(jobs=1)


def source(name: str = "features") -> FolderSource:
    return FolderSource(str(HARBOR / name))


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    out = tmp_path / "whole"
    convert(source(), get_format("harbor"), ["nemo"], str(out), SETTINGS)
    return out


def stop_after(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """The next run is interrupted when it has converted so many tasks."""
    real, done = workers.convert_task, 0

    def stopping(plan: Plan, index: int, ref: TaskRef) -> Result:
        nonlocal done
        done += 1
        if done > count:
            raise KeyboardInterrupt
        return real(plan, index, ref)

    monkeypatch.setattr(workers, "convert_task", stopping)


@pytest.mark.parametrize("count", [0, 1, 7, 37])
def test_resumed_is_the_same(
    count: int, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    settings = replace(SETTINGS, resume=True)
    with monkeypatch.context() as patch:
        stop_after(patch, count)
        with pytest.raises(KeyboardInterrupt):
            convert(source(), get_format("harbor"), ["nemo"], str(out), settings)
    assert not out.exists()
    left = tmp_path / ".out.unfinished"
    assert len(Journal.read(str(left))) == count
    with monkeypatch.context() as patch:
        stop_after(patch, 38 - count)  # no task is converted twice
        convert(source(), get_format("harbor"), ["nemo"], str(out), settings)
    assert_same_tree(out, whole)
    assert not left.exists()
    assert not list(tmp_path.glob(".*"))


def test_resumed_after_a_kill_in_the_second_half(whole: Path, tmp_path: Path) -> None:
    """Folders that were moved away, a line cut short, a folder half written: all made again."""
    out = tmp_path / "out"
    settings = replace(SETTINGS, resume=True)
    first = replace(settings, fail_fast=True)
    with pytest.raises(Exception, match="cannot go to nemo"):
        convert(source(), get_format("harbor"), ["nemo"], str(out), first)
    left = tmp_path / ".out.unfinished"
    lines = (left / "journal.jsonl").read_bytes()
    (left / "journal.jsonl").write_bytes(lines[:-20])
    moved = min((left / "work").iterdir())
    moved.rename(tmp_path / "moved")
    (left / "work" / "30-0" / "half").mkdir(parents=True)
    convert(source(), get_format("harbor"), ["nemo"], str(out), settings)
    assert_same_tree(out, whole)


def test_another_conversion_is_not_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = str(tmp_path / "out")
    settings = replace(SETTINGS, resume=True)
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        with pytest.raises(KeyboardInterrupt):
            convert(source(), get_format("harbor"), ["nemo"], out, settings)
    other = replace(settings, selection=Selection(limit=5))
    with pytest.raises(UsageError, match="another conversion"):
        convert(source(), get_format("harbor"), ["nemo"], out, other)


@pytest.mark.parametrize("shards", [1, 2, 5])
@pytest.mark.parametrize("name", ["features", "registry"])
def test_merged_is_the_same(name: str, shards: int, tmp_path: Path) -> None:
    settings = replace(SETTINGS, selection=Selection(exclude=("bom*",)))
    whole = tmp_path / "whole"
    convert(source(name), get_format("harbor"), ["nemo"], str(whole), settings)
    parts = [str(tmp_path / f"part-{number}") for number in range(shards)]
    for number, part in enumerate(parts, start=1):
        of = (number, shards)
        convert_shard(source(name), get_format("harbor"), ["nemo"], part, settings, of)
    out = tmp_path / "out"
    for _ in range(2):  # the shards stay
        merge(
            source(name),
            get_format("harbor"),
            str(out),
            parts[::-1],
            Settings(force=True),
        )
        assert_same_tree(out, whole)


def test_what_does_not_fit_is_not_merged(tmp_path: Path) -> None:
    harbor = get_format("harbor")
    one, two, other = (str(tmp_path / name) for name in ("one", "two", "other"))
    assert convert_shard(source(), harbor, ["nemo"], one, SETTINGS, (1, 2)) == 19
    out = str(tmp_path / "out")
    with pytest.raises(UsageError, match="shard 2 is not there"):
        merge(source(), harbor, out, [one], Settings())
    convert_shard(source(), harbor, ["harbor"], other, SETTINGS, (2, 2))
    with pytest.raises(UsageError, match="another source, target or version"):
        merge(source(), harbor, out, [one, other], Settings())
    convert_shard(source(), harbor, ["nemo"], two, SETTINGS, (2, 2))
    with pytest.raises(UsageError, match="another source, target or version"):
        merge(source("registry"), harbor, out, [one, two], Settings())
    with pytest.raises(Malformed):
        merge(source(), harbor, out, [str(HARBOR)], Settings())
    with pytest.raises(UsageError, match="no shard 3 of 2"):
        convert_shard(source(), harbor, ["nemo"], out, SETTINGS, (3, 2))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    with pytest.raises(OutputExists):
        convert_shard(source(), harbor, ["nemo"], str(tmp_path / "full"), SETTINGS, (1, 2))
    assert not (tmp_path / "out").exists()


def test_an_unfinished_shard_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = str(tmp_path / "part")
    with monkeypatch.context() as patch:
        stop_after(patch, 3)
        with pytest.raises(KeyboardInterrupt):
            convert_shard(source(), get_format("harbor"), ["nemo"], part, SETTINGS, (1, 1))
    with pytest.raises(UsageError, match="not finished"):
        merge(source(), get_format("harbor"), str(tmp_path / "out"), [part], Settings())


def test_a_source_that_changed_is_noticed(tmp_path: Path) -> None:
    part = tmp_path / "part"
    convert_shard(source(), get_format("harbor"), ["nemo"], str(part), SETTINGS, (1, 1))
    lines = (part / "journal.jsonl").read_text().splitlines()
    renamed = json.loads(lines[3])
    renamed["ref"]["id"] = "other"
    lines[3] = json.dumps(renamed)
    (part / "journal.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(StaleProvenance, match="the source has changed"):
        merge(source(), get_format("harbor"), str(tmp_path / "out"), [str(part)], Settings())
