"""What every test can rely on: no network, no Hub account, one choice of Hypothesis profile."""

import ipaddress
import os
import sys
import tempfile
from collections.abc import Generator

import pytest
from hypothesis import settings

settings.register_profile("dev", max_examples=25, deadline=None)
settings.register_profile("ci", max_examples=300, deadline=None, derandomize=True, print_blob=True)
settings.register_profile("deep", max_examples=5000, deadline=None, print_blob=True)


class _Guard:
    """Refuses sockets to anywhere but this machine. Audit hooks see what C code does, too."""

    def __init__(self) -> None:
        self.open = False

    def __call__(self, event: str, args: tuple[object, ...]) -> None:
        if not event.startswith("socket.") or self.open:
            return
        if event in ("socket.connect", "socket.sendto"):
            if not isinstance(args[1], tuple):
                return  # a Unix socket
            host: object = args[1][0]
        elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
            host = args[0]
        else:
            return
        if not _is_here(host):
            raise RuntimeError(
                f"{event} to {host!r}: only a test marked `hub` may leave this machine"
            )


def _is_here(host: object) -> bool:
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(host)).is_loopback
    except ValueError:
        return False


_guard = _Guard()
_home = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden`, for the developer who means to change converted output."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite fixtures/golden from what the converter writes now; read the diff",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Close the network, leave the user's Hub account out of it, and choose the profile."""
    in_ci = os.environ.get("CI") == "true"
    if in_ci and config.getoption("update_golden"):
        raise pytest.UsageError("--update-golden is for a developer who reads the diff, not for CI")
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if in_ci else "dev"))
    config.stash[_home] = tempfile.TemporaryDirectory(prefix="rlconvert-tests-")
    os.environ["HF_HOME"] = config.stash[_home].name
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_HUB_CACHE"):
        os.environ.pop(name, None)
    sys.addaudithook(_guard)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the stand-in for the user's Hub folder, and open the network again."""
    _guard.open = True
    if home := config.stash.get(_home, None):
        home.cleanup()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Open the network for a `hub` test, fixtures included, and for no other."""
    _guard.open = item.get_closest_marker("hub") is not None
    try:
        return (yield)
    finally:
        _guard.open = False


@pytest.fixture(scope="session")
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether goldens are to be rewritten instead of compared."""
    return bool(request.config.getoption("update_golden"))
