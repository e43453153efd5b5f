"""The tables of `task.toml` as Harbor reads them, one class per table.

Facts: harbor 0.26.0, `harbor/models/task/config.py`. The values are coerced as Harbor coerces
them, by the same library in the same (lax) mode: `"30"` is a number of seconds, `true` is 1.
A table knows which of its keys were given: `model_fields_set`, at every level. Field order is the
order in which keys are written. Built by hand, a table refuses keys it does not know.
"""

from __future__ import annotations

import math
import re
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

from .mcp import safe_headers
from .naming import (
    MAIN_SERVICE,
    artifact_destination,
    artifact_source,
    is_absolute_in_container,
    package_name,
    service_name,
    step_key,
    step_name,
)
from .network import NetworkMode, check_policy, normal_host
from .problems import Reason, RuleBroken

if TYPE_CHECKING:
    from .documents import Value

    FreeTable: TypeAlias = dict[str, Value]
else:  # pydantic would copy and coerce them; free-form values stay as they are
    FreeTable: TypeAlias = dict[str, object]

TAG = "\0"
"""Starts the names of alternatives, so that they cannot be taken for keys of a document."""
_TEXT, _NUMBER, _TABLE = TAG + "text", TAG + "number", TAG + "table"


class Table(BaseModel):
    """A table of a document: frozen, compared by value, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _text_or_number(value: object) -> str:
    return _TEXT if isinstance(value, str) else _NUMBER


def _table_or_number(value: object) -> str:
    return _TABLE if isinstance(value, dict) else _NUMBER


def _table_or_text(value: object) -> str:
    return _TABLE if isinstance(value, dict | Table) else _TEXT


User: TypeAlias = Annotated[
    Annotated[str, Tag(_TEXT)] | Annotated[int, Tag(_NUMBER)], Discriminator(_text_or_number)
]
"""A user name, or a number."""


class TaskOs(StrEnum):
    """The system inside the container."""

    LINUX = "linux"
    WINDOWS = "windows"


class VerifierMode(StrEnum):
    """Whether the verifier runs in the agent's environment or in one of its own."""

    SHARED = "shared"
    SEPARATE = "separate"


class RewardStrategy(StrEnum):
    """How the rewards of several steps become one."""

    MEAN = "mean"
    FINAL = "final"


class AuthorTable(Table):
    """``[[task.authors]]``."""

    name: str
    email: str | None = None


class PackageTable(Table):
    """``[task]``: the name the task has in a registry."""

    name: Annotated[str, AfterValidator(package_name)]
    version: str | None = Field(default=None, min_length=1)
    description: str = ""
    authors: tuple[AuthorTable, ...] = ()
    keywords: tuple[str, ...] = ()


class PhaseTable(Table):
    """The network keys of ``[agent]`` and ``[verifier]``; unset means the environment's."""

    network_mode: NetworkMode | None = None
    allowed_hosts: tuple[Annotated[str, AfterValidator(normal_host)], ...] | None = None

    @model_validator(mode="after")
    def _network(self) -> Self:
        check_policy(self.network_mode, self.allowed_hosts)
        return self


class AgentTable(PhaseTable):
    """``[agent]``: no `timeout_sec` is no limit."""

    timeout_sec: float | None = None
    user: User | None = None


class HealthcheckTable(Table):
    """``[environment.healthcheck]`` and ``[steps.healthcheck]``: Docker's HEALTHCHECK."""

    command: str
    interval_sec: float = 5.0
    timeout_sec: float = 30.0
    start_period_sec: float = 0.0
    start_interval_sec: float = 5.0
    retries: int = 3


def _topology(text: str) -> str:
    plain = text.strip()
    if not re.fullmatch(r"[1-9]\d*(x[1-9]\d*)+", plain):
        raise RuleBroken(Reason.TPU_TOPOLOGY, f"not positive numbers joined by x: {text!r}")
    return plain


class TpuTable(Table):
    """``[environment.tpu]``."""

    type: str = Field(min_length=1)
    topology: Annotated[str, AfterValidator(_topology)]


def _transport(value: object) -> object:
    return "streamable-http" if value == "http" else value


class McpServerTable(Table):
    """``[[environment.mcp_servers]]``: a server that the agent may use."""

    name: str
    transport: Annotated[
        Literal["stdio", "sse", "streamable-http"], BeforeValidator(_transport)
    ] = "sse"
    url: str | None = None
    command: str | None = None
    args: tuple[str, ...] = ()
    headers: Annotated[dict[str, str], AfterValidator(safe_headers)] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits_transport(self) -> Self:
        if self.transport == "stdio":
            if not self.command:
                raise RuleBroken(Reason.MCP_TRANSPORT, "transport 'stdio' needs a command")
            if self.headers:
                raise RuleBroken(Reason.MCP_TRANSPORT, "transport 'stdio' has no headers")
        elif not self.url:
            raise RuleBroken(Reason.MCP_TRANSPORT, f"transport {self.transport!r} needs a url")
        return self


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


def _cpus(value: float | None) -> int | float | None:
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        raise RuleBroken(Reason.BAD_VALUE, "must be a finite number")
    return int(value) if value.is_integer() else value


