"""Tasks as the model has them, of those that a task folder can say; built without any reader."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from functools import cache
from typing import TypeVar

from hypothesis import strategies as st

from rlconvert.data import Data
from rlconvert.files import FileTree
from rlconvert.formats.taskfolder.naming import step_key
from rlconvert.formats.taskfolder.rewards import reward_keys
from rlconvert.model import (
    Agent,
    Artifact,
    Author,
    CollectHook,
    Identity,
    Oracle,
    Step,
    Task,
    Verifier,
)
from rlconvert.prompt import Messages
from rlconvert.reward import Script, StepRewards
from rlconvert.runtime import (
    Access,
    Build,
    Compose,
    Healthcheck,
    Image,
    McpServer,
    Network,
    NoRuntime,
    Place,
    Resources,
    Runtime,
    Tpu,
)
from strategies.files import small_trees, text_file
from strategies.folders import COMPOSE, DOCKERFILE, scripts
from strategies.tomls import STEP_NAMES
from strategies.words import one_in, plain_names, texts

Draw = st.DrawFn
Value = TypeVar("Value")
MEGABYTE = 1 << 20


def maybe(strategy: st.SearchStrategy[Value]) -> st.SearchStrategy[Value | None]:
    """Nothing, as often as not: a task states little of what it could."""
    return st.none() | strategy


def tuples(
    strategy: st.SearchStrategy[Value], least: int = 0
) -> st.SearchStrategy[tuple[Value, ...]]:
    return st.lists(strategy, min_size=least, max_size=2).map(tuple)


seconds = st.sampled_from([0.0, 1.0, 0.5, 1e300, -1.0, float("inf")])
users = st.sampled_from(["root", "", "7", 0, 1000])
envs = st.dictionaries(texts, texts | st.just("${TOKEN}"), max_size=2)
scalars: st.SearchStrategy[Data] = (
    texts
    | st.booleans()
    | st.sampled_from([0, -1, 2**63, 0.5, 1e300, dt.date(1979, 5, 27), dt.time(7, 32, 0, 1)])
)
values: st.SearchStrategy[Data] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=3,
)
least: st.SearchStrategy[float | dict[str, float]] = st.just(0.5) | st.sampled_from(
    [{"a": 1.0}, {}]
)
networks = st.sampled_from(
    [
        Network(Access.NONE),
        Network(Access.PUBLIC),
        Network(Access.ALLOWLIST),
        Network(Access.ALLOWLIST, ("a.org", "*.b.org", "::1")),
    ]
)
identities = st.builds(
    Identity,
    name=st.sampled_from(["org/x", "Org_1.a-b/x.y", "0/0"]),
    version=maybe(st.sampled_from(["1.0", " "])),
    description=maybe(texts),
    keywords=maybe(tuples(texts)),
    authors=maybe(tuples(st.builds(Author, name=texts, email=maybe(texts)))),
)
healthchecks = st.builds(
    Healthcheck,
    command=texts,
    interval=maybe(seconds),
    timeout=maybe(seconds),
    start_period=maybe(seconds),
    start_interval=maybe(seconds),
    retries=maybe(st.integers(-1, 3)),
)
servers = st.builds(
    McpServer,
    name=texts,
    transport=st.sampled_from([None, "sse", "streamable-http"]),
    url=st.just("http://db:1/mcp"),
    args=maybe(tuples(texts)),
    headers=maybe(st.just({"Authorization": "Bearer ${TOKEN}", "X-A": "b"})),
) | st.builds(McpServer, name=texts, transport=st.just("stdio"), command=st.just("serve"))
resources = st.builds(
    Resources,
    cpus=maybe(st.sampled_from([0, 1, 0.5])),
    memory=maybe(st.integers(0, 4).map(MEGABYTE.__mul__)),
    storage=maybe(st.integers(0, 4).map(MEGABYTE.__mul__)),
    gpus=maybe(st.integers(0, 2)),
    gpu_types=maybe(tuples(texts)),
    tpu=maybe(st.builds(Tpu, texts.filter(bool), st.just("2x4"))),
)
artifacts = tuples(
    st.builds(
        Artifact,
        source=st.sampled_from(["/app", "/a..b"]),
        destination=maybe(st.sampled_from(["out/x", "./manifest.json"])),
        exclude=maybe(tuples(texts)),
        service=maybe(st.sampled_from(["main", "db"])),
    )
)
agents = st.builds(Agent, timeout=maybe(seconds), user=maybe(users), network=maybe(networks))
hooks = st.builds(
    CollectHook,
    command=texts,
    service=maybe(st.sampled_from(["main", "db"])),
    timeout=maybe(seconds),
    user=maybe(users),
)


def runtimes(place: st.SearchStrategy[Place]) -> st.SearchStrategy[Runtime]:
    """A machine somewhere; Linux, so that every verifier is `test.sh`."""
    return st.builds(
        Runtime,
        place=place,
        os=maybe(st.just("linux")),
        resources=resources | st.just(Resources()),
        env=maybe(envs),
        workdir=maybe(texts),
        network=maybe(networks),
        healthcheck=maybe(healthchecks),
        tools=maybe(tuples(servers)),
        skills=maybe(texts),
        build_timeout=maybe(seconds),
    )


any_runtime = runtimes(st.just(NoRuntime()))


def verifiers(*, separate: bool) -> st.SearchStrategy[Verifier]:
    """A verifier; with `separate`, perhaps one that has a machine of its own.

    A machine with an image would hold the tests, and then a step without tests has a rule.
    """
    return st.builds(
        Verifier,
        separate=st.sampled_from([None, True] if separate else [None, False]),
        runtime=maybe(any_runtime) if separate else st.none(),
        env=maybe(envs),
        user=maybe(users),
        network=maybe(networks),
        collect=maybe(tuples(hooks)),
        timeout=maybe(seconds),
    )


any_verifier = verifiers(separate=False) | verifiers(separate=True)


def _prompt(text: str) -> Messages:
    """A text that Harbor shows as it is: line feeds only, none of them first."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    rest = plain.split("\n")
    while rest and not rest[0].strip():
        del rest[0]
    return Messages.user("\n".join(rest))


