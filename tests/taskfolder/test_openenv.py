"""Which task folders go to OpenEnv, and what is said of those that do."""

from __future__ import annotations

import pytest

from rlconvert.errors import UsageError
from rlconvert.files import Blob, Entry, File, FileTree, Link, make_tree
from rlconvert.format import Aim, Options, Refusal, Written, get_format
from rlconvert.formats.openenv.fates import REFUSALS
from rlconvert.formats.openenv.writer import open_writer
from rlconvert.formats.taskfolder.folder import FORMAT as FOLDER
from rlconvert.formats.taskfolder.folder import task_from_folder
from rlconvert.model import Origin, Repo, Task

REPO = Repo(format=FOLDER, name="set", origin=Origin(label="set"), tasksets=())
BASE = {
    "task.toml": "",
    "instruction.md": "Do it.\n",
    "environment/Dockerfile": "FROM busybox\n",
    "tests/test.sh": "echo 1 > /logs/verifier/reward.txt\n",
}
ONE = "echo '{\"a\": 1}' > /logs/verifier/reward.json\n"
TWO = 'echo \'{"a": 1, "b": 0}\' > /logs/verifier/reward.json\n'
WITH = 'echo \'{"a": 1, "reward": 0}\' > /logs/verifier/reward.json\n'


def tree_of(**more: str) -> FileTree:
    """The base folder with another script or configuration."""
    texts = {
        **BASE,
        **{{"toml": "task.toml", "sh": "tests/test.sh"}[key]: more[key] for key in more},
    }
    entries: dict[str, Entry] = {path: File(Blob(text.encode())) for path, text in texts.items()}
    return make_tree(entries)


def task_of(name: str, tree: FileTree) -> Task:
    """The task in a folder."""
    return task_from_folder(name, f"tasks/{name}", tree)


def written(task: Task, options: Options | None = None) -> Written | Refusal:
    """What the writer makes of a task."""
    return open_writer(REPO, Aim(options=options or {})).task(task, ("set",))


@pytest.mark.parametrize(
    ("script", "key", "reason"),
    [
        (BASE["tests/test.sh"], None, ""),
        (BASE["tests/test.sh"], "a", "reward-key-missing"),
        (ONE, None, ""),
        (ONE, "a", ""),
        (ONE, "b", "reward-key-missing"),
        (TWO, None, "reward-key-missing"),
        (TWO, "b", ""),
        (WITH, None, ""),
        ("python3 grade.py\n", None, ""),
    ],
)
def test_one_number_comes_out(script: str, key: str | None, reason: str) -> None:
    made = written(task_of("a", tree_of(sh=script)), {"reward-key": key} if key else {})
    assert (made.reason if isinstance(made, Refusal) else "") == reason
    assert reason in ("", *REFUSALS)


def test_hidden_names_are_not_listed() -> None:
    made = written(task_of(".a", tree_of()))
    assert isinstance(made, Refusal)
    assert made.reason == "name-hidden"


def test_links_do_not_survive_a_download() -> None:
    tree = tree_of().union(FileTree({"tests/again.sh": Link("test.sh")}))
    made = written(task_of("a", tree))
    assert isinstance(made, Refusal)
    assert made.reason == "links"


def test_every_folder_is_one_level_down() -> None:
    made = written(task_of("a", tree_of()))
    assert isinstance(made, Written)
    assert made.native.path == "tasks/a"
    assert made.way == "delegated"
    assert not made.notes


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ('[environment.tpu]\ntype = "v4"\ntopology = "2x2"\n', "OPENENV_SANDBOXES"),
        ('[[steps]]\nname = "x"\n', ""),
    ],
)
def test_what_is_said_of_a_task(toml: str, said: str) -> None:
    entries = {**tree_of(toml=toml).entries, "steps/x/instruction.md": File(Blob(b"x"))}
    made = written(task_of("a", FileTree(entries)))
    assert isinstance(made, Written)
    assert said in "".join(note.reason for note in made.notes)


def test_its_reasons_are_listed() -> None:
    assert set(REFUSALS) <= set(get_format("openenv").refusals)


def test_a_repo_id_is_one() -> None:
    with pytest.raises(UsageError):
        written(task_of("a", tree_of()), {"repo-id": "org"})
