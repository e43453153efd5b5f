"""NeMo Gym `citation_if`: an answer whose citations are well formed, real and the right ones.

The row's `verifier` names a grammar, the pattern of one id and the ids that exist. In mode `cite`
the text must be an answer (a word is left when the citations are taken out; claimed text inside a
`claim_wrap_xml` citation counts), with nothing that looks like an id outside a citation, with tags
that pair up, at least `min_valid_citations` (1) existing ids, none that does not exist, and, where
`expected_ids` are given, all of those and at most `expected_slack` (1) more. In mode `no_cite`
nothing may look like a citation. A tool call earns nothing. An unknown grammar gives every
submission 0.
"""

from __future__ import annotations

import re
from typing import Any

ID = "ID"  # stands for the row's pattern of ids
GRAMMARS = {
    "cite_xml": r"<cite>(ID)</cite>",
    "ascii_brackets": r"\[(ID)\](?!\()",
    "claim_wrap_xml": r'<cite index="(ID)">(.*?)</cite>',
    "fullwidth_brackets": r"【(ID)】",
    "ref_colon": r"\[ref:(ID)\]",
    "double_angle": r"<<(ID)>>",
    "web_brackets": r"\[web:(ID)\]",
    "paren_part": r"\((ID)\)",
    "markdown_footnote": r"\[\^(ID)\]",
    "curly_double": r"\{\{(ID)\}\}",
    "angle_pipe": r"<ref\|(ID)>",
}
EXAMPLES = {
    "cite_xml": "<cite>ID</cite>",
    "ascii_brackets": "[ID]",
    "claim_wrap_xml": '<cite index="ID">cited</cite>',
    "fullwidth_brackets": "【ID】",
    "ref_colon": "[ref:ID]",
    "double_angle": "<<ID>>",
    "web_brackets": "[web:ID]",
    "paren_part": "(ID)",
    "markdown_footnote": "[^ID]",
    "curly_double": "{{ID}}",
    "angle_pipe": "<ref|ID>",
}
TAGGED = ("cite_xml", "claim_wrap_xml")  # several ids in one citation, and tags that must pair up
CLAIM = 2  # the group that holds the claim of `claim_wrap_xml`
ID_PATTERNS = {"full_source": r"citation_[0-9]+", "snippet": r"citation_[0-9]+:snippet_[0-9]+"}
LOOKS_LIKE_AN_ID = re.compile(r"citation_[A-Za-z0-9_:]+", re.IGNORECASE)
OPENED = re.compile(r"<cite\b", re.IGNORECASE)
CLOSED = re.compile(r"</cite\s*>", re.IGNORECASE)


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    """The reward that the original gives the text and calls of `submission`."""
    verifier = params["row"].get("verifier")
    if not isinstance(verifier, dict):
        return _result("invalid task", None, "the row has no object `verifier`")
    try:
        fault = _fault(verifier, submission["text"].strip(), bool(submission["calls"]))
    except Exception as error:  # noqa: BLE001  any value may stand in a row
        return _result("invalid task", None, f"`verifier`: {type(error).__name__}: {error}")
    return _result("graded", 0.0 if fault else 1.0, fault or "every gate passed")


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    """An answer of one word with the citations that are asked for."""
    verifier = params["row"].get("verifier")
    if not isinstance(verifier, dict) or str(verifier.get("grammar")) not in EXAMPLES:
        return None
    wanted = verifier.get("expected_ids") or []
    needed = verifier.get("min_valid_citations", 1)
    known = verifier.get("valid_id_set") or []
    if not (isinstance(wanted, list) and isinstance(known, list) and isinstance(needed, int)):
        return None
    ids = wanted + [one for one in known if one not in wanted][: max(0, needed - len(wanted))]
    if verifier.get("mode", "cite") == "no_cite":
        ids = []
    example = EXAMPLES[str(verifier["grammar"])]
    cited = "".join(" " + example.replace(ID, str(one)) for one in ids)
    answer = {"text": "Answer" + cited, "calls": []}
    return answer if score(params, answer)["reward"] == 1.0 else None


