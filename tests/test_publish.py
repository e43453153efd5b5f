"""Publishing to the Hub of the tests, by the unmodified client: what goes there, and what not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest
from huggingface_hub import constants
from huggingface_hub.errors import HfHubHTTPError

import rlconvert
from hubserver import Fault, Repo
from laws.hub import lay_fragile
from rlconvert.address import HubAddress
from rlconvert.card import PROOF
from rlconvert.errors import (
    ExitCode,
    HubConflict,
    HubDenied,
    HubError,
    HubNotFound,
    Malformed,
    RlconvertError,
    SecretFound,
    SourceChanged,
    TooBig,
    UnsafePath,
    UsageError,
)
from rlconvert.hub.errors import explained
from rlconvert.hub.snapshots import fetch_dataset
from rlconvert.hub.write import Access, account
from rlconvert.pipe import Settings
from rlconvert.proof.published import layout_digest
from rlconvert.proof.records import CHECKS, CheckRecord, checks_text
from rlconvert.publishing.delivery import Outcome
from rlconvert.publishing.goal import Terms
from rlconvert.publishing.plan import Limits
from rlconvert.publishing.publish import Asked, Published, publish
from rlconvert.source import FolderSource
from trees import assert_same_tree

if TYPE_CHECKING:
    from hub_fixture import Hub

pytest_plugins = ["hub_fixture"]
# The client uploads large files in a way that the HTTP library under it is about to drop.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

HELLO = Path(__file__).parents[1] / "fixtures" / "harbor" / "hello"
RLCONVERT = Path(sysconfig.get_path("scripts")) / "rlconvert"
UNKNOWN = Asked(licence_unknown=True)
REPO = "alice/envs"
CARD = b"---\nlicense: mit  # ours\ntags: [math]\n---\n\n# Mine\n"


@pytest.fixture(autouse=True)
def no_xet(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server has none."""
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A conversion, with what the Hub loses, and a file that goes as a large one."""
    source = lay_fragile(tmp_path / "source")
    named = Settings(options={"repo-id": REPO})
    rlconvert.convert(str(source), str(tmp_path / "out"), to=["nemo"], settings=named)
    return tmp_path / "out"


def go(
    hub: Hub,
    out: Path,
    asked: Asked = UNKNOWN,
    *,
    repo: str = REPO,
    token: str | bool | None = None,
    dry_run: bool = False,
    on_step: Callable[[str], None] | None = None,
) -> Published:
    access = Access(hub.url, hub.token if token is None else token)
    return publish(str(out), repo, asked, dry_run=dry_run, access=access, on_step=on_step)


def content(hub: Hub, repo: str = REPO, revision: str = "main") -> dict[str, bytes]:
    """What a revision holds, pointers as they are."""
    there = hub.server.repo(repo)
    return {
        entry.path: there.blob(entry.oid)
        for entry in there.entries(there.resolve(revision))
        if entry.kind == "blob"
    }


def sent(hub: Hub) -> list[str]:
    """The requests that change something, less those that only ask."""
    asking = ("/preupload/", "/validate-yaml")
    return [
        path
        for method, path, _ in hub.server.requests
        if method not in ("GET", "HEAD") and not any(part in path for part in asking)
    ]


def run(hub: Hub, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line, with this Hub and Alice's token."""
    return subprocess.run(
        [str(RLCONVERT), *arguments],
        env={**os.environ, **hub.env},
        capture_output=True,
        text=True,
        check=False,
    )


def proved(out: Path, *names: str, digest: str | None = None) -> None:
    """Records that these frameworks load the folder's files."""
    record = CheckRecord(
        by="0",
        versions={"framework": "1"},
        python="3.13",
        network="blocked",
        digest=digest or layout_digest(FolderSource(str(out))),
        passed=True,
        total=1,
        loaded=1,
    )
    (out / CHECKS).write_bytes(checks_text(dict.fromkeys(names, record)))


# --- there and back ----------------------------------------------------------------------------


