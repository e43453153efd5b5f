"""The server itself and its routes."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping, Sequence
from http.server import ThreadingHTTPServer
from typing import Any, Self, cast
from urllib.parse import parse_qs, quote, urlsplit

import yaml

from .commits import Commits
from .plumbing import TYPES
from .repo import YAML_BLOCK, Refusal, Repo
from .storage import Storage
from .transfer import Transfer


class _Handler(Commits, Transfer):
    """All routes."""

    def route(self) -> None:
        method, parts = self.command, self.parts
        match parts:
            case ["api", "whoami-v2"]:
                self._whoami()
            case ["api", "validate-yaml"] if method == "POST":
                errors, warnings = _validate(self.json()["content"])
                status = 400 if errors else 200
                self.send(status, {"errors": errors, "warnings": warnings})
            case ["api", "repos", "create"] if method == "POST":
                self._create_repo()
            case ["api", "repos", "delete"] if method == "DELETE":
                self._delete_repo()
            case ["api", plural] if plural in TYPES and method == "GET":
                self._list_repos(plural)
            case ["api", plural, namespace, name, *rest] if plural in TYPES:
                with self.hub.lock:
                    self._repo_api(self.repo(plural, namespace, name), rest)
            case ["_lfs", oid]:
                self.lfs_object(oid)
            case [plural, namespace, name, *rest] if plural in TYPES and rest:
                self._contents(plural, namespace, name, rest)
            case [namespace, name, *rest] if rest and parts[0] != "api":
                self._contents("models", namespace, name, rest)
            case _:
                raise Refusal(404, f"no such page: {self.path}")

    def _contents(self, plural: str, namespace: str, name: str, rest: list[str]) -> None:
        match rest:
            case ["resolve" | "raw" as kind, revision, *path] if path:
                repo = self.repo(plural, namespace, name, content=True)
                self.resolve(repo, revision, "/".join(path), raw=kind == "raw")
            case _:
                repo = self.repo(plural, namespace, name.removesuffix(".git"), content=True)
                self.git_or_lfs(repo, rest)

    def _whoami(self) -> None:
        user = self.known_user()
        orgs = [
            {"type": "org", "name": name, "roleInOrg": "admin"} for name in self.hub.organizations
        ]
        auth = {"accessToken": {"displayName": "test", "role": "write"}}
        self.send(200, {"type": "user", "id": user, "name": user, "orgs": orgs, "auth": auth})

    def _create_repo(self) -> None:
        want = self.json()
        namespace = want.get("organization") or self.user() or ""
        self.writer(namespace)
        repo_type = want.get("type") or "model"
        repo_id = f"{namespace}/{want['name']}"
        private = want.get("visibility") == "private" or bool(want.get("private"))
        with self.hub.lock:
            repo = self.hub.repos.get((repo_type, repo_id.lower()))
            if repo is not None:
                error = "You already created this dataset repo"
                self.send(409, {"error": error, "url": self.page(repo)})
                return
            repo = self.hub.create_repo(repo_id, repo_type, private=private)
        self.send(200, {"url": self.page(repo), "name": repo_id, "id": repo_id})

    def _delete_repo(self) -> None:
        want = self.json()
        namespace = want.get("organization") or self.user() or ""
        self.writer(namespace)
        key = (want.get("type") or "model", f"{namespace}/{want['name']}".lower())
        if self.hub.repos.pop(key, None) is None:
            raise Refusal(404, "Repository not found", "RepoNotFound")
        self.send(200, {})

    def _list_repos(self, plural: str) -> None:
        wanted = parse_qs(urlsplit(self.path).query).get("filter", [])
        out: list[dict[str, Any]] = []
        for (repo_type, _), repo in sorted(self.hub.repos.items()):
            if repo_type != TYPES[plural] or repo.private:
                continue
            info = repo.info("main")
            mine = self.query.get("author") in (None, info["author"])
            if mine and all(tag in info["tags"] for tag in wanted):
                out.append({key: value for key, value in info.items() if key != "siblings"})
        self.send(200, out)

    def _repo_api(self, repo: Repo, rest: list[str]) -> None:
        method = self.command
        match rest:
            case [] if method == "GET":
                self.send(200, repo.info("main", blobs="blobs" in self.query))
            case ["revision", revision] if method == "GET":
                self.send(200, repo.info(revision, blobs="blobs" in self.query))
            case ["refs"]:
                self.send(200, repo.refs())
            case ["branch", branch]:
                self._branch(repo, branch)
            case ["tag", revision] if method == "POST":
                self.writer(repo.namespace)
                tag = self.json()["tag"]
                if repo.git("for-each-ref", f"refs/tags/{tag}"):
                    raise Refusal(409, f"Tag reference exists already: {tag}")
                repo.git("update-ref", f"refs/tags/{tag}", repo.resolve(revision))
                self.send(200, {})
            case ["tree", revision, *path] if method == "GET":
                self._tree(repo, revision, "/".join(path))
            case ["paths-info", revision] if method == "POST":
                commit = repo.resolve(revision)
                paths = parse_qs(self.body().decode()).get("paths", [])
                found = [repo.entry(commit, path.rstrip("/")) for path in paths]
                self.send(200, [entry.to_json() for entry in found if entry])
            case ["preupload", revision] if method == "POST":
                self.preupload(repo, revision)
            case ["commit", revision] if method == "POST":
                self.commit(repo, revision)
            case ["commits", revision] if method == "GET":
                self.send(200, repo.history(repo.resolve(revision)))
            case ["discussions", *tail]:
                self.discussions(repo, tail)
            case [kind, _] if kind.startswith("xet-"):
                raise Refusal(404, "this server has no Xet storage: set HF_HUB_DISABLE_XET=1")
            case _:
                raise Refusal(404, f"no such endpoint: {method} {self.path}")

    def _branch(self, repo: Repo, branch: str) -> None:
        self.writer(repo.namespace)
        ref = f"refs/heads/{branch}"
        if self.command == "DELETE":
            repo.git("update-ref", "-d", ref)
        elif repo.git("for-each-ref", ref):
            raise Refusal(409, f"Reference {ref} already exists")
        else:
            start = repo.resolve(self.json().get("startingPoint") or "main")
            repo.git("update-ref", ref, start)
        self.send(200, {})

    def _tree(self, repo: Repo, revision: str, path: str) -> None:
        commit = repo.resolve(revision)
        recursive = self.query.get("recursive", "").lower() in ("1", "true")
        entries = repo.entries(commit, path, recursive=recursive)
        if path and not entries:
            raise Refusal(404, f'{path} does not exist on "{revision}"', "EntryNotFound")
        start = int(self.query.get("cursor") or 0)
        page = entries[start : start + self.hub.page_size]
        headers: dict[str, str] = {}
        if start + len(page) < len(entries):
            base = f"{self.hub.url}{urlsplit(self.path).path}"
            flags = {key: value for key, value in self.query.items() if key != "cursor"}
            flags["cursor"] = str(start + len(page))
            query = "&".join(f"{key}={quote(value)}" for key, value in flags.items())
            headers["Link"] = f'<{base}?{query}>; rel="next"'
        self.send(200, [entry.to_json() for entry in page], headers)


def _validate(content: str) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Errors and warnings for a card."""
    match = YAML_BLOCK.search(content)
    if match is None:
        return [], [{"message": "empty or missing yaml metadata in repo card"}]
    try:
        data: object = yaml.safe_load(match[2])
    except yaml.YAMLError as error:
        return [{"message": f"YAML Metadata Error: {error}"}], []
    if data is not None and not isinstance(data, dict):
        return [{"message": "metadata should be an object"}], []
    card = cast("dict[str, object]", data or {})
    errors: list[dict[str, str]] = []
    for key in ("tags", "language", "task_categories"):
        value = card.get(key)
        listed = isinstance(value, list) and all(
            isinstance(item, str) for item in cast("list[object]", value)
        )
        single = isinstance(value, str) and key != "tags"
        if value is not None and not listed and not single:
            errors.append({"message": f'"{key}" must be an array of strings'})
    return errors, []


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up are no news."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class HubServer(Storage):
    """The server; ``url`` is what goes into HF_ENDPOINT. Listens while it is entered."""

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        port: int = 0,
        tokens: Mapping[str, str] | None = None,
        organizations: Sequence[str] = (),
        max_entries_per_dir: int = 10_000,
        page_size: int = 1000,
    ) -> None:
        super().__init__(
            root,
            tokens=tokens,
            organizations=organizations,
            max_entries_per_dir=max_entries_per_dir,
            page_size=page_size,
        )
        handler = type("Handler", (_Handler,), {"hub": self})
        self._http = _Http(("127.0.0.1", port), handler)
        self._thread: threading.Thread | None = None
        self.port: int = self._http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.cdn_url = f"http://localhost:{self.port}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop listening; connections are refused from now on."""
        if self._thread is not None:
            self._http.shutdown()
            self._thread.join()
            self._thread = None
            self._http.server_close()
