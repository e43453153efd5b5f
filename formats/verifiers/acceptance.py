"""Whether Verifiers loads a task folder and grades it as Harbor does.

Facts: verifiers 0.4.0, `tasksets/harbor/taskset.py` (`parse_task` and what it calls), `env.py`,
`compose.py`, and harbor 0.24.0, which it loads folders with. `fates.py` says for each reason
whether the framework itself fails or would run a task that is not the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from rlconvert.files import FileTree
from rlconvert.format import Fate, Note, Refusal
from rlconvert.formats.taskfolder.demands import bundles_tests, is_ignored, is_separate
from rlconvert.formats.taskfolder.folder import PRIOR
from rlconvert.formats.taskfolder.naming import MAIN_SERVICE
from rlconvert.formats.taskfolder.network import NetworkMode
from rlconvert.formats.taskfolder.tables import EnvironmentTable, TaskOs, TaskTable
from rlconvert.links import links_to_nothing

from .compose import ComposeFile, NotCompose, read_compose
from .fates import REFUSALS

COMPOSE, DOCKERFILE = "environment/docker-compose.yaml", "environment/Dockerfile"
SCRIPT = "tests/test.sh"
REWARD = "reward"

_SHELL = re.compile(
    rb"#!\s*(?:/usr/bin/env\s+(?:-S\s+)?)?(?:/\S*/)?(?:ba|da|a)?sh(?:\s+(\S.*))?\s*"
)
_WIDEST_INT = 1 << 63

Fault = tuple[str, str, str]
"""A reason, the field of the model it is about, and what there is in this task."""


def fault_of(
    name: str, tree: FileTree, config: TaskTable, keys: Sequence[str] | None, key: str
) -> Refusal | None:
    """Why the folder `name` cannot go to Verifiers; None when it can.

    `keys` are the named rewards that its verifier writes (None: not known), `key` the one that
    Verifiers is to look for.
    """
    found = next(_faults(name, tree, config, keys, key), None)
    if found is None:
        return None
    reason, field, detail = found
    more = f": {detail}" if detail else ""
    return Refusal(
        reason=reason,
        problem=REFUSALS[reason] + more,
        field=field,
        remedy=_REMEDIES.get(reason),
    )


_REMEDIES = {
    "image-missing": "Name the image it makes with --image-template or --image-map",
    "verifier-image-missing": "Name the image in [verifier.environment]",
    "reward-key-missing": "Choose one of them with --reward-key",
    "name-not-fetched": "Rename the folder",
    "link-to-nothing": "Remove the link, or add what it leads to",
    "task-inside": "Rename that file",
}


def _faults(
    name: str, tree: FileTree, config: TaskTable, keys: Sequence[str] | None, key: str
) -> Iterator[Fault]:
    environment = config.environment
    if "[" in name:
        yield "name-not-fetched", "identity", name
    if (link := next(links_to_nothing(tree), None)) is not None:
        yield "link-to-nothing", "files", link
    inner = sorted(path for path in _paths(tree) if "task.toml" in path.split("/")[1:])
    if inner:
        yield "task-inside", "files", inner[0]
    if config.steps:
        yield "several-steps", "steps", ""
    for table in (environment, config.verifier.environment):
        if table is not None and _is_fraction(table.cpus):
            yield "fraction-of-a-cpu", "runtime", f"{table.cpus}"
    yield from _verifier_faults(tree, config)
    yield from _place_faults(tree, config)
    if environment.os is TaskOs.WINDOWS:
        yield "windows", "runtime", ""
    if environment.tpu is not None:
        yield "tpu", "runtime", ""
    yield from _metadata_faults(config)
    if any(server.headers for server in environment.mcp_servers):
        yield "mcp-headers", "runtime", ""
    if PRIOR in tree.entries:
        yield "conversation-before", "steps.prior", ""
    yield from _test_faults(tree, config)
    if keys and key not in keys:
        yield "reward-key-missing", "reward", f"it writes {', '.join(keys)}, not {key}"
    if keys == () and key != REWARD:
        yield "reward-key-missing", "reward", f"it writes one number, which is called {REWARD}"


def _paths(tree: FileTree) -> Iterator[str]:
    yield from tree.entries
    yield from tree.empty_folders


def _is_fraction(cpus: float | None) -> bool:
    return isinstance(cpus, float) or (cpus is not None and not -_WIDEST_INT <= cpus < _WIDEST_INT)


def _verifier_faults(tree: FileTree, config: TaskTable) -> Iterator[Fault]:
    verifier = config.verifier
    if verifier.user is not None:
        yield "verifier-user", "verifier", f"{verifier.user}"
    if any(hook.user is not None for hook in verifier.collect):
        yield "collect-user", "verifier", ""
    sources: set[tuple[str, PurePosixPath]] = set()
    services = {hook.service for hook in verifier.collect}
    for entry in config.artifacts:
        source, service = (entry, None) if isinstance(entry, str) else (entry.source, entry.service)
        services.add(service or MAIN_SERVICE)
        place = (service or MAIN_SERVICE, PurePosixPath(source))
        if place in sources:
            yield "artifact-twice", "artifacts", source
        sources.add(place)
    compose = compose_of(tree)
    if isinstance(compose, NotCompose):
        yield "compose-unreadable", "runtime", str(compose)
        return
    declared = frozenset() if compose is None else compose.services
    if missing := sorted(services - {MAIN_SERVICE} - declared):
        yield "service-undeclared", "verifier", ", ".join(missing)
    if compose is not None and compose.refused:
        yield "compose-refused", "runtime", ", ".join(compose.refused)
    if compose is not None and config.environment.gpus:
        yield "compose-refused", "runtime", "a GPU"
    if not is_separate(config, None):
        return
    own = verifier.environment
    bundled = bundles_tests(tree, config, None)
    machine = own or config.environment
    system = machine.os if bundled or "os" in machine.model_fields_set else config.environment.os
    if system is not TaskOs.LINUX or machine.tpu is not None:
        yield "verifier-machine", "verifier", ""
    if bundled and not (own is not None and own.docker_image):
        yield "verifier-image-missing", "verifier", ""


def compose_of(tree: FileTree) -> ComposeFile | NotCompose | None:
    """The task's compose file; None where there is none."""
    file = tree.follow(COMPOSE)
    if file is None:
        return None
    try:
        return read_compose(file.blob.read())
    except NotCompose as fault:
        return fault


