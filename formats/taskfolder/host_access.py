"""What a task asks of the machine that runs it, beyond containers of its own.

Told from the compose files that Harbor 0.26.0 hands to `docker compose`: that of `environment/`,
and those of verifiers with a machine of their own. A value that a variable supplies counts as
asked for, and so does a file that cannot be read: this errs on the side of saying too much. What a
task takes from the variables of the host is not said here: whoever runs it chooses them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from rlconvert.files import FileTree
from rlconvert.model import Task, Verifier
from rlconvert.runtime import Build, Compose, Image, Runtime

from .composefile import Mapped, Node, TooMuch, Unreadable, items_of, read_compose, text_of

_FILE = "docker-compose.yaml"
_MAX_FILES = 16
_MAX_TEXT = 1 << 12
_SOURCE = re.compile(r"((?:[A-Za-z]:[\\/])?(?:\$\{[^}]*\}|[^:$]|\$(?!\{[^}]*\}))*):")
# Where Harbor keeps the logs of a run, under the names that it had for it before 0.26.
_LOGS = re.compile(r"\$\{?HOST_(?:VERIFIER_LOGS|AGENT_LOGS|ARTIFACTS)_PATH\}?")
_CONTEXT = re.compile(r"\$\{?CONTEXT_DIR\}?")
_HOST_NAMESPACES = ("network_mode", "pid", "ipc", "uts", "userns_mode", "cgroup", "net")
_REMOTE = re.compile(r"(?:[a-z][a-z0-9+.-]*://|git@|github\.com/|oci://)", re.IGNORECASE)
_OPEN = re.compile(r"disable|unconfined|no-new-privileges[:=]false|systempaths", re.IGNORECASE)
_LOCAL = re.compile(r"(?:127\.\d+\.\d+\.\d+|\[?::1\]?|localhost):")


def host_access(task: Task) -> tuple[str, ...]:
    """One sentence for each thing that a task asks of the host; none when it asks nothing."""
    said: dict[str, None] = {}
    for home, tree in _trees(task):
        if tree.follow(_FILE) is not None:
            for sentence in _ComposeFiles(tree).read(_FILE):
                said[f"{home}{_FILE}: {sentence}"] = None
    return tuple(said)


def _trees(task: Task) -> Iterator[tuple[str, FileTree]]:
    """The folders whose compose file is taken when the task runs."""
    yield "environment/", _context(task.runtime)
    for step in task.steps:
        home = f"steps/{step.name}/" if step.name else ""
        if _separate(step.verifier, by_default=_separate(task.verifier, by_default=False)):
            yield f"{home}tests/", step.tests
            yield "tests/", task.tests
        for runtime in (step.verifier.runtime, task.verifier.runtime):
            if runtime is not None:
                yield f"{home}tests/", _context(runtime)


def _separate(verifier: Verifier, *, by_default: bool) -> bool:
    """Whether a verifier has a machine of its own."""
    if verifier.separate is None:
        return by_default or verifier.runtime is not None
    return verifier.separate


def _context(runtime: Runtime) -> FileTree:
    match runtime.place:
        case Compose(context=context) | Build(context=context) | Image(context=context):
            return context
        case _:
            return FileTree()


class _ComposeFiles:
    """A compose file with those that it includes and extends."""

    def __init__(self, tree: FileTree) -> None:
        self._tree = tree
        self._files: dict[str, None] = {}

    def read(self, path: str) -> Iterator[str]:
        """What the file asks for, and then the files that it names."""
        self._files[path] = None
        done = 0
        while done < len(self._files):
            if done == _MAX_FILES:
                yield "it takes in more files than are read"
                return
            file = list(self._files)[done]
            done += 1
            try:
                yield from self._of_file(file)
            except (Unreadable, TooMuch) as problem:
                yield f"what it asks for is not known: {problem}"

    def _of_file(self, path: str) -> Iterator[str]:
        file = self._tree.follow(path)
        if file is None:
            yield f"it takes in {path!r}, which the task does not have"
            return
        top = read_compose(file.blob)
        folder = posixpath.dirname(path)
        for _, include in items_of(top.get("include")):
            yield from self._include(include, folder)
        for name, service in items_of(top.get("services")):
            for sentence in self._of_service(service, folder):
                yield f"the service {name!r} {sentence}"
        for kind in ("volumes", "networks"):
            for name, each in items_of(top.get(kind)):
                yield from self._of_shared(kind[:-1], name, each, folder)
        for kind in ("secrets", "configs"):
            for name, each in items_of(top.get(kind)):
                for outside in self._outside(text_of(Mapped.of(each).get("file")), folder):
                    yield f"the {kind[:-1]} {name!r} is {outside}"

    # paths

    def _outside(self, path: str | None, folder: str) -> Iterator[str]:
        """What a path is when it leads, or may lead, out of the task's own folder."""
        if path is None:
            return
        plain = _CONTEXT.sub(".", path)
        if "$" in plain:
            yield f"the file of the host that a variable names, {path!r}"
        elif plain.startswith(("/", "~", "\\")) or re.match(r"[A-Za-z]:[\\/]", plain):
            socket = " (the socket of the container engine)" if ".sock" in plain else ""
            yield f"the file of the host {path!r}{socket}"
        elif posixpath.normpath(f"{folder}/{plain}".lstrip("/")).split("/")[0] == "..":
            yield f"outside its own folder, {path!r}"

    def _named(self, path: str | None, folder: str) -> Iterator[str]:
        """A further compose file: noted for later, or said to be outside."""
        if path is None:
            return
        if _REMOTE.match(path):
            yield f"takes in a remote file, {path!r}"
            return
        outside = list(self._outside(path, folder))
        if outside:
            yield f"takes in {outside[0]}"
        else:
            self._files[posixpath.normpath(posixpath.join(folder, _CONTEXT.sub(".", path)))] = None

    def _include(self, include: Node, folder: str) -> Iterator[str]:
        for key in ("path", "env_file", "project_directory"):
            entry = Mapped.of(include).get(key)
            paths = [include] if entry is None and key == "path" else [entry]
            for each in paths:
                for path in _texts(each):
                    if key == "path":
                        yield from (f"it {said}" for said in self._named(path, folder))
                    else:
                        yield from (f"it includes {said}" for said in self._outside(path, folder))

    # services

    def _of_service(self, node: Node, folder: str) -> Iterator[str]:
        service = Mapped.of(node)
        for key in ("privileged", "use_api_socket"):
            if _is_on(service.get(key)):
                yield f"is given {key}: the rights of the host"
        for key in _HOST_NAMESPACES:
            said = text_of(service.get(key))
            if said is not None and (
                said == "host" or "$" in said or said.startswith("container:")
            ):
                yield f"shares with the host: {key}: {said}"
        for key in ("devices", "device_cgroup_rules", "cap_add", "volumes_from", "cgroup_parent"):
            for said in _texts(service.get(key)):
                if key != "volumes_from" or said.startswith("container:"):
                    yield f"asks for {key}: {said}"
        for said in _texts(service.get("security_opt")):
            if _OPEN.search(said) or "$" in said or said.startswith(("seccomp:", "seccomp=")):
                yield f"loosens what confines it: security_opt: {said}"
        for key in ("provider", "credential_spec", "runtime"):
            if service.get(key) is not None:
                yield f"asks for a {key} of the host"
        for hook in ("post_start", "pre_stop"):
            for _, each in items_of(service.get(hook)):
                if _is_on(Mapped.of(each).get("privileged")):
                    yield f"runs {hook} with the rights of the host"
        yield from self._of_files(service, folder)
        yield from _ports(service.get("ports"))
        build = service.get("build")
        if build is not None:
            yield from self._of_build(build, folder)

    def _of_files(self, service: Mapped, folder: str) -> Iterator[str]:
        for _, volume in items_of(service.get("volumes")):
            yield from self._volume(volume, folder)
        for key in ("env_file", "label_file"):
            for _, each in _listed(service.get(key)):
                path = text_of(each) or text_of(Mapped.of(each).get("path"))
                yield from (f"reads {said}" for said in self._outside(path, folder))
        extends = service.get("extends")
        yield from self._named(text_of(Mapped.of(extends).get("file")), folder)
        watched = Mapped.of(service.get("develop")).get("watch")
        for _, each in items_of(watched):
            path = text_of(Mapped.of(each).get("path"))
            yield from (f"watches {said}" for said in self._outside(path, folder))

    def _volume(self, volume: Node, folder: str) -> Iterator[str]:
        said = text_of(volume)
        if said is None:
            long = Mapped.of(volume)
            kind = text_of(long.get("type"))
            if kind in ("bind", "npipe", "cluster") or (kind or "").startswith("$"):
                source = text_of(long.get("source")) or text_of(long.get("src"))
                if source is not None and not _LOGS.fullmatch(source):
                    yield from (f"mounts {each}" for each in self._outside(source, folder))
            return
        source = _source(said)
        if source is None or _LOGS.fullmatch(source):
            return
        if re.search(r"^[.~]|[$/\\]", source):  # else it is the name of a volume
            yield from (f"mounts {each}" for each in self._outside(source, folder))

    def _of_build(self, build: Node, folder: str) -> Iterator[str]:
        said = text_of(build)
        table = Mapped.of(build)
        context = said if said is not None else text_of(table.get("context"))
        contexts = [context] if context is not None else []
        for _, each in _listed(table.get("additional_contexts")):
            path = text_of(each) or ""
            contexts.append(path.partition("=")[2] or path)
        for path in contexts:
            if path.startswith(("docker-image://", "service:")):
                continue
            if _REMOTE.match(path) or path.endswith(".git"):
                yield f"is built from a remote place, {path!r}"
                continue
            yield from (f"is built from {each}" for each in self._outside(path, folder))
        inside = posixpath.join(folder, context or ".")
        recipe = text_of(table.get("dockerfile"))
        yield from (f"has as its recipe {each}" for each in self._outside(recipe, inside))
        for key in ("ssh", "entitlements"):
            if table.get(key) is not None:
                yield f"is built with {key} of the host"
        if _is_on(table.get("privileged")):
            yield "is built with privileged: the rights of the host"
        if text_of(table.get("network")) == "host":
            yield "is built in the network of the host"

    def _of_shared(self, kind: str, name: str, node: Node, folder: str) -> Iterator[str]:
        """A volume or a network at the top of the file."""
        table = Mapped.of(node)
        external = table.get("external")
        if external is not None and (_is_on(external) or text_of(external) is None):
            yield f"the {kind} {name!r} is one of the host's own"
        options = Mapped.of(table.get("driver_opts"))
        device, how = text_of(options.get("device")), text_of(options.get("o")) or ""
        if device is not None and not _LOGS.fullmatch(device) and "tmpfs" not in (device, how):
            outside = list(self._outside(device, folder)) or [f"the device {device!r}"]
            yield f"the {kind} {name!r} is {outside[0]}"
        if kind == "network" and text_of(table.get("driver")) in ("host", "macvlan", "ipvlan"):
            yield f"the network {name!r} is that of the host"


