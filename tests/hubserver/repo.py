"""One repository of the Hub: a bare Git repository, its switches and its discussions."""

from __future__ import annotations

import hashlib
import re
import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import yaml

POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\noid sha256:([0-9a-f]{64})\nsize (\d+)\n\Z"
)
YAML_BLOCK = re.compile(r"^(\s*---(?:\r\n|\r|\n))([\S\s]*?)((?:\r\n|\r|\n)---[ \t]*(\r\n|\n|$))")


class Refusal(Exception):
    """An error answer: status, message, and the code that the client turns into a typed error."""

    def __init__(self, status: int, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


@dataclass
class Entry:
    """One path of a commit's tree."""

    path: str
    mode: str
    kind: str
    """``blob`` or ``tree``."""
    oid: str
    size: int = 0
    lfs: tuple[str, int] | None = None
    """The SHA-256 and the size of the content, when the blob is an LFS pointer."""

    def to_json(self) -> dict[str, Any]:
        """The entry as the tree and paths-info answers show it."""
        if self.kind == "tree":
            return {"type": "directory", "oid": self.oid, "size": 0, "path": self.path}
        out: dict[str, Any] = {
            "type": "file",
            "oid": self.oid,
            "size": self.size,
            "path": self.path,
        }
        if self.lfs:
            sha256, size = self.lfs
            out |= {"size": size, "lfs": {"oid": sha256, "size": size, "pointerSize": self.size}}
        return out


@dataclass
class Discussion:
    """A discussion or a pull request."""

    num: int
    title: str
    author: str
    is_pull_request: bool
    status: str
    created: str
    base: str = "main"
    merge_commit: str | None = None
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


@dataclass
class Repo:
    """A repository; tests switch `private` and `gated` at will."""

    repo_id: str
    repo_type: str
    git_dir: Path
    private: bool = False
    gated: bool = False
    created: str = ""
    discussions: list[Discussion] = field(default_factory=list[Discussion])

    @property
    def namespace(self) -> str:
        """The user or organisation that owns it."""
        return self.repo_id.split("/")[0]

    def git(self, *args: str, stdin: bytes | None = None, check: bool = True) -> bytes:
        """What a git command prints; a failure is a bug of the server unless `check` is off."""
        done = subprocess.run(
            ["git", "--git-dir", str(self.git_dir), *args],
            input=stdin,
            capture_output=True,
            check=False,
        )
        if check and done.returncode:
            raise RuntimeError(f"git {args[0]}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def resolve(self, revision: str) -> str:
        """Commit id of a branch, tag, refs/... name or (short) commit id."""
        candidates = (
            [revision]
            if revision.startswith("refs/")
            else [f"refs/heads/{revision}", f"refs/tags/{revision}"]
        )
        if re.fullmatch(r"[0-9a-fA-F]{5,40}", revision):
            candidates.append(revision)
        for candidate in candidates:
            name = f"{candidate}^{{commit}}"
            if out := self.git("rev-parse", "--verify", "--quiet", name, check=False):
                return out.decode().strip()
        raise Refusal(404, f"Invalid rev id: {revision}", "RevisionNotFound")

    def entries(self, commit: str, path: str = "", *, recursive: bool = True) -> list[Entry]:
        """The files and folders of a commit, below `path`."""
        args = ["ls-tree", "-z", "-l"] + (["-r", "-t"] if recursive else [])
        out = self.git(*args, commit, *(["--", path.rstrip("/") + "/"] if path else []))
        return self._listed(out)

    def entry(self, commit: str, path: str) -> Entry | None:
        """The file or folder at exactly `path`, if it is there."""
        out = self.git("ls-tree", "-z", "-l", commit, "--", path)
        return next((found for found in self._listed(out) if found.path == path), None)

    def blob(self, oid: str) -> bytes:
        """The bytes that Git holds: of an LFS file, the pointer."""
        return self.git("cat-file", "blob", oid)

    def card(self, commit: str) -> dict[str, Any]:
        """The YAML block of README.md, or nothing where there is none or it is broken."""
        readme = self.entry(commit, "README.md")
        if readme is None:
            return {}
        match = YAML_BLOCK.search(self.blob(readme.oid).decode("utf-8-sig", "replace"))
        try:
            data: object = yaml.safe_load(match[2]) if match else {}
        except yaml.YAMLError:
            data = {}
        return cast("dict[str, Any]", data) if isinstance(data, dict) else {}

    def info(self, revision: str, *, blobs: bool = False) -> dict[str, Any]:
        """The answer to a request for repository info at a revision."""
        commit = self.resolve(revision)
        card = self.card(commit)
        return {
            "_id": hashlib.sha256(self.repo_id.encode()).hexdigest()[:24],
            "id": self.repo_id,
            "author": self.namespace,
            "sha": commit,
            "createdAt": self.created,
            "lastModified": now(),
            "private": self.private,
            "gated": "manual" if self.gated else False,
            "disabled": False,
            "downloads": 0,
            "likes": 0,
            "tags": _tags(card),
            "cardData": card,
            "siblings": [
                _sibling(entry, blobs=blobs)
                for entry in self.entries(commit)
                if entry.kind == "blob"
            ],
        }

    def refs(self) -> dict[str, list[dict[str, str]]]:
        """Branches, tags and pull requests with the commits they point at."""
        out: dict[str, list[dict[str, str]]] = {
            "branches": [],
            "converts": [],
            "tags": [],
            "pullRequests": [],
        }
        kinds = {"refs/heads/": "branches", "refs/tags/": "tags", "refs/pr/": "pullRequests"}
        listed = self.git("for-each-ref", "--format=%(refname) %(objectname)").decode()
        for line in listed.splitlines():
            ref, oid = line.split()
            for prefix, key in kinds.items():
                if ref.startswith(prefix):
                    name = ref.removeprefix(prefix)
                    out[key].append({"name": name, "ref": ref, "targetCommit": oid})
        return out

    def history(self, commit: str) -> list[dict[str, Any]]:
        """The commits up to this one, newest first."""
        out: list[dict[str, Any]] = []
        shape = "--format=%H%x1f%cn%x1f%ct%x1f%s%x1f%b"
        for record in self.git("log", "-z", shape, commit).decode().split("\0"):
            if record:
                oid, author, seconds, title, message = record.split("\x1f")
                row = {"id": oid, "authors": [{"user": author}], "date": date(int(seconds))}
                out.append(row | {"title": title, "message": message.strip()})
        return out

    def _listed(self, output: bytes) -> list[Entry]:
        found: list[Entry] = []
        for record in filter(None, output.split(b"\0")):
            meta, name = record.split(b"\t", 1)
            mode, kind, oid, size = meta.decode().split()
            if kind != "commit":
                found.append(Entry(name.decode(), mode, kind, oid, 0 if size == "-" else int(size)))
        self._find_pointers(found)
        return found

    def _find_pointers(self, entries: list[Entry]) -> None:
        small = [
            entry
            for entry in entries
            if entry.kind == "blob" and entry.mode != "120000" and 120 <= entry.size <= 140
        ]
        if not small:
            return
        wanted = "".join(entry.oid + "\n" for entry in small).encode()
        out, at = self.git("cat-file", "--batch", stdin=wanted), 0
        for entry in small:
            start = out.index(b"\n", at) + 1
            if match := POINTER.match(out[start : start + entry.size]):
                entry.lfs = (match[1].decode(), int(match[2]))
            at = start + entry.size + 1


def _tags(card: dict[str, Any]) -> list[str]:
    tags = [str(tag) for tag in _listed(card.get("tags") or [])]
    for key in ("license", "task_categories", "language", "size_categories"):
        tags += [f"{key}:{value}" for value in _listed(card.get(key) or [])]
    return tags


def _listed(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else [value]


def _sibling(entry: Entry, *, blobs: bool) -> dict[str, Any]:
    one: dict[str, Any] = {"rfilename": entry.path}
    if blobs:
        one |= {"size": entry.lfs[1] if entry.lfs else entry.size, "blobId": entry.oid}
        if entry.lfs:
            sha256, size = entry.lfs
            one["lfs"] = {"sha256": sha256, "size": size, "pointerSize": entry.size}
    return one


def now() -> str:
    """This moment in the one form that the client parses."""
    return date(datetime.now(UTC).timestamp())


def date(seconds: float) -> str:
    """A time in the one form that the client parses."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
