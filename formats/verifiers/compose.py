"""What Verifiers reads of a task's `docker-compose.yaml`.

Facts: verifiers 0.4.0, `tasksets/harbor/taskset.py` and `compose.py`: the file goes through PyYAML,
and what is not shaped as expected raises there. Nothing is constructed here: the file is looked at
as nodes, so that no anchor can make it grow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import yaml

MAX_BYTES = 1 << 20
_MAX_DEPTH, _MAX_SOURCES = 3, 8
_MERGE = "tag:yaml.org,2002:merge"
_NULL = "tag:yaml.org,2002:null"
_FALSE = ("false", "no", "off", "0", "0.0", "")


class NotCompose(Exception):
    """Verifiers would fail at reading the file."""


@dataclass(frozen=True, slots=True)
class ComposeFile:
    """`services` by name; `main_is_made` when the agent's has an image or is built.

    `refused` is what Verifiers refuses at every run, in words.
    """

    services: frozenset[str]
    main_is_made: bool
    refused: tuple[str, ...]


def read_compose(data: bytes) -> ComposeFile:
    """The file as Verifiers sees it; `NotCompose` when it would raise."""
    if len(data) > MAX_BYTES:
        raise NotCompose(f"it has more than {MAX_BYTES} bytes")
    try:
        root = yaml.compose(data.decode(), yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise NotCompose("it is not YAML") from error
    services = _mapping(_get(_mapping(root, "the file"), "services"), "services")
    made = False
    refused: list[str] = []
    if (node := _get(services, "main")) is not None:
        main = _mapping(node, "services.main")
        made = _true(_get(main, "image")) or _get(main, "build") is not None
    for name, node in _pairs(services):
        if _true(_get(_mapping(node, f"services.{name}"), "container_name")):
            refused.append(f"container_name of {name}")
    for kind in ("volumes", "networks"):
        table = _get(_mapping(root, "the file"), kind)
        for name, each in () if table is None else _pairs(_mapping(table, kind)):
            if not _is_null(each):
                own = _mapping(each, f"{kind}.{name}")
                if _true(_get(own, "name")) or _true(_get(own, "external")):
                    refused.append(f"{kind}.{name} with a name of its own")
    names = frozenset(name for name, _ in _pairs(services))
    return ComposeFile(names, made, tuple(refused))


def _mapping(node: yaml.Node | None, what: str) -> yaml.MappingNode:
    if not isinstance(node, yaml.MappingNode):
        raise NotCompose(f"{what} is not a table")
    return node


def _pairs(node: yaml.MappingNode, depth: int = 0) -> Iterator[tuple[str, yaml.Node]]:
    """Keys and values, the merged ones first, so that later ones win."""
    for key, value in node.value:
        if key.tag == _MERGE and depth < _MAX_DEPTH:
            sources = value.value if isinstance(value, yaml.SequenceNode) else [value]
            for source in sources[:_MAX_SOURCES]:
                if isinstance(source, yaml.MappingNode):
                    yield from _pairs(source, depth + 1)
    for key, value in node.value:
        if key.tag != _MERGE and isinstance(key, yaml.ScalarNode):
            yield key.value, value


def _get(node: yaml.MappingNode, wanted: str) -> yaml.Node | None:
    found: yaml.Node | None = None
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE and key.value == wanted:
            found = value
    if found is not None:
        return found
    return next((value for key, value in _pairs(node) if key == wanted), None)


def _is_null(node: yaml.Node) -> bool:
    return node.tag == _NULL


def _true(node: yaml.Node | None) -> bool:
    """Whether Python would take the value for true."""
    if node is None or _is_null(node):
        return False
    if isinstance(node, yaml.ScalarNode):
        plain = not node.tag.endswith(":str")
        return bool(node.value) and not (plain and node.value.lower() in _FALSE)
    return bool(node.value)
