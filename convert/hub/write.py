"""The write side of the Hub: what a dataset holds, and commits to it.

Errors are as in `snapshots`. Nothing is done twice here but what the client itself repeats. An
error may come after the Hub has done what was asked: whoever calls looks at what is there before
asking again.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import quote

from rlconvert.address import HubAddress, is_repo_id
from rlconvert.errors import HubDenied, HubNotFound, ReadError
from rlconvert.files import changed, printable, unreadable

from .errors import explained, no_token

if TYPE_CHECKING:
    from huggingface_hub import HfApi

Mode: TypeAlias = Literal["regular", "lfs", "ignored"]
"""How the Hub takes a file: into git, as a large file, or not at all (its `.gitignore`)."""

SAMPLE = 512
"""So many first bytes of a file the Hub wants to see before it says how it takes it."""

KIND = "dataset"
_ASKED_AT_ONCE = 256
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Access:
    """Which Hub, and as whom; HF_ENDPOINT and the stored token when left out."""

    endpoint: str | None = None
    token: str | bool | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Account:
    """Who the token belongs to, and the namespaces that it may write to."""

    name: str
    writes_to: frozenset[str]

    def owns(self, repo_id: str) -> bool:
        """Whether a repo of this name is in one of them."""
        return repo_id.partition("/")[0] in self.writes_to


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset at one commit. `open_to_all`: neither private nor gated."""

    repo_id: str
    commit: str
    open_to_all: bool


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file on the Hub. `oid` is the id of its blob in git; `sha256` that of a large file."""

    size: int
    oid: str
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class OnDisk:
    """The bytes of a file of this machine, which is still what it was when it was hashed."""

    file: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Put:
    """Put a file, whatever stands there."""

    path: str
    content: bytes | OnDisk


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a file that is there."""

    path: str


Operation: TypeAlias = Put | Delete


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that was made, and the number of the pull request that was opened with it."""

    oid: str
    pull: int | None = None


# ---------------------------------------------------------------- reading


def account(address: HubAddress, access: Access) -> Account:
    """Who the token belongs to; `HubDenied` where there is none, or it may not write at all."""
    if access.token is False:
        raise no_token(address)
    with client(address, access) as api:
        said = api.whoami()
        name = str(said["name"])
        orgs = [each for each in said.get("orgs", ()) if each.get("roleInOrg") != "read"]
        namespaces = frozenset([name, *(str(each["name"]) for each in orgs)])
        token = said.get("auth", {}).get("accessToken", {})
    if token.get("role") == "read":
        raise HubDenied(
            "this token may read only",
            reason="read-only-token",
            file=str(address),
            remedy="Make one that may write, on the Hub's page of tokens, and set HF_TOKEN to it",
        )
    return Account(name, namespaces)


def find_dataset(address: HubAddress, access: Access) -> Dataset | None:
    """The dataset at the address's revision, or None where there is none that may be seen."""
    try:
        with client(address, access) as api:
            info = api.repo_info(address.repo_id, repo_type=KIND, revision=address.revision)
            open_to_all = not info.private and not info.gated
            repo_id = info.id if is_repo_id(info.id) else address.repo_id
            return Dataset(repo_id, str(info.sha), open_to_all)
    except HubNotFound as error:
        if error.reason == "repo-not-found":
            return None
        raise


def list_files(address: HubAddress, access: Access) -> dict[str, RemoteFile]:
    """Every file at the address's revision, by path."""
    from huggingface_hub.hf_api import RepoFile

    with client(address, access) as api:
        tree = api.list_repo_tree(
            address.repo_id, repo_type=KIND, revision=address.revision, recursive=True
        )
        return {
            each.path: RemoteFile(
                each.size, each.blob_id, None if each.lfs is None else each.lfs.sha256
            )
            for each in tree
            if isinstance(each, RepoFile)
        }


def read_file(address: HubAddress, path: str, access: Access) -> bytes:
    """The bytes of a small file at the address's revision."""
    with client(address, access) as api:
        return _got(api, address, path, access)


def hash_files(address: HubAddress, paths: Iterable[str], access: Access) -> dict[str, str]:
    """The SHA-256 of small files at the address's revision, by path."""
    with client(address, access) as api, ThreadPoolExecutor(_AT_ONCE) as pool:

        def digest(path: str) -> tuple[str, str]:
            return path, sha256(_got(api, address, path, access)).hexdigest()

        try:
            return dict(pool.map(digest, paths))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _got(api: HfApi, address: HubAddress, path: str, access: Access) -> bytes:
    from huggingface_hub import hf_hub_url
    from huggingface_hub.utils import (  # type: ignore[attr-defined]
        hf_raise_for_status,
        http_backoff,
    )

    place = hf_hub_url(
        address.repo_id, path, repo_type=KIND, revision=address.revision, endpoint=api.endpoint
    )
    answer = http_backoff("GET", place, headers=_headers(access))
    hf_raise_for_status(answer)
    return bytes(answer.content)


