"""Every request of a publish fails once: `main` is the old tree or the new one, and is finished.

A clean publish is recorded first; then each of its requests is the one from which the Hub fails.
``main`` is looked at before every request, not only at the end.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from huggingface_hub import close_session, set_client_factory
from huggingface_hub.utils._http import default_client_factory

import rlconvert
from hubserver import Fault
from rlconvert.errors import HubError
from rlconvert.hub.write import Access
from rlconvert.publishing.delivery import Outcome
from rlconvert.publishing.plan import Limits
from rlconvert.publishing.publish import Asked, publish

if TYPE_CHECKING:
    import httpx2

    from hub_fixture import Hub

pytest_plugins = ["hub_fixture"]
# The client uploads large files in a way that the HTTP library under it is about to drop.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

REPO = "alice/envs"
HELLO = Path(__file__).parents[1] / "fixtures" / "harbor" / "hello"


@dataclass(frozen=True)
class Way:
    """From where, and by how many commits."""

    before: bool
    """Whether an older version is there."""
    limits: Limits = Limits()


WAYS = {
    "new": Way(before=False),
    "old": Way(before=True),
    "large": Way(before=True, limits=Limits(files=2)),
}

KINDS: dict[str, tuple[Fault, Fault | None]] = {
    "429": (Fault(429), Fault(429)),
    "500": (Fault(500), Fault(500)),
    "503": (Fault(503), Fault(503)),
    "412": (Fault(412), None),
    "timeout": (Fault(hangs=True), Fault()),
    "cut": (Fault(), Fault()),
    "answer lost": (Fault(done=True), Fault()),
}
"""What happens to the request that is chosen, and to those that come after it."""


def folder(place: Path) -> Path:
    """What is published: a conversion, with a file that goes as a large one."""
    out = place / "out"
    rlconvert.convert(str(HELLO), str(out), to=["nemo"])
    (out / "tasks" / "hello" / "environment" / "data.bin").write_bytes(b"\0" * 2000)
    return out


def older(out: Path) -> dict[str, bytes]:
    """An earlier version of it: a file is other there, two are missing, and one is more."""
    files = {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file()
    }
    del files["tasks/hello/tests/test.sh"], files["tasks/hello/environment/data.bin"]
    return files | {"tasks/hello/instruction.md": b"Older.\n", "tasks/gone/task.toml": b""}


@dataclass
class Watch:
    """Looks at each request and at `main` before it, and lets the chosen one fail."""

    hub: Hub
    repo: str
    chosen: int | None = None
    kind: tuple[Fault, Fault | None] = (Fault(), None)
    count: int = 0
    trees: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    def __call__(self, method: str, path: str) -> Fault | None:
        if path == "/api/agent-harnesses":  # the client's own, once in a process
            return None
        self.trees.append(tree_of(self.hub, self.repo))
        self.calls.append(f"{method} {path}")
        self.count += 1
        if self.chosen is None or self.count < self.chosen:
            return None
        first, then = self.kind
        return first if self.count == self.chosen else then


def tree_of(hub: Hub, repo: str) -> str:
    found = hub.server.repos.get(("dataset", repo))
    return "" if found is None else found.git("rev-parse", "refs/heads/main^{tree}").decode()


@dataclass
class Scene:
    """A Hub, a folder to publish, and how."""

    hub: Hub
    out: Path
    way: Way

    def repo(self) -> str:
        """The repo anew for a run, at the old version where the way asks for it."""
        server = self.hub.server
        for stored in (server.root / "lfs").iterdir():
            stored.unlink()  # or the next run would find it there, and not send it
        if server.repos.pop(("dataset", REPO), None) is not None:
            shutil.rmtree(server.root / "datasets" / f"{REPO}.git")
        if self.way.before:
            server.seed(REPO, older(self.out))
        return REPO

    def publish(self, repo: str) -> Outcome:
        """One run, by the Python API."""
        asked = Asked(limits=self.way.limits, licence_unknown=True)
        access = Access(self.hub.url, self.hub.token)
        return publish(str(self.out), repo, asked, access=access).done.outcome

    def watched(self, repo: str, *, chosen: int, kind: tuple[Fault, Fault | None]) -> Watch:
        """A repo whose requests are looked at."""
        watch = Watch(self.hub, repo, chosen, kind)
        self.hub.server.interfere = watch
        return watch

    def clean(self) -> tuple[int, set[str]]:
        """How many requests a clean publish makes, and the trees `main` may have on the way."""
        repo = self.repo()
        watch = self.watched(repo, chosen=1 << 30, kind=(Fault(), None))
        large = self.way.limits != Limits()
        assert self.publish(repo) is (Outcome.MERGED if large else Outcome.COMMITTED)
        self.calm()
        fine = {watch.trees[0], tree_of(self.hub, repo)}
        if not self.way.before:
            fine.add(empty_tree(self.hub))
        assert set(watch.trees) <= fine
        return watch.count, fine

    def calm(self) -> None:
        """The Hub is well again."""
        self.hub.server.interfere = let_pass


def let_pass(method: str, path: str) -> None:
    """No fault."""


def empty_tree(hub: Hub) -> str:
    hub.server.seed("alice/empty", {})
    return tree_of(hub, "alice/empty")


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The client as it is, but that it does not wait between tries, nor long for an answer."""
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda _: None)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)

    def impatient() -> httpx2.Client:
        session = default_client_factory()
        session.timeout = 0.5
        return session

    set_client_factory(impatient)
    yield
    set_client_factory(default_client_factory)
    close_session()


