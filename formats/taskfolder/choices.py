"""Options that several formats with task folders share."""

from __future__ import annotations

import re

from rlconvert.errors import UsageError
from rlconvert.format import Option, Options

HUB = "https://huggingface.co/datasets/"
BASE_IMAGE = Option(
    name="base-image",
    help="The image that containers are made from for tasks that had none; it has Python 3.",
)

# As Docker reads it: [host[:port]/]path[:tag][@digest], the path in lower case.
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REFERENCE = re.compile(
    rf"(?:[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]+)?/)?{_PART}(?:/{_PART})*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?"
)


def repo_id_from(options: Options) -> str | None:
    """The Hub repo that the output is for; `UsageError` unless it is ``org/name``."""
    repo_id = options.get("repo-id")
    if repo_id is not None and not re.fullmatch(r"[\w.-]+/[\w.-]+", repo_id, re.ASCII):
        raise UsageError(
            f"{repo_id!r} is not the id of a Hub repo",
            reason="bad-repo-id",
            remedy="Write it as org/name",
        )
    return repo_id


def is_reference(image: str) -> bool:
    """Whether Docker would take it for the name of an image."""
    return _REFERENCE.fullmatch(image) is not None


def base_image_from(options: Options) -> str | None:
    """The image to make containers from; `UsageError` for what is no image's name."""
    image = options.get(BASE_IMAGE.name)
    if image is not None and not is_reference(image):
        raise UsageError(
            f"{image!r} is not the name of an image",
            reason="bad-base-image",
            remedy="Write it like python:3.13-slim",
        )
    return image
