"""The images that a task's containers are made of, as its files name them."""

from __future__ import annotations

import re

from rlconvert.files import FileTree
from rlconvert.model import Task
from rlconvert.runtime import Build, Compose, EnvServer, Image, NoRuntime, Place

_FROM = re.compile(
    rb"^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(?P<image>\S+)(?:[ \t]+AS[ \t]+(?P<stage>\S+))?",
    re.IGNORECASE | re.MULTILINE,
)
_SERVICE_IMAGE = re.compile(rb"^\s+image:\s*[\"']?([^\s\"'#]+)", re.MULTILINE)
_MAX_BYTES = 1 << 20


def images_of(task: Task) -> set[str]:
    """References as they are written; none that a variable is part of."""
    found = _of_place(task.runtime.place)
    for verifier in (task.verifier, *(step.verifier for step in task.steps)):
        if verifier.runtime is not None:
            found |= _of_place(verifier.runtime.place)
    return {image for image in found if "$" not in image}


def _of_place(place: Place) -> set[str]:
    match place:
        case Image(reference=reference):
            return {reference}
        case Build(context=context, dockerfile=dockerfile):
            return _bases(context, dockerfile)
        case Compose(context=context, file=file, image=image):
            named = {
                found.decode("utf-8", "replace") for found in _found(_SERVICE_IMAGE, context, file)
            }
            main = {image} if image is not None else _bases(context, "Dockerfile")
            return named | main
        case EnvServer(place=inner):
            return _of_place(inner)
        case NoRuntime():
            return set()


def _bases(context: FileTree, dockerfile: str) -> set[str]:
    stages = {"scratch"}
    images: set[str] = set()
    for found in _FROM.finditer(_text(context, dockerfile)):
        image = found["image"].decode("utf-8", "replace")
        if image.lower() not in stages:
            images.add(image)
        if found["stage"] is not None:
            stages.add(found["stage"].decode("utf-8", "replace").lower())
    return images


def _found(pattern: re.Pattern[bytes], context: FileTree, path: str) -> list[bytes]:
    return pattern.findall(_text(context, path))


def _text(context: FileTree, path: str) -> bytes:
    file = context.follow(path)
    return file.blob.read() if file is not None and file.blob.size <= _MAX_BYTES else b""
