"""Writes task folders for Verifiers' taskset `harbor`, and the registry entry that it loads.

Facts: verifiers 0.4.0. One task that it cannot load stops all the others of a dataset, so that the
entry names exactly those it takes. A folder that other targets share stays as it is; one that gets
an image stands in `tasks-verifiers/` then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rlconvert.errors import WriteError
from rlconvert.files import Blob, File, FileTree, folded
from rlconvert.format import (
    Aim,
    Fate,
    Note,
    Outcome,
    PutTree,
    Refusal,
    RepoPart,
    Written,
)
from rlconvert.formats.taskfolder.choices import base_image_from, is_reference, repo_id_from
from rlconvert.formats.taskfolder.folder import CONFIG, read_config
from rlconvert.formats.taskfolder.folder import FORMAT as FOLDER
from rlconvert.formats.taskfolder.graders import graders, scored_by
from rlconvert.formats.taskfolder.layouts import REGISTRY
from rlconvert.formats.taskfolder.registries import dataset_entries, kept_registry, listed
from rlconvert.formats.taskfolder.saying import (
    folder_name,
    folder_of,
    foreign_extras,
    own_extras,
    rebuilt_rewards,
    reward_names,
    row_remarks,
)
from rlconvert.formats.taskfolder.tables import TaskTable
from rlconvert.model import Native, Repo, Task

from .acceptance import REWARD, fault_of, lacks_image, notes_of
from .card import reward_section, use_section
from .fates import REFUSALS
from .images import Images, images_from, with_image

FORMAT = "verifiers"
EDITED = "tasks-verifiers"


@dataclass(frozen=True, slots=True)
class _Folder:
    """A task's folder as Verifiers is to have it."""

    tree: FileTree
    config: TaskTable
    image: str | None = None


class VerifiersWriter:
    """Alone in its output, a task that came from here goes back to where it stood."""

    def __init__(self, repo: Repo, aim: Aim) -> None:
        self._repo = repo
        self._alone = aim.alone
        self._home = aim.home
        self._base_image = base_image_from(aim.options)
        self._repo_id = repo_id_from(aim.options)
        self._images: Images = images_from(aim.options)
        self._key = aim.options.get("reward-key") or REWARD

    # tasks

    def task(self, task: Task, tasksets: tuple[str, ...]) -> Written | Refusal:
        own = task.native.get(FORMAT)
        if own is not None and self._alone:
            parts = (PutTree(own.path, own.tree),)
            return Written(way="identity", id=task.id, native=own, parts=parts)
        folder = folder_of(task, self._base_image)
        if isinstance(folder, Refusal):
            return folder
        task = folder.task
        name = folder_name(task, shared=not self._alone)
        if isinstance(name, Refusal):
            return name
        theirs = self._imaged(task.id, folder.tree)
        if isinstance(theirs, Refusal):
            return theirs
        keys = reward_names(task.steps[0].reward or task.reward)
        if fault := fault_of(name, theirs.tree, theirs.config, keys, self._key):
            return fault
        imaged = theirs.image is not None
        home = EDITED if imaged and not self._alone else "tasks"
        path = f"{home}/{name}"
        way: str = folder.way or "delegated"
        if imaged:
            way = "imaged" if folder.way is None else f"{way}, imaged"
        return Written(
            way=way,
            id=name,
            native=Native(path, theirs.tree),
            parts=(
                PutTree(path, theirs.tree),
                *listed(FORMAT, task.id, path, tasksets),
                *graders(FORMAT, task),
            ),
            notes=(
                *_image_note(theirs.image),
                *notes_of(theirs.tree, theirs.config, keys),
                *own_extras(task, Fate.DELEGATED),
                *foreign_extras(task, FOLDER),
                *rebuilt_rewards(folder),
                *row_remarks(task),
            ),
            rewritten=(CONFIG,) if imaged and folder.way is None else (),
        )

    def _imaged(self, task: str, tree: FileTree) -> _Folder | Refusal:
        """The folder, with the user's image where it has none that Verifiers could run."""
        file = tree.file(CONFIG)
        if file is None:
            raise TypeError("a task folder without its task.toml")
        config = read_config(file.blob).config
        image = self._images.image_of(task)
        if image is None or not lacks_image(tree, config.environment):
            return _Folder(tree, config)
        if not is_reference(image):
            return _refuse("image-not-a-reference", image, "Name it with --image-map")
        data = with_image(file.blob.read(), image)
        if data is None:
            remedy = "Write docker_image into the source's task.toml"
            return _refuse("config-not-editable", image, remedy)
        entries = {**tree.entries, CONFIG: File(Blob(data), file.executable)}
        edited = FileTree(entries, tree.empty_folders)
        return _Folder(edited, read_config(Blob(data)).config, image)

    # the rest

    def close(self, outcome: Outcome) -> Iterator[RepoPart]:
        """The registry entries, and what the card says about them."""
        if self._home and REGISTRY in outcome.shared:
            yield from kept_registry(outcome)
        shared = not self._alone
        suffix = f"-{FORMAT}" if shared else ""
        entries = list(dataset_entries(FORMAT, self._repo, outcome, suffix=suffix, marked=shared))
        entries = [entry for entry in entries if entry.entry["tasks"]]
        if not entries or (self._home and REGISTRY in outcome.shared):
            return
        if shared:
            self._check_names(outcome)
        yield from entries
        yield use_section([entry.key for entry in entries], self._repo_id, self._key)
        yield reward_section(self._key, scored_by(FORMAT, outcome))

    def _check_names(self, outcome: Outcome) -> None:
        """`WriteError` for two folders of one name, of which Harbor fetches neither.

        One name can stand in `tasks/` and, for another task, in `tasks-verifiers/`.
        """
        for taskset in self._repo.tasksets:
            taken: set[str] = set()
            for item in outcome.items(f"{FORMAT} {taskset.key}"):
                name = folded(item.rsplit("/", 1)[-1])
                if name in taken:
                    raise WriteError(
                        f"two tasks that are for Verifiers stand in folders called {name!r}",
                        reason="names-clash",
                        remedy="Rename one of them, or convert for Verifiers alone",
                    )
                taken.add(name)

    def owns(self, path: str, outcome: Outcome) -> bool:
        if self._home:
            return False
        top = path.partition("/")[0]
        return top in ("tasks", EDITED) or path in ("README.md", REGISTRY)


def _image_note(image: str | None) -> Iterator[Note]:
    if image is not None:
        yield Note(
            field="runtime",
            fate=Fate.TRANSLATED,
            reason="the image is asserted by the user, not built from the Dockerfile",
            detail=image,
        )


def _refuse(reason: str, image: str, remedy: str) -> Refusal:
    return Refusal(
        reason=reason,
        problem=f"{REFUSALS[reason]}: {image!r}",
        field="runtime",
        remedy=remedy,
    )


def open_writer(repo: Repo, aim: Aim) -> VerifiersWriter:
    """A writer for Verifiers; `UsageError` for an option that makes no sense."""
    return VerifiersWriter(repo, aim)
