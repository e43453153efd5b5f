"""YAML as NeMo Gym reads it: text that means the same in every reader, and a loader with limits.

Two readers see what we write. A `manifest.yaml` goes through PyYAML's `safe_load` (NeMo Gym
0.7.0, `environment/manifest.py`), a `config.yaml` through OmegaConf, which is PyYAML with other
rules for numbers and dates and, in values, an interpolation language of its own (`${...}`, and
`???` for a value that must still be given). So every string that YAML 1.1 could take for something
else is quoted, and a literal `${` in a config goes through `literal`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TypeAlias, cast

import yaml

Scalar: TypeAlias = str | int | float | bool | None
Node: TypeAlias = Scalar | Sequence["Node"] | Mapping[str, "Node"]

MAX_BYTES = 1 << 20
MAX_DEPTH = 40
MAX_NODES = 50_000
MISSING = "???"

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*")
_REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_.]*\}")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}
# Shown as they are: letters of the living scripts. Fixed ranges, because `str.isprintable`
# changes with Python's version of Unicode and the bytes must not.
_SHOWN = ((0x20, 0x7E), (0xA1, 0xAC), (0xAE, 0x17FF), (0x1E00, 0x1FFF), (0x3001, 0xD7FF))
_OPENING = re.compile(r"(\\*)\$\{")
_EXPONENT = re.compile(r"[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?[eE][-+]?[0-9]+")


class YamlError(ValueError):
    """YAML that cannot be read within the limits, or text that YAML cannot hold."""


def literal(text: str) -> str:
    """`text` so that OmegaConf resolves it to `text` again (OmegaConf 2.3, its escape rules).

    A backslash means something only in front of `${`; a lone `???` has no escape and is written
    through the resolver that decodes it.
    """
    if text == MISSING:
        return "${oc.decode:'\"???\"'}"
    return _OPENING.sub(lambda match: match[1] * 2 + "\\${", text)


def resolved(text: str) -> str | None:
    """The string behind `text` in a config; None where only OmegaConf could tell (`${...}`)."""
    if text == literal(MISSING):
        return MISSING
    if text == MISSING or any(len(match[1]) % 2 == 0 for match in _OPENING.finditer(text)):
        return None
    return _OPENING.sub(lambda match: match[1][: len(match[1]) // 2] + "${", text)


def dump(document: Mapping[str, Node]) -> bytes:
    """Block-style YAML, keys in the given order, the same bytes on every platform.

    Refuses what YAML cannot hold: a lone surrogate.
    """
    return ("\n".join(_lines(document, "")) + "\n").encode()


def quoted(text: str) -> str:
    """A string as a YAML scalar: bare where every reader sees a string, else double-quoted."""
    bare = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    if bare or _REFERENCE.fullmatch(text):
        return text
    return '"' + "".join(map(_character, text)) + '"'


def _character(char: str) -> str:
    code = ord(char)
    if char in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[char]
    if any(low <= code <= high for low, high in _SHOWN):
        return char
    if 0xD800 <= code <= 0xDFFF:
        raise YamlError(f"YAML cannot hold the lone surrogate U+{code:04X}")
    width, mark = (2, "x") if code <= 0xFF else (4, "u") if code <= 0xFFFF else (8, "U")
    return f"\\{mark}{code:0{width}x}"


def _lines(node: Node, indent: str) -> Iterator[str]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            if isinstance(value, Mapping | list | tuple) and value:
                yield f"{indent}{quoted(key)}:"
                yield from _lines(value, indent + ("  " if isinstance(value, Mapping) else ""))
            else:
                yield f"{indent}{quoted(key)}: {_scalar(value)}"
    elif isinstance(node, list | tuple):
        for item in node:
            if isinstance(item, Mapping | list | tuple) and not item:
                yield f"{indent}- {_scalar(item)}"
                continue
            first, *rest = _lines(item, indent + "  ")
            yield f"{indent}- {first[len(indent) + 2 :]}"
            yield from rest
    else:
        yield f"{indent}{_scalar(node)}"


def _scalar(value: Node) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping | list | tuple):  # an empty one; others take lines of their own
        return "{}" if isinstance(value, Mapping) else "[]"
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


def load(data: bytes) -> dict[str, Node]:
    """The mapping in `data`, read as OmegaConf reads it, interpolations left as they stand.

    Refuses: more than `MAX_BYTES`, nesting beyond `MAX_DEPTH`, more than `MAX_NODES` values once
    the aliases are followed (an alias bomb), a repeated key, a key that is no string, tags that
    build objects, several documents.
    """
    if len(data) > MAX_BYTES:
        raise YamlError(f"more than {MAX_BYTES} bytes of YAML")
    try:
        text = data.decode("utf-8-sig")
        _check_depth(text)
        document = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
        tree = _Tree().copy(document)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise YamlError(f"not readable YAML: {_first_line(error)}") from error
    except ValueError as error:
        if isinstance(error, YamlError):
            raise
        raise YamlError(f"not readable YAML: {_first_line(error)}") from error
    if not isinstance(tree, dict):
        raise YamlError("the YAML document is not a mapping")
    return tree


def _first_line(error: Exception) -> str:
    problem = getattr(error, "problem", None) or str(error)
    mark = getattr(error, "problem_mark", None)
    place = f" (line {mark.line + 1})" if mark is not None else ""
    return f"{str(problem).splitlines()[0] if str(problem) else type(error).__name__}{place}"


def _check_depth(text: str) -> None:
    depth = 0
    events = cast("Iterator[object]", yaml.parse(text, Loader=yaml.SafeLoader))  # pyright: ignore[reportUnknownMemberType]
    for event in events:
        if isinstance(event, yaml.events.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise YamlError(f"YAML nested deeper than {MAX_DEPTH}")
        elif isinstance(event, yaml.events.CollectionEndEvent):
            depth -= 1


class _Tree:
    """Copies a loaded document into plain values, counting as it goes, aliases included."""

    def __init__(self) -> None:
        self.seen = 0

    def copy(self, value: object, depth: int = 0) -> Node:
        self.seen += 1
        if self.seen > MAX_NODES or depth > MAX_DEPTH:
            raise YamlError(f"more than {MAX_NODES} values in the YAML, or a loop of aliases")
        if value is None or isinstance(value, str | bool | int | float):
            return value
        if isinstance(value, list):
            return [self.copy(item, depth + 1) for item in cast("list[object]", value)]
        if isinstance(value, dict):
            copied: dict[str, Node] = {}
            for key, item in cast("dict[object, object]", value).items():
                if not isinstance(key, str):
                    raise YamlError(f"a key that is no string: {key!r}")
                copied[key] = self.copy(item, depth + 1)
            return copied
        raise YamlError(f"a value that a config cannot hold: {type(value).__name__}")


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with OmegaConf's differences: no dates, `1e5` a number, no twice."""

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Hashable, object]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge" or not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} stands twice", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, rule) for tag, rule in rules if not tag.endswith(":timestamp")]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(  # pyright: ignore[reportUnknownMemberType]
    "tag:yaml.org,2002:float", _EXPONENT, list("-+0123456789")
)
