"""One task folder to one task and back.

task.toml          the configuration (toml_schema.py, config_model.py)
instruction.md     the prompt of a task with one step
environment/       what the agent's container is made of, or what is put into it
tests/             the verifier's files          (hidden)
solution/          the oracle's files            (hidden)
steps/<name>/      instruction.md, workdir/, tests/, solution/, trajectory.json of one step
trajectory.json    what happened before, for the agent
anything else      belongs to the task and to no part of it: `Task.files`
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rlconvert.data import Data
from rlconvert.errors import Malformed, RlconvertError, TooBig, UnsafePath
from rlconvert.files import Blob, Entry, File, FileTree, Link
from rlconvert.model import Native, Oracle, Step, Task
from rlconvert.prompt import Messages
from rlconvert.reward import Scored, Script, StepRewards
from rlconvert.runtime import Build, Compose, Image, NoRuntime, Place, Runtime

from .config_model import (
    agent_from_table,
    artifacts_from_list,
    given,
    healthcheck_from_table,
    identity_from_table,
    image_of,
    list_from_artifacts,
    runtime_from_table,
    stated,
    table_from_agent,
    table_from_healthcheck,
    table_from_identity,
    table_from_runtime,
    table_from_verifier,
    verifier_from_table,
)
from .demands import (
    bundles_tests,
    check_folder,
    is_separate,
    read_instruction,
    script_name,
    verifier_os,
)
from .documents import Value
from .problems import DocumentRefused, Reason
from .rewards import reward_keys
from .scored import rule_of
from .tables import RewardStrategy, SolutionTable, StepTable, TaskTable
from .toml_schema import TaskToml, decode_task_toml, encode_task_toml

FORMAT = "harbor"
"""The framework whose own layout this is: the key of `extras` and `native`."""

CONFIG, INSTRUCTION, PRIOR = "task.toml", "instruction.md", "trajectory.json"

_NOTHING = FileTree({".gitkeep": File(Blob(b""))})
"""An `environment/` with nothing in it: Harbor wants the folder, and git and the Hub keep no
empty ones."""

_CANARY = re.compile(r"(<!--.*canary.*-->|#.*canary.*)", re.IGNORECASE)


# --- folder to task ----------------------------------------------------------------------------


def task_from_folder(task: str, path: str, tree: FileTree) -> Task:
    """The task in `tree`, which stands at `path` of its repo.

    Refuses what Harbor 0.26.0 would not load, and what is dangerous where Harbor is not strict;
    the error names file, place and reason.
    """
    if isinstance(tree.entries.get(CONFIG), Link):
        raise UnsafePath(
            f"{CONFIG} must be a file, not a link",
            reason="config-is-a-link",
            file=CONFIG,
            remedy="Replace the link by the file",
        )
    file = tree.file(CONFIG)
    if file is None:
        raise Malformed(
            f"{CONFIG} is not a regular file",
            reason="file-missing",
            file=CONFIG,
            remedy="Put the file there",
        )
    toml = read_config(file.blob)
    config = toml.config
    check_folder(tree, config)
    environment = tree.below("environment")
    place, seed = _place(environment, config.environment.docker_image)
    tests = tree.below("tests")
    oracle = tree.below("solution")
    solution_env = stated(config.solution, "env", config.solution.env)
    strategy = config.multi_step_reward_strategy
    return Task(
        id=task,
        identity=identity_from_table(config.task),
        origin=config.source,
        metadata=config.metadata,
        steps=_steps(tree, config),
        step_rewards=None if strategy is None else StepRewards(strategy.value),
        runtime=runtime_from_table(config.environment, place),
        seed=seed,
        tests=tests,
        oracle=Oracle(files=oracle, env=solution_env)
        if oracle or solution_env is not None
        else None,
        agent=agent_from_table(config.agent),
        verifier=verifier_from_table(config.verifier),
        reward=_reward(tree, config),
        artifacts=stated(config, "artifacts", artifacts_from_list(config.artifacts)),
        files=_rest(tree, config),
        schema=stated(config, "schema_version", config.schema_version),
        extras={FORMAT: dict(toml.unknown)} if toml.unknown else {},
        native={FORMAT: Native(path, tree)},
    )


def read_config(blob: Blob) -> TaskToml:
    """`task.toml`; every problem found is in the error's text, the first one is its place."""
    try:
        return decode_task_toml(blob.read())
    except DocumentRefused as refused:
        raise config_error(refused, CONFIG) from refused


