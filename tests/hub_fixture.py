"""The fixture `hub`: a Hub of one's own on loopback.

A test module asks for it with ``pytest_plugins = ["hub_fixture"]``, and imports the class `Hub`
only for its annotations (under ``if TYPE_CHECKING:``). Nothing is set in this process: calls name
`hub.url` and `hub.token`, and subprocesses get `hub.env`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hubserver import HubServer

ALICE, BOB = "hf_alice", "hf_bob"
"""Tokens. Alice owns what the tests make; Bob is somebody else."""


@dataclass(frozen=True)
class Hub:
    """A running server and what clients need to know of it."""

    server: HubServer
    folder: Path
    """For the server's and the clients' files; removed with the test."""
    token: str = ALICE
    other_token: str = BOB

    @property
    def url(self) -> str:
        """What goes into HF_ENDPOINT."""
        return self.server.url

    @property
    def env(self) -> dict[str, str]:
        """The environment for a subprocess: this Hub for HTTP and Git, Alice's token, no other."""
        home = self.folder / "home"
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "HF_HOME": str(home / "huggingface"),
            "HF_ENDPOINT": self.url,
            "HF_TOKEN": self.token,
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "NO_PROXY": "127.0.0.1,localhost",
            "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
        }

    def write_git_config(self) -> None:
        """Make Git take this server for the Hub."""
        home = self.folder / "home"
        home.mkdir()
        (home / "gitconfig").write_text(
            f'[url "{self.url}/"]\n\tinsteadOf = https://huggingface.co/\n'
            f'[credential "{self.url}"]\n'
            f'\thelper = "!f() {{ echo username=alice; echo password={self.token}; }}; f"\n'
            "[user]\n\tname = alice\n\temail = alice@example.invalid\n",
            encoding="utf-8",
        )


@pytest.fixture
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """A running Hub with two users and no repositories."""
    folder = tmp_path_factory.mktemp("hub")
    with HubServer(folder / "server", tokens={ALICE: "alice", BOB: "bob"}) as server:
        one = Hub(server, folder)
        one.write_git_config()
        yield one