def test_what_is_published_comes_back(hub: Hub, out: Path, tmp_path: Path) -> None:
    done = go(hub, out)
    assert done.done.outcome is Outcome.COMMITTED
    assert done.done.commit == hub.server.repo(REPO).resolve("main")
    assert len([path for path in sent(hub) if "/commit/" in path]) == 1
    got = fetch_dataset(
        HubAddress(REPO), dest=tmp_path / "got", endpoint=hub.url, token=hub.token
    ).folder
    (got / ".gitattributes").unlink()
    for link in ("tests/again.sh", "more"):  # what they lead to went in their places
        assert not (got / "tasks" / "hello" / link).is_symlink()
    plain = Path(shutil.copytree(out, tmp_path / "plain"))
    (plain / "tasks" / "hello" / "environment" / "empty").rmdir()
    for path in plain.rglob("*"):
        path.chmod(0o644 if path.is_file() else 0o755)
    for path in got.rglob("*"):
        path.chmod(0o644 if path.is_file() else 0o755)
    assert_same_tree(got, plain)


def test_our_reader_finds_modes_links_and_folders_again(
    hub: Hub, out: Path, tmp_path: Path
) -> None:
    go(hub, out)
    for target in ("harbor", "nemo"):
        back = tmp_path / target
        done = run(hub, "convert", REPO, str(back), "--from", "nemo", "--to", target)
        assert done.returncode == 0, done.stderr
        made = back / "hello" if target == "harbor" else back / "tasks" / "hello"
        assert (made / "more").is_symlink()
        assert (made / "solution" / "tool").stat().st_mode & 0o100
        assert (made / "environment" / "empty").is_dir()
    assert_same_tree(tmp_path / "harbor" / "hello", tmp_path / "source" / "hello")


def test_the_digest_of_the_copy_is_that_of_the_folder(hub: Hub, out: Path, tmp_path: Path) -> None:
    go(hub, out)
    got = fetch_dataset(
        HubAddress(REPO), dest=tmp_path / "got", endpoint=hub.url, token=hub.token
    ).folder
    assert layout_digest(FolderSource(str(got))) == layout_digest(FolderSource(str(out)))


def test_publishing_again_does_nothing_and_says_so(hub: Hub, out: Path) -> None:
    go(hub, out)
    before = hub.server.repo(REPO).resolve("main")
    hub.server.requests.clear()
    again = go(hub, out)
    assert again.done.outcome is Outcome.UNCHANGED
    assert again.plan.changes == ()
    assert sent(hub) == []
    assert hub.server.repo(REPO).resolve("main") == before


def test_the_repo_becomes_what_the_folder_is(hub: Hub, out: Path) -> None:
    go(hub, out)
    hub.server.seed(REPO, {"tasks/old/task.toml": b"", "eval.yaml": b"name: x\n"})
    (out / "tasks" / "hello" / "instruction.md").write_bytes(b"Other.\n")
    kinds = {each.path: each.kind.value for each in go(hub, out).plan.changes}
    assert kinds == {"tasks/old/task.toml": "deleted", "tasks/hello/instruction.md": "changed"}
    there = content(hub)
    assert there["tasks/hello/instruction.md"] == b"Other.\n"
    assert "tasks/old/task.toml" not in there
    assert {".gitattributes", "eval.yaml"} <= there.keys(), "those are the Hub's"


def test_a_file_gives_way_to_a_folder(hub: Hub, out: Path) -> None:
    (out / "notes").write_bytes(b"a file")
    go(hub, out)
    (out / "notes").unlink()
    (out / "notes").mkdir()
    (out / "notes" / "more").write_bytes(b"a folder")
    assert go(hub, out).done.outcome is Outcome.COMMITTED
    assert content(hub)["notes/more"] == b"a folder"


# --- a dry run ---------------------------------------------------------------------------------