def config_error(refused: DocumentRefused, file: str) -> RlconvertError:
    """The typed error for a document that was refused."""
    first, more = refused.problems[0], len(refused.problems) - 1
    where = first.where
    if first.line is not None:
        where = f"line {first.line} column {first.column}"
    kind = TooBig if first.reason in (Reason.TOO_BIG, Reason.TOO_DEEP) else Malformed
    also = f" (and {more} more: {'; '.join(map(str, refused.problems[1:4]))})" if more else ""
    remedy = "Correct it in the source"
    if refused.harbor_accepts:
        remedy += ", although Harbor itself has no such rule"
    return kind(
        f"{first.message}{also}",
        reason=first.reason.value,
        file=file,
        where=where or None,
        remedy=remedy,
    )


def _place(environment: FileTree, image: str | None) -> tuple[Place, FileTree]:
    """What the runtime is made of, and the files that are put into it as they are."""
    if environment.follow("docker-compose.yaml"):
        return Compose(environment, image=image or None), FileTree()
    built = environment.follow("Dockerfile") is not None
    if image:
        return (Image(image, environment), FileTree()) if built else (Image(image), environment)
    if built:
        return Build(environment), FileTree()
    return NoRuntime(), FileTree() if environment == _NOTHING else environment


def _steps(tree: FileTree, config: TaskTable) -> tuple[Step, ...]:
    if not config.steps:
        prior = _only(tree, PRIOR)
        return (Step(name="", prompt=_prompt(tree, INSTRUCTION), prior=prior),)
    return tuple(_step(tree, config, table) for table in config.steps)


def _step(tree: FileTree, config: TaskTable, table: StepTable) -> Step:
    inside = tree.below(f"steps/{table.name}")
    tests = inside.below("tests")
    return Step(
        name=table.name,
        prompt=_prompt(tree, f"steps/{table.name}/{INSTRUCTION}"),
        seed=inside.below("workdir"),
        tests=tests,
        oracle=inside.below("solution"),
        prior=_only(inside, PRIOR),
        agent=agent_from_table(table.agent),
        verifier=verifier_from_table(table.verifier),
        reward=_step_reward(tree, config, table, tests),
        min_reward=table.min_reward,
        healthcheck=healthcheck_from_table(table.healthcheck),
        artifacts=stated(table, "artifacts", artifacts_from_list(table.artifacts)),
    )


def _prompt(tree: FileTree, path: str) -> Messages:
    return Messages.user(without_canary(read_instruction(tree, path)))


def without_canary(text: str) -> str:
    """An instruction less its leading canary lines and the blank ones after, as Harbor shows it."""
    lines = text.split("\n")
    start = 0
    while start < len(lines) and _CANARY.fullmatch(lines[start].strip()):
        start += 1
    while start < len(lines) and not lines[start].strip():
        start += 1
    return "\n".join(lines[start:])


def _reward(tree: FileTree, config: TaskTable) -> Script | Scored | None:
    script = script_name(verifier_os(config, None), "test")
    shared = not config.steps and not is_separate(config, None)
    if shared and (rule := rule_of(tree.below("tests"))) is not None:
        return rule
    if bundles_tests(tree, config, None) or f"tests/{script}" in tree:
        return Script(script, reward_keys(tree.below("tests")))
    return None


def _step_reward(
    tree: FileTree, config: TaskTable, table: StepTable, tests: FileTree
) -> Script | None:
    if not tests and not bundles_tests(tree, config, table):
        return None
    script = script_name(verifier_os(config, table), "test")
    return Script(script, reward_keys(tree.below("tests").union(tests)))


def _only(tree: FileTree, path: str) -> FileTree:
    entry = tree.entries.get(path)
    return FileTree() if entry is None else FileTree({path: entry})


def _rest(tree: FileTree, config: TaskTable) -> FileTree:
    """Every file that no part of the task owns, at its path."""
    folders = ["environment", "tests", "solution"]
    files = [CONFIG]
    if config.steps:
        for step in config.steps:
            home = f"steps/{step.name}"
            folders += [f"{home}/{name}" for name in ("workdir", "tests", "solution")]
            files += [f"{home}/{INSTRUCTION}", f"{home}/{PRIOR}"]
    else:
        files += [INSTRUCTION, PRIOR]
    inside, owned = tuple(f"{folder}/" for folder in folders), frozenset(files)
    return FileTree(
        {path: entry for path, entry in tree if path not in owned and not path.startswith(inside)},
        tuple(
            path
            for path in tree.empty_folders
            if path != "environment" and not path.startswith(inside)
        ),
    )


