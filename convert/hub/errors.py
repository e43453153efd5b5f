"""Whatever the Hub's client raises, as one of our errors: one sentence, one remedy, no token."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rlconvert.address import HubAddress
from rlconvert.errors import (
    HubConflict,
    HubDenied,
    HubError,
    HubNotFound,
    HubUnavailable,
    Malformed,
    RlconvertError,
)
from rlconvert.files import printable

from .patience import limit_waiting

if TYPE_CHECKING:
    from huggingface_hub.errors import HfHubHTTPError

OnDisk = Callable[[OSError], RlconvertError]
"""The error for what goes wrong on this machine's disk."""

_MOST = 300
_SECRET = re.compile(r"hf_\w+|(?i:bearer)\s+\S+")
_BAD_CARD = "Invalid metadata in README.md"


@contextmanager
def explained(
    address: HubAddress, on_disk: OnDisk, *, writing: bool = False
) -> Generator[None, None, None]:
    """Turn whatever the client raises about `address` into one of our errors, in finite time."""
    from huggingface_hub.errors import (
        EntryNotFoundError,
        HfHubHTTPError,
        LocalTokenNotFoundError,
        OfflineModeIsEnabled,
        XetDownloadError,
    )

    # The base of every error of the HTTP library under the client, whichever library that is.
    http_error: type[Exception] = HfHubHTTPError.__bases__[0]
    # The client wraps what goes wrong with an upload, and the HTTP library what with the network.
    raised = (OSError, EntryNotFoundError, XetDownloadError, RuntimeError, http_error)
    limit_waiting()
    try:
        yield
    except raised as error:
        # A FileNotFoundError often hides what really happened: it is the cause of the cause.
        for reason in _chain(error):
            if isinstance(reason, OfflineModeIsEnabled):
                raise _offline(address) from error
            if isinstance(reason, LocalTokenNotFoundError):
                raise no_token(address) from error
            if isinstance(reason, HfHubHTTPError):
                raise _answered(reason, address, writing=writing) from error
            if isinstance(reason, OSError) and reason.errno in _LOCAL_ERRNOS:
                raise on_disk(reason) from error
        raise _unreachable(address) from error
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError) as error:
        if _BAD_CARD in str(error):
            raise _bad_card(str(error)) from error
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


def _answered(error: HfHubHTTPError, address: HubAddress, *, writing: bool) -> RlconvertError:
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
    if status == 403 and writing:
        return HubDenied(
            f"this token may not write to the dataset {repo}",
            reason="may-not-write",
            file=file,
            remedy="Use a token with write access to that repo, or propose it with --pr",
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
            remedy="Wait five minutes and try again"
            if writing
            else "Wait five minutes, set HF_TOKEN for a higher limit, or give a clone's folder",
        )
    if status >= 500:
        return HubUnavailable(
            f"the Hub is in trouble (status {status})",
            reason="hub-down",
            file=file,
            remedy="Try again later",
        )
    if status == 400 and writing:
        return HubError(
            f"the Hub refuses what was sent{_said(error.server_message)}",
            reason="hub-refuses",
            file=file,
            remedy="Correct what it says, and publish again",
        )
    return HubError(
        f"the Hub answered with status {status} for the dataset {repo}",
        reason="hub-status",
        file=file,
        remedy="Open the dataset's page in a browser to see what it says",
    )


def _said(message: str | None) -> str:
    """The words of the Hub, cut short, and without what could be a token."""
    if not message:
        return ""
    words = _SECRET.sub("...", printable(" ".join(message.split()))).strip(" .-")
    return f": {words}" if len(words) <= _MOST else f": {words[:_MOST]} ..."


def _bad_card(message: str) -> Malformed:
    return Malformed(
        f"the Hub does not take the card's header{_said(message.partition(_BAD_CARD)[2])}",
        reason="card-refused",
        file="README.md",
        remedy="Correct the header",
    )


def _offline(address: HubAddress) -> HubUnavailable:
    return HubUnavailable(
        "the Hub client is in offline mode",
        reason="offline",
        file=str(address),
        remedy="Unset HF_HUB_OFFLINE, or give a folder on this machine",
    )


def no_token(address: HubAddress) -> HubDenied:
    """The error for a call that needs an account where no token is known."""
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
