"""What the server holds between requests, and how commits are written."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from .repo import Refusal, Repo, now

_LFS_SUFFIXES = """
7z arrow bin bz2 ckpt gz h5 jpeg jpg lz4 mp3 mp4 npy npz onnx ot parquet pb pickle pkl png pt pth
rar safetensors tar tflite tgz wav webp xz zip zst
"""
GITATTRIBUTES = "".join(
    f"*.{suffix} filter=lfs diff=lfs merge=lfs -text\n" for suffix in _LFS_SUFFIXES.split()
).encode()

Content = bytes | tuple[str, bytes]
"""The bytes of a file, or its Git mode and bytes (``("120000", target)`` is a symbolic link)."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong with a request: an answer with `status`, or None: the connection is cut.

    `done`: the request is carried out first, and only its answer is lost. `hangs`: no answer comes
    before the client gives up. `then` is called when it happens.
    """

    status: int | None = None
    done: bool = False
    hangs: bool = False
    then: Callable[[], None] | None = None


class Storage:
    """Repositories, LFS objects, accounts, and what tests look at or switch."""

    url: str
    cdn_url: str
    """LFS content comes from another origin, as on the Hub: no client may take it for the Hub."""

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        tokens: Mapping[str, str] | None = None,
        organizations: Sequence[str] = (),
        max_entries_per_dir: int = 10_000,
        page_size: int = 1000,
    ) -> None:
        self.root = Path(root).resolve()
        self.tokens = dict(tokens) if tokens is not None else {"hf_test": "alice"}
        self.organizations = tuple(organizations)
        self.max_entries_per_dir = max_entries_per_dir
        self.page_size = page_size
        self.repos: dict[tuple[str, str], Repo] = {}
        self.requests: list[tuple[str, str, int]] = []
        """Method, path with query, and status of each request, for assertions."""
        self.fail_next: list[tuple[str, int, dict[str, str]]] = []
        """Part of a path, status, headers: the next request with that part fails, once each."""
        self.interfere: Callable[[str, str], Fault | None] = _let_pass
        """Asked about each request before anything is done, with its method and path."""
        self.lock = threading.RLock()
        (self.root / "lfs").mkdir(parents=True, exist_ok=True)

    def repo(self, repo_id: str, repo_type: str = "dataset") -> Repo:
        """A repository that is there; for tests."""
        return self.repos[repo_type, repo_id.lower()]

    def seed(
        self, repo_id: str, files: Mapping[str, Content], *, repo_type: str = "dataset"
    ) -> str:
        """Commit `files` to ``main`` of a repository, made if need be, and give the commit id."""
        key = (repo_type, repo_id.lower())
        repo = self.repos.get(key) or self.create_repo(repo_id, repo_type)
        parent, author = repo.resolve("main"), repo.namespace
        return self.write_commit(repo, "refs/heads/main", parent, "Seed", author, files)

    def create_repo(self, repo_id: str, repo_type: str, *, private: bool = False) -> Repo:
        """A new repository with the first commit that the Hub makes."""
        key = (repo_type, repo_id.lower())
        if key in self.repos:
            raise Refusal(409, "You already created this dataset repo")
        git_dir = self.root / f"{repo_type}s" / (repo_id + ".git")
        git_dir.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(git_dir)], check=True)
        repo = Repo(repo_id, repo_type, git_dir, private=private, created=now())
        repo.git("config", "uploadpack.allowFilter", "true")
        repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
        repo.git("config", "http.receivepack", "true")
        first: dict[str, Content] = {".gitattributes": GITATTRIBUTES}
        self.write_commit(repo, "refs/heads/main", None, "initial commit", "hub", first)
        self.repos[key] = repo
        return repo

    def write_commit(
        self,
        repo: Repo,
        ref: str,
        parent: str | None,
        message: str,
        author: str,
        files: Mapping[str, Content],
        deleted: Sequence[str] = (),
    ) -> str:
        """Commit on top of `parent` and move `ref` there, or change nothing."""
        text = message.encode()
        stamp = int(datetime.now(UTC).timestamp())
        scratch = f"refs/scratch/{threading.get_ident()}"
        who = f"{author} <{author}@example.invalid> {stamp} +0000"
        script = [f"commit {scratch}\ncommitter {who}\ndata {len(text)}\n".encode(), text, b"\n"]
        if parent:
            script.append(f"from {parent}\n".encode())
        script += [b"D %s\n" % _quoted(path) for path in deleted]
        for path, content in files.items():
            mode, data = ("100644", content) if isinstance(content, bytes) else content
            head = b"M %s inline %s\ndata %d\n" % (mode.encode(), _quoted(path), len(data))
            script += [head, data, b"\n"]
        load = ("fast-import", "--quiet", "--force", "--date-format=raw")
        repo.git(*load, stdin=b"".join(script))
        commit = repo.git("rev-parse", scratch).decode().strip()
        repo.git("update-ref", "-d", scratch)
        self._check_limits(repo, commit, ref)
        repo.git("update-ref", ref, commit)
        return commit

    def _check_limits(self, repo: Repo, commit: str, ref: str) -> None:
        names = repo.git("ls-tree", "-r", "-t", "-z", "--name-only", commit).split(b"\0")
        counts = Counter(name.rpartition(b"/")[0] for name in names if name)
        full = [
            f"/{folder.decode(errors='replace')}/"
            for folder, count in counts.items()
            if count > self.max_entries_per_dir
        ]
        if full:
            raise Refusal(
                400,
                "Your push was rejected because it contains too many files per directory. Each "
                "directory in your git repo can only contain up to "
                f"{self.max_entries_per_dir} files. Offending reference: {ref} "
                f"Offending directories: {', '.join(full)}",
            )

    def lfs_path(self, oid: str) -> Path:
        """Where the content with this SHA-256 is, or would be."""
        return self.root / "lfs" / oid

    def lfs_pointer(self, data: bytes) -> bytes:
        """Store `data` as an LFS object and give the pointer file to commit; for `seed`."""
        oid = hashlib.sha256(data).hexdigest()
        self.lfs_path(oid).write_bytes(data)
        head = "version https://git-lfs.github.com/spec/v1"
        return f"{head}\noid sha256:{oid}\nsize {len(data)}\n".encode()

    @staticmethod
    def ignored(rules: str, paths: Sequence[str]) -> set[str]:
        """The paths that a .gitignore with these rules, at the root, hides."""
        if not rules.strip():
            return set()
        with tempfile.TemporaryDirectory() as work:
            subprocess.run(["git", "init", "-q", work], check=True)
            (Path(work) / ".gitignore").write_text(rules, encoding="utf-8")
            out = subprocess.run(
                ["git", "-C", work, "check-ignore", "--no-index", "-z", "--stdin"],
                input="\0".join(paths).encode(),
                capture_output=True,
                check=False,  # 1 is: nothing is ignored
            ).stdout
        return {path.decode() for path in out.split(b"\0") if path}


def _let_pass(method: str, path: str) -> None:
    """No fault."""


def _quoted(path: str) -> bytes:
    """A path as git fast-import wants it."""
    escaped = path.encode().replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + escaped + b'"'
