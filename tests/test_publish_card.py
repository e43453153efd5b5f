"""The card of what is published: what it is, whose, how it is run and graded, what became of it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from huggingface_hub import constants

from rlconvert import convert
from rlconvert.card import front_matter
from rlconvert.errors import UsageError
from rlconvert.hub.write import Access
from rlconvert.pipe import Settings
from rlconvert.publishing.plan import Limits
from rlconvert.publishing.publish import Asked, publish

if TYPE_CHECKING:
    from hub_fixture import Hub

pytest_plugins = ["hub_fixture"]
# The client uploads large files in a way that the HTTP library under it is about to drop.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

FIXTURES = Path(__file__).parents[1] / "fixtures"
RLCONVERT = Path(sysconfig.get_path("scripts")) / "rlconvert"
FOUR = ("harbor", "verifiers", "openenv", "nemo")
REPO = "alice/envs"
URL = f"https://huggingface.co/datasets/{REPO}"
OPTIONS = {"repo-id": REPO, "image-template": "registry.example.org/{task}:1"}


@pytest.fixture(autouse=True)
def no_xet(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server has none."""
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)


def made(source: Path, out: Path, *targets: str, options: dict[str, str] | None = None) -> str:
    settings = Settings(options=OPTIONS if options is None else options)
    assert convert(str(source), str(out), to=targets, settings=settings).error is None
    return (out / "README.md").read_text(encoding="utf-8")


def section(card: str, title: str) -> str:
    _, begin, rest = card.partition(f"\n## {title}\n")
    assert begin, title
    return rest.partition("\n## ")[0]


def commands(card: str, title: str) -> list[list[str]]:
    """The words of each command of a section, as a shell reads them."""
    code = section(card, title).partition("```bash\n")[2].partition("```")[0]
    lines = code.replace("\\\n", "").splitlines()
    return [shlex.split(line) for line in lines if line]


def test_the_command_of_every_dataset_for_every_framework(tmp_path: Path) -> None:
    card = made(FIXTURES / "harbor" / "registry", tmp_path / "out", *FOUR)
    registry = json.loads((tmp_path / "out" / "registry.json").read_bytes())
    every = [f"{entry['name']}@{entry['version']}" for entry in registry]
    theirs = [each for each in every if "-verifiers@" in each]
    install, *runs = commands(card, "Use with Harbor")
    assert install == ["pip", "install", "harbor==0.26.0"]
    assert [(run[3], run[5]) for run in runs] == [(URL, each) for each in every[:3]]
    assert every[:3] == ["easy@1.0", "easy@1.10", "hard@2.0.0"]
    install, *runs = commands(card, "Use with Verifiers")
    assert install == ["pip", "install", "verifiers[harbor]==0.4.0"]
    assert [(run[3], run[5]) for run in runs] == [(URL, each) for each in theirs]
    install, *runs = commands(card, "Use with OpenEnv")
    assert install == ["pip", "install", "openenv[harbor]==0.10.0", "harbor==0.25.0"]
    assert all(run[run.index("--dataset") + 1] == REPO for run in runs)
    install, fetch, _, *runs = commands(card, "Use with NeMo Gym")
    assert install == ["pip", "install", "nemo-gym==0.7.0", "harbor==0.25.0"]
    assert fetch[:3] == ["hf", "download", REPO]
    rows = sorted(path.name for path in (tmp_path / "out" / "data").iterdir())
    assert [run[3] for run in runs if run[:3] == ["gym", "env", "validate"]] == rows
    for title in ("Harbor", "Verifiers", "OpenEnv", "NeMo Gym"):
        assert "reward.txt" in section(card, f"The reward in {title}") or title == "OpenEnv"


def test_what_is_hostile_in_a_name_is_no_command(tmp_path: Path) -> None:
    source = shutil.copytree(FIXTURES / "harbor" / "registry", tmp_path / "source")
    name = "easy`touch${IFS}here`;'$(touch)"
    registry = json.loads((source / "registry.json").read_bytes())
    registry[0]["name"] = name
    (source / "registry.json").write_text(json.dumps(registry))
    card = made(source, tmp_path / "out", *FOUR)
    assert f"{name}@1.0" in commands(card, "Use with Harbor")[1]
    assert f"{name}-verifiers@1.0" in commands(card, "Use with Verifiers")[1]
    assert len(commands(card, "Use with Harbor")) == 4


