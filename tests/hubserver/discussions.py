"""Discussions and pull requests."""

from __future__ import annotations

from typing import Any

from .plumbing import Plumbing
from .repo import Discussion, Refusal, Repo, now


class Discussions(Plumbing):
    """The routes below ``discussions``."""

    def open_discussion(
        self, repo: Repo, title: str, text: str, author: str, *, pull_request: bool, status: str
    ) -> Discussion:
        """A new discussion; for a pull request its ref starts at ``main``."""
        num = len(repo.discussions) + 1
        one = Discussion(num, title, author, pull_request, status, now())
        _comment(one, author, text)
        repo.discussions.append(one)
        if pull_request:
            repo.git("update-ref", f"refs/pr/{num}", repo.resolve("main"))
        return one

    def discussions(self, repo: Repo, tail: list[str]) -> None:
        """List, open, show, comment on, close and merge."""
        if self.command == "POST":
            self._change(repo, tail, self.known_user())
        elif not tail:
            listed = [_to_json(repo, one) for one in reversed(repo.discussions)]
            self.send(200, {"discussions": listed, "count": len(listed), "start": 0})
        elif len(tail) == 1:
            self.send(200, _details(repo, find(repo, tail[0])))
        else:
            raise Refusal(404, f"no such endpoint: {self.path}")

    def _change(self, repo: Repo, tail: list[str], user: str) -> None:
        match tail:
            case []:
                want = self.json()
                pull_request = bool(want.get("pullRequest"))
                status = "draft" if pull_request else "open"
                one = self.open_discussion(
                    repo,
                    want["title"],
                    want.get("description", ""),
                    user,
                    pull_request=pull_request,
                    status=status,
                )
                self.send(200, {"num": one.num, "pullRequest": one.is_pull_request})
            case [num, "comment"]:
                event = _comment(find(repo, num), user, self.json()["comment"])
                self.send(200, {"newMessage": event})
            case [num, "status"]:
                one = find(repo, num)
                one.status = self.json()["status"]
                event = _event(one, user, "status-change", {"status": one.status})
                self.send(200, {"newStatus": event})
            case [num, "merge"]:
                self.writer(repo.namespace)
                one = find(repo, num)
                _merge(repo, one)
                _event(one, user, "status-change", {"status": "merged"})
                self.send(200, {})
            case _:
                raise Refusal(404, f"no such endpoint: {self.path}")


def find(repo: Repo, num: str) -> Discussion:
    """The discussion with this number."""
    if not num.isdecimal() or not 0 < int(num) <= len(repo.discussions):
        raise Refusal(404, "no such discussion")
    return repo.discussions[int(num) - 1]


def _merge(repo: Repo, one: Discussion) -> None:
    if not one.is_pull_request or one.status not in ("open", "draft"):
        raise Refusal(400, "not an open pull request")
    main, head = repo.resolve("main"), repo.resolve(f"refs/pr/{one.num}")
    if repo.git("merge-base", main, head).decode().strip() != main:
        raise Refusal(409, "merge conflict: main has moved")  # fast-forward only
    repo.git("update-ref", "refs/heads/main", head)
    one.status, one.merge_commit = "merged", head


def _comment(one: Discussion, author: str, text: str) -> dict[str, Any]:
    data = {"edited": False, "hidden": False, "latest": {"raw": text}}
    return _event(one, author, "comment", data)


def _event(one: Discussion, author: str, kind: str, data: dict[str, Any]) -> dict[str, Any]:
    event = {
        "id": f"{one.num:08x}{len(one.events):016x}",
        "type": kind,
        "createdAt": now(),
        "author": {"name": author},
        "data": data,
    }
    one.events.append(event)
    return event


def _to_json(repo: Repo, one: Discussion) -> dict[str, Any]:
    return {
        "num": one.num,
        "title": one.title,
        "author": {"name": one.author},
        "isPullRequest": one.is_pull_request,
        "status": one.status,
        "createdAt": one.created,
        "repo": {"name": repo.repo_id, "type": repo.repo_type},
    }


def _details(repo: Repo, one: Discussion) -> dict[str, Any]:
    out = _to_json(repo, one) | {"events": one.events}
    if one.is_pull_request:
        base = one.merge_commit or repo.resolve("main")
        head = repo.resolve(f"refs/pr/{one.num}")
        fork = repo.git("merge-base", base, head).decode().strip()
        out |= {
            "changes": {"base": f"refs/heads/{one.base}", "mergeCommitId": one.merge_commit},
            "filesWithConflicts": [],
            "diff": repo.git("diff", fork, head).decode(errors="replace"),
        }
    return out
