"""How long the Hub is waited for.

Its client (2.4.0) gives a download ten seconds from byte to byte (HF_HUB_DOWNLOAD_TIMEOUT), and
waits for ever for all else: a Hub that takes a request and says nothing would hold us for good.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Protocol, cast

CONNECT = 15.0
ASKED = 30.0
"""Seconds from byte to byte of an answer to a question; the client asks six times."""
TOLD = 180.0
"""The same after something was sent: the Hub gives a commit a minute, and it is not sent twice."""

_QUESTIONS = frozenset({"GET", "HEAD", "OPTIONS"})


class _Request(Protocol):
    @property
    def method(self) -> str: ...
    @property
    def extensions(self) -> MutableMapping[str, object]: ...


def limit_waiting() -> None:
    """Have the client's session wait no longer than that, where nobody else has set a limit."""
    from huggingface_hub.utils import get_session  # type: ignore[attr-defined]

    hooks = get_session().event_hooks["request"]
    if _limit not in hooks:
        hooks.append(_limit)


def _limit(request: _Request) -> None:
    given = cast("dict[str, float | None]", request.extensions.get("timeout") or {})
    answer = ASKED if request.method in _QUESTIONS else TOLD
    ours = {"connect": CONNECT, "read": answer, "write": answer}
    set_by_others = {name: seconds for name, seconds in given.items() if seconds is not None}
    request.extensions["timeout"] = given | ours | set_by_others
