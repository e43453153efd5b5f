"""Writing `registry.json`: from the one that was read, or from the model."""

from __future__ import annotations

from rlconvert.format import Outcome
from rlconvert.model import Repo

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
    for number, dataset in enumerate(registry.datasets):
        stays = [
            index
            for index, task in enumerate(dataset.tasks)
            if task.git_url is None and outcome.has_folder(task.path.removeprefix("./").rstrip("/"))
        ]
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


def registry_from_repo(repo: Repo, outcome: Outcome) -> bytes:
    """A registry of the repo's tasksets: what was converted, in each set's own order.

    No `git_url`: Harbor 0.26.0 then takes the repository the registry stands in.
    """
    datasets = []
    for taskset in repo.tasksets:
        folders = ((task, outcome.folder(task)) for task in taskset.order or ())
        tasks = tuple(
            RegistryTask(name=task, path=folder) for task, folder in folders if folder is not None
        )
        datasets.append(
            RegistryDataset(
                name=taskset.name,
                version=taskset.version or "1.0",
                description=taskset.description or "",
                tasks=tasks,
            )
        )
    return encode_registry_json(RegistryJson(tuple(datasets)))
