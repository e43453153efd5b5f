"""Which tags a repo has earned, by its records and its files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rlconvert.errors import NewerSchema
from rlconvert.format import format_names
from rlconvert.judge import TaskVerdict, Verdict
from rlconvert.proof.published import layout_digest
from rlconvert.proof.records import CHECKS, CheckRecord, checks_text, record_of
from rlconvert.source import FolderSource
from rlconvert.tags.earned import ENVIRONMENT, Earned, Lack, deserved, earned

FINE = Verdict(
    versions={"harbor": "0.26.0"},
    python="3.13",
    tasks=(TaskVerdict("a"), TaskVerdict("b")),
    warnings=("a: untidy",),
)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "tasks" / "a").mkdir(parents=True)
    (tmp_path / "tasks" / "a" / "task.toml").write_text("")
    return tmp_path


def record(repo: Path, verdict: Verdict, *, blocked: bool = True) -> CheckRecord:
    digest = layout_digest(FolderSource(str(repo)))
    return record_of(verdict, digest, network_blocked=blocked)


def judged(repo: Path, **checks: CheckRecord) -> dict[str, Earned]:
    (repo / CHECKS).parent.mkdir(exist_ok=True)
    (repo / CHECKS).write_bytes(checks_text(checks))
    return earned(FolderSource(str(repo)))


def test_every_format_has_a_tag(repo: Path) -> None:
    found = earned(FolderSource(str(repo)))
    assert list(found) == ["harbor", "verifiers", "openenv", "nemo-gym"]
    assert [each.format for each in found.values()] == list(format_names())
    assert {each.lack for each in found.values()} == {Lack.NO_RECORD}
    assert deserved(found) == ()


def test_earned_by_a_record_of_these_files(repo: Path) -> None:
    found = judged(repo, harbor=record(repo, FINE), nemo=record(repo, FINE, blocked=False))
    assert deserved(found) == (ENVIRONMENT, "harbor", "nemo-gym")
    assert found["harbor"].evidence == "harbor 0.26.0, Python 3.13: 2 of 2 tasks load"
    assert found["harbor"].warnings == ("a: untidy",)
    assert "network not blocked" in found["nemo-gym"].evidence
    assert found["openenv"].lack is Lack.NO_RECORD
    (repo / "README.md").write_text("a card is outside")
    assert deserved(earned(FolderSource(str(repo)))) == (ENVIRONMENT, "harbor", "nemo-gym")


def test_the_evidence_names_what_computes_the_rewards(repo: Path) -> None:
    """The tag promises it, too; a few are named where there are many."""
    one = record(repo, replace(FINE, graders=("servers/a",)))
    many = record(repo, replace(FINE, graders=tuple(f"servers/{name}" for name in "abcdefg")))
    found = judged(repo, harbor=one, nemo=many)
    assert found["harbor"].evidence.endswith("2 of 2 tasks load, graded by servers/a")
    assert found["nemo-gym"].evidence.endswith(
        "graded by servers/a, servers/b, servers/c, servers/d, servers/e and 2 more"
    )


def test_a_record_of_other_files_does_not_count(repo: Path) -> None:
    old = record(repo, FINE)
    (repo / "tasks" / "a" / "task.toml").write_text("# edited")
    found = judged(repo, harbor=old)
    assert found["harbor"].lack is Lack.OTHER_FILES
    assert not found["harbor"].lack.disproves
    assert not found["harbor"].warnings


@pytest.mark.parametrize(
    ("verdict", "lack", "evidence"),
    [
        (
            Verdict(tasks=(TaskVerdict("a"), TaskVerdict("b", "no such image"))),
            Lack.NOT_ALL_LOAD,
            "1 of 2 tasks load; b: no such image",
        ),
        (Verdict(tasks=(TaskVerdict("a"),), faults=("another order",)), Lack.FAULTY, "other order"),
        (Verdict(faults=("no tasks/",)), Lack.FAULTY, "no tasks/"),
        (Verdict(), Lack.NO_TASK, "finds no task"),
    ],
)
def test_disproved(repo: Path, verdict: Verdict, lack: Lack, evidence: str) -> None:
    found = judged(repo, openenv=record(repo, verdict))
    assert found["openenv"].lack is lack
    assert lack.disproves
    assert evidence in found["openenv"].evidence
    assert deserved(found) == ()


@pytest.mark.parametrize(
    "edit",
    [{"loaded": 1}, {"passed": False}, {"total": 0, "loaded": 0}, {"faults": ("one",)}],
)
def test_a_record_that_contradicts_itself(repo: Path, edit: dict[str, object]) -> None:
    found = judged(repo, harbor=record(repo, FINE).model_copy(update=edit))
    assert found["harbor"].lack is Lack.CONTRADICTS
    assert deserved(found) == ()


def test_a_newer_record_is_not_guessed_at(repo: Path) -> None:
    (repo / CHECKS).parent.mkdir()
    (repo / CHECKS).write_text(json.dumps({"schema": 2, "checks": {}}))
    with pytest.raises(NewerSchema):
        earned(FolderSource(str(repo)))