def test_a_dry_run_says_what_is_done_and_sends_nothing(hub: Hub, out: Path) -> None:
    command = ("publish", str(out), REPO, "--licence-unknown")
    first = run(hub, *command, "--dry-run")
    assert first.returncode == 0, first.stderr
    assert "The dataset alice/envs is made, for all to read." in first.stdout
    assert sent(hub) == []
    hub.server.seed(REPO, {})
    before = hub.server.repo(REPO).resolve("main")
    planned = run(hub, *command, "--dry-run")
    assert planned.returncode == 0, planned.stderr
    assert sent(hub) == []
    assert hub.server.repo(REPO).resolve("main") == before
    done = run(hub, *command)
    assert done.returncode == 0, done.stderr
    said, _, exactly = planned.stdout.partition("\nFile by file, and the card line by line:\n")
    *files, last = exactly.splitlines()
    assert last == "Nothing was sent (--dry-run)."
    assert said.splitlines() == done.stdout.splitlines()[:-1]
    changed = hub.server.repo(REPO).git("diff", "--name-only", before, "main").decode().split()
    assert [line.split(",")[0] for line in files] == [f"  added {path}" for path in changed]
    assert "added, large    1" in planned.stdout
    assert "executable bits" in planned.stdout


def test_what_the_hub_loses_is_told(hub: Hub, out: Path) -> None:
    (out / "by-hand").write_bytes(b"\x7fELF")
    (out / "by-hand").chmod(0o755)
    (out / "nothing-here").mkdir()
    local = go(hub, out, dry_run=True).plan.local
    assert {"tasks/hello/solution/tool", "by-hand"} <= set(local.executables.paths)
    assert local.executables.for_good == ("by-hand",)
    assert local.links.paths == ("tasks/hello/more", "tasks/hello/tests/again.sh")
    assert local.links.for_good == ()
    assert local.empty_folders.for_good == ("nothing-here",)


# --- whose repo it is --------------------------------------------------------------------------


def test_a_stranger_only_adds_by_a_pull_request(hub: Hub, out: Path) -> None:
    task = (out / "tasks" / "hello" / "instruction.md").read_bytes()
    theirs = {"README.md": CARD, "tasks/hello/instruction.md": task}
    before = hub.server.seed(REPO, theirs)
    proved(out, "harbor", "nemo")
    with pytest.raises(HubDenied):
        go(hub, out, token=hub.other_token)
    done = go(hub, out, Asked(as_pr=True), token=hub.other_token)
    assert done.done.outcome is Outcome.PROPOSED
    assert done.plan.goal.terms is Terms.THEIRS
    assert hub.server.repo(REPO).resolve("main") == before
    made = content(hub, revision=f"refs/pr/{done.done.pull}")
    assert made["README.md"] == CARD.replace(b"[math]", b"[math, rl-environment, harbor, nemo-gym]")
    assert made["tasks/hello/instruction.md"] == task
    assert made.keys() > content(hub).keys()
    assert hub.server.repo(REPO).discussions[0].status == "open"


def test_a_set_with_a_registry_gets_its_tags_in_the_same_pull_request(
    hub: Hub, tmp_path: Path
) -> None:
    """As most sets of others are: their registry stays as it is, and so nothing is unchecked."""
    theirs = tmp_path / "theirs"
    shutil.copytree(HELLO, theirs / "tasks" / "hello")
    tasks = [{"name": "hello", "path": "tasks/hello"}]
    sets = [{"name": "envs", "version": "1.0", "description": "", "tasks": tasks}]
    registry = json.dumps(sets, indent=1).encode()
    (theirs / "registry.json").write_bytes(registry)
    (theirs / "LICENSE").write_bytes(b"MIT\n")
    (theirs / "README.md").write_bytes(CARD)
    rlconvert.convert(str(theirs), str(tmp_path / "out"), to=["openenv", "nemo"])
    proved(tmp_path / "out", "harbor", "openenv", "nemo")
    files = {path.relative_to(theirs).as_posix(): path for path in theirs.rglob("*")}
    hub.server.seed(REPO, {path: at.read_bytes() for path, at in files.items() if at.is_file()})
    done = go(hub, tmp_path / "out", Asked(as_pr=True), token=hub.other_token)
    made = content(hub, revision=f"refs/pr/{done.done.pull}")
    assert made["registry.json"] == registry
    tags = b"[math, rl-environment, harbor, openenv, nemo-gym]"
    assert made["README.md"] == CARD.replace(b"[math]", tags)
    assert {"data/envs/harbor_agent_general-train.jsonl", "LICENSE"} <= made.keys()


def test_a_proposal_is_made_once(hub: Hub, out: Path) -> None:
    hub.server.seed(REPO, {"README.md": CARD})
    first = go(hub, out, Asked(as_pr=True), token=hub.other_token)
    again = go(hub, out, Asked(as_pr=True), token=hub.other_token)
    assert again.done.outcome is Outcome.UNCHANGED
    assert again.done.pull == first.done.pull
    assert len(hub.server.repo(REPO).discussions) == 1


