"""What is in the images that scripts/sandbox makes, and what they are called."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

SUITE = "trixie"
NEEDLESS = ("doc", "info", "locale", "man")
LABEL = "rlconvert.sandbox"


def digest(text: str) -> str:
    """A name for a recipe, or for a folder."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Recipe:
    """The packages of a root file system, and Dockerfiles with the names of what they make.

    The first one's context has the root file system as `rootfs.tar` and the `settings`, files of
    this machine, in `settings`.
    """

    packages: tuple[str, ...]
    images: tuple[tuple[str, tuple[str, ...]], ...]
    settings: tuple[Path, ...] = ()

    @property
    def rootfs(self) -> str:
        """What its root file system is called."""
        return f"rootfs-{digest(repr((SUITE, self.packages, NEEDLESS)))}"

    @property
    def label(self) -> str:
        """Another one when anything changes that goes into the images."""
        held = [path.read_bytes() for path in self.settings]
        return digest(repr((self.rootfs, self.images, held)))


BASES = ("ubuntu:24.04", "debian:trixie", "python:3.12-slim", "python:3.13-slim")
"""The images that the fixtures build from."""
APP = "rlconvert/app:1"
"""The image that fixtures run as it is. Harbor wants a task's `workdir` in it."""

# A container that only waits does not hear SIGTERM: each would take ten seconds to stop.
BASE_DOCKERFILE = """\
FROM scratch
ADD rootfs.tar /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
STOPSIGNAL SIGKILL
CMD ["bash"]
"""
APP_DOCKERFILE = f"FROM docker.io/library/{BASES[0]}\nWORKDIR /app\n"

FIXTURES = Recipe(
    packages=("curl", "python3", "python-is-python3", "python3-pytest"),
    images=((BASE_DOCKERFILE, BASES), (APP_DOCKERFILE, (APP,))),
)

PUBLISHED_BASES = (
    "ubuntu:24.04",
    "ubuntu:latest",
    "debian:bullseye-slim",
    "python:3.11-slim",
    "python:3.12-slim",
    "python:3.13-slim",
    "python:3.13-slim-bookworm",
    "ghcr.io/laude-institute/t-bench/ubuntu-24-04:20250624",
)
UV_IMAGES = ("ghcr.io/astral-sh/uv:latest", "ghcr.io/astral-sh/uv:0.9.7")
"""Those that Dockerfiles copy uv from."""
# Tests read `~/.local/bin/env` after they ran uv's installer, which offline they cannot fetch.
# Dockerfiles make a link /usr/bin/python, which therefore must not be there.
PUBLISHED_DOCKERFILE = (
    BASE_DOCKERFILE
    + """\
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt UV_PYTHON_DOWNLOADS=never
COPY settings /etc/
RUN rm -f /usr/lib/python3*/EXTERNALLY-MANAGED && ln -s /usr/bin/python3 /usr/local/bin/python \\
 && pip install --quiet --no-cache-dir uv pytest==8.4.1 pytest-json-ctrf==0.3.5 \\
 && mkdir -p /root/.local/bin && touch /root/.local/bin/env
"""
)
UV_DOCKERFILE = f"""\
FROM docker.io/library/{PUBLISHED_BASES[0]} AS base
FROM scratch
COPY --from=base /usr/local/bin/uv /usr/local/bin/uvx /
"""
SETTINGS = ("pip.conf", "npmrc", "uv/uv.toml", "ssl/certs/ca-certificates.crt")


def published() -> Recipe:
    """For published tasks, with the settings that this machine has."""
    etc = Path("/etc")
    return Recipe(
        packages=("ca-certificates", "curl", "git", "python3", "python3-pip", "python3-venv"),
        images=((PUBLISHED_DOCKERFILE, PUBLISHED_BASES), (UV_DOCKERFILE, UV_IMAGES)),
        settings=tuple(etc / name for name in SETTINGS if (etc / name).is_file()),
    )
