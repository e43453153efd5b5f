"""What the local machine does not honour, found before anything is run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from rlconvert.errors import ExitCode, RlconvertError
from rlconvert.model import Task, Verifier
from rlconvert.runtime import Access, Build, Compose, Image, McpServer, Network

DOCKERFILE = "environment/Dockerfile"

_GENERAL = re.compile(
    r"((index\.)?docker\.io/)?(library/)?[a-z0-9]+([._-]+[a-z0-9]+)*"
    r"(:[A-Za-z0-9_][A-Za-z0-9._-]*)?(@sha256:[0-9a-f]{64})?"
    # Terminal-Bench's: the official image with a terminal multiplexer and a recorder.
    r"|ghcr\.io/laude-institute/t-bench/(ubuntu|python)-[0-9-]+(:[0-9]+)?"
)


class Refused(RlconvertError):
    """A task that asks for something the local machine does not have, or would do otherwise."""

    code: ClassVar[ExitCode] = ExitCode.REFUSED


def check_base(reference: str, file: str, where: str | None = None) -> None:
    """Refuse an image that no root file system of the user's can stand for.

    The general images that everybody builds on have a name without an owner (``ubuntu:24.04``).
    Most others hold files that are nowhere else.
    """
    if reference == "scratch" or not _GENERAL.fullmatch(reference):
        raise Refused(
            f"only the image {reference!r} has what is in it",
            reason="own-image",
            file=file,
            where=where,
            remedy="Run it in a sandbox that has images",
        )


def check_task(task: Task) -> None:
    """Raise `Refused` for the first thing in `task` that the local machine does not honour."""
    for problem, slug in _faults(task):
        raise Refused(problem, reason=slug, remedy="Run it in a sandbox of containers")
    match task.runtime.place:
        case Image(reference=reference, context=context) if "Dockerfile" not in context:
            check_base(reference, "task.toml", "environment.docker_image")


def _faults(task: Task) -> Iterator[tuple[str, str]]:
    runtime = task.runtime
    if isinstance(runtime.place, Compose):
        yield "it lives in several containers", "several-containers"
    elif not isinstance(runtime.place, Build | Image):
        yield "it has no Dockerfile and names no image", "no-machine"
    if runtime.os == "windows":
        yield "it needs Windows", "windows"
    if runtime.resources.gpus or runtime.resources.tpu:
        yield "it needs an accelerator", "accelerator"
    if runtime.healthcheck or any(step.healthcheck for step in task.steps):
        yield "it waits for a health check", "healthcheck"
    if any(isinstance(tool, McpServer) for tool in runtime.tools or ()):
        yield "it has MCP servers", "mcp"
    base = _access(runtime.network)
    if base is Access.ALLOWLIST:
        yield "it lists the hosts that may be reached", "network"
    for agent, verifier in (
        (task.agent, task.verifier),
        *((step.agent, step.verifier) for step in task.steps),
    ):
        yield from _verifier_faults(verifier)
        for network in (agent.network, verifier.network):
            if network is not None and _access(network) is not base:
                yield "its phases differ in what they may reach", "network"


def _verifier_faults(verifier: Verifier) -> Iterator[tuple[str, str]]:
    if verifier.separate or (verifier.separate is None and verifier.runtime is not None):
        yield "its verifier has a machine of its own", "separate-verifier"
    if verifier.collect:
        yield "its verifier collects what other services left", "collect"


def _access(network: Network | None) -> Access:
    return Access.PUBLIC if network is None else network.access
