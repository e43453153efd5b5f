"""Snapshots of datasets on the Hugging Face Hub.

As in all of this folder, ``huggingface_hub`` is imported inside functions only. Whatever the client
raises leaves here as a `HubError` (or, for trouble on this machine, a `WriteError`) of one sentence
and one remedy; no message holds a token.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from rlconvert.address import HubAddress, is_repo_id, parse_hub_address
from rlconvert.errors import HubNotFound, OutputExists, UnsafePath, WriteError
from rlconvert.files import printable

from .errors import explained

__all__ = ["HubAddress", "Snapshot", "fetch_dataset", "is_repo_id", "parse_hub_address"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files of a dataset at one commit, on this machine.

    `folder` stands for the root of the repo, also when only a part of it was fetched. `date` is
    the day of the commit (``2026-01-31``, UTC) where the Hub tells. `has_modes`: executable bits
    and links are the commit's own.
    """

    repo_id: str
    commit: str
    folder: Path
    date: str | None = None
    has_modes: bool = False


@dataclass(frozen=True, slots=True)
class Resolved:
    """What an address of a dataset stands for now. `url` is what git calls the repo."""

    repo_id: str
    commit: str
    date: str | None
    url: str


def fetch_dataset(
    address: HubAddress,
    *,
    dest: Path,
    allow: Sequence[str] | None = None,
    endpoint: str | None = None,
    token: str | bool | None = None,
) -> Snapshot:
    """Download a dataset into `dest`, a folder that is empty or does not exist yet.

    The revision is resolved to a commit once, and every file is of that commit. `allow` are
    patterns in which ``*`` crosses slashes (``tasks/*``), relative to the address's path; without
    them everything there comes. What is left is regular files: no links, no bookkeeping of the
    client. The Hub's HTTP side has no modes: no file is executable. When anything fails, `dest`
    is as it was. `endpoint` and `token` are HF_ENDPOINT and the stored token when left out;
    ``token=False`` is anonymous.
    """
    from huggingface_hub import (
        snapshot_download,  # pyright: ignore[reportUnknownVariableType]
    )

    created = claim(dest)
    try:
        with explained(address, lambda error: on_disk(error, dest)):
            found = resolved(address, endpoint, token)
            snapshot_download(
                address.repo_id,
                repo_type="dataset",
                revision=found.commit,
                local_dir=dest,
                allow_patterns=_patterns(address.path, allow),
                ignore_patterns=[".cache/*", ".git/*"],
                endpoint=endpoint,
                token=token,
                tqdm_class=_silent(),
            )
            shutil.rmtree(dest / ".cache", ignore_errors=True)
        check_fetched(address, dest, allow)
    except BaseException:
        clear(dest, remove=created)
        raise
    return Snapshot(found.repo_id, found.commit, dest, found.date)


def resolved(address: HubAddress, endpoint: str | None, token: str | bool | None) -> Resolved:
    """Ask the Hub which commit an address stands for."""
    from huggingface_hub import HfApi

    api = HfApi(endpoint=endpoint, token=token)
    info = api.repo_info(address.repo_id, repo_type="dataset", revision=address.revision)
    # The Hub answers for the old name of a renamed repo; what is recorded is the new one.
    repo_id = info.id if is_repo_id(info.id) else address.repo_id
    changed = info.last_modified
    date = changed.date().isoformat() if changed else None
    return Resolved(repo_id, str(info.sha), date, f"{api.endpoint}/datasets/{repo_id}")


def claim(dest: Path) -> bool:
    """Make `dest`, and say whether it was made; `OutputExists` when something is in it."""
    try:
        created = not dest.exists()
        dest.mkdir(parents=True, exist_ok=True)
        if not any(dest.iterdir()):
            return created
    except FileExistsError:
        pass
    except OSError as error:
        raise on_disk(error, dest) from error
    raise OutputExists(
        "the folder for the download is not empty",
        reason="download-folder-not-empty",
        file=str(dest),
        remedy="Name a new folder: files of an earlier download would mix with this one",
    )


def clear(dest: Path, *, remove: bool) -> None:
    """Take away what a failed download left; `remove`: the folder, too."""
    if remove:
        shutil.rmtree(dest, ignore_errors=True)
        return
    for path in dest.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _patterns(path: str, allow: Sequence[str] | None) -> list[str] | None:
    if not path:
        return None if allow is None else list(allow)
    inside = escape(path)
    return [inside, f"{inside}/*"] if allow is None else [f"{inside}/{item}" for item in allow]


def check_fetched(
    address: HubAddress, dest: Path, allow: Sequence[str] | None, *, links: bool = False
) -> None:
    """`HubNotFound` when nothing came that was asked for, `UnsafePath` for links out of place."""
    found = False
    for path in dest.rglob("*"):
        if path.is_symlink():
            if links:
                continue
            raise UnsafePath(
                "the download left a link where a file should be",
                reason="download-link",
                file=path.relative_to(dest).as_posix(),
                remedy="Download the dataset by other means and give the folder",
            )
        found = found or path.is_file()
    if not found and (address.path or allow is not None):
        wanted = address.path or ", ".join(allow or ())
        raise HubNotFound(
            f"nothing in the dataset {address.repo_id} matches {printable(wanted)}",
            reason="path-not-found",
            file=str(address),
            remedy="Look up the path on the dataset's page; upper and lower case differ",
        )


def _silent() -> type:
    """A progress bar that stays dark; only the command line talks."""
    from huggingface_hub.utils.tqdm import tqdm

    class Silent(tqdm):
        def __init__(self, *args: object, **options: object) -> None:
            super().__init__(*args, **options | {"disable": True})  # type: ignore[no-untyped-call]

    return Silent


def on_disk(error: OSError, dest: Path) -> WriteError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return WriteError(
            "the disk is full",
            reason="disk-full",
            file=str(dest),
            remedy="Make room, or download to another disk",
        )
    return WriteError(
        f"the download cannot be written ({os.strerror(error.errno or 0)})",
        reason="download-not-writable",
        file=str(dest),
        remedy="Choose a folder that can be written to",
    )
