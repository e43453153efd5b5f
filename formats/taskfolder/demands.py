"""What a task folder must hold beside a valid `task.toml`, and what is too dangerous to read.

Facts: harbor 0.26.0, `Task._validate_tests`, `Task.is_valid_dir` and `TaskFileFilter`. Stricter
than Harbor: an instruction must be a regular file in UTF-8 (Harbor follows a link to anywhere and
fails on other encodings only when it runs the task), a script must be a file, and the folders that
Harbor gives a meaning must be folders, not links to one.
"""

from __future__ import annotations

from collections.abc import Iterator

from rlconvert.errors import Malformed, UnsafePath
from rlconvert.files import FileTree, Link, parents

from .tables import EnvironmentTable, StepTable, TaskOs, TaskTable, VerifierMode, VerifierTable

IGNORE_FILE = ".harborignore"
BUNDLES = ("Dockerfile", "docker-compose.yaml")
"""Files that make a tests folder the verifier's own image, tests included."""


def check_folder(tree: FileTree, config: TaskTable) -> None:
    """Raise for the first demand of Harbor that the folder does not meet."""
    _check_own_folders(tree, config)
    if not config.environment.docker_image and not tree.has_folder("environment"):
        raise _missing("environment", "the folder environment/ is missing, and no image is named")
    if not config.steps:
        read_instruction(tree, "instruction.md")
        _check_script(tree, config, None)
        return
    for step in config.steps:
        if not tree.has_folder(f"steps/{step.name}"):
            raise _missing(f"steps/{step.name}", "the folder of this step is missing")
        read_instruction(tree, f"steps/{step.name}/instruction.md")
        _check_script(tree, config, step)


def _check_own_folders(tree: FileTree, config: TaskTable) -> None:
    homes = [f"steps/{step.name}" for step in config.steps or ()]
    inner = [f"{home}/{name}" for home in homes for name in ("workdir", "tests", "solution")]
    tops = ["environment", "tests", "solution", "steps"]
    for path in (*tops, *homes, *inner):
        if isinstance(tree.entries.get(path), Link):
            raise UnsafePath(
                "a folder of the task must be a folder, not a link to one",
                reason="folder-is-a-link",
                file=path,
                remedy="Replace the link by the folder",
            )


def read_instruction(tree: FileTree, path: str) -> str:
    """The text of an instruction as Harbor reads it: UTF-8, every line end a line feed."""
    if isinstance(tree.entries.get(path), Link):
        raise UnsafePath(
            "an instruction must be a file, not a link",
            reason="instruction-is-a-link",
            file=path,
            remedy="Replace the link by the file",
        )
    file = tree.file(path)
    if file is None:
        raise _missing(path, "the instruction is missing, or is not a file")
    try:
        text = file.blob.read().decode()
    except UnicodeDecodeError as error:
        raise Malformed(
            "the instruction is not UTF-8",
            reason="instruction-not-utf8",
            file=path,
            where=f"byte {error.start}",
            remedy="Save it as UTF-8",
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _check_script(tree: FileTree, config: TaskTable, step: StepTable | None) -> None:
    if bundles_tests(tree, config, step):
        return
    script = script_name(verifier_os(config, step), "test")
    path = find_script(tree, script, step)
    if path is None:
        wanted = f"tests/{script}" if step is None else f"steps/{step.name}/tests/{script}"
        raise _missing(wanted, "the verifier's script is missing")
    if tree.follow(path) is None:
        raise Malformed(
            "the verifier's script is a folder",
            reason="script-not-a-file",
            file=path,
            remedy="Put the script there",
        )
    if is_ignored(tree, path):
        raise Malformed(
            f"the verifier's script is excluded by a {IGNORE_FILE}",
            reason="script-ignored",
            file=path,
            remedy=f"Take it out of the {IGNORE_FILE}",
        )


def script_name(system: TaskOs, base: str) -> str:
    """``test.sh`` or ``test.bat``."""
    return f"{base}.bat" if system is TaskOs.WINDOWS else f"{base}.sh"


def find_script(tree: FileTree, script: str, step: StepTable | None) -> str | None:
    """Where the verifier's script stands: the step's own, else the shared one."""
    places = [f"tests/{script}"]
    if step is not None:
        places.insert(0, f"steps/{step.name}/tests/{script}")
    return next((path for path in places if _exists(tree, path)), None)


def _exists(tree: FileTree, path: str) -> bool:
    return tree.follow(path) is not None or tree.has_folder(path)


def is_separate(config: TaskTable, step: StepTable | None) -> bool:
    """Whether the verifier runs in an environment of its own."""
    tables = [config.verifier] if step is None else [step.verifier, config.verifier]
    modes = (_mode(table) for table in tables)
    return next((mode for mode in modes if mode), None) is VerifierMode.SEPARATE


def _mode(table: VerifierTable) -> VerifierMode | None:
    if table.environment_mode is None and table.environment is not None:
        return VerifierMode.SEPARATE
    return table.environment_mode


def _candidates(
    config: TaskTable, step: StepTable | None
) -> Iterator[tuple[EnvironmentTable | None, str]]:
    if step is not None:
        yield step.verifier.environment, f"steps/{step.name}/tests"
    yield config.verifier.environment, "tests"


def bundles_tests(tree: FileTree, config: TaskTable, step: StepTable | None) -> bool:
    """Whether a separate verifier's image holds the tests, so that the folder need not."""
    return is_separate(config, step) and any(
        (own is not None and bool(own.docker_image))
        or any(tree.follow(f"{folder}/{name}") for name in BUNDLES)
        for own, folder in _candidates(config, step)
    )


def verifier_os(config: TaskTable, step: StepTable | None) -> TaskOs:
    """The system that the verifier's script is for."""
    if is_separate(config, step):
        for own in (
            None if step is None else step.verifier.environment,
            config.verifier.environment,
        ):
            if own is not None:
                return own.os if "os" in own.model_fields_set else config.environment.os
    return config.environment.os


def is_ignored(tree: FileTree, path: str) -> bool:
    """Whether a `.harborignore` above `path` excludes it; such files reach no container."""
    specs = []
    for folder in parents(path):
        if not _in_scope(folder):
            continue
        if file := tree.follow(f"{folder}/{IGNORE_FILE}"):
            from pathspec import GitIgnoreSpec

            lines = file.blob.read().decode("utf-8", "replace").splitlines()
            specs.append((folder, GitIgnoreSpec.from_lines(lines)))
    if not specs:
        return False
    for whole in (*parents(path), path):
        excluded = False
        for folder, spec in specs:
            if whole.startswith(folder + "/"):
                suffix = "" if whole == path else "/"
                match = spec.check_file(whole[len(folder) + 1 :] + suffix)
                excluded = excluded if match.include is None else match.include
        if excluded:
            return True
    return False


def _in_scope(folder: str) -> bool:
    parts = folder.split("/")
    if parts[0] == "steps":
        parts = parts[2:]
    return bool(parts) and parts[0] in ("tests", "solution")


def _missing(path: str, problem: str) -> Malformed:
    return Malformed(problem, reason="file-missing", file=path, remedy="Add it to the task")
