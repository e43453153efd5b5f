"""Several layouts in one output: they share folders and a registry, and each leads back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from rlconvert import convert
from rlconvert.errors import AmbiguousFormat, ExitCode, WriteError
from rlconvert.format import Options, choose_format, get_format
from rlconvert.model import Origin
from rlconvert.pipe import Conversion, Settings
from rlconvert.source import FolderSource
from trees import assert_same_tree

FIXTURES = Path(__file__).parents[1] / "fixtures" / "harbor"
FOUR = ("harbor", "verifiers", "openenv", "nemo")
IMAGES = {"image-template": "registry.example.org/{task}:1"}
SIDECAR = [".rlconvert"]
WHOLE = ("registry", "same-names", "root-level", "dataset-toml")
"""Sets of which every task goes to every target."""


def run(
    source: Path,
    out: Path,
    *to: str,
    read_as: str = "harbor",
    drop: bool = False,
    options: Options | None = None,
) -> Conversion:
    """Convert, and fail unless something was written."""
    settings = Settings(drop_refused=drop, options=IMAGES if options is None else options)
    made = convert(str(source), str(out), to=to, read_as=read_as, settings=settings)
    assert made.error is None, made.error
    return made


def entries(out: Path) -> dict[str, list[str]]:
    """What the registry names, by dataset."""
    registry = json.loads((out / "registry.json").read_bytes())
    return {
        f"{entry['name']}@{entry['version']}": [task["path"] for task in entry["tasks"]]
        for entry in registry
    }


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("through", FOUR)
def test_each_layout_of_one_repo_leads_back(name: str, through: str, tmp_path: Path) -> None:
    run(FIXTURES / name, tmp_path / "there", *FOUR)
    run(tmp_path / "there", tmp_path / "back", "harbor", read_as=through)
    assert_same_tree(tmp_path / "back", FIXTURES / name, ignore=SIDECAR)


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("through", ["verifiers", "openenv"])
def test_there_and_back(name: str, through: str, tmp_path: Path) -> None:
    run(FIXTURES / name, tmp_path / "there", through)
    run(tmp_path / "there", tmp_path / "back", "harbor", read_as=through)
    assert_same_tree(tmp_path / "back", FIXTURES / name, ignore=SIDECAR)


@pytest.mark.parametrize("one", ["verifiers", "openenv"])
@pytest.mark.parametrize("other", FOUR)
def test_every_pair_with_folders(one: str, other: str, tmp_path: Path) -> None:
    """A layout goes to any other and comes back as it was."""
    run(FIXTURES / "registry", tmp_path / "source", one)
    shutil.rmtree(tmp_path / "source" / ".rlconvert")
    run(tmp_path / "source", tmp_path / "there", other, read_as=one)
    if one == other:
        assert_same_tree(tmp_path / "there", tmp_path / "source", ignore=SIDECAR)
        return
    run(tmp_path / "there", tmp_path / "back", one, read_as=other)
    assert_same_tree(tmp_path / "back", tmp_path / "source", ignore=SIDECAR)


def test_the_registry_names_what_each_takes(tmp_path: Path) -> None:
    run(FIXTURES / "features", tmp_path / "out", *FOUR, options={})
    found = entries(tmp_path / "out")
    assert list(found) == ["features@1.0", "features-verifiers@1.0"]
    assert found["features-verifiers@1.0"] == [
        "tasks/prebuilt-and-dockerfile",
        "tasks/prebuilt-bare",
        "tasks/prebuilt-files",
    ]
    folders = {f"tasks/{path.name}" for path in (tmp_path / "out" / "tasks").iterdir()}
    assert set(found["features@1.0"]) == folders
    card = (tmp_path / "out" / "README.md").read_text()
    assert "**Not all folders are for OpenEnv.** It counts 38" in card


def test_a_folder_with_an_image_stands_apart(tmp_path: Path) -> None:
    run(FIXTURES / "registry", tmp_path / "out", *FOUR)
    own = tmp_path / "out" / "tasks" / "add" / "task.toml"
    imaged = tmp_path / "out" / "tasks-verifiers" / "add" / "task.toml"
    assert own.read_bytes() == (FIXTURES / "registry/datasets/easy/add/task.toml").read_bytes()
    more = b'\n[environment]\ndocker_image = "registry.example.org/add:1"\n'
    assert imaged.read_bytes() == own.read_bytes() + more
    assert entries(tmp_path / "out")["easy-verifiers@1.0"] == ["tasks-verifiers/add"]


def test_drop_refused_leaves_a_task_out_of_all(tmp_path: Path) -> None:
    made = run(FIXTURES / "features", tmp_path / "out", *FOUR, drop=True, options={})
    assert made.exit_code() is ExitCode.REFUSED
    taken = {"prebuilt-and-dockerfile", "prebuilt-bare", "prebuilt-files"}
    assert {path.name for path in (tmp_path / "out" / "tasks").iterdir()} == taken
    assert set(entries(tmp_path / "out")) == {"features@1.0", "features-verifiers@1.0"}
    assert "Not all folders" not in (tmp_path / "out" / "README.md").read_text()
    lines = (tmp_path / "out" / ".rlconvert" / "manifest.jsonl").read_bytes().splitlines()
    assert len(lines) == len(taken)


def test_an_image_written_and_then_edited_is_stale(tmp_path: Path) -> None:
    run(FIXTURES / "root-level", tmp_path / "there", "verifiers")
    edited = tmp_path / "there" / "tasks" / "alpha" / "task.toml"
    edited.write_bytes(edited.read_bytes() + b"\n# mine\n")
    made = run(tmp_path / "there", tmp_path / "back", "harbor", read_as="verifiers")
    assert {key.what for key in made.report.unreadable} == {"stale-provenance"}
    assert not (tmp_path / "back" / "alpha").exists()
    assert (tmp_path / "back" / "beta").exists()


def test_an_edit_elsewhere_comes_back_with_the_own_config(tmp_path: Path) -> None:
    run(FIXTURES / "root-level", tmp_path / "there", "verifiers")
    (tmp_path / "there" / "tasks" / "alpha" / "instruction.md").write_bytes(b"Something else.\n")
    run(tmp_path / "there", tmp_path / "back", "harbor", read_as="verifiers")
    assert (tmp_path / "back" / "alpha" / "instruction.md").read_bytes() == b"Something else.\n"
    own = (FIXTURES / "root-level" / "alpha" / "task.toml").read_bytes()
    assert (tmp_path / "back" / "alpha" / "task.toml").read_bytes() == own


@pytest.mark.parametrize("lossy", [False, True], ids=["folder", "hub"])
def test_a_link_that_is_gone_was_deleted_unless_the_hub_lost_it(
    lossy: bool, tmp_path: Path
) -> None:
    """What a user deletes in a folder stays deleted; some ways to the Hub leave links out."""
    shutil.copytree(FIXTURES / "root-level", tmp_path / "source")
    (tmp_path / "source" / "alpha" / "tests" / "same.sh").symlink_to("test.sh")
    run(tmp_path / "source", tmp_path / "there", "nemo")
    (tmp_path / "there" / "tasks" / "alpha" / "tests" / "same.sh").unlink()
    origin = Origin(label="there", modes_inferred=lossy)
    convert(
        FolderSource(str(tmp_path / "there"), origin=origin),
        str(tmp_path / "back"),
        to=["harbor"],
        read_as="nemo",
    )
    assert (tmp_path / "back" / "alpha" / "tests" / "same.sh").is_symlink() is lossy
    assert (tmp_path / "back" / "alpha" / "tests" / "test.sh").is_file()


def test_the_sidecar_keeps_no_folder_of_this_machine(tmp_path: Path) -> None:
    images = tmp_path / "images.json"
    images.write_text('{"alpha": "a", "beta": "b"}')
    options = {"image-map": str(images)}
    run(FIXTURES / "root-level", tmp_path / "out", "verifiers", options=options)
    text = (tmp_path / "out" / ".rlconvert" / "provenance.json").read_text()
    assert json.loads(text)["options"] == {"image-map": "images.json"}


def test_the_way_back_to_an_earlier_source_is_not_lost_in_silence(tmp_path: Path) -> None:
    """A -> B -> C: by B's output A could be had back, by C's only B; the report says so."""

    def losses(made: Conversion) -> list[str]:
        return [f"{what}: {why}" for _, what, _, why in made.report.notes if what == "origin"]

    run(FIXTURES / "registry", tmp_path / "b", "nemo")
    for target in ("verifiers", "nemo"):
        made = run(tmp_path / "b", tmp_path / target, target, read_as="nemo")
        assert losses(made) == [
            "origin: what an earlier conversion kept, to give its own source back, stays behind"
        ]
        assert made.exit_code(strict=True) is ExitCode.LOSS
    assert not losses(run(tmp_path / "b", tmp_path / "home", "harbor", read_as="nemo"))
    run(FIXTURES / "registry", tmp_path / "both", "harbor", "nemo")
    assert not losses(run(tmp_path / "both", tmp_path / "on", "verifiers"))


# --- who is recognised, and what is found -----------------------------------------------------


def test_task_folders_are_harbors_unless_somebody_says_otherwise(tmp_path: Path) -> None:
    assert choose_format(FolderSource(str(FIXTURES / "registry")), None).name == "harbor"
    run(FIXTURES / "registry", tmp_path / "out", "openenv")
    source = FolderSource(str(tmp_path / "out"))
    with pytest.raises(AmbiguousFormat, match="openenv"):
        choose_format(source, None)
    shutil.rmtree(tmp_path / "out" / ".rlconvert")
    assert choose_format(FolderSource(str(tmp_path / "out")), None).name == "harbor"


def found(source: Path, name: str) -> tuple[list[str], list[str]]:
    """The places of tasks as a format finds them, and of those that cannot be read."""
    reader = get_format(name).reader(FolderSource(str(source)), {})
    good: list[str] = []
    bad: list[str] = []
    for ref in reader.refs():
        try:
            reader.load(ref)
        except Exception:  # noqa: BLE001 - that it cannot be read is the point
            bad.append(ref.path)
        else:
            good.append(ref.path)
    return good, bad


def lay(root: Path, *places: str) -> Path:
    """Copies of one task at places."""
    for place in places:
        shutil.copytree(FIXTURES / "hello", root / place)
    return root


@pytest.mark.parametrize(
    ("places", "more", "good", "bad"),
    [
        (["tasks/b", "tasks/a"], [], ["tasks/a", "tasks/b"], []),
        (["tasks/a"], ["tasks/docs/x", "tasks/readme"], ["tasks/a"], ["tasks/docs"]),
        (["tasks/a", "tasks/.b"], [], ["tasks/a"], []),
        (["tasks/g/b", "tasks/a"], [], ["tasks/a"], ["tasks/g"]),
        (["tasks/g/b", "tasks/h/a"], ["tasks/h/x"], ["tasks/g/b", "tasks/h/a"], []),
        (["a", "b"], ["c/x"], ["a", "b"], ["c"]),
        (["tasks/a", "other/b"], [], ["tasks/a"], []),
        (["tasks/1/2/3/4/5/6"], [], ["tasks/1/2/3/4/5/6"], []),
        (["tasks/1/2/3/4/5/6/7"], [], [], []),
        (["tasks/10", "tasks/2"], [], ["tasks/10", "tasks/2"], []),
    ],
)
def test_what_openenv_counts(
    places: list[str], more: list[str], good: list[str], bad: list[str], tmp_path: Path
) -> None:
    root = lay(tmp_path / "repo", *places)
    for path in more:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")
    assert found(root, "openenv") == (good, bad)


@pytest.mark.parametrize(
    ("places", "good"),
    [
        (["tasks/b", "tasks/a", "other/c"], ["tasks/a", "tasks/b"]),
        (["sub/b"], ["sub/b"]),
        (["tasks/g/a"], ["tasks/g/a"]),
    ],
)
def test_what_verifiers_finds(places: list[str], good: list[str], tmp_path: Path) -> None:
    assert found(lay(tmp_path / "repo", *places), "verifiers") == (good, [])


def test_marked_entries_are_for_one_framework(tmp_path: Path) -> None:
    run(FIXTURES / "root-level", tmp_path / "out", "harbor", "verifiers")
    shutil.rmtree(tmp_path / "out" / ".rlconvert")
    assert found(tmp_path / "out", "harbor")[0] == ["tasks/alpha", "tasks/beta"]
    apart = ["tasks-verifiers/alpha", "tasks-verifiers/beta"]
    assert found(tmp_path / "out", "verifiers")[0] == apart


def test_one_name_in_two_folders_is_refused(tmp_path: Path) -> None:
    """The first task gets an image and stands apart; NeMo Gym does not take it, and the second
    takes its name."""
    source = tmp_path / "source"
    for place in ("a", "b"):
        shutil.copytree(FIXTURES / "hello", source / place)
    toml = (source / "b" / "task.toml").read_text().replace("rlconvert/hello", "other/hello")
    (source / "b" / "task.toml").write_text(toml + 'docker_image = "busybox"\n')
    test = source / "a" / "tests" / "test.sh"
    test.write_text("python3 grade.py  # writes reward.json\n")
    with pytest.raises(WriteError, match="hello"):
        run(source, tmp_path / "out", "verifiers", "nemo")
    assert not (tmp_path / "out").exists()
