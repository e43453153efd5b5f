"""Container engines on this machine: which answers, and what it says of images.

An engine is a program with the command line of docker. Nothing here starts a container.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

ENGINES = ("docker", "podman")
"""In the order in which they are tried."""

NO_DIGEST = "not from a registry"
"""What is said of an image that was imported or built here: it stands in for a published one."""

_SETTINGS = {
    "docker": ("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"),
    "podman": (
        "CONTAINERS_CONF",
        "CONTAINERS_STORAGE_CONF",
        "CONTAINERS_REGISTRIES_CONF",
        "CONTAINER_HOST",
        "XDG_RUNTIME_DIR",
        "DBUS_SESSION_BUS_ADDRESS",
    ),
}
_BUILDER = "io.buildah.version"
_SECONDS = 60


def engine_settings(engine: str) -> dict[str, str]:
    """The user's settings that an engine needs to be found, for an environment without others."""
    found = {name: os.environ[name] for name in _SETTINGS.get(engine, ()) if name in os.environ}
    home = Path.home()
    if engine == "docker":
        # Where its plugins stand; `compose` is one.
        found["DOCKER_CONFIG"] = os.environ.get("DOCKER_CONFIG") or str(home / ".docker")
    if engine == "podman" and os.getuid():
        # An unprivileged user's images stand below the HOME, which is a private one.
        data = os.environ.get("XDG_DATA_HOME") or str(home / ".local" / "share")
        found["XDG_DATA_HOME"] = data
    return found


def answers(engine: str) -> bool:
    """Whether the engine is there and works."""
    return _said(engine, ["info"]) is not None


def first_engine() -> str | None:
    """The first engine that answers."""
    return next((engine for engine in ENGINES if answers(engine)), None)


def image_digests(engine: str, references: Iterable[str]) -> Mapping[str, str]:
    """By reference the digest of an image; those that the engine does not have are left out.

    `NO_DIGEST` where the image was imported or built here, or cannot be told from one that was:
    docker has no digest of such an image, and podman has one of every image.
    """
    found: dict[str, str] = {}
    for reference in references:
        text = _said(engine, ["image", "inspect", reference])
        if text is None:
            continue
        with suppress(ValueError, LookupError, TypeError, AttributeError):
            facts = json.loads(text)[0]
            digests = [] if _made_here(facts) else facts.get("RepoDigests") or []
            found[reference] = digests[0].rpartition("@")[2] if digests else NO_DIGEST
    return found


def _made_here(facts: Mapping[str, object]) -> bool:
    """Whether podman imported an image, or it has the label that podman gives what it builds."""
    history, config = facts.get("History"), facts.get("Config")
    said = [facts.get("Comment"), *(history if isinstance(history, list) else ())]
    if any("imported from" in str(each).lower() for each in said):
        return True
    labels = config.get("Labels") if isinstance(config, dict) else None
    return isinstance(labels, dict) and _BUILDER in labels


def _said(engine: str, arguments: list[str]) -> str | None:
    program = shutil.which(engine)
    if program is None:
        return None
    with suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
        if done.returncode == 0:
            return done.stdout
    return None
