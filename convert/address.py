"""Addresses of datasets on the Hugging Face Hub, as people write and copy them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, unquote, urlsplit

from rlconvert.errors import UsageError
from rlconvert.files import name_fault, printable

BY_GIT = "git+"
"""Before an address: git is to fetch it."""

_PART = r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,94}[A-Za-z0-9_])?"
_REPO_ID = re.compile(rf"{_PART}/{_PART}")
_SPECIAL_REF = re.compile(r"refs/(?:pr/\d+|convert/[\w.-]+)(?=/|\Z)", re.ASCII)
"""The refs with a slash that the Hub's own addresses take whole."""
_REF_FAULT = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|\A[/.-]|[/.]\Z|/\.|\.lock(?:/|\Z)")
"""What Git allows in no name of a branch or tag."""
_HOSTS = frozenset({"huggingface.co", "www.huggingface.co", "hf.co"})
_FILE_PAGES = frozenset({"tree", "blob", "resolve", "raw"})
_FORMS = (
    "Write org/name, org/name@revision, hf://datasets/org/name[@revision][/path], "
    "or the address of the dataset's page"
)


@dataclass(frozen=True, slots=True)
class HubAddress:
    """A dataset on the Hub, or a folder or file in it. ``str()`` is its canonical address."""

    repo_id: str
    revision: str | None = None
    path: str = ""

    def __str__(self) -> str:
        text = f"hf://datasets/{self.repo_id}"
        if self.revision is not None:
            special = _SPECIAL_REF.fullmatch(self.revision)
            text += "@" + (self.revision if special else quote(self.revision, safe="@+=,!"))
        return f"{text}/{self.path}" if self.path else text


def is_repo_id(text: str) -> bool:
    """Whether the Hub could have a repo of this name: two parts of 1 to 96 ASCII characters."""
    return (
        _REPO_ID.fullmatch(text) is not None
        and "--" not in text
        and ".." not in text
        and not text.endswith(".git")
    )


def parse_hub_address(text: str) -> HubAddress | None:
    """The dataset that `text` names, or None where it is no address of the Hub at all.

    ``org/name[@revision]``, ``hf://datasets/org/name[@revision][/path]``, and pages and files of a
    dataset on huggingface.co or on the host in HF_ENDPOINT. An address of the Hub that names no
    dataset is a `UsageError`; so a plain `org/name` is the only form that a folder could have too.
    """
    if text.startswith("hf://"):
        return _from_uri(text.removeprefix("hf://"))
    if (page := _page(text)) is not None:
        return _from_page(page)
    repo_id, at, revision = text.partition("@")
    if not is_repo_id(repo_id) or (at and not _is_revision(revision)):
        return None
    return HubAddress(repo_id, revision if at else None)


def _from_uri(body: str) -> HubAddress:
    kind, _, rest = body.partition("/")
    if kind != "datasets":
        raise _bad_address("an hf:// address of a dataset starts with hf://datasets/")
    namespace, _, rest = rest.partition("/")
    head, _, path = rest.partition("/")
    name, at, revision = head.partition("@")
    if at:
        after = rest[len(name) + 1 :]
        if special := _SPECIAL_REF.match(after):
            revision, path = special[0], after[special.end() + 1 :]
        else:
            revision = unquote(revision)
    return _address(f"{namespace}/{name}", revision if at else None, path)


def _page(text: str) -> tuple[SplitResult, str] | None:
    """The address and the path on it, if `text` is on a host of the Hub."""
    hosts = dict.fromkeys(_HOSTS, "")
    if endpoint := os.environ.get("HF_ENDPOINT"):
        own = urlsplit(endpoint)
        hosts[own.netloc.lower()] = own.path.rstrip("/")
    if not text.lower().startswith(("https://", "http://")):
        if text.partition("/")[0].lower() not in hosts:
            return None
        text = "https://" + text
    try:
        url = urlsplit(text)
    except ValueError:
        return None
    prefix = hosts.get(url.netloc.rpartition("@")[2].lower())
    if prefix is None or not f"{url.path}/".startswith(f"{prefix}/"):
        return None
    return url, url.path[len(prefix) :]


def _from_page(page: tuple[SplitResult, str]) -> HubAddress:
    url, path = page
    if "@" in url.netloc:
        raise UsageError(
            "the address holds a user name or a password",
            reason="hub-address",
            remedy="Take it out, and put a token into HF_TOKEN",
        )
    match path.strip("/").split("/"):
        case ["datasets", namespace, name]:
            return _address(f"{namespace}/{name.removesuffix('.git')}", None, "")
        case ["datasets", namespace, name, kind, *rest] if kind in _FILE_PAGES and rest:
            whole = "/".join(rest)
            if special := _SPECIAL_REF.match(whole):
                revision, inside = special[0], whole[special.end() + 1 :]
            else:
                revision, inside = unquote(rest[0]), "/".join(rest[1:])
            return _address(f"{namespace}/{name}", revision, unquote(inside))
        case ["datasets", namespace, name, "commit", commit]:
            return _address(f"{namespace}/{name}", unquote(commit), "")
        case ["datasets", namespace, name, *_]:
            raise _bad_address(f"this page of {printable(f'{namespace}/{name}')} shows no files")
        case _:
            raise _bad_address("this page of the Hub shows no dataset of the form org/name")


def _address(repo_id: str, revision: str | None, path: str) -> HubAddress:
    if not is_repo_id(repo_id):
        raise _bad_address(f"{printable(repo_id)!r} cannot be the name of a repo")
    if revision is not None and not _is_revision(revision):
        raise _bad_address(f"{printable(revision)!r} cannot be the name of a revision")
    path = path.removesuffix("/")
    if path:
        for part in path.split("/"):
            if fault := name_fault(part):
                raise _bad_address(f"the part {printable(part)!r} of the path {fault}")
    return HubAddress(repo_id, revision, path)


def _is_revision(text: str) -> bool:
    return bool(text) and text.isprintable() and not _REF_FAULT.search(text)


def _bad_address(problem: str) -> UsageError:
    return UsageError(problem, reason="hub-address", remedy=_FORMS)
