"""`task.toml` tables and the model: the same facts under two vocabularies.

Each pair of functions is its own inverse up to what the model does not tell apart: a table that is
there but empty, ``allowed_hosts = []`` beside a mode, an artifact written as a table of its source
alone. What is not given stays None, so that a default is never mistaken for a statement.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

from rlconvert.model import (
    Agent,
    Artifact,
    Author,
    CollectHook,
    Identity,
    Verifier,
)
from rlconvert.runtime import (
    Access,
    Compose,
    Function,
    Healthcheck,
    Image,
    McpServer,
    Network,
    NoRuntime,
    Place,
    Resources,
    Runtime,
    Tool,
    Tpu,
)

from .network import NetworkMode
from .tables import (
    AgentTable,
    ArtifactTable,
    AuthorTable,
    CollectTable,
    EnvironmentTable,
    HealthcheckTable,
    McpServerTable,
    PackageTable,
    PhaseTable,
    Table,
    TaskOs,
    TpuTable,
    VerifierMode,
    VerifierTable,
)

MEGABYTE = 1 << 20
"""Harbor 0.26.0 counts memory and storage in units of 1024 x 1024 bytes."""

_ACCESS = {
    NetworkMode.NO_NETWORK: Access.NONE,
    NetworkMode.ALLOWLIST: Access.ALLOWLIST,
    NetworkMode.PUBLIC: Access.PUBLIC,
}
_MODE = {access: mode for mode, access in _ACCESS.items()}

Value = TypeVar("Value")
Given = dict[str, object]


def stated(table: Table, key: str, value: Value) -> Value | None:
    """`value` when the source gives `key`, else None."""
    return value if key in table.model_fields_set else None


def given(**values: object) -> Given:
    """The keys that have something to say."""
    return {key: value for key, value in values.items() if value is not None}


# --- identity ----------------------------------------------------------------------------------


def identity_from_table(table: PackageTable | None) -> Identity | None:
    """``[task]``."""
    if table is None:
        return None
    authors = tuple(Author(name=author.name, email=author.email) for author in table.authors)
    return Identity(
        name=table.name,
        version=table.version,
        description=stated(table, "description", table.description),
        keywords=stated(table, "keywords", table.keywords),
        authors=stated(table, "authors", authors),
    )


def table_from_identity(identity: Identity | None) -> PackageTable | None:
    """``[task]``."""
    if identity is None:
        return None
    authors = None
    if identity.authors is not None:
        authors = tuple(
            AuthorTable.model_validate(given(name=author.name, email=author.email))
            for author in identity.authors
        )
    return PackageTable.model_validate(
        given(
            name=identity.name,
            version=identity.version,
            description=identity.description,
            keywords=identity.keywords,
            authors=authors,
        )
    )


# --- network, agent, verifier ------------------------------------------------------------------


def network_from_phase(table: PhaseTable | EnvironmentTable) -> Network | None:
    """The two network keys of a table, None when it has no mode."""
    if "network_mode" not in table.model_fields_set or table.network_mode is None:
        return None
    return Network(_ACCESS[table.network_mode], tuple(table.allowed_hosts or ()))


def keys_from_network(network: Network | None) -> Given:
    """The two network keys."""
    if network is None:
        return {}
    hosts = network.hosts or None
    return given(network_mode=_MODE[network.access], allowed_hosts=hosts)


def agent_from_table(table: AgentTable) -> Agent:
    """``[agent]``."""
    return Agent(timeout=table.timeout_sec, user=table.user, network=network_from_phase(table))


def table_from_agent(agent: Agent) -> AgentTable | None:
    """``[agent]``, None when there is nothing to say."""
    keys = given(timeout_sec=agent.timeout, user=agent.user) | keys_from_network(agent.network)
    return AgentTable.model_validate(keys) if keys else None


def verifier_from_table(table: VerifierTable) -> Verifier:
    """``[verifier]``."""
    separate = None
    if table.environment_mode is not None:
        separate = table.environment_mode is VerifierMode.SEPARATE
    own = table.environment
    collect = tuple(
        CollectHook(
            command=hook.command,
            service=stated(hook, "service", hook.service),
            timeout=stated(hook, "timeout_sec", hook.timeout_sec),
            user=hook.user,
        )
        for hook in table.collect
    )
    return Verifier(
        separate=separate,
        runtime=None if own is None else runtime_from_table(own, place_from_image(own)),
        env=stated(table, "env", table.env),
        user=table.user,
        network=network_from_phase(table),
        collect=stated(table, "collect", collect),
        timeout=stated(table, "timeout_sec", table.timeout_sec),
    )


def table_from_verifier(verifier: Verifier) -> VerifierTable | None:
    """``[verifier]``, None when there is nothing to say."""
    mode = None
    if verifier.separate is not None:
        mode = VerifierMode.SEPARATE if verifier.separate else VerifierMode.SHARED
    collect = None
    if verifier.collect is not None:
        collect = tuple(
            CollectTable.model_validate(
                given(
                    command=hook.command,
                    service=hook.service,
                    timeout_sec=hook.timeout,
                    user=hook.user,
                )
            )
            for hook in verifier.collect
        )
    own = None
    if verifier.runtime is not None:
        own = table_from_runtime(verifier.runtime, image_of(verifier.runtime.place))
    keys = given(
        timeout_sec=verifier.timeout,
        user=verifier.user,
        environment_mode=mode,
        env=verifier.env,
        environment=own,
        collect=collect,
    ) | keys_from_network(verifier.network)
    return VerifierTable.model_validate(keys) if keys else None


# --- artifacts ---------------------------------------------------------------------------------


def artifacts_from_list(listed: tuple[str | ArtifactTable, ...]) -> tuple[Artifact, ...]:
    """`artifacts`, short and long entries alike."""
    return tuple(
        Artifact(source=each)
        if isinstance(each, str)
        else Artifact(
            source=each.source,
            destination=each.destination,
            exclude=stated(each, "exclude", each.exclude),
            service=each.service,
        )
        for each in listed
    )


def list_from_artifacts(
    artifacts: tuple[Artifact, ...] | None, long: Collection[int] = ()
) -> tuple[str | ArtifactTable, ...] | None:
    """`artifacts`: short entries where the source is all there is to say, but for those `long`."""
    if artifacts is None:
        return None
    return tuple(
        each.source
        if index not in long and each == Artifact(source=each.source)
        else ArtifactTable.model_validate(
            given(
                source=each.source,
                destination=each.destination,
                exclude=each.exclude,
                service=each.service,
            )
        )
        for index, each in enumerate(artifacts)
    )


# --- runtime -----------------------------------------------------------------------------------


def runtime_from_table(table: EnvironmentTable, place: Place) -> Runtime:
    """``[environment]``; `place` is what the folder beside it says."""
    tpu = table.tpu
    return Runtime(
        place=place,
        os=stated(table, "os", "windows" if table.os is TaskOs.WINDOWS else "linux"),
        resources=Resources(
            cpus=table.cpus,
            memory=_bytes(table.memory_mb),
            storage=_bytes(table.storage_mb),
            gpus=table.gpus,
            gpu_types=table.gpu_types,
            tpu=None if tpu is None else Tpu(tpu.type, tpu.topology),
        ),
        env=stated(table, "env", table.env),
        workdir=table.workdir,
        network=network_from_phase(table),
        healthcheck=healthcheck_from_table(table.healthcheck),
        tools=stated(table, "mcp_servers", tuple(map(_server_from_table, table.mcp_servers))),
        skills=table.skills_dir,
        build_timeout=stated(table, "build_timeout_sec", table.build_timeout_sec),
    )


def table_from_runtime(runtime: Runtime, image: str | None) -> EnvironmentTable:
    """``[environment]``. Functions are no key of it: whoever writes checks that there are none."""
    resources = runtime.resources
    tpu = resources.tpu
    return EnvironmentTable.model_validate(
        given(
            build_timeout_sec=runtime.build_timeout,
            docker_image=image,
            os=None if runtime.os is None else TaskOs(runtime.os),
            cpus=resources.cpus,
            memory_mb=_megabytes(resources.memory),
            storage_mb=_megabytes(resources.storage),
            gpus=resources.gpus,
            gpu_types=resources.gpu_types,
            workdir=runtime.workdir,
            skills_dir=runtime.skills,
            env=runtime.env,
            tpu=None if tpu is None else TpuTable(type=tpu.type, topology=tpu.topology),
            healthcheck=table_from_healthcheck(runtime.healthcheck),
            mcp_servers=None if runtime.tools is None else _tables_from_tools(runtime.tools),
        )
        | keys_from_network(runtime.network)
    )


def place_from_image(table: EnvironmentTable) -> Place:
    """The image a table names, where there is no folder to look at."""

    return Image(table.docker_image) if table.docker_image else NoRuntime()


def image_of(place: Place) -> str | None:
    """The prebuilt image of a place."""

    match place:
        case Image(reference=reference):
            return reference
        case Compose(image=image):
            return image
        case _:
            return None


def healthcheck_from_table(table: HealthcheckTable | None) -> Healthcheck | None:
    """``[environment.healthcheck]``."""
    if table is None:
        return None
    return Healthcheck(
        command=table.command,
        interval=stated(table, "interval_sec", table.interval_sec),
        timeout=stated(table, "timeout_sec", table.timeout_sec),
        start_period=stated(table, "start_period_sec", table.start_period_sec),
        start_interval=stated(table, "start_interval_sec", table.start_interval_sec),
        retries=stated(table, "retries", table.retries),
    )


def table_from_healthcheck(check: Healthcheck | None) -> HealthcheckTable | None:
    """``[environment.healthcheck]``."""
    if check is None:
        return None
    return HealthcheckTable.model_validate(
        given(
            command=check.command,
            interval_sec=check.interval,
            timeout_sec=check.timeout,
            start_period_sec=check.start_period,
            start_interval_sec=check.start_interval,
            retries=check.retries,
        )
    )


def _server_from_table(table: McpServerTable) -> Tool:
    return McpServer(
        name=table.name,
        transport=stated(table, "transport", table.transport),
        url=table.url,
        command=table.command,
        args=stated(table, "args", table.args),
        headers=stated(table, "headers", table.headers),
    )


def _tables_from_tools(tools: tuple[Tool, ...]) -> tuple[McpServerTable, ...]:
    return tuple(
        McpServerTable.model_validate(
            given(
                name=tool.name,
                transport=tool.transport,
                url=tool.url,
                command=tool.command,
                args=tool.args,
                headers=tool.headers,
            )
        )
        for tool in tools
        if not isinstance(tool, Function)
    )


def _bytes(megabytes: int | None) -> int | None:
    return None if megabytes is None else megabytes * MEGABYTE


def _megabytes(size: int | None) -> int | None:
    return None if size is None else -(-size // MEGABYTE)
