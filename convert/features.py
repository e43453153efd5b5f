"""The features a task uses, by name: what `inspect` counts and what a target may lack."""

from __future__ import annotations

from collections.abc import Iterator

from .files import FileTree, Link
from .model import Step, Task
from .prompt import FromEnvironment
from .reward import Hosted, Judge, Scored, Script, StepRewards, Weighted
from .runtime import Access, Build, Compose, EnvServer, Image, NoRuntime, Runtime


def features_of(task: Task) -> frozenset[str]:
    """Every feature in use, each once. A feature is a short phrase, the same for all formats."""
    return frozenset(_of_task(task))


def _of_task(task: Task) -> Iterator[str]:
    if len(task.steps) > 1 or task.steps[0].name:
        final = task.step_rewards is StepRewards.FINAL
        yield f"several steps, reward of the {'last' if final else 'mean'}"
    yield from _of_runtime(task.runtime)
    if task.oracle is None and not any(step.oracle for step in task.steps):
        yield "no oracle"
    for step in task.steps:
        yield from _of_step(step)
    for verifier in (task.verifier, *(step.verifier for step in task.steps)):
        if verifier.separate or (verifier.separate is None and verifier.runtime is not None):
            yield "verifier in an environment of its own"
        if verifier.collect:
            yield "collect hooks"
        if verifier.user is not None:
            yield "verifier runs as another user"
        if verifier.network is not None:
            yield "network policy of the verifier"
        yield from _of_env("verifier", verifier.env)
    for agent in (task.agent, *(step.agent for step in task.steps)):
        if agent.user is not None:
            yield "agent runs as another user"
        if agent.network is not None:
            yield "network policy of the agent"
    if task.artifacts or any(step.artifacts for step in task.steps):
        yield "artifacts"
    for step in task.steps:
        yield from _of_reward(step.reward or task.reward)
    if task.oracle is not None:
        yield from _of_env("oracle", task.oracle.env)
    if task.extras:
        yield "keys the model does not know"
    trees = [task.seed, task.tests, task.files, *(step.tests for step in task.steps)]
    yield from _of_trees([tree for tree in trees if tree])


def _of_step(step: Step) -> Iterator[str]:
    if isinstance(step.prompt, FromEnvironment):
        yield "the environment speaks first"
    if step.prior:
        yield "prior trajectory"
    if step.min_reward is not None:
        yield "least reward to go on"
    if step.healthcheck is not None:
        yield "healthcheck"
    if step.seed:
        yield "files for a step"


def _of_runtime(runtime: Runtime) -> Iterator[str]:
    match runtime.place:
        case NoRuntime():
            yield "no image and no recipe for one"
        case Image(context=context):
            yield "prebuilt image with its recipe" if context else "prebuilt image"
        case Build():
            yield "image built from a recipe"
        case Compose():
            yield "several containers"
        case EnvServer():
            yield "environment server"
    resources = runtime.resources
    if resources.gpus:
        yield "GPU"
    if resources.tpu is not None:
        yield "TPU"
    if runtime.os == "windows":
        yield "Windows"
    if runtime.healthcheck is not None:
        yield "healthcheck"
    if runtime.tools:
        yield "tools"
    if runtime.skills is not None:
        yield "skills"
    if runtime.network is not None and runtime.network.access is not Access.PUBLIC:
        yield f"network: {runtime.network.access.value}"
    yield from _of_env("runtime", runtime.env)


def _of_env(of: str, env: object) -> Iterator[str]:
    values = env.values() if isinstance(env, dict) else ()
    if any(isinstance(value, str) and value.startswith("${") for value in values):
        yield f"{of} takes variables of the host"


def _of_reward(reward: object) -> Iterator[str]:
    match reward:
        case Script(keys=None):
            yield "rewards whose names are not known"
        case Script(keys=keys) if keys:
            yield "named rewards"
        case Scored():
            yield "scorer"
        case Judge():
            yield "judged by a model"
        case Weighted():
            yield "weighted reward"
        case Hosted():
            yield "reward by a framework's own code"
        case _:
            return


def _of_trees(trees: list[FileTree]) -> Iterator[str]:
    entries = [entry for tree in trees for _, entry in tree]
    if any(isinstance(entry, Link) for entry in entries):
        yield "links"
    if any(tree.empty_folders for tree in trees):
        yield "empty folders"
