"""Snapshots of datasets on the Hub by git: for very many files, and for modes and links.

One fetch brings every file, where HTTP asks for each; and git has executable bits and links. Files
that are kept in LFS are then fetched from the Hub one by one. Nothing that the repo says about how
to check it out is followed: no filter, no hook, no conversion of line ends, no submodule.
"""

from __future__ import annotations

import base64
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from rlconvert.address import HubAddress
from rlconvert.errors import HubError, HubUnavailable, Malformed
from rlconvert.files import printable
from rlconvert.pointers import MARK, SIZES

from .errors import explained
from .snapshots import Snapshot, check_fetched, claim, clear, on_disk, resolved

_AS_IT_IS = "* -text -eol -ident -filter -working-tree-encoding\n"
"""Stands above all attributes of the repo."""

_SETTINGS = {
    "core.attributesFile": os.devnull,
    "core.autocrlf": "false",
    "core.hooksPath": os.devnull,
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.symlinks": "true",
    "gc.auto": "0",
    "http.lowSpeedLimit": "1000",  # bytes a second, for a minute: then it is taken for dead
    "http.lowSpeedTime": "60",
    "protocol.allow": "never",
    "protocol.http.allow": "always",
    "protocol.https.allow": "always",
}
_PASSED = ("PATH", "TMPDIR", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE")
_AT_ONCE = 8


def clone_dataset(
    address: HubAddress,
    *,
    dest: Path,
    endpoint: str | None = None,
    token: str | bool | None = None,
    large: bool = True,
) -> Snapshot:
    """`fetch_dataset` by git, which must be installed; files, links and modes are the commit's.

    Without `large`, pointers stand in the place of what is kept in LFS. The whole repo comes, also
    for an address with a path. A repo that was only ever written over HTTP has no modes and no
    links; the `Snapshot` says so. `Malformed` for a repo with submodules.
    """
    created = claim(dest)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="rlconvert-git-") as work,
            explained(address, lambda error: on_disk(error, dest)),
        ):
            found = resolved(address, endpoint, token)
            git = _Git(Path(work), dest, address, _header(token))
            git.check_out(found.url, found.commit, address.revision)
            if large:
                _fetch_large(found.repo_id, found.commit, dest, endpoint, token)
        check_fetched(address, dest, None, links=True)
    except BaseException:
        clear(dest, remove=created)
        raise
    return Snapshot(found.repo_id, found.commit, dest, found.date, has_modes=git.has_modes)


class _Git:
    """A git directory apart from the files, and the settings of this machine left out."""

    def __init__(self, work: Path, dest: Path, address: HubAddress, header: str | None) -> None:
        self.has_modes = False
        self._address = address
        settings = dict(_SETTINGS)
        if header is not None:
            settings["http.extraHeader"] = header
        self._environment = {
            **{name: value for name, value in os.environ.items() if name.upper() in _PASSED},
            "HOME": str(work),
            "LC_ALL": "C",
            "GIT_DIR": str(work / "git"),
            "GIT_WORK_TREE": str(dest.absolute()),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "true",
            **_as_environment(settings),  # not on the command line, which others may read
        }
        self._run("init", "--quiet", "--template=")
        information = work / "git" / "info"
        information.mkdir(exist_ok=True)
        (information / "attributes").write_text(_AS_IT_IS, encoding="ascii")

    def check_out(self, url: str, commit: str, revision: str | None) -> None:
        """The files of the commit, without its history."""
        fetch = ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", url)
        try:
            self._run(*fetch, commit)
        except HubError:  # a server need not give a commit by its id
            self._run(*fetch, revision or "HEAD")
        for mode, path in self._entries(commit):
            if mode == "160000":
                raise Malformed(
                    "it is a git submodule: its files are in another repo",
                    reason="submodule",
                    file=printable(path),
                    remedy="Clone the dataset with its submodules, and give the folder",
                )
            self.has_modes = self.has_modes or mode in ("100755", "120000")
        self._run("checkout", "--quiet", "--force", "--detach", commit)

    def _entries(self, commit: str) -> Iterator[tuple[str, str]]:
        """Mode and path of every file; read as they come, however many there are."""
        with subprocess.Popen(
            ["git", "ls-tree", "-r", "-z", commit],  # noqa: S607 - the user's git
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as listing:
            rest = b""
            while listing.stdout is not None and (chunk := listing.stdout.read(1 << 16)):
                *entries, rest = (rest + chunk).split(b"\0")
                for entry in entries:
                    facts, _, path = entry.partition(b"\t")
                    yield facts[:6].decode("ascii"), os.fsdecode(path)
        if listing.returncode:
            raise self._failed("its files cannot be listed")

    def _run(self, *arguments: str) -> None:
        try:
            done = subprocess.run(
                ["git", *arguments],  # noqa: S607 - the user's git
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        except OSError as error:
            raise HubError(
                f"git cannot be started ({error.strerror})",
                reason="no-git",
                file=str(self._address),
                remedy="Install git, or fetch over HTTP",
            ) from error
        if done.returncode:
            last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
            raise self._failed(printable("".join(last)) or "it does not say why")

    def _failed(self, why: str) -> HubUnavailable:
        return HubUnavailable(
            f"git could not get it: {why}",
            reason="git-failed",
            file=str(self._address),
            remedy="Try again, or fetch over HTTP",
        )


def _as_environment(settings: Mapping[str, str]) -> dict[str, str]:
    found = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return found


def _header(token: str | bool | None) -> str | None:
    """What git shows the Hub; the Hub takes a token for a password, whatever the user's name."""
    from huggingface_hub import get_token

    chosen = token if isinstance(token, str) else None if token is False else get_token()
    if chosen is None:
        return None
    return "Authorization: Basic " + base64.b64encode(f"user:{chosen}".encode()).decode()


# ---------------------------------------------------------------- files in LFS


def _fetch_large(
    repo_id: str, commit: str, dest: Path, endpoint: str | None, token: str | bool | None
) -> None:
    """Put what the Hub has in the place of every LFS pointer."""
    from huggingface_hub import hf_hub_download

    def fetch(path: Path) -> None:
        inside = path.relative_to(dest).as_posix()
        with tempfile.TemporaryDirectory(prefix="rlconvert-lfs-") as work:
            got = hf_hub_download(
                repo_id,
                inside,
                repo_type="dataset",
                revision=commit,
                local_dir=work,
                endpoint=endpoint,
                token=token,
            )
            mode = stat.S_IMODE(path.stat().st_mode)
            shutil.move(got, path)
            path.chmod(mode)

    pointers = list(_pointers(dest))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        _all_done([pool.submit(fetch, path) for path in pointers])


def _all_done(futures: Sequence[Future[None]]) -> None:
    try:
        for each in futures:
            each.result()
    finally:
        for each in futures:
            each.cancel()


def _pointers(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_symlink() or not path.is_file() or path.stat().st_size not in SIZES:
            continue
        with path.open("rb") as file:
            if file.read(len(MARK)) == MARK:
                yield path