@pytest.mark.parametrize("own", [True, False])
def test_other_bytes_of_others_are_not_changed(hub: Hub, out: Path, own: bool) -> None:
    before = hub.server.seed(REPO, {"tasks/hello/instruction.md": b"Theirs.\n"})
    token = hub.token if own else hub.other_token
    with pytest.raises(HubConflict) as caught:
        go(hub, out, Asked(as_pr=not own, licence_unknown=True), token=token)
    assert caught.value.file == "tasks/hello/instruction.md"
    assert sent(hub) == []
    assert hub.server.repo(REPO).resolve("main") == before


def test_what_is_ones_own_can_be_replaced(hub: Hub, out: Path) -> None:
    """As a folder that was never converted is, when it is published again."""
    shutil.rmtree(out / ".rlconvert")
    go(hub, out)
    (out / "tasks" / "hello" / "instruction.md").write_bytes(b"Other.\n")
    hub.server.seed(REPO, {"old": b""})
    with pytest.raises(HubConflict) as caught:
        go(hub, out)
    assert "--replace" in str(caught.value)
    replace = Asked(licence_unknown=True, replace=True)
    with pytest.raises(HubConflict):
        go(hub, out, Asked(as_pr=True, replace=True), token=hub.other_token)
    go(hub, out, replace)
    assert content(hub)["tasks/hello/instruction.md"] == b"Other.\n"
    assert "old" not in content(hub)


def test_ones_own_card_keeps_its_text(hub: Hub, out: Path) -> None:
    """A dataset that was made by hand; then converted again: files change, the card does not."""
    hub.server.seed(REPO, {"README.md": CARD})
    done = go(hub, out, Asked())
    assert done.plan.goal.terms is Terms.THEIRS
    assert content(hub)["README.md"] == CARD
    (out / "tasks" / "hello" / "instruction.md").write_bytes(b"Other.\n")
    proved(out, "nemo")
    again = go(hub, out, Asked())
    assert again.plan.goal.terms is Terms.MIXED
    assert content(hub)["tasks/hello/instruction.md"] == b"Other.\n"
    assert content(hub)["README.md"] == CARD.replace(b"[math]", b"[math, rl-environment, nemo-gym]")


def test_a_stranger_cannot_propose_to_nothing(hub: Hub, out: Path) -> None:
    with pytest.raises(HubNotFound):
        go(hub, out, Asked(as_pr=True), repo="alice/none", token=hub.other_token)
    with pytest.raises(HubDenied) as caught:
        go(hub, out, token=False)
    assert caught.value.reason == "no-token"
    with pytest.raises(HubDenied) as caught:
        go(hub, out, token="hf_wrong")
    assert "hf_wrong" not in str(caught.value)
    assert sent(hub) == []


@pytest.mark.parametrize("role", ["write", "read"])
def test_who_may_write_where(monkeypatch: pytest.MonkeyPatch, role: str) -> None:
    orgs = [{"name": "lab", "roleInOrg": "write"}, {"name": "school", "roleInOrg": "read"}]
    said = {"name": "alice", "orgs": orgs, "auth": {"accessToken": {"role": role}}}
    monkeypatch.setattr("huggingface_hub.HfApi.whoami", lambda _: said)
    if role == "read":
        with pytest.raises(HubDenied) as caught:
            account(HubAddress(REPO), Access(token="hf_alice"))
        assert caught.value.reason == "read-only-token"
    else:
        found = account(HubAddress(REPO), Access(token="hf_alice"))
        owned = [repo for repo in ("alice/x", "lab/x", "school/x") if found.owns(repo)]
        assert owned == ["alice/x", "lab/x"]


# --- tags --------------------------------------------------------------------------------------