def upload_modes(
    address: HubAddress,
    files: Mapping[str, tuple[int, bytes]],
    access: Access,
    *,
    as_pr: bool = False,
) -> dict[str, Mode]:
    """How the Hub would take these files, of which it is told the size and the first bytes."""
    from huggingface_hub.utils import (  # type: ignore[attr-defined]
        hf_raise_for_status,
        http_backoff,
    )

    found: dict[str, Mode] = {}
    paths = list(files)
    with client(address, access) as api:
        place = f"{api.endpoint}/api/datasets/{address.repo_id}/preupload/{_quoted(address)}"
        for start in range(0, len(paths), _ASKED_AT_ONCE):
            asked = [
                {"path": path, "size": size, "sample": b64encode(sample).decode("ascii")}
                for path in paths[start : start + _ASKED_AT_ONCE]
                for size, sample in (files[path],)
            ]
            answer = http_backoff(
                "POST",
                place,
                json={"files": asked},
                headers=_headers(access),
                params={"create_pr": "1"} if as_pr else None,
            )
            hf_raise_for_status(answer)
            for each in answer.json()["files"]:
                ignored = bool(each.get("shouldIgnore"))
                large = each["uploadMode"] == "lfs" and files[each["path"]][0] > 0
                found[each["path"]] = "ignored" if ignored else "lfs" if large else "regular"
        if found.keys() != files.keys():
            raise ValueError  # no answer to what was asked
    return found


def page_of(address: HubAddress, access: Access, *, pull: int | None = None) -> str:
    """The address of the dataset's page, or of a pull request's."""
    with client(address, access) as api:
        page = f"{api.endpoint}/datasets/{address.repo_id}"
        return page if pull is None else f"{page}/discussions/{pull}"


# ---------------------------------------------------------------- writing


def make_dataset(address: HubAddress, access: Access, *, private: bool) -> None:
    """Make a dataset with nothing in it; fine when it is there."""
    with client(address, access, writing=True) as api:
        api.create_repo(address.repo_id, repo_type=KIND, private=private, exist_ok=True)


def make_branch(address: HubAddress, commit: str, access: Access) -> None:
    """Make the branch that is the address's revision, at a commit; fine when it is there."""
    branch = address.revision or "main"
    with client(address, access, writing=True) as api:
        api.create_branch(
            address.repo_id, branch=branch, revision=commit, repo_type=KIND, exist_ok=True
        )


def commit_files(
    address: HubAddress,
    operations: Sequence[Operation],
    *,
    message: str,
    parent: str,
    as_pr: bool = False,
    description: str = "",
    access: Access = Access(),
) -> Commit:
    """One commit on top of `parent`: all of the operations, or none.

    It goes to the address's revision (``main``, a branch, ``refs/pr/N``), or with `as_pr` becomes
    a new pull request, which is open. `HubConflict` when the revision is no longer at `parent`.
    Pass only what changes something: a commit of nothing is none. `SourceChanged` when a file is
    no longer what it was.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    with client(address, access, writing=True) as api:
        puts = [each for each in operations if isinstance(each, Put)]
        additions = [CommitOperationAdd(each.path, _content(each)) for each in puts]
        api.preupload_lfs_files(
            address.repo_id,
            additions,
            repo_type=KIND,
            revision=address.revision or "main",
            create_pr=as_pr,
            free_memory=False,
        )
        for put, addition in zip(puts, additions, strict=True):
            content = put.content
            if isinstance(content, OnDisk) and addition.upload_info.sha256.hex() != content.sha256:
                raise changed(put.path)
        # Deletions first: a file may give way to a folder of its name.
        deletions = [
            CommitOperationDelete(each.path, is_folder=False)
            for each in operations
            if isinstance(each, Delete)
        ]
        done = api.create_commit(
            address.repo_id,
            [*deletions, *additions],
            commit_message=message,
            commit_description=description,
            repo_type=KIND,
            revision=address.revision,
            create_pr=as_pr,
            parent_commit=parent,
        )
        return Commit(str(done.oid), done.pr_num)


def _content(put: Put) -> bytes | str:
    if isinstance(put.content, bytes):
        return put.content
    if not Path(put.content.file).is_file():
        raise changed(put.path)
    return put.content.file


# ---------------------------------------------------------------- the client


@contextmanager
def client(address: HubAddress, access: Access, *, writing: bool = False) -> Iterator[HfApi]:
    """The client, silent, and what it raises as our errors."""
    from huggingface_hub import HfApi
    from huggingface_hub.utils.tqdm import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    def on_disk(error: OSError) -> ReadError:
        name = Path(str(error.filename or "")).name or "what is to be published"
        return unreadable(printable(name), error)

    loud = not are_progress_bars_disabled()
    if loud:
        disable_progress_bars()
    try:
        with explained(address, on_disk, writing=writing):
            yield HfApi(endpoint=access.endpoint, token=access.token)
    finally:
        if loud:
            enable_progress_bars()


def _headers(access: Access) -> dict[str, str]:
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    return dict(build_hf_headers(token=access.token))


def _quoted(address: HubAddress) -> str:
    return quote(address.revision or "main", safe="")