QUICK = {("old", "answer lost"), ("large", "answer lost")}
"""Those that are tried each time; the others take minutes."""

EVERY = [
    pytest.param(way, kind, marks=() if (way, kind) in QUICK else pytest.mark.slow)
    for way in WAYS
    for kind in KINDS
]


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(("way", "kind"), EVERY)
def test_every_request_fails(way: str, kind: str, hub: Hub, tmp_path: Path) -> None:
    scene = Scene(hub, folder(tmp_path), WAYS[way])
    count, fine = scene.clean()
    final = tree_of(hub, REPO)
    for chosen in range(1, count + 1):
        repo = scene.repo()
        watch = scene.watched(repo, chosen=chosen, kind=KINDS[kind])
        with pytest.raises(HubError) as caught:
            scene.publish(repo)
        scene.calm()
        at = watch.calls[-1]
        assert hub.token not in f"{caught.value}{caught.value.facts()}"
        assert {*watch.trees, tree_of(hub, repo)} <= fine, at
        scene.publish(repo)
        assert tree_of(hub, repo) == final, at


PROGRAM = """
import sys
from rlconvert.publishing.plan import Limits
from rlconvert.publishing.publish import Asked, publish

out, repo, files = sys.argv[1:]
publish(out, repo, Asked(licence_unknown=True, limits=Limits(files=int(files))))
"""


@pytest.mark.slow
@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("way", WAYS)
def test_the_process_is_killed_at_every_request(way: str, hub: Hub, tmp_path: Path) -> None:
    """After the Hub has done what was asked: before that is after the request before."""
    scene = Scene(hub, folder(tmp_path), WAYS[way])
    count, fine = scene.clean()
    final = tree_of(hub, REPO)
    for chosen in range(1, count + 1):
        repo = scene.repo()
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, scene.out, repo, str(scene.way.limits.files)],
            env=hub.env,
            stderr=subprocess.DEVNULL,
        ) as process:
            fault = Fault(done=True, then=process.kill)
            watch = scene.watched(repo, chosen=chosen, kind=(fault, Fault()))
            assert process.wait() == -signal.SIGKILL
        scene.calm()
        at = watch.calls[-1]
        assert {*watch.trees, tree_of(hub, repo)} <= fine, at
        scene.publish(repo)
        assert tree_of(hub, repo) == final, at
