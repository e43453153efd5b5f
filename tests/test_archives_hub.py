"""Archives over the Hub, which keeps no modes, no links and no empty folders: they do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from archiving import pieces_of, table, tar_gz, zipped
from rlconvert.files import File
from rlconvert.source import FolderSource
from test_archive_output import task_set
from test_archives import NAMES, task
from test_from_hub import rlconvert
from trees import assert_same_tree

if TYPE_CHECKING:
    from hub_fixture import Hub

pytest_plugins = ["hub_fixture"]


def as_the_hub_has_it(root: Path) -> dict[str, bytes]:
    tree = FolderSource(str(root)).tree("")
    return {path: entry.blob.read() for path, entry in tree if isinstance(entry, File)}


def test_a_set_comes_back_whole(hub: Hub, tmp_path: Path) -> None:
    source, packed = task_set(tmp_path / "set", 3), tmp_path / "packed"
    made = rlconvert(
        hub, "convert", str(source), str(packed), "--to", "harbor", "--layout", "archive"
    )
    assert made.returncode == 0, made.stderr
    hub.server.seed("team/packed", as_the_hub_has_it(packed))
    back = tmp_path / "back"
    run = rlconvert(hub, "convert", "team/packed", str(back), "--to", "harbor", "--json")
    assert run.returncode == 0, run.stderr
    assert_same_tree(back, source, ignore=[".rlconvert"])
    reasons = [note["reason"] for note in json.loads(run.stdout)["notes"]]
    assert not [reason for reason in reasons if "executable bit" in reason]


def test_published_archives_are_read(hub: Hub, tmp_path: Path) -> None:
    """As most published sets of archives are: shards, and nothing else that counts."""
    for number, name in enumerate(NAMES):
        file = tmp_path / "repo" / "data" / f"train-{number:05}-of-00003.parquet"
        table(file, [(f"{name}.tar.gz", tar_gz(pieces_of(task(name))))])
    hub.server.seed("team/rows", as_the_hub_has_it(tmp_path / "repo"))
    out = tmp_path / "out"
    assert rlconvert(hub, "harbor-to-nemo", "team/rows", str(out)).returncode == 0
    for name in NAMES:
        path = out / "tasks" / name
        assert FolderSource(str(path)).tree("") == task(name)


def test_one_file_of_a_repo(hub: Hub) -> None:
    members = [each for name in NAMES for each in pieces_of(task(name), f"{name}/")]
    files = {"sets/all.zip": zipped(members), "tasks/other/task.toml": b""}
    hub.server.seed("team/mixed", files)
    address = "hf://datasets/team/mixed/sets/all.zip"
    run = rlconvert(hub, "inspect", address, "--json")
    assert run.returncode == 0, run.stderr
    said = json.loads(run.stdout)
    assert said["tasks"] == 3
    assert said["archives"] == {"read": ["all.zip"], "not_read": []}