def _place_faults(tree: FileTree, config: TaskTable) -> Iterator[Fault]:
    if config.environment.docker_image:
        return
    if lacks_image(tree, config.environment):
        yield "image-missing", "runtime", ""
    elif tree.follow(COMPOSE) is None and tree.below("environment").entries.keys() - {".gitkeep"}:
        yield "files-without-image", "seed", ""


def lacks_image(tree: FileTree, environment: EnvironmentTable) -> bool:
    """Whether Verifiers would have to build the Dockerfile, which it does not."""
    if environment.docker_image:
        return False
    compose = compose_of(tree)
    if isinstance(compose, NotCompose) or (compose is not None and compose.main_is_made):
        return False
    return tree.follow(DOCKERFILE) is not None or tree.has_folder(DOCKERFILE)


def _metadata_faults(config: TaskTable) -> Iterator[Fault]:
    for key in ("difficulty", "category"):
        if not isinstance(config.metadata.get(key, ""), str):
            yield "metadata-types", "metadata", key
    tags = config.metadata.get("tags", [])
    if not isinstance(tags, list | tuple) or not all(isinstance(tag, str) for tag in tags):
        yield "metadata-types", "metadata", "tags"


def _test_faults(tree: FileTree, config: TaskTable) -> Iterator[Fault]:
    if bundles_tests(tree, config, None):
        return
    script = tree.follow(SCRIPT)
    first = b"" if script is None else next(iter(script.blob.chunks()), b"").split(b"\n", 1)[0]
    shell = _SHELL.fullmatch(first)
    if first.startswith(b"#!") and (shell is None or shell[1]):
        reason = "script-not-bash" if shell is None else "script-options"
        yield reason, "tests", first.decode("ascii", "backslashreplace")[:80]
    kept_back = (path for path in tree.below("tests").entries if is_ignored(tree, f"tests/{path}"))
    if (one := next(kept_back, None)) is not None:
        yield "tests-ignored", "tests", f"tests/{one}"


def notes_of(tree: FileTree, config: TaskTable, keys: Sequence[str] | None) -> Iterator[Note]:
    """What a person should know about a task that Verifiers takes."""
    environment, verifier = config.environment, config.verifier
    compose = tree.follow(COMPOSE) is not None
    if compose:
        yield _note("runtime", "Compose needs docker with --env.trust-compose, or a VM of a cloud")
    elif not environment.docker_image:
        yield _note("runtime", "no image is named: it runs in the one that the harness has")
    if environment.gpu_types and len(environment.gpu_types) > 1:
        yield _dropped("runtime", "only the first kind of GPU is asked for")
    if keys is None:
        yield _note("reward", "reading its files does not tell which named rewards it writes")
    elif len(keys) > 1:
        yield _note("reward", "named rewards beside the one that counts become metrics")
    if verifier.collect:
        yield _note("verifier", "a collect hook that fails ends the run, which Harbor goes on with")
    if any(not isinstance(each, str) and each.destination for each in config.artifacts):
        yield _dropped("artifacts", "where artifacts are kept on the host")
    mode = verifier.network_mode or environment.network_mode
    if mode is not NetworkMode.PUBLIC and not is_separate(config, None):
        yield _dropped("verifier", "the verifier has the network in the agent's machine")


def _note(field: str, reason: str) -> Note:
    return Note(field=field, fate=Fate.DELEGATED, reason=reason)


def _dropped(field: str, reason: str) -> Note:
    return Note(field=field, fate=Fate.DROPPED, reason=reason)
