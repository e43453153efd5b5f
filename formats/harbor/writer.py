"""Writes Harbor task sets: a folder per task, and the registry where there was one.

Beside other targets there always is a registry, since theirs may name other tasks.
"""

from __future__ import annotations

from collections.abc import Iterator

from rlconvert.format import (
    Aim,
    Fate,
    Outcome,
    PutTree,
    Refusal,
    RepoPart,
    Written,
)
from rlconvert.formats.taskfolder.choices import base_image_from, repo_id_from
from rlconvert.formats.taskfolder.folder import FORMAT
from rlconvert.formats.taskfolder.graders import graders, scored_by
from rlconvert.formats.taskfolder.layouts import MANIFEST, REGISTRY
from rlconvert.formats.taskfolder.registries import (
    dataset_entries,
    kept_registry,
    listed,
    registry_note,
)
from rlconvert.formats.taskfolder.saying import (
    folder_name,
    folder_of,
    foreign_extras,
    git_links,
    own_extras,
    rebuilt_rewards,
    row_remarks,
)
from rlconvert.model import Native, Repo, Task

from .card import reward_section, use_section

CARD = "README.md"


class HarborWriter:
    """Alone in its output, a task of Harbor's own goes back to where it stood.

    Any other goes to `tasks/<id>`; beside other targets to the folder that they all use.
    """

    def __init__(self, repo: Repo, aim: Aim) -> None:
        self._repo = repo
        self._alone = aim.alone
        self._home = aim.home
        self._base_image = base_image_from(aim.options)
        self._repo_id = repo_id_from(aim.options)

    def task(self, task: Task, tasksets: tuple[str, ...]) -> Written | Refusal:
        folder = folder_of(task, self._base_image)
        if isinstance(folder, Refusal):
            return folder
        task, tree = folder.task, folder.tree
        name = folder_name(task, shared=not self._alone)
        if isinstance(name, Refusal):
            return name
        native = task.native.get(FORMAT)
        path = f"tasks/{name}"
        if native is not None and self._alone:
            path = native.path
        elif task.place is not None and self._home:
            path = task.place
        return Written(
            way=folder.way or "identity",
            id=name,
            native=Native(path, tree),
            parts=(
                PutTree(path, tree),
                *listed(FORMAT, task.id, path, tasksets),
                *graders(FORMAT, task),
            ),
            notes=(
                *own_extras(task, Fate.EXACT),
                *git_links(task, Fate.EXACT),
                *foreign_extras(task, FORMAT),
                *rebuilt_rewards(folder),
                *row_remarks(task),
            ),
        )

    def close(self, outcome: Outcome) -> Iterator[RepoPart]:
        """`registry.json` names what is there: verbatim where nothing was left out.

        What goes back to where it stood keeps the card it had.
        """
        # The sidecar brought the files of no task back, and there was no registry among them.
        datasets: list[str] = []
        came_back = self._home and (self._repo.format != FORMAT or REGISTRY in self._repo.shared)
        if self._home and REGISTRY in outcome.shared:
            yield from kept_registry(outcome)
        elif (self._repo.explicit and not came_back) or not self._alone:
            entries = list(dataset_entries(FORMAT, self._repo, outcome))
            yield from entries
            datasets = [entry.key for entry in entries if entry.entry["tasks"]]
        if self._home and not outcome.complete and MANIFEST in outcome.shared:
            yield registry_note("dataset.toml still names the tasks that were left out")
        if not self._home:
            yield use_section(datasets, self._repo_id)
            yield reward_section(scored_by(FORMAT, outcome))

    def owns(self, path: str, outcome: Outcome) -> bool:
        # Another format's files of this name would become the registry of these tasks.
        foreign = path in (REGISTRY, CARD) and not self._home
        return foreign or (not self._alone and path.startswith("tasks/"))


def open_writer(repo: Repo, aim: Aim) -> HarborWriter:
    """A writer of Harbor task folders."""
    return HarborWriter(repo, aim)