def test_rows_have_a_card_and_are_what_viewers_show(tmp_path: Path) -> None:
    out = tmp_path / "out"
    card = made(FIXTURES / "nemo" / "scored", out, "harbor", "nemo")
    rows = "data/echoed/simple_agent-train.jsonl"
    files = [{"split": "train", "path": rows}]
    assert front_matter(card.encode())["configs"] == [
        {"config_name": "echoed", "data_files": files}
    ]
    assert (out / rows).is_file()
    install, fetch, _, *runs = commands(card, "Use the rows with NeMo Gym")
    assert install == ["pip", "install", "nemo-gym==0.7.0"]
    assert fetch[2] == REPO
    assert "environments/echoed/config.yaml" in runs[1]
    assert "collated/echoed/train.jsonl" in runs[3]
    assert "- `echoed`: `equivalence_rule`" in section(card, "The reward of the rows")
    assert "- `nemo.equivalence_rule@1`: 3" in section(card, "The reward in Harbor")


def test_rows_for_another_framework_alone_have_a_card(tmp_path: Path) -> None:
    card = made(FIXTURES / "nemo" / "scored", tmp_path / "out", "harbor")
    assert commands(card, "Use with Harbor")[1][3] == URL
    assert front_matter(card.encode())["license"] == "MIT"


def test_what_became_of_every_field_is_told(tmp_path: Path) -> None:
    out = tmp_path / "out"
    source = str(FIXTURES / "harbor" / "features")
    run = convert(source, str(out), to=["openenv", "nemo"])
    told = section((out / "README.md").read_text(encoding="utf-8"), "What became of the tasks")
    rows = [
        re.split(r" \| ", line.strip("| "))
        for line in told.replace("\\", "").splitlines()
        if line.startswith("| ")
    ]
    facts = run.report.facts()
    found = {(row[0], row[1], row[3]) for row in rows if row[3:4] == ["refused"]}
    refused = {
        (target, str(tally["tasks"]), "refused")
        for target, each in facts["targets"].items()  # type: ignore[attr-defined]
        for tally in each["refused"].values()
    }
    assert refused
    assert found == refused
    for note in facts["notes"]:  # type: ignore[attr-defined]
        row = next(row for row in rows if row[0] == note["target"] and row[-1] == note["reason"])
        assert (row[2], row[3]) == (note["field"], note["fate"])
    for target in ("openenv", "nemo"):
        assert f"{target} {run.report.converted(target)}" in told
        assert any(row[0] == target and row[3] == "delegated" for row in rows)
    assert any(row[3] == "dropped" for row in rows if len(row) > 3)


