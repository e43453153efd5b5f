"""Which files of the verifier or of the oracle the agent can see, byte for byte.

The agent sees what its image is made of and what a step puts into its working directory. Of the
files of a Dockerfile those count that its last stage copies; where it also removes something, what
it removes does not. An input that the tests hold a copy of gives nothing away: only scripts, test
programs and files that are named as answers count.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from rlconvert.files import Blob, File, FileTree
from rlconvert.model import Task
from rlconvert.runtime import Build, Compose

_MIN_BYTES = 32
"""Shorter files are alike by chance."""
_MAX_DOCKERFILE = 1 << 18
_MOST = 1000
_TELLING = re.compile(
    r"(?i)(?:^|/)(?:test\.sh|solve\.sh|test_[^/]*\.\w+|[^/]*_test\.\w+|verify[^/]*\.\w+|grade[^/]*\.\w+"
    r"|[^/]*(?:expected|golden|gold|answer|solution|oracle|ground_?truth)[^/]*)$"
)
_NAME = re.compile(r"[\w.-]+")
_INSTRUCTION = re.compile(r"[ \t]*(FROM|COPY|ADD|RUN)[ \t]+(.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Seen:
    """A hidden file, of the tests or of the oracle, and where the agent sees the same bytes."""

    reason: str
    field: str
    file: str
    seen: str


def seen_by_agent(task: Task) -> Iterator[Seen]:
    """Every hidden file that the agent can see, once."""
    hidden = list(_hidden(task))
    sizes = {each.blob.size for each in hidden}
    places: dict[str, str] = {}
    for home, tree in _visible(task, sizes):
        for path, entry in tree:
            if isinstance(entry, File) and entry.blob.size in sizes:
                places.setdefault(entry.blob.sha256, f"{home}/{path}")
    for each in hidden:
        if places and (place := places.get(each.blob.sha256)) is not None:
            yield Seen(each.reason, each.field, each.path, place)


@dataclass(frozen=True, slots=True)
class _Hidden:
    reason: str
    field: str
    path: str
    blob: Blob


def _hidden(task: Task) -> Iterator[_Hidden]:
    solution = FileTree() if task.oracle is None else task.oracle.files
    trees = [("oracle-seen", "oracle", "", solution), ("tests-seen", "tests", "", task.tests)]
    for step in task.steps:
        home = f"steps/{step.name}/"
        trees.append(("oracle-seen", "steps.oracle", home, step.oracle))
        trees.append(("tests-seen", "steps.tests", home, step.tests))
    for reason, field, home, tree in trees:
        folder = "solution" if reason == "oracle-seen" else "tests"
        for path, entry in tree:
            telling = isinstance(entry, File) and entry.blob.size >= _MIN_BYTES
            if telling and isinstance(entry, File) and _TELLING.search(path):
                yield _Hidden(reason, field, f"{home}{folder}/{path}", entry.blob)


def _visible(task: Task, sizes: AbstractSet[int]) -> Iterator[tuple[str, FileTree]]:
    match task.runtime.place:
        case Build(context=context) | Compose(context=context):
            yield "environment", _copied(context, sizes)
    yield "environment", task.seed
    for step in task.steps:
        yield f"steps/{step.name}/workdir", step.seed


def _copied(context: FileTree, sizes: AbstractSet[int]) -> FileTree:
    """The files of these sizes that the Dockerfile of a context puts into the image to stay."""
    alike = [
        (path, entry)
        for path, entry in context
        if isinstance(entry, File) and entry.blob.size in sizes
    ]
    recipe = context.follow("Dockerfile") if alike else None
    if recipe is None or recipe.blob.size > _MAX_DOCKERFILE:
        return FileTree()
    sources, removed = _sources(recipe.blob.read())
    ignored = context.file(".dockerignore")
    if ignored is not None and ignored.blob.size <= _MAX_DOCKERFILE:
        removed |= set(_NAME.findall(ignored.blob.read().decode("utf-8", "replace")))
    return FileTree(
        {
            path: entry
            for path, entry in alike[:_MOST]
            if any(_covers(source, path) for source in sources)
            and removed.isdisjoint(path.split("/"))
        }
    )


@lru_cache(maxsize=64)
def _sources(recipe: bytes) -> tuple[frozenset[str], frozenset[str]]:
    """What the last stage copies out of its context, and the names that it removes again."""
    copied: set[str] = set()
    removed: set[str] = set()
    text = recipe.decode("utf-8", "replace").replace("\r\n", "\n").replace("\\\n", " ")
    for line in text.split("\n"):
        match = _INSTRUCTION.match(line)
        if match is None:
            continue
        match match[1].upper():
            case "FROM":
                copied, removed = set(), set()
            case "RUN":
                if re.search(r"\b(?:rm|mv|unlink|shred|find)\b", match[2]):
                    removed |= set(_NAME.findall(match[2]))
            case _:
                copied |= set(_copy_sources(match[2]))
    return frozenset(sorted(copied)[:_MOST]), frozenset(removed)


def _copy_sources(words: str) -> list[str]:
    flags, rest = [], words.strip()
    while match := re.match(r"(--\S+)\s+", rest):
        flags.append(match[1])
        rest = rest[match.end() :]
    if any(flag.startswith(("--from", "--exclude")) for flag in flags) or rest.startswith("<<"):
        return []
    if rest.startswith("["):
        try:
            listed = json.loads(rest)
        except ValueError:
            return []
        names = [name for name in listed if isinstance(name, str)]
    else:
        names = rest.split()
    return [posixpath.normpath(name.strip("\"'").lstrip("/") or ".") for name in names[:-1]]


def _covers(source: str, path: str) -> bool:
    """Whether copying `source` takes the file at `path` along."""
    if source == ".":
        return True
    if any(char in source for char in "*?["):
        depth = source.count("/") + 1
        return fnmatchcase("/".join(path.split("/")[:depth]), source)
    return path == source or path.startswith(f"{source}/")
