"""Writing `registry.json`: from the one that was read, or from the model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rlconvert.errors import UnsafePath
from rlconvert.files import Blob
from rlconvert.format import AddEntry, Fate, ListItem, Note, Outcome, PutFile, RepoNote
from rlconvert.model import Repo

from .documents import Value
from .layouts import MARK, REGISTRY, place_of
from .problems import DocumentRefused
from .registry_schema import (
    RegistryDataset,
    RegistryJson,
    RegistryTask,
    decode_registry_json,
    encode_registry_json,
)


def filtered_registry(data: bytes, outcome: Outcome) -> bytes:
    """A registry less the tasks that do not stand in the output; all other keys are kept."""
    registry = decode_registry_json(data)
    kept: list[RegistryDataset] = []
    unknown = {}
    here = _named_here(registry)
    for number, dataset in enumerate(registry.datasets):
        stays = [index for index, task in enumerate(dataset.tasks) if _stands(task, outcome, here)]
        moved = {
            f"/{number}/tasks/{old}/": f"/{number}/tasks/{new}/" for new, old in enumerate(stays)
        }
        for pointer, value in registry.unknown.items():
            if not pointer.startswith(f"/{number}/"):
                continue
            home = "/".join(pointer.split("/")[:4]) + "/"
            if home in moved:
                unknown[moved[home] + pointer.removeprefix(home)] = value
            elif not pointer.startswith(f"/{number}/tasks/"):
                unknown[pointer] = value
        tasks = tuple(dataset.tasks[index] for index in stays)
        kept.append(dataset.model_copy(update={"tasks": tasks}))
    return encode_registry_json(RegistryJson(tuple(kept), unknown))


def names_what_stands(data: bytes, outcome: Outcome) -> bool:
    """Whether every task that a registry names stands in the output."""
    registry = decode_registry_json(data)
    here = _named_here(registry)
    return all(
        _stands(task, outcome, here) for dataset in registry.datasets for task in dataset.tasks
    )


def registry_stands(outcome: Outcome) -> bool:
    """Whether the source's registry is true of the output, and may stand there as it is.

    With it a repo stays what it was for those who load it by its registry. Where tasks have left
    their places, or were left out, it would name what is not there.
    """
    registry = outcome.shared.file(REGISTRY)
    if registry is None or not outcome.complete:
        return False
    try:
        return names_what_stands(registry.blob.read(), outcome)
    except DocumentRefused:
        return False


def _named_here(registry: RegistryJson) -> frozenset[str]:
    """The paths of entries that say nothing of another repository."""
    tasks = (task for dataset in registry.datasets for task in dataset.tasks)
    return frozenset(task.path for task in tasks if task.git_url is None)


def _stands(task: RegistryTask, outcome: Outcome, here: frozenset[str]) -> bool:
    """An entry with a `git_url` was read where that is the repo itself; then its folder stands."""
    try:
        elsewhere = task.git_url is not None and task.path in here
        return not elsewhere and outcome.has_folder(place_of(task))
    except UnsafePath:  # whoever read the registry has told of it
        return False


def kept_registry(outcome: Outcome) -> Iterator[PutFile | RepoNote]:
    """The source's own registry: as it is, unless it names tasks that were left out."""
    registry = outcome.shared.file(REGISTRY)
    if registry is None:
        return
    data = registry.blob.read()
    if not (outcome.complete and names_what_stands(data, outcome)):
        yield PutFile(REGISTRY, Blob(filtered_registry(data, outcome)))
        yield registry_note("tasks that were left out are taken out of registry.json")


def registry_note(reason: str) -> RepoNote:
    """What a person should know about the tasksets as a whole."""
    return RepoNote(Note(field="tasksets", fate=Fate.TRANSLATED, reason=reason))


def listed(framework: str, task: str, path: str, tasksets: tuple[str, ...]) -> tuple[ListItem, ...]:
    """What `dataset_entries` will know of a task of `framework` that stands at `path`."""
    return tuple(ListItem(f"{framework} {key}", f"{task}\n{path}") for key in tasksets)


def dataset_entries(
    framework: str, repo: Repo, outcome: Outcome, *, suffix: str = "", marked: bool = False
) -> Iterator[AddEntry]:
    """The entries of a `registry.json` for the tasks that `listed` has told of.

    In each set's own order; a set that lists nothing has an entry in the framework's own registry
    only. No `git_url`: Harbor (0.24.0 to 0.26.0) then takes the repository the registry stands in.
    A name loses what it cannot have on Harbor's command line: `/`, `@` and blanks.
    `marked` entries are for this framework alone: its readers prefer them, others leave them be.
    """
    taken: set[str] = set()
    for taskset in repo.tasksets:
        items = (item.partition("\n") for item in outcome.items(f"{framework} {taskset.key}"))
        paths = {task: path for task, _, path in items}
        order = [task for task in taskset.order or () if task in paths] or list(paths)
        if not paths and marked:
            continue
        version = taskset.version or "1.0"
        name = re.sub(r"[/@\s]+", "-", taskset.name) + suffix
        while f"{name}@{version}" in taken:
            name += "-2"
        taken.add(f"{name}@{version}")
        entry: dict[str, Value] = {
            "name": name,
            "version": version,
            "description": taskset.description or "",
            "tasks": [{"name": task, "path": paths[task]} for task in order],
        }
        if marked:
            entry[MARK] = framework
        yield AddEntry(REGISTRY, f"{name}@{version}", entry)
