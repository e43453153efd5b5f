"""The main job on a repo of the Hub, through the command line and the unmodified client."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from rlconvert.files import File
from rlconvert.source import FolderSource

if TYPE_CHECKING:
    from hub_fixture import Hub

pytest_plugins = ["hub_fixture"]

FIXTURES = Path(__file__).parents[1] / "fixtures" / "harbor"
RLCONVERT = Path(sysconfig.get_path("scripts")) / "rlconvert"


def content(name: str) -> dict[str, bytes]:
    tree = FolderSource(str(FIXTURES / name)).tree("")
    return {path: entry.blob.read() for path, entry in tree if isinstance(entry, File)}


def rlconvert(hub: Hub, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(RLCONVERT), *arguments],
        env={**os.environ, **hub.env, "HF_TOKEN": hub.token},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_repo_is_read_at_its_commit(hub: Hub, tmp_path: Path) -> None:
    commit = hub.server.seed("team/tasks", content("registry"))
    out = tmp_path / "out"
    run = rlconvert(hub, "harbor-to-nemo", "team/tasks", str(out), "--json")
    assert run.returncode == 0, run.stderr
    said = json.loads(run.stdout)
    assert said["targets"]["nemo"]["converted"] == 4
    assert [note["field"] for note in said["notes"]] == ["files"]
    provenance = json.loads((out / ".rlconvert" / "provenance.json").read_text())
    assert provenance["source"] == {
        "format": "harbor",
        "label": f"team/tasks@{commit[:12]}",
        "repo": "team/tasks",
        "commit": commit,
    }
    manifest = (out / "environments" / "hard" / "manifest.yaml").read_text()
    assert "adopted_from:" in manifest
    assert commit in manifest
    assert str(tmp_path) not in "".join(
        path.read_text() for path in out.rglob("*") if path.is_file()
    )


def test_a_registry_may_name_its_own_repo(hub: Hub, tmp_path: Path) -> None:
    """At the commit before its own, as a builder does that pushes twice. Others stay others."""
    files = {
        f"tasks/{name}/{path}": data for name in "ab" for path, data in content("hello").items()
    }
    first = hub.server.seed("team/twice", files)
    url = f"{hub.url}/datasets/team/twice"
    entries = [
        {"name": "a", "path": "tasks/a", "git_url": url, "git_commit_id": first},
        {"name": "b", "path": "tasks/b", "git_url": f"{hub.url}/datasets/team/other"},
    ]
    registry = [{"name": "s", "version": "1.0", "description": "", "tasks": entries}]
    hub.server.seed("team/twice", {"registry.json": json.dumps(registry).encode()})
    out, again, back = (tmp_path / name for name in ("out", "again", "back"))
    run = rlconvert(hub, "convert", "team/twice", str(out), "--to", "harbor", "--json")
    assert run.returncode == 4, run.stderr
    assert json.loads(run.stdout)["targets"]["harbor"]["converted"] == 1
    kept = json.loads((out / "registry.json").read_text())[0]["tasks"]
    assert kept == entries[:1]
    assert rlconvert(hub, "convert", str(out), str(again), "--to", "nemo").returncode == 0
    assert len([*again.glob("tasks/*/task.toml")]) == 1
    alone = tmp_path / "clone"
    (alone / "tasks").mkdir(parents=True)
    (out / "tasks" / "a").rename(alone / "tasks" / "a")
    (out / "registry.json").rename(alone / "registry.json")
    refused = rlconvert(hub, "convert", str(alone), str(back), "--to", "nemo")
    assert refused.returncode == 14
    assert "by its address" in refused.stderr


def test_executable_bits_are_told_by_their_first_line(hub: Hub, tmp_path: Path) -> None:
    hub.server.seed("team/hello", content("hello"))
    out = tmp_path / "out"
    assert rlconvert(hub, "harbor-to-nemo", "team/hello", str(out)).returncode == 0
    task = out / "tasks" / "hello"
    assert (task / "tests" / "test.sh").stat().st_mode & 0o100
    assert not (task / "instruction.md").stat().st_mode & 0o100


def test_a_folder_of_a_repo(hub: Hub, tmp_path: Path) -> None:
    files = {f"deep/sets/{path}": data for path, data in content("root-level").items()}
    hub.server.seed("team/deep", files)
    out = tmp_path / "out"
    run = rlconvert(hub, "harbor-to-nemo", "hf://datasets/team/deep/deep/sets", str(out))
    assert run.returncode == 0, run.stderr
    assert {path.name for path in (out / "tasks").iterdir()} == {"alpha", "beta"}


def test_every_refusal_of_the_hub_has_its_code(hub: Hub) -> None:
    hub.server.seed("team/gated", content("hello"))
    hub.server.repo("team/gated").gated = True
    hub.server.seed("team/here", content("hello"))
    cases = {
        "team/gated": 61,
        "team/missing": 62,
        "team/here@nowhere": 62,
    }
    for address, code in cases.items():
        run = rlconvert(hub, "inspect", address)
        assert run.returncode == code, (address, run.stderr)
        assert run.stderr.startswith("rlconvert: ")
        assert run.stderr.count("\n") == 1
    hub.server.fail_next.append(("/api/datasets/team/here", 429, {}))
    limited = rlconvert(hub, "inspect", "team/here")
    assert limited.returncode == 63, limited.stderr


def test_a_folder_wins_over_a_repo(hub: Hub, tmp_path: Path) -> None:
    hub.server.seed("team/tasks", content("registry"))
    mine = tmp_path / "team" / "tasks"
    mine.parent.mkdir()
    mine.symlink_to(FIXTURES / "hello", target_is_directory=True)
    run = subprocess.run(
        [str(RLCONVERT), "inspect", "team/tasks"],
        cwd=tmp_path,
        env={**os.environ, **hub.env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "Harbor task set tasks: 1 task" in run.stdout
    assert run.stderr == "rlconvert: team/tasks is a folder here; the Hub is not asked\n"
