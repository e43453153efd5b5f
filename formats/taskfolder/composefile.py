"""A compose file as YAML nodes: nothing is built of them, so that no alias can make it large.

Anchors, aliases and merges are followed, each look at a mapping within a budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import yaml
from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rlconvert.files import Blob

Node: TypeAlias = yaml.Node

_MAX_BYTES = 1 << 17
_MAX_DEPTH = 40
_MAX_ITEMS = 20_000
_MERGE = "tag:yaml.org,2002:merge"


class Unreadable(Exception):
    """The file is no YAML that can be followed."""


class TooMuch(Exception):
    """The file, with all its aliases, is larger than is looked at."""


class _Loader(yaml.SafeLoader):
    """Composes nodes to a limited depth."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise TooMuch("it is nested too deeply")
        node: yaml.Node | None = super().compose_node(parent, index)
        self.depth -= 1
        return node


@dataclass(frozen=True, slots=True)
class Mapped:
    """The mapping that a node is; empty when it is something else.

    Of equal keys the last one counts.
    """

    entries: dict[str, Node]

    @classmethod
    def of(cls, node: Node | None) -> Mapped:
        """The keys of a node, merged ones included."""
        found: dict[str, Node] = {}
        if isinstance(node, MappingNode):
            _merge(node, found, [_MAX_ITEMS], ())
        return cls(found)

    def get(self, key: str) -> Node | None:
        """The value of a key that is given, null or not; None when it is not."""
        return self.entries.get(key)


def read_compose(blob: Blob) -> Mapped:
    """The top of a compose file. `Unreadable` or `TooMuch` when it cannot be looked at."""
    if blob.size > _MAX_BYTES:
        raise TooMuch("it is too big")
    try:
        loader = _Loader(blob.read())
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Unreadable("it is not YAML") from error
    return Mapped.of(node)


def items_of(node: Node | None) -> Iterator[tuple[str, Node]]:
    """The items of a mapping by their keys, or of a list without."""
    if isinstance(node, SequenceNode):
        for each in node.value[:_MAX_ITEMS]:
            yield "", each
    else:
        yield from Mapped.of(node).entries.items()


def text_of(node: Node | None) -> str | None:
    """The text of a scalar as it stands; None for anything else and for null."""
    if not isinstance(node, ScalarNode) or node.tag == "tag:yaml.org,2002:null":
        return None
    return str(node.value)


def _merge(
    node: MappingNode, into: dict[str, Node], budget: list[int], above: tuple[int, ...]
) -> None:
    """The entries of a mapping laid over those that it merges in."""
    if id(node) in above or len(above) > _MAX_DEPTH:
        raise TooMuch("it merges itself")
    own: dict[str, Node] = {}
    for key, value in node.value:
        budget[0] -= 1
        if budget[0] < 0:
            raise TooMuch("its aliases make it too large")
        if key.tag == _MERGE or (isinstance(key, ScalarNode) and key.value == "<<"):
            merged = value.value if isinstance(value, SequenceNode) else [value]
            for each in reversed(merged):
                if isinstance(each, MappingNode):
                    _merge(each, into, budget, (*above, id(node)))
        elif isinstance(key, ScalarNode):
            own[str(key.value)] = value
    into.update(own)