prompts = texts.map(_prompt)
priors = maybe(st.just(FileTree({"trajectory.json": text_file("[]")}))).map(
    lambda tree: tree or FileTree()
)


_kinds = st.sampled_from(["none", "image", "image+build", "build", "compose"])
_image_names = maybe(st.just("x"))
_step_names = st.lists(st.sampled_from(STEP_NAMES), min_size=1, max_size=2, unique_by=step_key)
_least = maybe(least)
_healthchecks = maybe(healthchecks)
_artifacts = maybe(artifacts)
_identities = maybe(identities)
_origins = maybe(texts)
_metadata = st.dictionaries(texts, values, max_size=2)
_step_rewards = maybe(st.sampled_from(StepRewards))
_oracles = maybe(st.builds(Oracle, files=small_trees, env=maybe(envs)))
_schemas = maybe(st.just("1.4"))
_extras: st.SearchStrategy[dict[str, dict[str, Data]]] = st.sampled_from(
    [{}, {"harbor": {"/foo": 1}}, {"harbor": {"/environment/a~1b": "x"}}]
)


@cache
@st.composite
def _places(draw: Draw) -> tuple[Place, FileTree]:
    """Where the task lives, and its seed: files of a place that is not built go into it."""
    tree = draw(small_trees)
    built = FileTree({"Dockerfile": text_file(DOCKERFILE)}).union(tree)
    composed = FileTree({"docker-compose.yaml": text_file(COMPOSE)}).union(tree)
    kind = draw(_kinds)
    match kind:
        case "none":
            return NoRuntime(), tree
        case "image":
            return Image("ghcr.io/x/y"), tree
        case "image+build":
            return Image("ghcr.io/x/y", built), FileTree()
        case "build":
            return Build(built), FileTree()
        case _:
            return Compose(composed, image=draw(_image_names)), FileTree()


@st.composite
def _steps(draw: Draw, tests: FileTree) -> tuple[Step, ...]:
    names = draw(_step_names)
    steps = []
    for name in names:
        own = draw(small_trees)
        rule = Script("test.sh", reward_keys(tests.union(own))) if own else None
        steps.append(
            Step(
                name=name,
                prompt=draw(prompts),
                seed=draw(small_trees),
                tests=own,
                oracle=draw(small_trees),
                prior=draw(priors),
                agent=draw(agents),
                verifier=draw(any_verifier),
                reward=rule,
                min_reward=draw(_least),
                healthcheck=draw(_healthchecks),
                artifacts=draw(_artifacts),
            )
        )
    return tuple(steps)


@st.composite
def tasks(draw: Draw) -> Task:
    """A task that a folder can say, whole."""
    place, seed = draw(_places())
    script = FileTree({"test.sh": text_file(draw(scripts), executable=True)})
    tests = script.union(draw(small_trees))
    several = draw(one_in(3))
    oracle = draw(_oracles)
    single = Step(name="", prompt=draw(prompts), prior=draw(priors))
    return Task(
        id=draw(plain_names),
        identity=draw(_identities),
        origin=draw(_origins),
        metadata=draw(_metadata),
        steps=draw(_steps(tests)) if several else (single,),
        step_rewards=draw(_step_rewards),
        runtime=replace(draw(any_runtime), place=place),
        seed=seed,
        tests=tests,
        oracle=oracle if oracle and (oracle.files or oracle.env is not None) else None,
        agent=draw(agents),
        verifier=draw(any_verifier),
        reward=Script("test.sh", reward_keys(tests)),
        artifacts=draw(_artifacts),
        files=draw(small_trees).moved("more"),
        schema=draw(_schemas),
        extras=draw(_extras),
    )
