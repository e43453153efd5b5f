"""Images for tasks that have only a Dockerfile: chosen by the user, written into `task.toml`.

Verifiers (0.4.0) builds nothing. Whoever has built and pushed the images says what they are called;
one line is added to `task.toml`, and every other byte of it stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rlconvert.errors import UsageError
from rlconvert.format import Options
from rlconvert.formats.taskfolder.choices import is_reference
from rlconvert.formats.taskfolder.documents import Value, parse_json, parse_toml
from rlconvert.formats.taskfolder.problems import DocumentRefused

_MAX_MAP = 256 << 20
_PLACE = "{task}"
_HEADER = re.compile(r"^[ \t]*\[[ \t]*environment[ \t]*\][^\r\n]*(\r\n|\n|$)", re.MULTILINE)
_EMPTY = re.compile(r"""^([ \t]*docker_image[ \t]*=[ \t]*)(?:""|'')""", re.MULTILINE)
_INLINE = re.compile(r"^[ \t]*environment[ \t]*=[ \t]*\{[ \t]*", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """What the user says about images: a name for each task, or a pattern for all others."""

    template: str | None = None
    by_task: Mapping[str, str] = field(default_factory=dict)

    def image_of(self, task: str) -> str | None:
        """The image of a task; None when the user has not said."""
        if task in self.by_task:
            return self.by_task[task]
        return None if self.template is None else self.template.replace(_PLACE, task)


def images_from(options: Options) -> Images:
    """The options, checked; `UsageError` for a pattern without a place for the task, and for a
    file that is not a JSON object of names."""
    template, path = options.get("image-template"), options.get("image-map")
    if template is not None and not (
        _PLACE in template and is_reference(template.replace(_PLACE, "x"))
    ):
        raise UsageError(
            f"{template!r} is not the name of an image with {_PLACE} in it",
            reason="bad-image-template",
            remedy="Write it like ghcr.io/org/{task}:latest",
        )
    return Images(template=template, by_task={} if path is None else _read_map(path))


def _read_map(path: str) -> Mapping[str, str]:
    try:
        with Path(path).open("rb") as file:
            data = file.read(_MAX_MAP + 1)
        tree = parse_json(data)
    except OSError as error:
        raise _bad_map(path, error.strerror or "it cannot be read") from error
    except DocumentRefused as refused:
        raise _bad_map(path, str(refused.problems[0])) from refused
    if not isinstance(tree, dict):
        raise _bad_map(path, "it is not a JSON object")
    named = {task: image for task, image in tree.items() if isinstance(image, str)}
    if len(named) != len(tree):
        raise _bad_map(path, f"the image of {min(tree.keys() - named.keys())!r} is not a text")
    return named


def _bad_map(path: str, problem: str) -> UsageError:
    return UsageError(
        f"--image-map {path}: {problem}",
        reason="bad-image-map",
        remedy='Write a JSON object: {"task id": "image", ...}',
    )


# --- one line of task.toml -----------------------------------------------------------------------


def with_image(data: bytes, image: str) -> bytes | None:
    """A `task.toml` with `docker_image` in `[environment]`, all other bytes kept.

    Every way to say it in TOML is tried until one reads back as the same document with just that
    key more; None when none does.
    """
    old = parse_toml(data)
    wanted = _canonical(_with_key(old, image))
    for text in _candidates(data.decode(), f"docker_image = {json.dumps(image)}"):
        new = text.encode()
        try:
            if _canonical(parse_toml(new)) == wanted:
                return new
        except DocumentRefused:
            continue
    return None


def _candidates(text: str, line: str) -> Iterator[str]:
    value = line.partition("= ")[2]
    for match in _EMPTY.finditer(text):
        yield text[: match.start()] + match[1] + value + text[match.end() :]
    end = "\r\n" if "\r\n" in text else "\n"
    for match in _HEADER.finditer(text):
        gap = "" if match[1] else end
        yield text[: match.end()] + gap + line + end + text[match.end() :]
    for match in _INLINE.finditer(text):
        comma = "" if text[match.end() : match.end() + 1] == "}" else ", "
        yield text[: match.end()] + line + comma + text[match.end() :]
    gap = "" if not text or text.endswith("\n") else end
    yield f"{text}{gap}{end if text.strip() else ''}[environment]{end}{line}{end}"
    yield f"environment.{line}{end}{text}"


def _with_key(tree: Mapping[str, Value], image: str) -> dict[str, Value]:
    environment = tree.get("environment", {})
    inner = dict(environment) if isinstance(environment, dict) else {}
    return {**tree, "environment": {**inner, "docker_image": image}}


def _canonical(value: Value) -> object:
    """Equal for the same document only, in whatever order: types count, and NaN is itself."""
    if isinstance(value, dict):
        return {key: _canonical(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(inner) for inner in value]
    return type(value).__name__, repr(value)