def _source(volume: str) -> str | None:
    """What stands before the first colon that is in no ``${...}``; None for a volume of its own."""
    if len(volume) > _MAX_TEXT:
        return volume
    match = _SOURCE.match(volume)
    return None if match is None else match[1]


def _ports(node: Node | None) -> Iterator[str]:
    for _, each in items_of(node):
        said = text_of(each)
        if said is None:
            table = Mapped.of(each)
            address = text_of(table.get("host_ip")) or ""
            if not _LOCAL.match(f"{address}:"):
                yield f"opens a port of the host to all: {text_of(table.get('target'))}"
        elif not _LOCAL.match(said):
            yield f"opens a port of the host to all: {said}"


def _listed(node: Node | None) -> Iterator[tuple[str, Node]]:
    """The items of a list or of a mapping, or the one value itself."""
    if node is not None and text_of(node) is not None:
        yield "", node
    else:
        yield from items_of(node)


def _texts(node: Node | None) -> list[str]:
    """The texts in a value: itself, or those of a list, with the paths of tables in it."""
    found = []
    for _, each in _listed(node):
        said = text_of(each)
        if said is None:
            table = Mapped.of(each)
            said = text_of(table.get("source")) or text_of(table.get("path"))
        if said is not None:
            found.append(said)
    return found


def _is_on(node: Node | None) -> bool:
    """Whether a switch is on, or may be."""
    said = text_of(node)
    return node is not None and (said or "").lower() not in ("false", "no", "off", "n", "", "0")
