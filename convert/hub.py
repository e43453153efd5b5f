"""Snapshots of datasets on the Hugging Face Hub.

The only module that imports ``huggingface_hub``, and only inside functions. Whatever the client
raises leaves here as a `HubError` (or, for trouble on this machine, a `WriteError`) of one
sentence and one remedy; no message holds a token.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING

from .address import HubAddress, is_repo_id, parse_hub_address
from .errors import (
    HubConflict,
    HubDenied,
    HubError,
    HubNotFound,
    HubUnavailable,
    OutputExists,
    RlconvertError,
    UnsafePath,
    WriteError,
)
from .files import printable

if TYPE_CHECKING:
    from huggingface_hub.errors import HfHubHTTPError

__all__ = ["HubAddress", "Snapshot", "fetch_dataset", "is_repo_id", "parse_hub_address"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files of a dataset at one commit, on this machine.

    `folder` stands for the root of the repo, also when only a part of it was fetched. `date` is
    the day of the commit (``2026-01-31``, UTC) where the Hub tells.
    """

    repo_id: str
    commit: str
    folder: Path
    date: str | None = None


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
        HfApi,
        snapshot_download,  # pyright: ignore[reportUnknownVariableType]
    )

    created = _claim(dest)
    try:
        with _explained(address, dest):
            info = HfApi(endpoint=endpoint, token=token).repo_info(
                address.repo_id, repo_type="dataset", revision=address.revision
            )
            commit = str(info.sha)
            snapshot_download(
                address.repo_id,
                repo_type="dataset",
                revision=commit,
                local_dir=dest,
                allow_patterns=_patterns(address.path, allow),
                ignore_patterns=[".cache/*", ".git/*"],
                endpoint=endpoint,
                token=token,
                tqdm_class=_silent(),
            )
            shutil.rmtree(dest / ".cache", ignore_errors=True)
        _check_fetched(address, dest, allow)
    except BaseException:
        _clear(dest, remove=created)
        raise
    # The Hub answers for the old name of a renamed repo; what is recorded is the new one.
    repo_id = info.id if is_repo_id(info.id) else address.repo_id
    changed = info.last_modified
    return Snapshot(repo_id, commit, dest, changed.date().isoformat() if changed else None)


def _claim(dest: Path) -> bool:
    """Make `dest`, and say whether it was made; `OutputExists` when something is in it."""
    try:
        created = not dest.exists()
        dest.mkdir(parents=True, exist_ok=True)
        if not any(dest.iterdir()):
            return created
    except FileExistsError:
        pass
    except OSError as error:
        raise _local(error, dest) from error
    raise OutputExists(
        "the folder for the download is not empty",
        reason="download-folder-not-empty",
        file=str(dest),
        remedy="Name a new folder: files of an earlier download would mix with this one",
    )


def _clear(dest: Path, *, remove: bool) -> None:
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


def _check_fetched(address: HubAddress, dest: Path, allow: Sequence[str] | None) -> None:
    found = False
    for path in dest.rglob("*"):
        if path.is_symlink():
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


# ---------------------------------------------------------------- errors


@contextmanager
def _explained(address: HubAddress, dest: Path) -> Generator[None, None, None]:
    """Turn whatever the client raises into one of our errors."""
    from huggingface_hub.errors import (
        EntryNotFoundError,
        HfHubHTTPError,
        LocalTokenNotFoundError,
        OfflineModeIsEnabled,
        XetDownloadError,
    )

    # The base of every error of the HTTP library under the client, whichever library that is.
    http_error: type[Exception] = HfHubHTTPError.__bases__[0]
    try:
        yield
    except (OSError, EntryNotFoundError, XetDownloadError, http_error) as error:
        # A FileNotFoundError often hides what really happened: it is the cause of the cause.
        for reason in _chain(error):
            if isinstance(reason, OfflineModeIsEnabled):
                raise _offline(address) from error
            if isinstance(reason, LocalTokenNotFoundError):
                raise _no_token(address) from error
            if isinstance(reason, HfHubHTTPError):
                raise _answered(reason, address) from error
            if isinstance(reason, OSError) and reason.errno in _LOCAL_ERRNOS:
                raise _local(reason, dest) from error
        raise _unreachable(address) from error
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError) as error:
        raise HubError(
            f"the Hub's answer for {address.repo_id} makes no sense ({type(error).__name__})",
            reason="hub-answer",
            file=str(address),
            remedy="Check HF_ENDPOINT and the proxy: something else may have answered",
        ) from error