def _fault(verifier: dict[str, Any], text: str, called: bool) -> str:
    """The first gate that the answer does not pass; an exception where the original raises."""
    known = set(verifier.get("valid_id_set") or [])
    needed = int(verifier.get("min_valid_citations", 1))
    grammar = verifier.get("grammar", "")
    if grammar not in GRAMMARS:
        return "unknown grammar"
    spans = _citations(grammar, _id_pattern(verifier), text)
    if not text or called:
        return "a tool call, or no text"
    cited = {one: None for span in spans for one in span.group(1).split(",")}
    if verifier.get("mode", "cite") == "no_cite":
        tagged = grammar in TAGGED and OPENED.search(text)
        return "a citation" if spans or tagged or LOOKS_LIKE_AN_ID.search(text) else ""
    if not re.search(r"\w", _without(spans, text, keep_claims=grammar == "claim_wrap_xml")):
        return "citations without an answer"
    if LOOKS_LIKE_AN_ID.search(_without(spans, text, keep_claims=False)):
        return "an id outside a citation"
    if grammar in TAGGED:
        opened, closed = len(OPENED.findall(text)), len(CLOSED.findall(text))
        if not opened == len(spans) == closed:
            return "tags that do not pair up"
    valid = [one for one in cited if one in known]
    if len(valid) < needed:
        return "too few citations"
    if len(valid) < len(cited):
        return "an id that does not exist"
    if verifier.get("expected_ids") is None:
        return ""
    return _wrong(verifier, valid)


def _wrong(verifier: dict[str, Any], valid: list[str]) -> str:
    slack = int(verifier.get("expected_slack", 1))
    expected = set(verifier["expected_ids"])
    missed = sorted(expected - set(valid))
    if missed:
        return "an expected id is not cited"
    return "too many citations" if len(valid) > len(expected) + slack else ""


def _id_pattern(verifier: dict[str, Any]) -> str:
    explicit = verifier.get("id_regex")
    if explicit:
        hash(explicit)  # the original keeps compiled patterns by it, and raises
        return f"{explicit}"
    kind = verifier.get("id_kind", "full_source")
    return ID_PATTERNS.get(kind, ID_PATTERNS["full_source"])


def _citations(grammar: str, id_pattern: str, text: str) -> list[re.Match[str]]:
    """The well-formed citations, but not those that wrap an empty claim."""
    ids = f"(?:{id_pattern})"
    if grammar in TAGGED:
        ids += f"(?:,(?:{id_pattern}))*"
    wraps = grammar == "claim_wrap_xml"
    pattern = re.compile(GRAMMARS[grammar].replace(ID, ids), re.DOTALL if wraps else 0)
    # Where no tag closes any more, no claim ends: to look on would cost a square of the length.
    end = text.rfind("</cite>") + len("</cite>") if wraps else len(text)
    if wraps and "</cite>" not in text:
        return []
    found = pattern.finditer(text, 0, end)
    return [one for one in found if not wraps or (one.group(CLAIM) or "").strip()]


def _without(spans: list[re.Match[str]], text: str, *, keep_claims: bool) -> str:
    """The text with a space for each character of a citation (except its claim)."""
    parts, done = [], 0
    for span in spans:
        parts.append(text[done : span.start()])
        done = span.end()
        # A group of the row's own pattern may have taken the claim's number.
        kept = span.span(CLAIM) if keep_claims and (span.lastindex or 0) >= CLAIM else (done, done)
        parts += [" " * (kept[0] - span.start()), text[kept[0] : kept[1]], " " * (done - kept[1])]
    return "".join([*parts, text[done:]])


def _result(outcome: str, reward: float | None, detail: str) -> dict[str, Any]:
    return {"outcome": outcome, "reward": reward, "parts": {}, "detail": detail[:200]}