def converted(hub: Hub, *arguments: str) -> None:
    """By the command line."""
    done = subprocess.run(
        [str(RLCONVERT), "convert", *arguments],
        env=os.environ | hub.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def published(hub: Hub, out: Path, repo: str = REPO, **asked: object) -> list[str]:
    wish = Asked(licence_unknown=True, **asked)  # type: ignore[arg-type]
    return list(publish(str(out), repo, wish, access=Access(hub.url, hub.token)).plan.notes)


def card_on(hub: Hub, repo: str = REPO) -> str:
    return hub.server.repo(repo).git("show", "main:README.md").decode()


TRIED = (["hf", "download"], ["gym", "env", "validate"], ["gym", "dataset"], ["openenv", "harbor"])
"""What needs neither a container nor a model."""


@pytest.mark.framework
@pytest.mark.parametrize("source", ["harbor/registry", "nemo/scored"])
def test_the_commands_work_as_they_stand(source: str, hub: Hub, tmp_path: Path) -> None:
    pythons = [os.environ.get(f"RLCONVERT_{name}_PYTHON", "") for name in ("OPENENV", "NEMO")]
    if not all(pythons):
        pytest.skip('a framework is not here: eval "$(scripts/frameworks DIR)"')
    made(FIXTURES / source, tmp_path / "out", "harbor", "openenv", "nemo")
    published(hub, tmp_path / "out")
    path = os.pathsep.join([*(str(Path(each).parent) for each in pythons), hub.env["PATH"]])
    done = 0
    for code in re.findall(r"```bash\n(.*?)```", card_on(hub), re.DOTALL):
        home = ""
        for line in code.replace("\\\n", "").splitlines():
            words = [word for word in line.split() if "=" not in word]
            if line.startswith("REPO="):
                home = f"{line}\n"
            elif words[:2] in TRIED or words[:3] in TRIED:
                if words[2:3] == ["rollout"]:
                    continue
                ran = subprocess.run(
                    ["bash", "-ec", home + line],
                    env=hub.env | {"PATH": path, "LANG": "C.UTF-8"},
                    cwd=tmp_path,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert ran.returncode == 0, f"{line}\n{ran.stdout}{ran.stderr}"
                done += 1
    collated = list(tmp_path.glob("collated/*/train.jsonl"))
    assert done == 2 + 2 * len(collated) > 2
    rows = sum(len(each.read_bytes().splitlines()) for each in collated)
    kept = (tmp_path / "out" / "data").rglob("*.jsonl")
    assert rows == sum(len(each.read_bytes().splitlines()) for each in kept)


def test_whose_work_it_is(hub: Hub, tmp_path: Path) -> None:
    source = FIXTURES / "harbor" / "registry"
    files = {
        p.relative_to(source).as_posix(): p.read_bytes() for p in source.rglob("*") if p.is_file()
    }
    commit = hub.server.seed("bob/source", files)
    converted(hub, "bob/source", str(tmp_path / "out"), "--to", "nemo")
    told = section((tmp_path / "out" / "README.md").read_text(), "Where it comes from")
    assert f"<https://huggingface.co/datasets/bob/source>, revision `{commit}`" in told
    assert "`apache-2.0`" in told
    assert "credited" in told


@pytest.mark.parametrize("layout", ["folders", "archive"])
def test_commands_name_the_repo_that_it_went_to(hub: Hub, tmp_path: Path, layout: str) -> None:
    out = tmp_path / "out"
    source = str(FIXTURES / "harbor" / "hello")
    converted(hub, source, str(out), "--to", "harbor,nemo", "--layout", layout)
    assert "ORG/NAME" in (out / "README.md").read_text()
    published(hub, out)
    card = card_on(hub)
    assert "ORG/NAME" not in card
    assert commands(card, "Use with Harbor")[1][3] == URL
    before = hub.server.repo(REPO).resolve("main")
    published(hub, out)
    assert hub.server.repo(REPO).resolve("main") == before


def test_a_conversion_for_another_repo_is_told_of(hub: Hub, tmp_path: Path) -> None:
    made(FIXTURES / "harbor" / "hello", tmp_path / "out", "nemo")
    assert any(f"--repo-id {REPO}" in note for note in published(hub, tmp_path / "out", "alice/x"))
    assert not any("--repo-id" in note for note in published(hub, tmp_path / "out"))


@pytest.mark.parametrize(
    "branch", ["refs/heads/main", "heads/main", "HEAD", "refs/pr/1", "", " main", "a..b", "0" * 40]
)
def test_a_branch_is_main_by_no_other_name(hub: Hub, tmp_path: Path, branch: str) -> None:
    """To a branch a large set goes commit by commit, which `main` must never see."""
    made(FIXTURES / "harbor" / "hello", tmp_path / "out", "nemo")
    before = hub.server.seed(REPO, {})
    with pytest.raises(UsageError) as caught:
        published(hub, tmp_path / "out", branch=branch, limits=Limits(files=4))
    assert caught.value.reason == "no-such-branch"
    assert hub.server.repo(REPO).resolve("main") == before


def test_a_card_of_ones_own_is_not_touched_by_names(hub: Hub, tmp_path: Path) -> None:
    made(FIXTURES / "harbor" / "hello", tmp_path / "out", "nemo")
    card = "---\nlicense: mit\n---\nWrite ORG/NAME for yours.\n"
    (tmp_path / "out" / "README.md").write_text(card)
    published(hub, tmp_path / "out")
    assert card_on(hub) == card