def test_tags_are_those_that_were_earned(hub: Hub, out: Path) -> None:
    card = (out / "README.md").read_bytes()
    (out / "README.md").write_bytes(card.replace(b"---\n", b"---\ntags: [openenv, math]\n", 1))
    proved(out, "nemo", "harbor")
    tags = go(hub, out).plan.goal.tags
    assert tags.added == ("rl-environment", "harbor", "nemo-gym")
    assert tags.removed == ("openenv",)
    assert set(tags.withheld) == {"verifiers", "openenv"}
    assert "no record" in tags.withheld["openenv"]
    made = content(hub)["README.md"]
    assert b"tags: [math, rl-environment, harbor, nemo-gym]" in made
    assert PROOF in made


def test_records_of_other_files_earn_nothing(hub: Hub, out: Path) -> None:
    proved(out, "nemo", digest="sha256:0")
    tags = go(hub, out).plan.goal.tags
    assert tags.added == ()
    assert "other files" in tags.withheld["nemo-gym"]


def test_files_that_stay_and_were_not_checked_cost_the_tags(hub: Hub, out: Path) -> None:
    hub.server.seed(REPO, {"README.md": CARD, "tasks/more/task.toml": b""})
    proved(out, "nemo")
    done = go(hub, out, Asked())
    assert done.plan.goal.tags.added == ()
    assert "tasks/more/task.toml" in done.plan.goal.tags.withheld["nemo-gym"]
    assert content(hub)["README.md"] == CARD


def test_a_folder_without_a_card_gets_one(hub: Hub, out: Path) -> None:
    (out / "README.md").unlink()
    proved(out, "nemo")
    go(hub, out, Asked(licence="apache-2.0"))
    made = content(hub)["README.md"].decode()
    head = "license: apache-2.0\npretty_name: envs\ntags:\n- rl-environment\n- nemo-gym"
    assert made.startswith(f"---\n{head}\n---\n\n# envs\n")
    assert "- NeMo Gym: framework 1, Python 3.13: 1 of 1 tasks load" in made
    assert "- Harbor: no record of a check by Harbor" in made
    assert go(hub, out, Asked(licence="apache-2.0")).done.outcome is Outcome.UNCHANGED


# --- what is refused ---------------------------------------------------------------------------


def test_the_licence_is_stated_or_said_to_be_unknown(hub: Hub, out: Path) -> None:
    with pytest.raises(UsageError) as caught:
        go(hub, out, Asked())
    assert caught.value.reason == "licence-unknown"
    for bad in (Asked(licence="MIT !"), Asked(licence="mit", licence_unknown=True)):
        with pytest.raises(UsageError):
            go(hub, out, bad)
    assert sent(hub) == []
    card = (out / "README.md").read_bytes()
    go(hub, out, Asked(licence="mit"))
    made = content(hub)["README.md"]
    assert made.replace(b"license: mit\n", b"", 1) == card
    (out / "README.md").write_bytes(made)
    with pytest.raises(UsageError) as caught:
        go(hub, out, Asked(licence="apache-2.0"))
    assert caught.value.reason == "other-licence"
    (out / "README.md").write_bytes(b"---\nlicense:\n---\n")
    with pytest.raises(Malformed):
        go(hub, out, Asked(licence="mit"))


@pytest.mark.parametrize("hidden", ["gated", "private", "gone"])
def test_what_was_gated_does_not_become_public(hub: Hub, tmp_path: Path, hidden: str) -> None:
    files = {
        f"hello/{path.relative_to(HELLO).as_posix()}": path.read_bytes()
        for path in HELLO.rglob("*")
        if path.is_file()
    }
    hub.server.seed("bob/source", files)
    out = tmp_path / "out"
    assert run(hub, "convert", "bob/source", str(out), "--to", "nemo").returncode == 0
    source = hub.server.repo("bob/source")
    source.gated, source.private = hidden == "gated", hidden == "private"
    if hidden == "gone":
        del hub.server.repos["dataset", "bob/source"]
    with pytest.raises(HubDenied) as caught:
        go(hub, out)
    assert caught.value.reason == "gated-source"
    assert sent(hub) == []
    go(hub, out, Asked(licence_unknown=True, private=True), repo="alice/private")
    assert hub.server.repo("alice/private").private
    done = go(hub, out, Asked(licence_unknown=True, from_gated=True))
    assert any("bob/source" in note for note in done.plan.notes)


