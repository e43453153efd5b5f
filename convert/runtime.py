"""Where a task lives: an image, a build, a compose file or a server, and its machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from .data import Data
from .files import FileTree


@dataclass(frozen=True, slots=True)
class NoRuntime:
    """Nothing says where the task lives."""


@dataclass(frozen=True, slots=True)
class Image:
    """A prebuilt container image. `context` is the recipe published beside it, if any."""

    reference: str
    context: FileTree = FileTree()


@dataclass(frozen=True, slots=True)
class Build:
    """A container image built from `context`; the recipe is `dockerfile` in it."""

    context: FileTree
    dockerfile: str = "Dockerfile"


@dataclass(frozen=True, slots=True)
class Compose:
    """Several containers; the agent lives in the service `main`, prebuilt when `image` is set."""

    context: FileTree
    file: str = "docker-compose.yaml"
    image: str | None = None


@dataclass(frozen=True, slots=True)
class EnvServer:
    """A server that is the environment: agents act on it by `protocol`, one reset per task.

    `start` are the arguments of the reset that makes it this task.
    """

    place: Image | Build
    protocol: str
    start: Mapping[str, Data]


Place: TypeAlias = NoRuntime | Image | Build | Compose | EnvServer


class Access(StrEnum):
    """What the network lets through."""

    NONE = "none"
    ALLOWLIST = "allowlist"
    PUBLIC = "public"


@dataclass(frozen=True, slots=True)
class Network:
    """A network policy. `hosts` (names, ``*.suffix``, addresses, CIDR) only with `ALLOWLIST`."""

    access: Access
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tpu:
    """An accelerator of kind `type`, its chips laid out as `topology` (``2x4``)."""

    type: str
    topology: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What the machine must have. Memory and storage in bytes."""

    cpus: float | None = None
    memory: int | None = None
    storage: int | None = None
    gpus: int | None = None
    gpu_types: tuple[str, ...] | None = None
    tpu: Tpu | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Healthcheck:
    """A command that succeeds once the runtime is ready. Times in seconds."""

    command: str
    interval: float | None = None
    timeout: float | None = None
    start_period: float | None = None
    start_interval: float | None = None
    retries: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """Tools that the agent reaches by the Model Context Protocol."""

    name: str
    transport: Literal["stdio", "sse", "streamable-http"] | None = None
    url: str | None = None
    command: str | None = None
    args: tuple[str, ...] | None = None
    headers: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function the model may call; `parameters` is a JSON Schema."""

    name: str
    description: str | None = None
    parameters: Mapping[str, Data] | None = None
    strict: bool | None = None


Tool: TypeAlias = McpServer | Function


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """Where a task lives. `env` values may be ``${NAME}``; they are never resolved here."""

    place: Place = NoRuntime()
    os: Literal["linux", "windows"] | None = None
    resources: Resources = Resources()
    env: Mapping[str, str] | None = None
    workdir: str | None = None
    network: Network | None = None
    healthcheck: Healthcheck | None = None
    tools: tuple[Tool, ...] | None = None
    skills: str | None = None
    build_timeout: float | None = None
