"""One repo, published on a Hub of our own with the tags it has earned, and loaded from there.

By each framework's own loader, over the network, by the address that the Hub would have. Needs all
four (scripts/frameworks).
"""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rlconvert.errors import ExitCode
from rlconvert.files import FileTree
from rlconvert.source import FolderSource
from rlconvert.tags.edit import tags_of
from strategies.files import lay
from strategies.nemo_rows import CASES, rows_of

if TYPE_CHECKING:
    from hub_fixture import Hub

pytest_plugins = ["hub_fixture"]
pytestmark = pytest.mark.framework

FIXTURES = Path(__file__).parents[2] / "fixtures" / "harbor"
RLCONVERT = Path(sysconfig.get_path("scripts")) / "rlconvert"
REPO = "alice/envs"
FRAMEWORKS = ("harbor", "verifiers", "openenv", "nemo")
TAGS = {"rl-environment", "harbor", "verifiers", "openenv", "nemo-gym"}

VERIFIERS = """
import json, sys, verifiers.v1 as vf
kind = vf.taskset_config_type("harbor")
config = kind(id="harbor", repo=sys.argv[1], dataset=sys.argv[2])
print(json.dumps(sorted(task.data.task_dir.rpartition("/")[2] for task in vf.load_taskset(config))))
"""
OPENENV = """
import json, sys
from openenv.harbor.tasks import resolve_task_dirs
print(json.dumps([path.name for path in resolve_task_dirs(sys.argv[1])]))
"""
DATASETS = """
import json, sys, datasets
print(json.dumps(datasets.load_dataset(sys.argv[1], sys.argv[2], split="train").num_rows))
"""


@dataclass(frozen=True)
class Published:
    """A Hub with the repo, and the folder that was published."""

    hub: Hub
    folder: Path
    work: Path

    def run(self, *command: str | Path) -> str:
        """What a program prints, with this Hub for its Hub."""
        done = subprocess.run(
            [str(part) for part in command],
            env=self.hub.env | {"LANG": "C.UTF-8", "HF_HUB_DISABLE_XET": "1"},
            cwd=self.work,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    @property
    def url(self) -> str:
        return f"https://huggingface.co/datasets/{REPO}"


def python(framework: str) -> Path:
    variable = f"RLCONVERT_{framework.upper()}_PYTHON"
    found = os.environ.get(variable)
    if not found:
        pytest.skip(f'{variable} is not set: eval "$(scripts/frameworks DIR)"')
    return Path(found)


def rlconvert(hub: Hub, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(RLCONVERT), *map(str, arguments)],
        env=os.environ | hub.env,
        capture_output=True,
        text=True,
        check=False,
    )


def publish(hub: Hub, source: Path, work: Path, *targets: str) -> Published:
    """Convert, have it checked, and publish: what a user does."""
    out = work / "out"
    using = [f"--using={name}={python(name)}" for name in FRAMEWORKS]
    image = "registry.example.org/{task}:1"  # Verifiers takes no task that has none
    given = ("--repo-id", REPO, "--image-template", image)
    made = rlconvert(hub, "convert", source, out, "--to", ",".join(targets), *given)
    assert made.returncode == 0, made.stderr
    checked = rlconvert(hub, "check", out, *using)
    assert checked.returncode in (0, ExitCode.CHECK_FAILED), checked.stderr
    sent = rlconvert(hub, "publish", out, REPO, "--licence-unknown")
    assert sent.returncode == 0, sent.stderr
    return Published(hub, out, work)


@pytest.fixture(params=["folders", "rows"])
def published(request: pytest.FixtureRequest, hub: Hub, tmp_path: Path) -> Published:
    """A set of task folders, and one of rows whose rule is known."""
    source = FIXTURES / "registry" if request.param == "folders" else rows(tmp_path / "rows")
    return publish(hub, source, tmp_path, *FRAMEWORKS)


def rows(folder: Path) -> Path:
    """A row, and a config that names its server."""
    config, row = CASES["mcqa"][0]
    request = {"responses_create_params": {"input": "?"}}
    return lay(folder, rows_of("mcqa", {**request, **row}, rule=config))


def contents(folder: Path) -> FileTree:
    return FolderSource(str(folder)).tree("")


def test_one_repo_with_four_proved_tags(published: Published) -> None:
    """Each from the same address: git for two of them, the Hub's own protocol for the others."""
    registry = json.loads((published.folder / "registry.json").read_bytes())
    on_hub = published.hub.server.repo(REPO)
    card = on_hub.git("show", "main:README.md")
    assert set(tags_of(card)) == TAGS
    assert b"In NeMo Gym the rewards come from `res" in card
    harbor = python("harbor").parent / "harbor"
    for entry in registry:
        dataset = f"{entry['name']}@{entry['version']}"
        names = sorted(task["path"].rpartition("/")[2] for task in entry["tasks"])

        got = published.work / "harbor" / dataset
        published.run(harbor, "download", dataset, "--repo", published.url, "-o", got)
        assert sorted(path.parent.name for path in got.rglob("task.toml")) == names

        if entry["name"].endswith("-verifiers"):  # it needs images, which those have
            said = published.run(python("verifiers"), "-c", VERIFIERS, published.url, dataset)
            assert json.loads(said.splitlines()[-1]) == names

    said = published.run(python("openenv"), "-c", OPENENV, REPO)
    folders = sorted(path.name for path in (published.folder / "tasks").iterdir())
    assert json.loads(said.splitlines()[-1]) == folders

    for file in sorted((published.folder / "data").rglob("*.jsonl")):
        path, config = file.relative_to(published.folder).as_posix(), file.parent.name
        got = published.work / "rows.jsonl"
        gym = python("nemo").parent / "gym"
        fetch = ("dataset", "download", "--repo-id", REPO, "--artifact", path, "--output", got)
        published.run(gym, *fetch)
        assert got.read_bytes() == file.read_bytes()
        said = published.run(python("nemo"), "-c", DATASETS, REPO, config)
        assert json.loads(said.splitlines()[-1]) == len(file.read_bytes().splitlines())


@pytest.mark.parametrize(
    ("declared", "tags"), [(True, {"rl-environment", "nemo-gym"}), (False, set())]
)
def test_rows_earn_one_tag_by_their_server_and_no_more(
    declared: bool, tags: set[str], hub: Hub, tmp_path: Path
) -> None:
    """And none, where nothing names a server: their fields fit one, and no rollout takes them."""
    source = rows(tmp_path / "rows")
    if not declared:
        for path in source.rglob("*.yaml"):
            path.unlink()
    one = publish(hub, source, tmp_path, "nemo")
    card = one.hub.server.repo(REPO).git("show", "main:README.md")
    assert set(tags_of(card)) == tags
    assert (b"1 of 1 tasks load, graded by resources\\_servers/mcqa" in card) is declared
    told = rlconvert(hub, "tag", REPO, "--json")
    said = json.loads(told.stdout)["tags"]["nemo-gym"]
    assert said["standing"] == ("true" if declared else "not earned")
    wanted = "graded by resources_servers/mcqa" if declared else "nothing names the server"
    assert wanted in said["evidence"]
