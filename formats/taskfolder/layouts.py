"""Where the tasks of a repo stand, and which tasksets they form.

Facts: harbor 0.26.0. A task is a folder with a `task.toml`. Tasksets come from `registry.json`
(an array of datasets at the root), or else there is one: the folders found by their `task.toml`,
wherever they stand, those inside another task left aside. Harbor itself finds, without a registry,
only the direct children of one folder; deeper ones are read here all the same.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from rlconvert.address import parse_hub_address
from rlconvert.card import licence_of
from rlconvert.errors import Malformed, RlconvertError, UnsafePath, UsageError
from rlconvert.files import FileTree, check_path, folded, parents, printable
from rlconvert.model import Repo, TaskRef, Taskset
from rlconvert.provenance import first_repo
from rlconvert.searching import marked_folders
from rlconvert.source import BOOKKEEPING, Kind, Source

from .dataset_schema import decode_dataset_toml
from .documents import MAX_JSON_BYTES, MAX_TOML_BYTES
from .folder import CONFIG, FORMAT, config_error
from .problems import DocumentRefused
from .registry_schema import RegistryDataset, RegistryJson, RegistryTask, decode_registry_json

REGISTRY, MANIFEST, CARD = "registry.json", "dataset.toml", "README.md"
MARK = "rlconvert"
"""The key of a registry entry that is for one framework alone; Harbor ignores it."""
_MAX_CARD = 4 << 20
_DEPTH = 8
"""How many folders down a task may stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What was found: `kind` says by what, `places` are the task folders in order with their
    tasksets, `ids` what those are called that have another name than their folder.

    `faults` are tasks that cannot be read because of where they stand: entries of a registry that
    lead to no folder of this repo, folders with a name that is not one everywhere.
    """

    kind: str
    tasksets: tuple[Taskset, ...]
    places: Mapping[str, tuple[str, ...]]
    ids: Mapping[str, str]
    faults: tuple[tuple[TaskRef, RlconvertError], ...] = ()
    explicit: bool = False

    @property
    def refs(self) -> Iterator[TaskRef]:
        """The tasks in order, made when they are asked for: there may be very many."""
        for path, tasksets in self.places.items():
            yield TaskRef(id=self.id_of(path), path=path, tasksets=tasksets)

    def id_of(self, path: str) -> str:
        """What the task in a folder is called."""
        return self.ids.get(path) or _name(path)


@dataclass(slots=True)
class Found:
    """Task folders in the order in which they were named, each with its tasksets."""

    places: dict[str, tuple[str, ...]] = field(default_factory=dict)
    faults: list[tuple[TaskRef, RlconvertError]] = field(default_factory=list)
    _above: set[str] = field(default_factory=set)
    _spelled: dict[str, str] = field(default_factory=dict)
    _tasksets: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)

    def add(self, path: str, taskset: str) -> None:
        """Take a folder; `UnsafePath` when it clashes with one before it."""
        for whole in (*parents(path), path):
            other = self._first_spelling(whole)
            if other != whole:
                raise UnsafePath(
                    f"{other!a} and {whole!a} are one folder where case or normal form is folded",
                    reason="names-clash",
                    file=path,
                    remedy="Rename one of them in the source",
                )
            if whole != path:
                self._above.add(whole)
        keys = self.places.get(path, ())
        if taskset not in keys:
            keys = (*keys, taskset)
        self.places[path] = self._tasksets.setdefault(keys, keys)  # one for all that are alike

    def _first_spelling(self, path: str) -> str:
        """How that folder was spelled where it came first.

        Only spellings that differ from what they fold to are kept beside the places themselves.
        """
        key = folded(path)
        if key == path:
            return self._spelled.get(key, path)
        if key in self.places or key in self._above:
            return key
        return self._spelled.setdefault(key, path)

    def refuse(
        self, task: str, path: str, tasksets: tuple[str, ...], error: RlconvertError
    ) -> None:
        """Note a task that cannot be read, by the id that is there to name it."""
        ref = TaskRef(id=printable(task), path=path, tasksets=tasksets)
        self.faults.append((ref, error.for_task(ref.id)))


def has_tasks(source: Source) -> str | None:
    """By what the source is recognised as task folders, or None. Looks no further than it must."""
    if source.kind(CONFIG) is not None:
        return f"{CONFIG} at its root"
    if source.kind(REGISTRY) is Kind.FILE:
        return f"{REGISTRY} at its root"
    first = next(iter(task_folders(source, "", _DEPTH)), None)
    return None if first is None else f"{first}/{CONFIG}"


def find_layout(source: Source, framework: str = FORMAT) -> Layout:
    """Every task folder of the source and the tasksets they form, as `framework` is to see it."""
    if source.kind(CONFIG) is not None:
        key = source.name
        sets = (Taskset(key=key, name=key),)
        return Layout(kind="one task", tasksets=sets, places={"": (key,)}, ids={"": source.name})
    if source.kind(REGISTRY) is Kind.FILE:
        return _registry_layout(source, framework)
    taskset = _manifest_taskset(source) or Taskset(key=source.name, name=source.name)
    found = Found()
    for path in task_folders(source, "", _DEPTH):
        try:
            found.add(check_path(path), taskset.key)
        except UnsafePath as error:
            found.refuse(path, path, (taskset.key,), error)
    above = {posixpath.dirname(path) for path in found.places}
    where = f"folders in {next(iter(above)) or 'its root'}" if len(above) == 1 else "deeper folders"
    return layout_of(where, (taskset,), found)


def layout_of(kind: str, tasksets: tuple[Taskset, ...], found: Found, **more: bool) -> Layout:
    """The layout of the folders in `found`, each under a stable id."""
    names = {folded(_name(path)) for path in found.places}
    ids = {} if len(names) == len(found.places) else _ids(list(found.places))
    return Layout(
        kind=kind,
        tasksets=tasksets,
        places=found.places,
        ids=ids,
        faults=tuple(found.faults),
        **more,
    )


def task_folders(source: Source, folder: str, depth: int) -> Iterator[str]:
    """Folders below `folder` with a `task.toml`, parents first, in order of their names."""
    return marked_folders(source, CONFIG, folder, depth)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _ids(paths: list[str]) -> dict[str, str]:
    """A stable id for each folder: its name, led by as many names above as make it unique.

    Every member of a group of equal names gets the longer form, so that ids do not depend on
    which came first. A number follows where the longest form is taken: ``a/b`` beside ``a__b``.
    """
    ids: dict[str, str] = {}
    taken: set[str] = set()
    todo, length = sorted(paths), 1
    while todo:
        named = {path: "__".join(path.split("/")[-length:]) for path in todo}
        count = Counter(map(folded, named.values()))
        before, again = frozenset(taken), []
        for path, name in named.items():
            if length > path.count("/"):
                tries = (f"{name}-{number}" for number in range(2, len(paths) + 2))
                ids[path] = next(each for each in chain([name], tries) if folded(each) not in taken)
            elif count[folded(name)] == 1 and folded(name) not in before:
                ids[path] = name
            else:
                again.append(path)
                continue
            taken.add(folded(ids[path]))
        todo, length = again, length + 1
    return ids


# --- registry ----------------------------------------------------------------------------------


def _datasets_for(framework: str, registry: RegistryJson) -> Iterator[tuple[int, RegistryDataset]]:
    """The entries for `framework` alone where there are any, else those for no one in particular;
    each with its place in the file."""
    marks = [registry.unknown.get(f"/{i}/{MARK}") for i in range(len(registry.datasets))]
    wanted = framework if framework in marks else None
    for index, (mark, dataset) in enumerate(zip(marks, registry.datasets, strict=True)):
        if mark == wanted:
            yield index, dataset


def _registry_layout(source: Source, framework: str) -> Layout:
    try:
        registry = decode_registry_json(source.read(REGISTRY, MAX_JSON_BYTES))
    except DocumentRefused as refused:
        raise config_error(refused, REGISTRY) from refused
    found = Found()
    repos = _own_repos(source)
    orders: dict[str, list[str]] = {}
    sets: dict[str, RegistryDataset] = {}
    for index, dataset in _datasets_for(framework, registry):
        key = f"{dataset.name}@{dataset.version}"
        if key in sets:
            raise Malformed(
                f"the dataset {key} is there twice",
                reason="duplicate-dataset",
                file=REGISTRY,
                where=f"[{index}]",
                remedy="Give one of them another version",
            )
        sets[key] = dataset
        orders[key] = []
        for number, entry in enumerate(dataset.tasks):
            try:
                path = _checked_place(source, entry, repos)
                found.add(path, key)
                orders[key].append(path)
            except RlconvertError as error:
                error.file, error.where = REGISTRY, f"[{index}].tasks[{number}]"
                found.refuse(f"{key}/{entry.name}", entry.path, (key,), error)
    for path in list(found.places):
        outer = next((up for up in parents(path) if up in found.places), None)
        if outer is not None:
            for key in found.places.pop(path):
                orders[key].remove(path)
                found.refuse(f"{key}/{path}", path, (key,), _inside(path, outer))
    layout = layout_of(REGISTRY, (), found, explicit=True)
    tasksets = tuple(
        Taskset(
            key=key,
            name=dataset.name,
            version=dataset.version,
            description=dataset.description,
            order=tuple(map(layout.id_of, orders[key])),
        )
        for key, dataset in sets.items()
    )
    return replace(layout, tasksets=tasksets)


def _inside(path: str, outer: str) -> Malformed:
    return Malformed(
        f"the task at {path!r} stands inside the one at {outer!r}, whose file it is",
        reason="task-inside-task",
        file=REGISTRY,
        remedy="Take it out of the registry, or move it out of the other task",
    )


def place_of(entry: RegistryTask) -> str:
    """The folder an entry names, in the one normal spelling; `UnsafePath` when it leads out."""
    path = posixpath.normpath(entry.path)
    if entry.path.startswith("/") or path == ".." or path.startswith("../"):
        raise UnsafePath(
            f"the path {printable(entry.path)!r} leads out of the repository",
            reason="path-escapes",
            remedy="Correct the registry",
        )
    return "" if path == "." else check_path(path)


def _own_repos(source: Source) -> frozenset[str]:
    """What the Hub calls the repo that is read, and the one that it was converted from."""
    return frozenset(repo for repo in (source.origin.repo, first_repo(source)) if repo)


def _is_in(repos: frozenset[str], url: str) -> bool:
    try:
        place = parse_hub_address(url)
    except UsageError:
        return False
    return place is not None and place.repo_id in repos


def _checked_place(source: Source, entry: RegistryTask, repos: frozenset[str]) -> str:
    # Its registry may name a repo at the commit before the one that brought the registry. What is
    # read is the commit that was asked for.
    if entry.git_url is not None and not _is_in(repos, entry.git_url):
        raise Malformed(
            f"the task stands in another repository, {printable(entry.git_url)}",
            reason="foreign-git-url",
            remedy="Convert that repository, by its address, or copy the task into this one",
        )
    path = place_of(entry)
    link = next((up for up in (*parents(path), path) if source.kind(up) is Kind.LINK), None)
    if link is not None:
        raise UnsafePath(
            f"the path {path!r} goes through the link {link!r}",
            reason="place-behind-link",
            remedy="Name the folder that the link leads to",
        )
    if source.kind(f"{path}/{CONFIG}" if path else CONFIG) is None:
        raise Malformed(
            f"there is no task folder at {entry.path!r}",
            reason="task-missing",
            remedy="Correct the registry, or add the task",
        )
    return path


# --- manifest, card, shared files --------------------------------------------------------------


def _manifest_taskset(source: Source) -> Taskset | None:
    """The taskset that a `dataset.toml` at the root describes."""
    if source.kind(MANIFEST) is not Kind.FILE:
        return None
    try:
        manifest = decode_dataset_toml(source.read(MANIFEST, MAX_TOML_BYTES))
    except DocumentRefused as refused:
        raise config_error(refused, MANIFEST) from refused
    table = manifest.manifest.dataset
    return Taskset(
        key=table.name,
        name=table.name,
        version=table.version,
        description=table.description or None,
        extras={FORMAT: dict(manifest.unknown)} if manifest.unknown else {},
    )


def repo_of(source: Source, layout: Layout) -> Repo:
    """The repo around the tasks of a layout: its card's licence, and the files of no task."""
    licence = None
    if source.kind(CARD) is Kind.FILE and layout.kind != "one task":
        licence = licence_of(source.read(CARD, _MAX_CARD))
    shared, faults = shared_files(source, layout)
    return Repo(
        format=FORMAT,
        name=source.name,
        origin=source.origin,
        tasksets=layout.tasksets,
        licence=licence,
        shared=shared,
        explicit=layout.explicit,
        faults=faults,
    )


def shared_files(source: Source, layout: Layout) -> tuple[FileTree, tuple[RlconvertError, ...]]:
    """The files that belong to no task; those that cannot be read come back as faults."""
    if "" in layout.places:
        return FileTree(), ()
    skip = {*layout.places, *(ref.path for ref, _ in layout.faults), *BOOKKEEPING}
    faults: list[RlconvertError] = []
    tree = source.tree("", skip=skip, on_fault=faults.append)
    return tree, tuple(faults)