class EnvironmentTable(Table):
    """``[environment]`` and ``[verifier.environment]``.

    The legacy keys `memory`, `storage` and `allow_internet` are not here: reading turns them into
    `memory_mb`, `storage_mb` and `network_mode`.
    """

    build_timeout_sec: float = 600.0
    docker_image: str | None = None
    os: Annotated[TaskOs, BeforeValidator(_lower)] = TaskOs.LINUX
    cpus: Annotated[int | float | None, AfterValidator(_cpus)] = None
    memory_mb: int | None = None
    storage_mb: int | None = None
    gpus: int | None = None
    gpu_types: tuple[str, ...] | None = None
    workdir: str | None = None
    skills_dir: str | None = None
    network_mode: NetworkMode = NetworkMode.PUBLIC
    allowed_hosts: tuple[Annotated[str, AfterValidator(normal_host)], ...] | None = None
    env: dict[str, str] = Field(default_factory=dict)
    tpu: TpuTable | None = None
    healthcheck: HealthcheckTable | None = None
    mcp_servers: tuple[McpServerTable, ...] = ()

    @model_validator(mode="after")
    def _network(self) -> Self:
        check_policy(self.network_mode, self.allowed_hosts)
        return self


class CollectTable(Table):
    """``[[verifier.collect]]``: a command run in a service when the agent is done."""

    command: str
    service: Annotated[str, AfterValidator(service_name)] = MAIN_SERVICE
    timeout_sec: float = 60.0
    user: User | None = None


class VerifierTable(PhaseTable):
    """``[verifier]``. Without a mode: separate if it has an environment, else shared."""

    timeout_sec: float = 600.0
    user: User | None = None
    environment_mode: VerifierMode | None = None
    env: dict[str, str] = Field(default_factory=dict)
    environment: EnvironmentTable | None = None
    collect: tuple[CollectTable, ...] = ()

    @model_validator(mode="after")
    def _mode_fits(self) -> Self:
        if self.environment_mode is VerifierMode.SHARED and self.environment is not None:
            raise RuleBroken(
                Reason.VERIFIER_ENVIRONMENT,
                "environment_mode = 'shared' cannot be with [verifier.environment]",
            )
        return self


class SolutionTable(Table):
    """``[solution]``."""

    env: dict[str, str] = Field(default_factory=dict)


class ArtifactTable(Table):
    """An entry of `artifacts` in its long form."""

    source: Annotated[str, AfterValidator(artifact_source)]
    destination: Annotated[str, AfterValidator(artifact_destination)] | None = None
    exclude: tuple[str, ...] = ()
    service: Annotated[str, AfterValidator(service_name)] | None = None

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if self.service not in (None, MAIN_SERVICE) and not is_absolute_in_container(self.source):
            raise RuleBroken(
                Reason.ARTIFACT_PATH,
                f"source must be absolute, from service {self.service!r}: {self.source!r}",
            )
        return self


Artifact: TypeAlias = Annotated[
    Annotated[str, AfterValidator(artifact_source), Tag(_TEXT)]
    | Annotated[ArtifactTable, Tag(_TABLE)],
    Discriminator(_table_or_text),
]
"""A path in the agent's container, or the long form."""

MinReward: TypeAlias = Annotated[
    Annotated[float, Tag(_NUMBER)] | Annotated[dict[str, float], Tag(_TABLE)],
    Discriminator(_table_or_number),
]
"""A least value of the key `reward`, or of every key named."""


class StepTable(Table):
    """``[[steps]]``."""

    name: Annotated[str, AfterValidator(step_name)]
    min_reward: MinReward | None = None
    artifacts: tuple[Artifact, ...] = ()
    agent: AgentTable = Field(default_factory=AgentTable)
    verifier: VerifierTable = Field(default_factory=VerifierTable)
    healthcheck: HealthcheckTable | None = None


def _distinct(steps: tuple[StepTable, ...] | None) -> tuple[StepTable, ...] | None:
    seen: set[str] = set()
    for step in steps or ():
        key = step_key(step.name)
        if key in seen:
            raise RuleBroken(
                Reason.STEP_NAME_TAKEN,
                f"{step.name!r} is taken (case and Unicode composition do not count)",
            )
        seen.add(key)
    return steps


class TaskTable(Table):
    """The whole `task.toml`. `schema_version` is any string; Harbor does not act on it."""

    schema_version: str = "1.4"
    source: str | None = None
    multi_step_reward_strategy: RewardStrategy | None = None
    artifacts: tuple[Artifact, ...] = ()
    task: PackageTable | None = None
    metadata: FreeTable = Field(default_factory=dict)
    agent: AgentTable = Field(default_factory=AgentTable)
    verifier: VerifierTable = Field(default_factory=VerifierTable)
    environment: EnvironmentTable = Field(default_factory=EnvironmentTable)
    solution: SolutionTable = Field(default_factory=SolutionTable)
    steps: Annotated[tuple[StepTable, ...] | None, AfterValidator(_distinct)] = None