def test_what_is_public_is_not_published_as_private(hub: Hub, out: Path) -> None:
    hub.server.seed(REPO, {})
    with pytest.raises(UsageError):
        go(hub, out, Asked(licence_unknown=True, private=True))
    assert sent(hub) == []


def test_secrets_stay_here(hub: Hub, out: Path) -> None:
    secret = "hf_" + "kQzXvTnWbRmJhLp" + "YcDfGsAeUiOqZxNtVwB"
    (out / "tasks" / "hello" / "solution" / "solve.sh").write_text(f"TOKEN={secret}\n")
    with pytest.raises(SecretFound) as caught:
        go(hub, out)
    assert caught.value.code is ExitCode.SECRET
    assert secret not in str(caught.value)
    assert hub.server.requests == []
    go(hub, out, Asked(licence_unknown=True, allow_secrets=("hugging-face:*/solve.sh",)))


def put(out: Path, path: str, data: bytes = b"x") -> None:
    (out / path).parent.mkdir(parents=True, exist_ok=True)
    (out / path).write_bytes(data)


REFUSED: dict[str, tuple[Callable[[Path], object], type[RlconvertError], str]] = {
    "git in a task": (
        lambda out: put(out, "tasks/hello/environment/.git/HEAD"),
        UnsafePath,
        "tasks/hello/environment/.git/HEAD",
    ),
    "a cache": (lambda out: put(out, "tasks/.cache/x"), UnsafePath, "tasks/.cache/x"),
    "a .gitignore at the root": (lambda out: put(out, ".gitignore"), UnsafePath, ".gitignore"),
    "a link out": (
        lambda out: (out / "tasks/hello/l").symlink_to("/etc/passwd"),
        UnsafePath,
        "tasks/hello/l",
    ),
    "a link to nothing": (lambda out: (out / "l").symlink_to("no"), UnsafePath, "l"),
    "a circle": (lambda out: (out / "tasks/l").symlink_to("."), UnsafePath, "tasks/l"),
    "a pipe": (lambda out: os.mkfifo(out / "tasks/pipe"), UnsafePath, "tasks/pipe"),
    "names that clash": (
        lambda out: put(out, "tasks/HELLO/x"),
        UnsafePath,
        "tasks/hello",
    ),
    "a name for Windows": (lambda out: put(out, "tasks/con"), UnsafePath, "tasks/con"),
    "what Git LFS has not fetched": (
        lambda out: put(
            out,
            "tasks/hello/data",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 9\n",
        ),
        Malformed,
        "tasks/hello/data",
    ),
    "a link in the records": (
        lambda out: (out / ".rlconvert/l").symlink_to("loss.jsonl"),
        UnsafePath,
        ".rlconvert/l",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_name_before_anything_is_sent(hub: Hub, out: Path, name: str) -> None:
    spoil, kind, file = REFUSED[name]
    spoil(out)
    with pytest.raises(kind) as caught:
        go(hub, out)
    assert caught.value.file == file
    assert caught.value.remedy
    assert sent(hub) == []


def test_a_folder_too_full_for_the_hub(hub: Hub, out: Path) -> None:
    (out / "many").mkdir()
    for number in range(10_000):
        (out / "many" / str(number)).touch()
    go(hub, out, dry_run=True)
    (out / "many" / "one-more").touch()
    with pytest.raises(TooBig) as caught:
        go(hub, out)
    assert caught.value.file == "many"
    assert "--layout archive" in str(caught.value)
    assert sent(hub) == []


def test_a_registry_with_deeper_paths_has_room_for_more(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As sets beyond the limit are laid out by hand: both ways say the same tasks."""
    monkeypatch.setattr("rlconvert.publishing.goal.MAX_ENTRIES", 8)
    names = [f"t{number}" for number in range(10)]
    for where, places in (
        ("flat", names),
        ("deep", [f"{name[-1] > '4':d}/{name}" for name in names]),
    ):
        source = tmp_path / where
        for place in places:
            shutil.copytree(HELLO, source / "tasks" / place)
        tasks = [
            {"name": name, "path": f"tasks/{p}"} for name, p in zip(names, places, strict=True)
        ]
        sets = [{"name": "envs", "version": "1.0", "description": "", "tasks": tasks}]
        (source / "registry.json").write_text(json.dumps(sets))
        rlconvert.convert(str(source), str(tmp_path / f"{where}-out"), to=["harbor"])
    with pytest.raises(TooBig) as caught:
        go(hub, tmp_path / "flat-out")
    assert caught.value.file == "tasks"
    assert "registry.json" in str(caught.value)
    assert sent(hub) == []
    go(hub, tmp_path / "deep-out")
    done = run(hub, "convert", REPO, str(tmp_path / "back"), "--to", "harbor")
    assert done.returncode == 0, done.stderr
    assert_same_tree(tmp_path / "back", tmp_path / "deep", ignore=[".rlconvert"])


def test_a_gitignore_on_the_hub_hides_nothing_in_silence(hub: Hub, out: Path) -> None:
    hub.server.seed(REPO, {".gitignore": b"*.toml\n"})
    with pytest.raises(RlconvertError) as caught:
        go(hub, out)
    assert caught.value.reason == "ignored-by-the-hub"
    assert sent(hub) == []


def test_the_folders_own_attributes_stay_here(hub: Hub, out: Path) -> None:
    proved(out, "nemo")
    (out / ".gitattributes").write_bytes(b"* text=auto\n")
    put(out, "tasks/hello/environment/.gitattributes", b"*.txt eol=crlf\n")
    done = go(hub, out)
    assert len([note for note in done.plan.notes if ".gitattributes" in note]) == 2
    assert done.plan.goal.tags.added == (), "with it, it was something else that was checked"
    assert b"filter=lfs" in content(hub)[".gitattributes"]


def test_a_card_that_the_hub_does_not_take(hub: Hub, out: Path) -> None:
    (out / "README.md").write_bytes(b"---\nlanguage: {a: b}\n---\n")
    with pytest.raises(Malformed) as caught:
        go(hub, out)
    assert caught.value.reason == "card-refused"
    assert not [path for path in sent(hub) if "/commit/" in path]


def test_a_folder_that_is_none(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        go(hub, tmp_path / "nowhere")


@pytest.mark.parametrize("repo", ["envs", "alice/envs@main", "hf://datasets/alice/envs/tasks"])
def test_targets_that_are_none(hub: Hub, out: Path, repo: str) -> None:
    with pytest.raises(UsageError):
        go(hub, out, repo=repo)


# --- branches, large sets, and others who write -------------------------------------------------


def test_to_a_branch(hub: Hub, out: Path) -> None:
    before = hub.server.seed(REPO, {})
    asked = Asked(licence_unknown=True, branch="feat/x", limits=Limits(files=5))
    assert go(hub, out, asked).done.outcome is Outcome.COMMITTED
    assert hub.server.repo(REPO).resolve("main") == before
    assert "README.md" in content(hub, revision="feat/x")
    assert go(hub, out, asked).done.outcome is Outcome.UNCHANGED
    with pytest.raises(UsageError):
        go(hub, out, Asked(branch="x", as_pr=True))


def test_a_large_set_goes_through_a_draft(hub: Hub, out: Path) -> None:
    steps: list[tuple[str, str]] = []

    def look(step: str) -> None:
        pulls = hub.server.repos["dataset", REPO].discussions if steps else []
        steps.append((step, pulls[0].status if pulls else ""))

    asked = Asked(licence_unknown=True, limits=Limits(files=5))
    done = go(hub, out, asked, on_step=look)
    assert done.done.outcome is Outcome.MERGED
    repo = hub.server.repo(REPO)
    assert done.done.commit == repo.resolve("main")
    assert repo.discussions[0].status == "merged"
    commits = [status for step, status in steps if step.startswith("commit ")]
    assert len(commits) > 2
    assert set(commits) == {"draft"}
    last = repo.git("show", "--format=", "--name-only", "main").decode().split()
    assert "README.md" in last, "the card speaks of all of it, so it comes last"
    assert content(hub).keys() - {".gitattributes"} == go(hub, out).plan.goal.files.keys()


def test_a_large_proposal_is_offered_when_it_is_whole(hub: Hub, out: Path) -> None:
    before = hub.server.seed(REPO, {"README.md": CARD})
    asked = Asked(as_pr=True, limits=Limits(files=5))
    done = go(hub, out, asked, token=hub.other_token)
    assert done.done.outcome is Outcome.PROPOSED
    repo = hub.server.repo(REPO)
    assert repo.discussions[0].status == "open"
    assert repo.resolve("main") == before
    again = go(hub, out, asked, token=hub.other_token).done
    assert (again.outcome, again.pull) == (Outcome.UNCHANGED, done.done.pull)
    assert len(repo.discussions) == 1


def test_who_commits_in_between_is_not_overwritten(hub: Hub, out: Path) -> None:
    hub.server.seed(REPO, {})
    theirs: list[str] = []

    def intrude(_: str, path: str) -> Fault | None:
        if "/commit/main" in path and not theirs:
            theirs.append(hub.server.seed(REPO, {"theirs.txt": b"x"}))
        return None

    hub.server.interfere = intrude
    with pytest.raises(HubConflict):
        go(hub, out)
    assert hub.server.repo(REPO).resolve("main") == theirs[0]


@pytest.mark.parametrize("when", ["/commit/refs%2Fpr%2F1", "/merge"])
def test_a_large_set_is_not_merged_into_what_changed(hub: Hub, out: Path, when: str) -> None:
    hub.server.seed(REPO, {})
    theirs: list[str] = []

    def intrude(_: str, path: str) -> Fault | None:
        if when in path and not theirs:
            theirs.append(hub.server.seed(REPO, {"theirs.txt": b"x"}))
        return None

    hub.server.interfere = intrude
    asked = Asked(licence_unknown=True, limits=Limits(files=5))
    with pytest.raises(HubConflict):
        go(hub, out, asked)
    repo = hub.server.repo(REPO)
    assert repo.resolve("main") == theirs[0]
    if when != "/merge":
        merges = [path for path in sent(hub) if path.endswith("/merge")]
        assert not merges, "the Hub would merge it into what nobody has looked at"
    again = go(hub, out, asked)
    assert again.done.outcome is Outcome.MERGED
    assert content(hub)["theirs.txt"] == b"x"
    assert [one.status for one in repo.discussions][-1] == "merged"


@pytest.mark.parametrize("files", [5, 1000])
def test_what_the_hub_has_is_read_back(
    hub: Hub, out: Path, monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    before, gone = hub.server.seed(REPO, {}), "tasks/hello/task.toml"
    write = hub.server.write_commit

    def forgetful(
        repo: Repo,
        ref: str,
        parent: str | None,
        message: str,
        author: str,
        files: Mapping[str, bytes],
        deleted: Sequence[str] = (),
    ) -> str:
        kept = {path: data for path, data in files.items() if path != gone}
        return write(repo, ref, parent, message, author, kept, deleted)

    monkeypatch.setattr(hub.server, "write_commit", forgetful)
    asked = Asked(licence_unknown=True, limits=Limits(files=files))
    with pytest.raises(HubConflict) as caught:
        go(hub, out, asked)
    assert (caught.value.reason, caught.value.file) == ("read-back", gone)
    if files == 5:
        assert hub.server.repo(REPO).resolve("main") == before
    monkeypatch.undo()
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    go(hub, out, asked)
    assert gone in content(hub)


def test_no_word_of_the_hub_shows_a_token() -> None:
    place, asked = HubAddress(REPO), httpx2.Request("POST", "http://127.0.0.1")
    said = "Bearer abc.def is not hf_abcdef123, " + "x" * 1000
    answer = httpx2.Response(400, request=asked)

    def on_disk(error: OSError) -> RlconvertError:
        raise AssertionError from error

    with pytest.raises(HubError) as caught, explained(place, on_disk, writing=True):
        raise HfHubHTTPError("?", response=answer, server_message=said)
    assert str(caught.value).count("...") == 2
    assert "abc" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_file_that_changes_while_it_is_sent(hub: Hub, out: Path) -> None:
    def change(step: str) -> None:
        if step.startswith("commit "):
            (out / "tasks" / "hello" / "solution" / "tool").write_bytes(b"\x7fELF\0 other")

    with pytest.raises(SourceChanged) as caught:
        go(hub, out, on_step=change)
    assert caught.value.file == "tasks/hello/solution/tool"
    assert content(hub).keys() == {".gitattributes"}
