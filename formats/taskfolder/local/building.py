"""Builds what a task's Dockerfile says, once for each Dockerfile and context of an order."""

from __future__ import annotations

import fnmatch
import hashlib
import posixpath
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from rlconvert.files import File, FileTree, Link, parents
from rlconvert.model import Task
from rlconvert.runtime import Build, Image

from .dockerfile import BadDockerfile, Copy, MakeFolder, Recipe, Run, read_dockerfile
from .machine import Machine, MachineFault, OutOfTime
from .refusals import DOCKERFILE, Refused

_ARCHIVES = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00")
_TAR_MAGIC = slice(257, 262)
_WORDS = 2000


class BuildFailed(Exception):
    """There is no machine for a task, because its Dockerfile cannot be built."""


def recipe_of(task: Task) -> tuple[Recipe, FileTree]:
    """How the task's machine is made, and of what files. `Refused`, `BadDockerfile`."""
    context, name = FileTree(), "Dockerfile"
    match task.runtime.place:
        case Build(context=context, dockerfile=name):
            pass
        case Image(context=context):
            pass
    file = context.follow(name)
    if file is None:
        return Recipe(), FileTree()
    if ".dockerignore" in context:
        raise Refused("its context has a .dockerignore", reason="dockerignore", file=DOCKERFILE)
    try:
        text = file.blob.read().decode()
    except UnicodeDecodeError as error:
        raise BadDockerfile("it is not UTF-8") from error
    return read_dockerfile(text), context


@dataclass
class _Build:
    lock: Lock = field(default_factory=Lock)
    layers: tuple[Path, ...] = ()
    fault: Exception | None = None


class Builder:
    """The layers of an order, below `folder`. Every one is built when it is first asked for."""

    def __init__(self, folder: Path, base: Path) -> None:
        self._folder = folder
        self._base = base
        self._lock = Lock()
        self._builds: dict[str, _Build] = {}

    def layers(self, recipe: Recipe, context: FileTree, seconds: float) -> tuple[Path, ...]:
        """The lower folders of the machine that `recipe` makes; `BuildFailed`, `Refused`."""
        if not recipe.actions:
            return (self._base,)
        key = _digest(context)
        with self._lock:
            build = self._builds.setdefault(key, _Build())
        with build.lock:
            if not build.layers and build.fault is None:
                try:
                    build.layers = self._build(recipe, context, self._folder / key, seconds)
                except (BuildFailed, Refused) as fault:
                    build.fault = fault
        if build.fault is not None:
            raise build.fault
        return build.layers

    def _build(
        self, recipe: Recipe, context: FileTree, folder: Path, seconds: float
    ) -> tuple[Path, ...]:
        until = time.monotonic() + seconds
        try:
            with Machine(folder, [self._base], network=True) as machine:
                for action in recipe.actions:
                    match action:
                        case Run():
                            _run(machine, action, until)
                        case Copy():
                            _copy(machine, action, context, until)
                        case MakeFolder(path):
                            _make_folder(machine, path, until)
                return (machine.upper, self._base)
        except OutOfTime:
            raise BuildFailed(f"the build took more than {seconds:g} s") from None
        except MachineFault as fault:
            raise BuildFailed(str(fault)) from fault


def _digest(context: FileTree) -> str:
    digest = hashlib.sha256()
    for path, entry in context:
        match entry:
            case File(blob, executable):
                digest.update(f"{path}\0{blob.sha256}{executable:d}\n".encode())
            case Link(target):
                digest.update(f"{path}\0-> {target}\n".encode())
    digest.update("\n".join(context.empty_folders).encode())
    return digest.hexdigest()[:32]


def _run(machine: Machine, action: Run, until: float) -> None:
    # What a command leaves running ends with it, as its container does.
    done = machine.run(
        action.command,
        env=action.env,
        workdir=action.workdir,
        user=action.user,
        until=until,
        alone=True,
    )
    if done.status:
        words = done.output.strip()[-_WORDS:]
        raise BuildFailed(f"line {action.line}: RUN ended with status {done.status}: {words}")


def _make_folder(machine: Machine, path: str, until: float) -> None:
    done = machine.run(["mkdir", "-p", "--", path], until=until)
    if done.status:
        raise BuildFailed(f"WORKDIR {path} cannot be made: {done.output.strip()}")


def _copy(machine: Machine, action: Copy, context: FileTree, until: float) -> None:
    for source in action.sources:
        found = list(_matches(context, source))
        if not found:
            raise BuildFailed(f"line {action.line}: the context has no {source}")
        for path in found:
            tree, folder = context.below(path) if path else context, action.target
            if path and not context.has_folder(path):
                file = context.follow(path)
                if file is None:
                    raise Refused(
                        f"it copies by the link {path}",
                        reason="copies-a-link",
                        file=DOCKERFILE,
                        where=f"line {action.line}",
                    )
                if action.unpacks:
                    _check_no_archive(file, path, action.line)
                name = posixpath.basename(path)
                if not action.folder and not _is_folder(machine, action.target, until):
                    folder, name = posixpath.split(action.target)
                tree = FileTree({name: file})
            machine.put(tree, folder, owner=action.owner, mode=action.mode, until=until)


def _is_folder(machine: Machine, path: str, until: float) -> bool:
    return not machine.run(["test", "-d", path], until=until).status


def _check_no_archive(file: File, path: str, line: int) -> None:
    head = next(file.blob.chunks(), b"")
    if head.startswith(_ARCHIVES) or head[_TAR_MAGIC] == b"ustar":
        raise Refused(
            f"ADD unpacks {path}",
            reason="unpacks",
            file=DOCKERFILE,
            where=f"line {line}",
        )


def _matches(context: FileTree, source: str) -> Iterator[str]:
    """The paths of the context that a source of COPY names; ``""`` is all of it."""
    pattern = posixpath.normpath(f"/{source}").lstrip("/").replace("[^", "[!")
    if not pattern:
        yield ""
        return
    wanted = pattern.split("/")
    whole = {*context.entries, *context.empty_folders}
    folders = {folder for path in whole for folder in parents(path)}
    for path in sorted(whole | folders):
        parts = path.split("/")
        if len(parts) == len(wanted) and all(map(fnmatch.fnmatchcase, parts, wanted)):
            yield path
