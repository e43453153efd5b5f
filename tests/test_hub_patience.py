"""A Hub that takes a request and never answers: every call ends, with an error that says so."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from hubserver import Fault
from rlconvert.address import HubAddress
from rlconvert.errors import HubUnavailable
from rlconvert.hub import git, patience
from rlconvert.hub.git import clone_dataset
from rlconvert.hub.pulls import (
    Pull,
    close_pull,
    describe_pull,
    draft_pull,
    merge_pull,
    offer_pull,
    open_pulls,
)
from rlconvert.hub.snapshots import fetch_dataset
from rlconvert.hub.write import (
    Access,
    Put,
    account,
    commit_files,
    find_dataset,
    hash_files,
    list_files,
    make_branch,
    make_dataset,
    read_file,
    upload_modes,
)

if TYPE_CHECKING:
    from hub_fixture import Hub

pytest_plugins = ["hub_fixture"]

PLACE = HubAddress("alice/set")
PULL = Pull(1, "title", draft=True)
HEAD = "0" * 40
Call = Callable[[Access], object]
CALLS: dict[str, Call] = {
    "account": lambda access: account(PLACE, access),
    "find": lambda access: find_dataset(PLACE, access),
    "list": lambda access: list_files(PLACE, access),
    "read": lambda access: read_file(PLACE, "README.md", access),
    "hash": lambda access: hash_files(PLACE, ["a", "b"], access),
    "ask for modes": lambda access: upload_modes(PLACE, {"a": (1, b"a")}, access),
    "make a dataset": lambda access: make_dataset(PLACE, access, private=False),
    "make a branch": lambda access: make_branch(HubAddress("alice/set", "b"), HEAD, access),
    "commit": lambda access: commit_files(
        PLACE, [Put("a", b"a")], message="m", parent=HEAD, access=access
    ),
    "list pulls": lambda access: open_pulls(PLACE, "alice", access),
    "describe": lambda access: describe_pull(PLACE, PULL, access),
    "draft": lambda access: draft_pull(PLACE, "t", "text", access),
    "offer": lambda access: offer_pull(PLACE, PULL, access),
    "close": lambda access: close_pull(PLACE, PULL, "no", access),
    "merge": lambda access: merge_pull(PLACE, PULL, access),
}


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """All limits are short, and the client asks again at once."""
    for name in ("CONNECT", "ASKED", "TOLD"):
        monkeypatch.setattr(patience, name, 0.1)
    for name in ("constants.HF_HUB_DOWNLOAD_TIMEOUT", "constants.HF_HUB_ETAG_TIMEOUT"):
        monkeypatch.setattr(f"huggingface_hub.{name}", 0.1)
    monkeypatch.setattr("huggingface_hub.file_download._ETAG_RETRY_TIMEOUT", 0.1)
    at_once = SimpleNamespace(**vars(time) | {"sleep": lambda _: None})
    monkeypatch.setattr("huggingface_hub.utils._http.time", at_once)


@pytest.fixture
def ended() -> Iterator[Event]:
    """Set when the test is over: nobody is held for longer, whatever the test finds."""
    event = Event()
    yield event
    event.set()


@pytest.fixture
def silent(ended: Event) -> Iterator[Access]:
    """A server that takes every connection and lets it be; after ten seconds it makes tea."""

    def hold(connection: socket.socket) -> None:
        ended.wait(10)
        with connection, suppress(OSError):
            connection.sendall(b"HTTP/1.1 418 I'm a teapot\r\nContent-Length: 0\r\n\r\n")

    def serve() -> None:
        with suppress(OSError):
            while True:
                Thread(target=hold, args=[server.accept()[0]], daemon=True).start()

    server = socket.create_server(("127.0.0.1", 0))
    serving = Thread(target=serve, daemon=True)
    serving.start()
    yield Access(f"http://127.0.0.1:{server.getsockname()[1]}", "hf_alice")
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    serving.join()


@pytest.mark.parametrize("name", CALLS)
def test_every_call_ends(name: str, silent: Access) -> None:
    with pytest.raises(HubUnavailable) as caught:
        CALLS[name](silent)
    assert caught.value.reason == "network"


@pytest.mark.parametrize("fetch", [fetch_dataset, clone_dataset])
def test_so_does_a_download(
    fetch: Callable[..., object], silent: Access, tmp_path: Path
) -> None:  # fmt: skip
    with pytest.raises(HubUnavailable, match="cannot be reached"):
        fetch(PLACE, dest=tmp_path / "out", endpoint=silent.endpoint, token=silent.token)
    assert not (tmp_path / "out").exists()


def hang_at(hub: Hub, part: str, ended: Event) -> None:
    """Requests of this kind are answered by nothing, for ten seconds."""

    def wait() -> None:
        ended.wait(10)

    tea = Fault(418, then=wait)
    hub.server.interfere = lambda _, path: tea if part in path else None


@pytest.mark.parametrize("part", ["/tree/", "/resolve/"])
def test_a_hub_that_falls_silent_later(
    part: str, hub: Hub, ended: Event, tmp_path: Path
) -> None:  # fmt: skip
    hub.server.seed("alice/set", {"a.txt": b"a"})
    hang_at(hub, part, ended)
    with pytest.raises(HubUnavailable, match="cannot be reached"):
        fetch_dataset(PLACE, dest=tmp_path / "out", endpoint=hub.url, token=hub.token)


def test_git_gives_up(
    hub: Hub, ended: Event, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.server.seed("alice/set", {"a.txt": b"a"})
    hang_at(hub, "/info/refs", ended)
    settings = {**git._SETTINGS, "http.lowSpeedTime": "1"}
    assert settings.keys() == git._SETTINGS.keys()  # it is a minute, not for ever
    monkeypatch.setattr(git, "_SETTINGS", settings)
    with pytest.raises(HubUnavailable, match="Operation too slow"):
        clone_dataset(PLACE, dest=tmp_path / "out", endpoint=hub.url, token=hub.token)


def test_limits_of_others_stay() -> None:
    """What is set is left: by the client for downloads, or by whoever made the session."""
    given: dict[str, object] = {"timeout": {"connect": None, "read": 7.0, "pool": None}}
    request = SimpleNamespace(method="GET", extensions=given)
    patience._limit(request)
    assert request.extensions == {
        "timeout": {"connect": 0.1, "read": 7.0, "write": 0.1, "pool": None}
    }
