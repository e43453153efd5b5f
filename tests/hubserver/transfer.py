"""Contents: resolve, LFS and Git's own protocol."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import threading
from typing import Any
from urllib.parse import urlsplit

from .plumbing import Plumbing
from .repo import Refusal, Repo


class Transfer(Plumbing):
    """The routes that move file contents."""

    def resolve(self, repo: Repo, revision: str, path: str, *, raw: bool) -> None:
        """A file's bytes, or where the bytes of an LFS file are; `raw` gives the pointer."""
        commit = repo.resolve(revision)
        entry = repo.entry(commit, path)
        if entry is None or entry.kind != "blob":
            raise Refusal(404, "Entry not found", "EntryNotFound")
        headers = {"X-Repo-Commit": commit, "ETag": f'"{entry.oid}"', "Accept-Ranges": "bytes"}
        if entry.lfs and not raw:
            sha256, size = entry.lfs
            headers |= {
                "X-Linked-Etag": f'"{sha256}"',
                "X-Linked-Size": str(size),
                "Location": f"{self.hub.cdn_url}/_lfs/{sha256}",
            }
            self.send(302, b"", headers)
        else:
            self._send_content(repo.blob(entry.oid), headers)

    def _send_content(self, data: bytes, headers: dict[str, str]) -> None:
        headers = {"Content-Type": "application/octet-stream", **headers}
        span = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if not span:
            self.send(200, data, headers)
            return
        total = len(data)
        start = int(span[1]) if span[1] else max(total - int(span[2]), 0)
        stop = min(int(span[2]) + 1, total) if span[1] and span[2] else total
        if start >= total:
            raise Refusal(416, "range not satisfiable")
        headers["Content-Range"] = f"bytes {start}-{stop - 1}/{total}"
        self.send(206, data[start:stop], headers)

    def git_or_lfs(self, repo: Repo, rest: list[str]) -> None:
        """The routes below a repository's address that git and git-lfs use."""
        match rest:
            case ["info", "lfs", "objects", "batch"]:
                self._lfs_batch(repo)
            case ["info", "lfs", "objects", "verify"]:
                want = self.json()
                stored = self.hub.lfs_path(want["oid"])
                if not stored.exists() or stored.stat().st_size != want["size"]:
                    raise Refusal(404, f"object {want['oid']} is not there")
                self.send(200, {})
            case ["info", "refs"] | ["git-upload-pack"] | ["git-receive-pack"]:
                self._git_http(repo, "/" + "/".join(rest))
            case _:
                raise Refusal(404, f"no such page: {self.path}")

    def _lfs_batch(self, repo: Repo) -> None:
        want = self.json()
        objects: list[dict[str, Any]] = []
        for wanted in want["objects"]:
            oid = wanted["oid"]
            href = {"href": f"{self.hub.cdn_url}/_lfs/{oid}"}
            stored = self.hub.lfs_path(oid).exists()
            one: dict[str, Any] = {"oid": oid, "size": wanted["size"]}
            if want["operation"] == "download" and stored:
                one["actions"] = {"download": href}
            elif want["operation"] == "download":
                one["error"] = {"code": 404, "message": "Object does not exist"}
            elif not stored:
                verify = {"href": f"{self.page(repo)}.git/info/lfs/objects/verify"}
                one["actions"] = {"upload": href, "verify": verify}
            objects.append(one)
        answer = {"transfer": "basic", "hash_algo": "sha256", "objects": objects}
        self.send(200, answer, {"Content-Type": "application/vnd.git-lfs+json"})

    def lfs_object(self, oid: str) -> None:
        """Take or give the content with this SHA-256."""
        if not re.fullmatch(r"[0-9a-f]{64}", oid):
            raise Refusal(404, "no such object")
        stored = self.hub.lfs_path(oid)
        if self.command == "PUT":
            data = self.body()
            if hashlib.sha256(data).hexdigest() != oid:
                raise Refusal(400, "content does not have the announced sha256")
            # Several files of one content come at once, and each is looked for when it was sent.
            whole = stored.with_name(f"{oid}.{threading.get_ident()}")
            whole.write_bytes(data)
            whole.replace(stored)
            self.send(200, b"", {"ETag": f'"{oid}"'})
        elif stored.exists():
            self._send_content(stored.read_bytes(), {"ETag": f'"{oid}"'})
        else:
            raise Refusal(404, "no such object")

    def _git_http(self, repo: Repo, path: str) -> None:
        url = urlsplit(self.path)
        if path.endswith("receive-pack") or "receive-pack" in url.query:
            self.writer(repo.namespace)
        body = self.body()
        done = subprocess.run(
            ["git", "http-backend"],
            input=body,
            env={
                **os.environ,
                "GIT_PROJECT_ROOT": str(repo.git_dir.parent),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": f"/{repo.git_dir.name}{path}",
                "QUERY_STRING": url.query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "REMOTE_USER": "git",
            },
            capture_output=True,
            check=True,
        )
        head, _, data = done.stdout.partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode().split("\r\n")]
        headers = {name: value for name, colon, value in lines if colon}
        status = int(headers.pop("Status", "200 OK").split()[0])
        self.send(status, data, headers)
