"""NeMo Gym `format_verification`: lines that match a pattern, or markers that must stand in it.

The row's `verifier` says which. `regex` and `inline_prose`: as many lines as `verify_min_matches`
(1) must each match one of `verify_regex`. `string_match`: every one of `expected_markers` stands
in the text, and whatever `patterns` find is one of them. Lines end at a line feed only. A pattern
that does not compile, or a `type` of another name, makes the task invalid, as the original raises.
"""

from __future__ import annotations

import re
from typing import Any


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    """The reward that the original gives the text of `submission`."""
    verifier = params["row"].get("verifier")
    if not isinstance(verifier, dict):
        return _result("invalid task", None, "the row has no object `verifier`")
    rules = {"regex": _lines, "inline_prose": _lines, "string_match": _markers}
    kind = verifier.get("type", "")
    if not isinstance(kind, str) or kind not in rules:
        return _result("invalid task", None, f"no rule for `verifier.type` {str(kind)[:80]!r}")
    try:
        passed, detail = rules[kind](verifier, submission["text"])
    except Exception as fault:  # noqa: BLE001  any value may stand in a row
        return _result("invalid task", None, f"`verifier`: {type(fault).__name__}: {fault}")
    return _result("graded", 1.0 if passed else 0.0, detail)


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    """The markers of a `string_match` row, one a line; a pattern has no answer to look up."""
    verifier = params["row"].get("verifier")
    if not isinstance(verifier, dict) or verifier.get("type") != "string_match":
        return None
    markers = verifier.get("expected_markers", [])
    if not isinstance(markers, list) or not all(isinstance(one, str) for one in markers):
        return None
    answer = {"text": "\n".join(markers), "calls": []}
    return answer if score(params, answer)["reward"] == 1.0 else None


def _lines(verifier: dict[str, Any], text: str) -> tuple[bool, str]:
    needed = verifier.get("verify_min_matches", 1)
    patterns = [re.compile(pattern) for pattern in verifier.get("verify_regex", [])]
    found = sum(any(one.search(line) for one in patterns) for line in text.split("\n"))
    return found >= needed, f"{found} lines match, {needed} needed"


def _markers(verifier: dict[str, Any], text: str) -> tuple[bool, str]:
    expected = verifier.get("expected_markers", [])
    patterns = verifier.get("patterns", [])
    missing = sum(marker not in text for marker in expected)
    spurious = 0
    if patterns:
        allowed = set(expected)
        for pattern in patterns:
            found = re.finditer(pattern, text)
            spurious += sum(match.group(0) not in allowed for match in found)
    return not missing and not spurious, f"{missing} markers missing, {spurious} spurious"


def _result(outcome: str, reward: float | None, detail: str) -> dict[str, Any]:
    return {"outcome": outcome, "reward": reward, "parts": {}, "detail": detail[:200]}
