"""Workers and the assembler: order, one place for one task, disagreement, duplicate ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes import REPO, Reads, Writes, ref
from rlconvert.assemble import Assembler
from rlconvert.errors import Malformed, ReadError, RlconvertError, UnsafePath, WriteError
from rlconvert.files import Blob, FileTree
from rlconvert.format import (
    Fate,
    FieldFate,
    Note,
    PutFile,
    Refusal,
)
from rlconvert.model import TaskRef
from rlconvert.provenance import SidecarWriter
from rlconvert.report import Report
from rlconvert.sink import Sink
from rlconvert.staging import Moved
from rlconvert.workers import Plan, Result, convert_task, convert_tasks


def plan(work: Path, *writers: Writes, **faults: Exception) -> Plan:
    named = tuple((f"target-{at}", writer) for at, writer in enumerate(writers))
    return Plan(
        source_format="toy", reader=Reads(faults), sidecar=None, writers=named, work=str(work)
    )


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def results(plan: Plan, tasks: list[str], jobs: int) -> list[Result]:
    return [result for _, result in convert_tasks(plan, enumerate(map(ref, tasks)), jobs)]


class Run:
    """An assembler over a real sink, and the lines of its report."""

    def __init__(self, out: Path, *writers: Writes) -> None:
        self.sink = Sink(str(out))
        self.lines: list[bytes] = []
        self.names = {f"target-{at}": writer for at, writer in enumerate(writers)}
        self.report = Report("toy", tuple(self.names), self.lines.append)
        ways = {name: {"way": {"steps": FieldFate(fate=Fate.EXACT)}} for name in self.names}
        self.assembler = Assembler(self.sink, self.report, ways, SidecarWriter(None))
        self.plan = plan(Path(self.sink.work), *writers)

    def take(self, *tasks: str) -> list[bool]:
        """Whether each task is whole."""
        results = (convert_task(self.plan, at, ref(task)) for at, task in enumerate(tasks))
        return [not self.assembler.take(result, Moved(self.sink.work)) for result in results]

    def close(self) -> None:
        self.assembler.close(REPO, FileTree(), self.names, "")
        self.sink.commit()


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_in_the_order_of_the_tasks(jobs: int, tmp_path: Path) -> None:
    ids = [f"t{(at * 7919) % 200}" for at in range(200)]
    assert [each.ref.id for each in results(plan(tmp_path, Writes()), ids, jobs)] == ids


def test_tasks_are_asked_for_as_they_are_needed(tmp_path: Path) -> None:
    asked = 0

    def endless() -> Iterator[TaskRef]:
        nonlocal asked
        while True:
            asked += 1
            yield ref(f"t{asked}")

    some = convert_tasks(plan(tmp_path, Writes()), enumerate(endless()), 1)
    for expected, (index, result) in zip(range(1000), some, strict=False):
        assert result.fault is None
        assert index == expected
    assert asked <= 1001


@pytest.mark.parametrize(
    ("raised", "kind", "reason"),
    [
        (Malformed("m", reason="broken", file="f"), Malformed, "broken"),
        (UnsafePath("u", reason="unsafe"), UnsafePath, "unsafe"),
        (PermissionError(13, "denied"), ReadError, "unreadable"),
        (RecursionError(), RlconvertError, "too-deep"),
    ],
)
def test_what_a_reader_raises_is_the_fault_of_its_task(
    raised: Exception, kind: type[RlconvertError], reason: str, tmp_path: Path
) -> None:
    result = convert_task(plan(tmp_path, Writes(), bad=raised), 0, ref("bad"))
    assert isinstance(result.fault, kind)
    assert (result.fault.reason, result.fault.task) == (reason, "bad")
    assert not result.made
    assert not list(tmp_path.iterdir())


def test_a_bug_is_not_the_fault_of_a_task(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        convert_task(plan(tmp_path, Writes(), bad=ZeroDivisionError()), 0, ref("bad"))


def test_two_targets_with_the_same_folder_share_it(tmp_path: Path) -> None:
    result = convert_task(plan(tmp_path, Writes(), Writes()), 3, ref("a"))
    first, second = result.made
    assert first.folders == second.folders
    assert len(list(tmp_path.iterdir())) == 1


def test_two_targets_that_disagree_about_a_folder(tmp_path: Path) -> None:
    with pytest.raises(WriteError) as caught:
        convert_task(plan(tmp_path, Writes("one"), Writes("two")), 0, ref("a"))
    assert (caught.value.reason, caught.value.file) == ("writers-disagree", "tasks/a")


def test_two_targets_that_disagree_about_a_file(tmp_path: Path) -> None:
    same, other = PutFile("same", Blob(b"1")), PutFile("other", Blob(b"1"))
    run = Run(
        tmp_path / "out",
        Writes(files=(same, other)),
        Writes(files=(same, PutFile("other", Blob(b"2")))),
    )
    run.take("a")
    with pytest.raises(WriteError) as caught:
        run.close()
    assert (caught.value.reason, caught.value.file) == ("writers-disagree", "other")
    run.sink.abort()
    assert not list(tmp_path.iterdir())


def test_a_file_where_rows_stand(tmp_path: Path) -> None:
    run = Run(tmp_path / "out", Writes(files=(PutFile("rows-same.jsonl", Blob(b"")),)))
    run.take("a")
    with pytest.raises(WriteError, match="rows-same"):
        run.close()
    run.sink.abort()


@pytest.mark.parametrize("second", ["a", "A"])
def test_an_id_is_taken_once_however_it_is_spelled(second: str, tmp_path: Path) -> None:
    run = Run(tmp_path / "out", Writes())
    assert run.take("a", second, "b") == [True, False, True]
    fault = run.report.first_fault
    assert fault is not None
    assert (fault.reason, fault.task) == ("duplicate-id", second)
    assert fault.remedy
    run.close()
    assert names(tmp_path / "out" / "tasks") == ["a", "b"]
    assert (tmp_path / "out" / "rows-same.jsonl").read_bytes() == b"a\nb\n"


@pytest.mark.parametrize("place", ["one", "ONE", "one/below"])
def test_a_place_is_taken_once(place: str, tmp_path: Path) -> None:
    run = Run(tmp_path / "out", Writes(place="one"))
    assert run.take("a") == [True]
    result = convert_task(plan(Path(run.sink.work), Writes("two", place=place)), 1, ref("b"))
    assert run.assembler.take(result, Moved(run.sink.work))
    assert [key.what for key in run.report.refused] == ["folder-taken"]
    assert run.report.converted("target-0") == 1
    run.close()
    assert (tmp_path / "out" / "one" / "f").read_bytes() == b"same"
    assert names(tmp_path / "out") == ["one", "rows-same.jsonl"]


def test_a_task_that_one_target_refuses_goes_to_the_other(tmp_path: Path) -> None:
    run = Run(tmp_path / "out", Writes("one", refuses=("a",)), Writes("two"))
    assert run.take("a") == [False]
    assert (run.report.converted("target-0"), run.report.converted("target-1")) == (0, 1)
    assert run.report.any_refused
    assert not run.assembler.complete
    run.close()


def test_errors_come_home_from_a_worker_whole(tmp_path: Path) -> None:
    faults: dict[str, Exception] = {
        f"t{at}": Malformed("m", reason="r", file="f", where="w", remedy="fix it")
        for at in range(40)
    }
    found = results(plan(tmp_path, Writes(), **faults), list(faults), 2)
    assert len(found) == 40
    for result in found:
        assert isinstance(result.fault, Malformed)
        assert result.fault.facts() == {
            "reason": "r",
            "task": result.ref.id,
            "file": "f",
            "where": "w",
            "remedy": "fix it",
        }
        assert str(result.fault) == f"{result.ref.id}, f, w: m. fix it"


# ------------------------------------------------------------------ the report


def test_a_report_does_not_grow_with_the_tasks() -> None:
    written = 0

    def write(line: bytes) -> None:
        nonlocal written
        written += len(line)

    report = Report("s", ("t",), write)
    error = Malformed("m", reason="r", file="f")
    for at in range(20_000):
        task = f"task-{at}"
        report.fault(error.for_task(task))
        report.refuse("t", task, Refusal(reason="no", problem=f"p{at}", field="x", remedy=f"{at}"))
        note = Note(field="reward", fate=Fate.DROPPED, reason="why", detail=f"{at}")
        report.note("t", task, note)
        report.way("t", "way", {"reward": FieldFate(fate=Fate.EXACT)})
    assert written > 20_000 * 3 * 40
    assert (len(report.unreadable), len(report.refused), len(report.notes)) == (1, 1, 1)
    tallies = [*report.unreadable.values(), *report.refused.values(), *report.notes.values()]
    assert [tally.count for tally in tallies] == [20_000] * 3
    assert all(tally.examples == ["task-0", "task-1", "task-2"] for tally in tallies)
    assert report.ways["t"]["way"] == 20_000
    assert report.any_loss
    assert len(str(report.facts())) < 2_000


def test_a_report_says_first_what_is_lost() -> None:
    report = Report("s", ("t",), lambda _: None)
    for fate in (Fate.EXACT, Fate.DELEGATED, Fate.DROPPED, Fate.TRANSLATED):
        report.note("t", "a", Note(field="reward", fate=fate, reason="why"))
    assert [key[2] for key, _ in report.sorted_notes()] == list(Fate)[::-1]


def test_a_line_of_the_report_can_always_be_written() -> None:
    lines: list[bytes] = []
    report = Report("s", ("t",), lines.append)
    report.fault(Malformed("a \ud800 b\n", reason="r", task="\udce9", file="\u2028é"))
    assert len(lines) == 2
    assert lines[1].count(b"\n") == 1
    assert "é".encode() in lines[1]
    assert b"\\udce9" in lines[1]
