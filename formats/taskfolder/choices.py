"""Options that several formats with task folders share."""

from __future__ import annotations

import re

from rlconvert.errors import UsageError
from rlconvert.format import Options

HUB = "https://huggingface.co/datasets/"


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
