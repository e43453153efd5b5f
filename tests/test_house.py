"""The promises of `conftest.py`."""

import os
import socket
from pathlib import Path

import pytest

REFUSED = "only a test marked `hub`"


def test_network_is_closed() -> None:
    with socket.socket() as sock, pytest.raises(RuntimeError, match=REFUSED):
        sock.connect(("192.0.2.1", 9))
    with socket.socket(type=socket.SOCK_DGRAM) as sock, pytest.raises(RuntimeError, match=REFUSED):
        sock.sendto(b"", ("192.0.2.1", 9))
    with pytest.raises(RuntimeError, match=REFUSED):
        socket.getaddrinfo("example.org", 443)


def test_this_machine_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(("localhost", server.getsockname()[1]), timeout=5).close()


def test_no_hub_account() -> None:
    assert "HF_TOKEN" not in os.environ
    assert not list(Path(os.environ["HF_HOME"]).iterdir())
