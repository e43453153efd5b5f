"""Writing: preupload and the commit call."""

from __future__ import annotations

import base64
import fnmatch
import json
import re
from dataclasses import dataclass, field
from typing import Any

from .discussions import Discussions, find
from .repo import Entry, Refusal, Repo

_REGULAR_FILE_LIMIT = 10 * 1024 * 1024


@dataclass
class _Changes:
    """A commit call, parsed."""

    header: dict[str, Any] = field(default_factory=dict[str, Any])
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    deleted: list[str] = field(default_factory=list[str])

    @property
    def message(self) -> str:
        summary, text = self.header["summary"], self.header.get("description", "")
        return f"{summary}\n\n{text}" if text else str(summary)


class Commits(Discussions):
    """The routes that write files."""

    def may_commit(self, repo: Repo, revision: str) -> str:
        """The user, if they may commit there: anyone may open a pull request and add to it."""
        user = self.known_user()
        if self.query.get("create_pr") == "1":
            return user
        match = re.fullmatch(r"refs/pr/(\d+)", revision)
        if match and find(repo, match[1]).author == user:
            return user
        return self.writer(repo.namespace)

    def preupload(self, repo: Repo, revision: str) -> None:
        """Say for each file how it is to be sent, and what is there now."""
        self.may_commit(repo, revision)
        want, commit = self.json(), repo.resolve(revision)
        current = {entry.path: entry for entry in repo.entries(commit) if entry.kind == "blob"}

        def text(path: str) -> str:
            return repo.blob(current[path].oid).decode() if path in current else ""

        rules = want.get("gitIgnore")
        ignored = self.hub.ignored(
            text(".gitignore") if rules is None else rules, [file["path"] for file in want["files"]]
        )
        patterns = [
            line.split()[0] for line in text(".gitattributes").splitlines() if "filter=lfs" in line
        ]
        answers = [
            {
                "path": file["path"],
                "uploadMode": "lfs" if _needs_lfs(file, patterns) else "regular",
                "shouldIgnore": file["path"] in ignored,
                "oid": _oid(current.get(file["path"])),
            }
            for file in want["files"]
        ]
        self.send(200, {"files": answers})

    def commit(self, repo: Repo, revision: str) -> None:
        """One commit, to a branch or as a new pull request; all or nothing."""
        create_pr = self.query.get("create_pr") == "1"
        user = self.may_commit(repo, revision)
        parent = repo.resolve(revision)
        changes = self._changes(repo, parent)
        wanted_parent = changes.header.get("parentCommit")
        if wanted_parent and not parent.startswith(wanted_parent):
            if not create_pr:
                raise Refusal(412, "A commit has happened since. Please refresh and try again.")
            parent = repo.resolve(wanted_parent)
        out: dict[str, Any] = {"success": True, "hookOutput": ""}
        if create_pr:
            title, text = changes.header["summary"], changes.header.get("description", "")
            pull = self.open_discussion(repo, title, text, user, pull_request=True, status="open")
            ref = f"refs/pr/{pull.num}"
            out["pullRequestUrl"] = f"{self.page(repo)}/discussions/{pull.num}"
        else:
            ref = revision if revision.startswith("refs/") else f"refs/heads/{revision}"
            if not repo.git("for-each-ref", ref):
                raise Refusal(
                    400, f"Invalid rev id: {revision} is not a branch", "RevisionNotFound"
                )
        oid = self.hub.write_commit(
            repo, ref, parent, changes.message, user, changes.files, changes.deleted
        )
        self.send(200, out | {"commitOid": oid, "commitUrl": f"{self.page(repo)}/commit/{oid}"})

    def _changes(self, repo: Repo, parent: str) -> _Changes:
        changes = _Changes()
        for line in filter(None, self.body().split(b"\n")):
            item = json.loads(line)
            key, value = item["key"], item["value"]
            if key == "header":
                changes.header = value
            elif key == "file":
                changes.files[value["path"]] = base64.b64decode(value["content"])
            elif key == "lfsFile":
                changes.files[value["path"]] = self._pointer(value)
            elif key in ("deletedFile", "deletedFolder"):
                path = value["path"].rstrip("/")
                if repo.entry(parent, path) is None:
                    message = f"A file with this name doesn't exist: {path}"
                    raise Refusal(404, message, "EntryNotFound")
                changes.deleted.append(path)
            else:
                raise Refusal(400, f"unknown operation {key}")
        for path in changes.files:
            if any(part in ("", ".", "..", ".git") for part in path.split("/")):
                raise Refusal(400, f"invalid path: {path}")
        return changes

    def _pointer(self, value: dict[str, Any]) -> bytes:
        stored = self.hub.lfs_path(value["oid"])
        if not stored.exists():
            path = value["path"]
            raise Refusal(400, f"LFS pointer pointed to a file that does not exist: {path}")
        return (
            "version https://git-lfs.github.com/spec/v1\n"
            f"oid sha256:{value['oid']}\nsize {stored.stat().st_size}\n"
        ).encode()


def _oid(entry: Entry | None) -> str | None:
    if entry is None:
        return None
    return entry.lfs[0] if entry.lfs else entry.oid


def _needs_lfs(file: dict[str, Any], patterns: list[str]) -> bool:
    path = str(file["path"])
    name = path.rpartition("/")[2]
    binary = b"\0" in base64.b64decode(file.get("sample", ""))
    return (
        binary
        or file["size"] > _REGULAR_FILE_LIMIT
        or any(fnmatch.fnmatchcase(path if "/" in p else name, p) for p in patterns)
    )