def _chain(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    while link is not None:
        yield link
        link = link.__cause__


_LOCAL_ERRNOS = frozenset(
    {
        errno.EACCES,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EIO,
        errno.EISDIR,
        errno.EMFILE,
        errno.ENAMETOOLONG,
        errno.ENOSPC,
        errno.ENOTDIR,
        errno.EPERM,
        errno.EROFS,
    }
)
"""What goes wrong on this machine's disk, never on the network."""


def _answered(error: HfHubHTTPError, address: HubAddress) -> RlconvertError:
    """The error for an answer with a bad status."""
    from huggingface_hub.errors import (
        DisabledRepoError,
        EntryNotFoundError,
        GatedRepoError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    repo, file, status = address.repo_id, str(address), error.response.status_code
    if isinstance(error, GatedRepoError):  # first: it is a RepositoryNotFoundError too
        return HubDenied(
            f"the dataset {repo} is gated, and this account has no access to it",
            reason="gated",
            file=file,
            remedy=f"Ask for access on https://huggingface.co/datasets/{repo}, then set HF_TOKEN",
        )
    if isinstance(error, RepositoryNotFoundError):
        return HubNotFound(
            f"there is no dataset {repo}, or it is private and this account may not see it",
            reason="repo-not-found",
            file=file,
            remedy="Check the name; if it is private, set HF_TOKEN to a token that may read it",
        )
    if isinstance(error, RevisionNotFoundError):
        return HubNotFound(
            f"the dataset {repo} has no revision {printable(address.revision or 'main')}",
            reason="revision-not-found",
            file=file,
            remedy="Name a branch, a tag, a commit id or refs/pr/N",
        )
    if isinstance(error, EntryNotFoundError):
        return HubNotFound(
            f"a file of the dataset {repo} is listed but not there",
            reason="file-not-found",
            file=file,
            remedy="Try again; if it stays so, tell the dataset's owner",
        )
    if isinstance(error, DisabledRepoError):
        return HubDenied(
            f"the Hub has disabled the dataset {repo}",
            reason="disabled",
            file=file,
            remedy="Ask its owner for another copy",
        )
    if status == 401:
        return HubDenied(
            "the Hub does not accept this token",
            reason="bad-token",
            file=file,
            remedy="Set HF_TOKEN to a valid token, or run `hf auth login` again",
        )
    if status == 403:
        return HubDenied(
            f"this token may not read the dataset {repo}",
            reason="forbidden",
            file=file,
            remedy="Use a token with read access to that repo",
        )
    if status in (409, 412):
        return HubConflict(
            f"the dataset {repo} changed in between",
            reason="conflict",
            file=file,
            remedy="Try again",
        )
    if status == 429:
        return HubUnavailable(
            "the Hub refuses more requests for now (rate limit)",
            reason="rate-limit",
            file=file,
            remedy="Wait five minutes, set HF_TOKEN for a higher limit, or give a clone's folder",
        )
    if status >= 500:
        return HubUnavailable(
            f"the Hub is in trouble (status {status})",
            reason="hub-down",
            file=file,
            remedy="Try again later",
        )
    return HubError(
        f"the Hub answered with status {status} for the dataset {repo}",
        reason="hub-status",
        file=file,
        remedy="Open the dataset's page in a browser to see what it says",
    )


def _offline(address: HubAddress) -> HubUnavailable:
    return HubUnavailable(
        "the Hub client is in offline mode",
        reason="offline",
        file=str(address),
        remedy="Unset HF_HUB_OFFLINE, or give a folder on this machine",
    )


def _no_token(address: HubAddress) -> HubDenied:
    return HubDenied(
        "a token was asked for, and none is stored",
        reason="no-token",
        file=str(address),
        remedy="Set HF_TOKEN, or run `hf auth login`",
    )


def _unreachable(address: HubAddress) -> HubUnavailable:
    return HubUnavailable(
        "the Hub cannot be reached",
        reason="network",
        file=str(address),
        remedy="Check the connection, the proxy and HF_ENDPOINT, and try again",
    )


def _local(error: OSError, dest: Path) -> WriteError:
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
