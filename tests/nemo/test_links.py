"""Links that lead to nothing: fine in a folder, refused by Harbor when it fetches through Git."""

from pathlib import Path

from rlconvert import convert
from rlconvert.pipe import Settings
from rlconvert.selection import Selection

FEATURES = Path(__file__).parents[2] / "fixtures" / "harbor" / "features"
LINKS = Selection(include=("links",))


def test_with_a_path_they_are_noted(tmp_path: Path) -> None:
    run = convert(
        str(FEATURES), str(tmp_path / "o"), to=["nemo"], settings=Settings(selection=LINKS)
    )
    assert run.error is None
    assert any("lead to nothing" in reason for (_, _, _, reason) in run.report.notes)


def test_with_a_repo_they_are_refused(tmp_path: Path) -> None:
    settings = Settings(selection=LINKS, options={"repo-id": "org/name"})
    run = convert(str(FEATURES), str(tmp_path / "out"), to=["nemo"], settings=settings)
    assert [key.what for key in run.report.refused] == ["link-to-nothing"]
