"""What every request goes through: bodies, answers, accounts and injected failures."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from typing import Any, cast
from urllib.parse import parse_qs, unquote, urlsplit

from .repo import Refusal, Repo
from .storage import Fault, Storage

TYPES = {"models": "model", "datasets": "dataset", "spaces": "space"}


class Plumbing(BaseHTTPRequestHandler):
    """A request handler without any routes."""

    hub: Storage
    protocol_version = "HTTP/1.1"
    server_version = "hub-for-tests"
    disable_nagle_algorithm = True  # or each body waits 40 ms for the client to confirm the headers

    parts: list[str]
    """The path of the request, split and unquoted."""
    query: dict[str, str]
    _body: bytes | None
    _fault: Fault | None

    def route(self) -> None:
        """Answer the request, or raise `Refusal`."""
        raise NotImplementedError

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Stay quiet."""

    def _serve(self) -> None:
        url = urlsplit(self.path)
        self.parts = [unquote(part) for part in url.path.strip("/").split("/")]
        self.query = {
            key: values[-1] for key, values in parse_qs(url.query, keep_blank_values=True).items()
        }
        self._body = None
        self._fault = self.hub.interfere(self.command, self.path)
        try:
            if self._fault is not None and not self._fault.done:
                self.body()
                self._fail(self._fault)
            elif failure := self._injected():
                self.body()
                self.send(failure[0], {"error": "injected failure"}, failure[1])
            else:
                self.route()
        except Refusal as refusal:
            self.body()
            headers = {"X-Error-Message": refusal.message.replace("\n", " ")}
            if refusal.code:
                headers["X-Error-Code"] = refusal.code
            if refusal.status == 401:  # git sends its credentials only when asked
                headers["WWW-Authenticate"] = 'Basic realm="hub"'
            self.send(refusal.status, {"error": refusal.message}, headers)
        except ConnectionError:  # the client has gone
            self.close_connection = True
        except Exception as error:  # noqa: BLE001 - a bug here must reach the test as an answer
            self.body()
            self.send(500, {"error": f"{type(error).__name__}: {error}"})

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 - the base class's names

    def _injected(self) -> tuple[int, dict[str, str]] | None:
        for index, (needle, status, headers) in enumerate(self.hub.fail_next):
            if needle in self.path:
                del self.hub.fail_next[index]
                return status, headers
        return None

    def body(self) -> bytes:
        """The body of the request; it is always read, or the connection could not go on."""
        if self._body is None:
            if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
                self._body = b"".join(self._chunks())
            else:
                self._body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return self._body

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def json(self) -> dict[str, Any]:
        """The body as a JSON object."""
        data: object = json.loads(self.body() or b"{}")
        if not isinstance(data, dict):
            raise Refusal(400, "expected a JSON object")
        return cast("dict[str, Any]", data)

    def send(
        self, status: int, payload: object = None, headers: Mapping[str, str] | None = None
    ) -> None:
        """Answer with bytes as they are, or anything else as JSON."""
        if self._fault is not None:
            self._fail(self._fault)
            return
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        given = {"Content-Type": "application/json; charset=utf-8", **(headers or {})}
        given.setdefault("Content-Length", str(len(data)))
        self.hub.requests.append((self.command, self.path, status))
        self.send_response(status)
        for name, value in given.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _fail(self, fault: Fault) -> None:
        self._fault = None
        if fault.then is not None:
            fault.then()
        if fault.status is None:
            self._cut(after=5 if fault.hangs else 0)
        else:
            self.send(fault.status, {"error": "injected failure"})

    def _cut(self, *, after: float) -> None:
        """Say no more; the client may hang up before."""
        self.close_connection = True
        with suppress(OSError):
            self.connection.settimeout(after or 0.001)
            self.connection.recv(1)
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def user(self) -> str | None:
        """Who asks; None for somebody without a token."""
        header = self.headers.get("Authorization", "")
        if not header:
            return None
        kind, _, value = header.partition(" ")
        if kind == "Basic":  # git: user:token
            value = base64.b64decode(value).decode().rpartition(":")[2]
        if value not in self.hub.tokens:
            raise Refusal(401, "Invalid credentials in Authorization header")
        return self.hub.tokens[value]

    def known_user(self) -> str:
        """Who asks; a refusal for somebody without a token."""
        user = self.user()
        if user is None:
            raise Refusal(401, "Invalid username or password.")
        return user

    def writer(self, namespace: str) -> str:
        """Who asks, if they may write to this namespace."""
        user = self.known_user()
        if namespace not in (user, *self.hub.organizations):
            raise Refusal(403, f"You don't have the rights to write to the namespace {namespace}")
        return user

    def repo(self, plural: str, namespace: str, name: str, *, content: bool = False) -> Repo:
        """The repository, if the user may see it, and its files if `content` is asked for."""
        repo = self.hub.repos.get((TYPES[plural], f"{namespace}/{name}".lower()))
        user = self.user()
        insiders = (repo.namespace, *self.hub.organizations) if repo else ()
        if repo is None or (repo.private and user not in insiders):
            # As the Hub: 401 to the anonymous, 404 to users, so that private names do not leak.
            raise Refusal(404 if user else 401, "Repository not found", "RepoNotFound")
        if content and repo.gated and user != repo.namespace:
            message = f"Access to dataset {repo.repo_id} is restricted."
            raise Refusal(403 if user else 401, message, "GatedRepo")
        return repo

    def page(self, repo: Repo) -> str:
        """The address of the repository's page."""
        prefix = "" if repo.repo_type == "model" else repo.repo_type + "s/"
        return f"{self.hub.url}/{prefix}{repo.repo_id}"
