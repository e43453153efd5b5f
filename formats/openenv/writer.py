"""Writes task folders for `openenv harbor`: each in `tasks/`, one level down, and nothing else.

Facts: openenv 0.10.0. Every folder in `tasks/` counts as a task, and its place in the order of
their names is all that a task is known by.
"""

from __future__ import annotations

from collections.abc import Iterator

from rlconvert.files import FileTree, Link
from rlconvert.format import (
    Aim,
    Fate,
    ListItem,
    Note,
    Outcome,
    PutTree,
    Refusal,
    RepoNote,
    RepoPart,
    Written,
)
from rlconvert.formats.taskfolder.choices import base_image_from, repo_id_from
from rlconvert.formats.taskfolder.folder import CONFIG, read_config
from rlconvert.formats.taskfolder.folder import FORMAT as FOLDER
from rlconvert.formats.taskfolder.graders import graders, scored_by
from rlconvert.formats.taskfolder.layouts import REGISTRY
from rlconvert.formats.taskfolder.registries import registry_stands
from rlconvert.formats.taskfolder.saying import (
    folder_name,
    folder_of,
    foreign_extras,
    own_extras,
    rebuilt_rewards,
    reward_names,
    row_remarks,
)
from rlconvert.formats.taskfolder.tables import TaskOs
from rlconvert.model import Native, Repo, Task

from .card import reward_section, use_section
from .fates import REFUSALS

FORMAT = "openenv"
REWARD = "reward"


class OpenEnvWriter:
    """Alone in its output, a task that came from here goes back to where it stood."""

    def __init__(self, repo: Repo, aim: Aim) -> None:
        self._repo = repo
        self._alone = aim.alone
        self._home = aim.home
        self._base_image = base_image_from(aim.options)
        self._repo_id = repo_id_from(aim.options)
        self._key = aim.options.get("reward-key")

    # tasks

    def task(self, task: Task, tasksets: tuple[str, ...]) -> Written | Refusal:
        own = task.native.get(FORMAT)
        if own is not None and self._alone:
            parts = (PutTree(own.path, own.tree),)
            return Written(way="identity", id=task.id, native=own, parts=parts)
        folder = folder_of(task, self._base_image)
        if isinstance(folder, Refusal):
            return folder
        task, tree = folder.task, folder.tree
        name = folder_name(task, shared=not self._alone)
        if isinstance(name, Refusal):
            return name
        if fault := self._fault(name, tree, task):
            return fault
        path = f"tasks/{name}"
        return Written(
            way=folder.way or "delegated",
            id=name,
            native=Native(path, tree),
            parts=(PutTree(path, tree), ListItem(FORMAT, name), *graders(FORMAT, task)),
            notes=(
                *_notes(task, tree),
                *own_extras(task, Fate.DELEGATED),
                *foreign_extras(task, FOLDER),
                *rebuilt_rewards(folder),
                *row_remarks(task),
            ),
        )

    def _fault(self, name: str, tree: FileTree, task: Task) -> Refusal | None:
        if name.startswith("."):
            return _refuse("name-hidden", "identity", name, "Rename the task in the source")
        links = sorted(path for path, entry in tree if isinstance(entry, Link))
        if links:
            remedy = "Put the files in the place of the links"
            return _refuse("links", "files", ", ".join(links[:3]), remedy)
        for keys in _keys(task):
            if keys is None:
                continue
            named = keys or (REWARD,)
            alone = len(named) == 1 and self._key is None
            if not alone and (self._key or REWARD) not in named:
                remedy = "Choose one of them with --reward-key"
                return _refuse("reward-key-missing", "reward", ", ".join(named), remedy)
        return None

    # the rest

    def close(self, outcome: Outcome) -> Iterator[RepoPart]:
        """What the card says; whether OpenEnv would count tasks that are not for it."""
        mine = sum(1 for _ in outcome.items(FORMAT))
        if not mine:
            return
        others = outcome.converted - mine
        if others:
            yield _note(
                "OpenEnv counts every folder in tasks/, those of refused tasks too; with "
                "--drop-refused they are left out",
                str(others),
            )
        if len(self._repo.tasksets) > 1:
            yield _note("OpenEnv knows no tasksets: all tasks are one set", "")
        if any(taskset.order is not None for taskset in self._repo.tasksets):
            yield _note("the order of tasks is that of their folders' names", "")
        yield use_section(mine, others, self._repo_id, self._key)
        yield reward_section(scored_by(FORMAT, outcome))

    def owns(self, path: str, outcome: Outcome) -> bool:
        if self._home:
            return False
        if path == REGISTRY:
            return not registry_stands(outcome)
        return path.partition("/")[0] == "tasks" or path == "README.md"


def _keys(task: Task) -> Iterator[tuple[str, ...] | None]:
    for step in task.steps:
        yield reward_names(step.reward or task.reward)


def _notes(task: Task, tree: FileTree) -> Iterator[Note]:
    file = tree.file(CONFIG)
    if file is None:
        raise TypeError("a task folder without its task.toml")
    config = read_config(file.blob).config
    environment = config.environment
    if environment.os is TaskOs.WINDOWS:
        yield _said("runtime", "of its sandboxes, docker on Windows and daytona run Windows")
    if environment.tpu is not None:
        yield _said("runtime", "none of its usual sandboxes has a TPU: OPENENV_SANDBOXES=gke")
    if not environment.docker_image and not tree.below("environment").entries:
        yield _said("runtime", "environment/ is empty: it is not kept by Git nor by the Hub")
    if any(keys is None for keys in _keys(task)):
        yield _said("reward", "reading its files does not tell which named rewards it writes")
    elif any(keys is not None and len(keys) > 1 for keys in _keys(task)):
        yield _said("reward", "named rewards beside the one that counts are reported with it")


def _said(field: str, reason: str) -> Note:
    return Note(field=field, fate=Fate.DELEGATED, reason=reason)


def _note(reason: str, detail: str) -> RepoNote:
    return RepoNote(Note(field="tasksets", fate=Fate.TRANSLATED, reason=reason, detail=detail))


def _refuse(reason: str, field: str, detail: str, remedy: str) -> Refusal:
    problem = f"{REFUSALS[reason]}: {detail}"
    return Refusal(reason=reason, problem=problem, field=field, remedy=remedy)


def open_writer(repo: Repo, aim: Aim) -> OpenEnvWriter:
    """A writer for OpenEnv; `UsageError` for an option that makes no sense."""
    return OpenEnvWriter(repo, aim)