# --- task to folder ----------------------------------------------------------------------------


def folder_from_task(task: Task) -> FileTree:
    """The folder of a task, from the model alone; `task_from_folder` gives the same task back.

    The caller has checked that a folder can say it: scripts for rewards, plain text for prompts.
    """
    single = task.steps[0] if len(task.steps) == 1 and not task.steps[0].name else None
    parts = [
        FileTree({CONFIG: _text(encode_task_toml(_toml(task, single)))}),
        task.files,
        _context(task.runtime).union(task.seed).moved("environment"),
        task.tests.moved("tests"),
        FileTree() if task.oracle is None else task.oracle.files.moved("solution"),
    ]
    if image_of(task.runtime.place) is None and not parts[2]:
        parts.append(_NOTHING.moved("environment"))
    if single is not None:
        parts += [_instruction(single), single.prior]
    else:
        for step in task.steps:
            pieces = FileTree().union(
                _instruction(step),
                step.prior,
                step.seed.moved("workdir"),
                step.tests.moved("tests"),
                step.oracle.moved("solution"),
            )
            parts.append(pieces.moved(f"steps/{step.name}"))
    return FileTree().union(*parts)


def _text(data: bytes) -> Entry:
    return File(Blob(data))


def _instruction(step: Step) -> FileTree:
    text = step.prompt.plain if isinstance(step.prompt, Messages) else None
    if text is None:
        raise TypeError("a folder's instruction is plain text")
    if without_canary(text) != text:
        text = "\n" + text  # blank lines go, and what follows them is no canary
    return FileTree({INSTRUCTION: _text(text.encode())})


def _context(runtime: Runtime) -> FileTree:
    match runtime.place:
        case Image(context=context) | Build(context=context) | Compose(context=context):
            return context
        case _:
            return FileTree()


def _toml(task: Task, single: Step | None) -> TaskToml:
    unknown = task.extras.get(FORMAT, {})
    oracle_env = None if task.oracle is None else task.oracle.env
    strategy = task.step_rewards
    keys = given(
        schema_version=task.schema,
        source=task.origin,
        multi_step_reward_strategy=None if strategy is None else RewardStrategy(strategy.value),
        artifacts=list_from_artifacts(task.artifacts, _indexes(unknown, "/artifacts/")),
        task=table_from_identity(task.identity),
        metadata=dict(task.metadata) or None,
        agent=table_from_agent(task.agent),
        verifier=table_from_verifier(task.verifier),
        environment=table_from_runtime(task.runtime, image_of(task.runtime.place)),
        solution=None if oracle_env is None else SolutionTable(env=dict(oracle_env)),
        steps=None
        if single is not None
        else tuple(
            _step_table(step, _indexes(unknown, f"/steps/{index}/artifacts/"))
            for index, step in enumerate(task.steps)
        ),
    )
    return TaskToml(
        TaskTable.model_validate(keys), {key: _value(value) for key, value in unknown.items()}
    )


def _indexes(unknown: Mapping[str, Data], above: str) -> frozenset[int]:
    """The entries of an array that have keys the model does not know."""
    inside = (key[len(above) :] for key in unknown if key.startswith(above))
    return frozenset(int(rest.partition("/")[0]) for rest in inside)


def _value(data: Data) -> Value:
    """The same value in the containers that TOML libraries know."""
    if isinstance(data, Mapping):
        return {key: _value(inner) for key, inner in data.items()}
    if isinstance(data, Sequence) and not isinstance(data, str):
        return [_value(inner) for inner in data]
    return data


def _step_table(step: Step, long: frozenset[int]) -> StepTable:
    minimum = step.min_reward
    return StepTable.model_validate(
        given(
            name=step.name,
            min_reward=dict(minimum) if isinstance(minimum, Mapping) else minimum,
            artifacts=list_from_artifacts(step.artifacts, long),
            agent=table_from_agent(step.agent),
            verifier=table_from_verifier(step.verifier),
            healthcheck=table_from_healthcheck(step.healthcheck),
        )
    )
