"""The verbs as functions: what a framework's own push command would call."""

from pathlib import Path

import pytest

import rlconvert
from rlconvert.errors import AmbiguousFormat, ExitCode, OutputExists, UnknownFormat, UsageError
from rlconvert.files import Blob, File, make_tree
from rlconvert.memory import MemorySource
from rlconvert.pipe import Settings
from rlconvert.selection import Selection
from rlconvert.tags.review import Standing

HARBOR = Path(__file__).parents[1] / "fixtures" / "harbor"


def test_convert(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = rlconvert.convert(str(HARBOR / "hello"), str(out), to=["nemo"])
    assert run.error is None
    assert run.exit_code() is ExitCode.DONE
    assert run.report.facts()["tasks"] == 1
    assert (out / "tasks" / "hello" / "task.toml").is_file()


def test_convert_from_memory(tmp_path: Path) -> None:
    texts = {
        "task.toml": "",
        "instruction.md": "Say hello.",
        "environment/Dockerfile": "FROM scratch\n",
        "tests/test.sh": "echo 1 > /logs/verifier/reward.txt\n",
    }
    tree = make_tree({path: File(Blob(text.encode())) for path, text in texts.items()})
    source = MemorySource(tree, name="greeting")
    run = rlconvert.convert(source, str(tmp_path / "out"), to=["nemo"], read_as="harbor")
    assert run.error is None
    assert (tmp_path / "out" / "tasks" / "greeting" / "instruction.md").read_text() == "Say hello."


def test_tag(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("---\ntags: [harbor]\n---\n")
    run = rlconvert.tag(str(tmp_path))
    assert run.review.having(Standing.UNPROVED) == ("harbor",)
    assert run.exit_code is ExitCode.NOT_VERIFIED


def test_what_ends_a_run_is_raised(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError):
        rlconvert.convert(str(tmp_path / "nowhere"), out, to=["nemo"])
    with pytest.raises(UnknownFormat):
        rlconvert.convert(str(tmp_path / "empty"), out, to=["nemo"])
    with pytest.raises(UsageError):
        rlconvert.convert(str(HARBOR / "hello"), out, to=[])
    assert rlconvert.convert(str(HARBOR / "hello"), out, to=["nemo"]).error is None
    with pytest.raises(OutputExists):
        rlconvert.convert(str(HARBOR / "hello"), out, to=["nemo"])
    with pytest.raises(AmbiguousFormat):
        rlconvert.convert(out, str(tmp_path / "back"), to=["harbor"])


def test_faults_of_tasks_are_in_the_report(tmp_path: Path) -> None:
    settings = Settings(selection=Selection(include=("steps-mean", "steps-final")))
    run = rlconvert.convert(
        str(HARBOR / "features"), str(tmp_path / "out"), to=["nemo"], settings=settings
    )
    assert run.exit_code() is ExitCode.REFUSED
    assert run.exit_code(allow_refused=True) is ExitCode.DONE
    assert [key.what for key in run.report.refused] == ["steps-averaged"]


def test_inspect() -> None:
    found = rlconvert.inspect(str(HARBOR / "features"))
    assert found.tasks == found.readable == found.verdicts["harbor"].converted
    assert found.verdicts["nemo"].refused.keys() >= {"steps-averaged", "reward-key-missing"}
    assert found.repo.licence == "apache-2.0"


def test_roundtrip() -> None:
    seen: list[str] = []
    trip = rlconvert.roundtrip(
        str(HARBOR / "registry"), via="nemo", on_compared=lambda task, _: seen.append(task)
    )
    assert trip.error is None
    assert not trip.differences
    assert trip.same_bytes == trip.same_meaning == len(seen) == 4


def test_names_that_do_not_exist() -> None:
    with pytest.raises(AttributeError):
        _ = rlconvert.nothing
    verbs = "check convert convert_shard inspect merge publish roundtrip tag verify"
    assert set(rlconvert.__all__) == {"__version__", *verbs.split()}
