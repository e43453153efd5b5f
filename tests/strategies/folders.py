"""Whole Harbor task folders: every runtime, every place a verifier can be, one step or several."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from hypothesis import strategies as st

from rlconvert.files import Entry, FileTree, make_tree
from rlconvert.formats.taskfolder.tables import EnvironmentTable, TaskOs, TaskTable, VerifierMode
from rlconvert.formats.taskfolder.toml_schema import decode_task_toml
from strategies.files import small_trees, text_file, trees, with_links
from strategies.tomls import Table, step_tables, task_tables, text_of
from strategies.words import coin, lines, one_in, texts

Draw = st.DrawFn

SCRIPTS = (
    "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n",
    "#!/bin/sh\r\necho 0.5 > /logs/verifier/reward.txt",
    "#!/bin/bash\necho '{\"reward\": 1}' > /logs/verifier/reward.json\n",
    'echo \'{"reward": 1, "style": 0.5}\' > /logs/verifier/reward.json\n',
    'echo \'{"a": 1, "b": 0.5}\' > /logs/verifier/reward.json\n',
    "echo '{\"only\": 1}' | tee /logs/verifier/reward.json\n",
    'cat > /logs/verifier/reward.json <<EOF\n{"reward": $r}\nEOF\n',
    "python3 -c \"import json; open('reward.json', 'w').write(json.dumps({'reward': 1}))\"\n",
    "pytest && cp r.json /logs/verifier/reward.json\n",
    "true\n",
)
"""Verifiers that write one number, a named one, several, and those that do not tell."""
scripts = st.sampled_from(SCRIPTS)
_plain_scripts = st.sampled_from(SCRIPTS[:7])

DOCKERFILE = "FROM python:3.12-slim\nWORKDIR /app\n"
COMPOSE = "services:\n  main:\n    image: x\n  db:\n    image: postgres\n"

_prompts = texts | lines
_kinds = st.sampled_from(["files", "build", "compose"])
_parts = st.lists(st.sampled_from(["workdir", "tests", "solution"]), max_size=2, unique=True)


@cache
@st.composite
def folders(draw: Draw, declared: str | None = None, plain: bool = False) -> FileTree:
    """A task folder that Harbor would load. `plain`: one that other frameworks take, too."""
    table: Table = draw(task_tables(declared))
    if not plain and draw(one_in(4)):
        table["steps"] = draw(step_tables())
        if draw(coin):
            table["multi_step_reward_strategy"] = '"final"'
    elif draw(one_in(3)):
        table["environment"] = _with(table, "docker_image", "'ghcr.io/x/y@sha256:0'")
    config_text = draw(text_of(table))
    config = decode_task_toml(config_text.encode()).config
    entries: dict[str, Entry] = {"task.toml": text_file(config_text)}
    empty: list[str] = []
    _lay(entries, empty, "environment", draw(_environments(plain)))
    tests = draw(_tests(config, plain))
    _lay(entries, empty, "tests", tests)
    if draw(coin):
        _lay(entries, empty, "solution", draw(trees()))
        if draw(coin):
            entries["solution/solve.sh"] = text_file("#!/bin/sh\ntrue\n", executable=True)
    if config.steps:
        for step in config.steps:
            home = f"steps/{step.name}"
            entries[f"{home}/instruction.md"] = text_file(draw(_prompts))
            for part in draw(_parts):
                _lay(entries, empty, f"{home}/{part}", draw(small_trees))
            if draw(one_in(3)):
                for name in _script_names(config):
                    entries[f"{home}/tests/{name}"] = text_file(draw(scripts))
    else:
        entries["instruction.md"] = text_file(draw(_prompts))
    if draw(one_in(5)):
        entries["trajectory.json"] = text_file(draw(texts))
    if draw(coin):
        _lay(entries, empty, "more", draw(small_trees))
        entries["NOTES.md"] = text_file(draw(texts))
    tree = make_tree(entries, empty)
    homes = {"", "environment", "tests", "more"} & {"", *_tops(tree)}
    return draw(with_links(tree, homes))


def _with(table: Table, key: str, literal: str) -> Table:
    inner = table.get("environment")
    return {**(inner if isinstance(inner, dict) else {}), key: literal}


def _tops(tree: FileTree) -> Iterator[str]:
    for path in (*tree.entries, *(f"{folder}/" for folder in tree.empty_folders)):
        if "/" in path:
            yield path.partition("/")[0]


def _lay(entries: dict[str, Entry], empty: list[str], folder: str, tree: FileTree) -> None:
    entries |= tree.moved(folder).entries
    empty += tree.moved(folder).empty_folders if tree else [folder]


@cache
@st.composite
def _environments(draw: Draw, plain: bool) -> FileTree:
    tree = draw(trees())
    entries = dict(tree.entries)
    if plain and not entries:  # the Hub would lose a folder that Harbor wants to be there
        entries["first"] = text_file("")
    kind = draw(_kinds)
    if kind != "files":
        entries["Dockerfile"] = text_file(DOCKERFILE)
    if kind == "compose":
        entries["docker-compose.yaml"] = text_file(COMPOSE)
    return make_tree(entries, tree.empty_folders)


def _script_names(config: TaskTable) -> list[str]:
    """The scripts that make every verifier of the task complete, whatever its system."""
    windows = any(table.os is TaskOs.WINDOWS for table in _environment_tables(config))
    return ["test.sh", "test.bat"] if windows else ["test.sh"]


def _environment_tables(config: TaskTable) -> Iterator[EnvironmentTable]:
    yield config.environment
    for verifier in (config.verifier, *(step.verifier for step in config.steps or ())):
        if verifier.environment is not None:
            yield verifier.environment


@st.composite
def _tests(draw: Draw, config: TaskTable, plain: bool) -> FileTree:
    tree = draw(trees())
    entries = dict(tree.entries)
    own_machine = config.verifier.environment_mode is VerifierMode.SEPARATE
    bundled = own_machine and not config.steps and draw(coin)
    if bundled:
        entries["Dockerfile"] = text_file(DOCKERFILE)
    if not bundled or draw(coin):
        script = draw(_plain_scripts if plain else scripts)
        for name in _script_names(config):
            entries[name] = text_file(script, executable=draw(coin))
    if draw(one_in(6)):
        entries[".harborignore"] = text_file("*.pyc\n!test.sh\n")
    return make_tree(entries, tree.empty_folders)
