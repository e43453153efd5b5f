"""The shapes of well-known tokens, and how a made-up one is told from a real one.

Only what the engines of Python and RE2 understand alike: no look around, no ``\\s``.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode
from itertools import pairwise

_AWS_NAME = r"(?i:aws_?secret_?(?:access_?)?key)[\"']?[ \t]{0,4}[=:][ \t]{0,4}[\"']?"
_URL_WORD = r"[^\x00-\x20:/?#@\"'`<>{}()$%\\]"

SHAPES = {
    "hugging-face": r"\bhf_[A-Za-z0-9]{34,40}\b",
    "github": r"\bgh[pousr]_[A-Za-z0-9]{36,251}\b|\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b",
    "gitlab": r"\bglpat-[A-Za-z0-9_-]{20,64}",
    "aws": rf"\b(?:AKIA|ASIA)[A-Z2-7]{{16}}\b|{_AWS_NAME}[A-Za-z0-9/+]{{40}}\b",
    "google": (
        r"\bAIza[A-Za-z0-9_-]{35}\b|\bGOCSPX-[A-Za-z0-9_-]{28}\b|\bya29\.[A-Za-z0-9_-]{60,500}"
    ),
    "openai": (
        r"\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,250}"
        r"|\bsk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}\b|\bsk-[A-Za-z0-9]{48}\b"
    ),
    "openrouter": r"\bsk-or-v1-[0-9a-f]{64}\b",
    "anthropic": r"\bsk-ant-[a-z0-9]{3,12}-[A-Za-z0-9_-]{80,160}",
    "groq": r"\bgsk_[A-Za-z0-9]{52}\b",
    "nvidia": r"\bnvapi-[A-Za-z0-9_-]{60,80}",
    "replicate": r"\br8_[A-Za-z0-9]{37}\b",
    "e2b": r"\be2b_[0-9a-f]{40}\b",
    "slack": (
        r"\bxox[abeoprs]-[0-9]{10,13}-[A-Za-z0-9-]{20,200}"
        r"|\bxapp-1-[A-Z0-9]{8,12}-[0-9]{10,13}-[0-9a-f]{64}"
        r"|\bhooks\.slack\.com/services/T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{24}\b"
    ),
    "stripe": r"\b[sr]k_live_[A-Za-z0-9]{24,120}\b",
    "sendgrid": r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b",
    "azure": r"\bAccountKey=[A-Za-z0-9+/]{86}==",
    "digitalocean": r"\bdo[opr]_v1_[0-9a-f]{64}\b",
    "docker": r"\bdckr_pat_[A-Za-z0-9_-]{27,64}",
    "npm": r"\bnpm_[A-Za-z0-9]{36}\b",
    "pypi": r"\bpypi-AgE[A-Za-z0-9_-]{60,500}",
    "private-key": (
        r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:\\[nr]|[ \t\r\n\"'+,>|]){1,40}[A-Za-z0-9+/]{40}"
    ),
    "jwt": r"\beyJ[A-Za-z0-9_-]{10,500}\.eyJ[A-Za-z0-9_-]{10,900}\.[A-Za-z0-9_-]{20,700}",
    "url": (
        rf"\b[a-z][a-z0-9+.-]{{1,15}}://{_URL_WORD}{{1,64}}:{_URL_WORD}{{6,256}}"
        r"@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}"
    ),
}
"""By rule, as a regular expression."""

_PUBLISHED = (
    b"4eC39HqLyjWDarjtT1zdp7dc",  # Stripe's documentation
    b"Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq",  # Azure's emulator
)
_WORDS = re.compile(
    rb"(?i)example|x{4}|\*{3}|\.{3}|0{6}|your|placeholder|dummy|fake|redacted|changeme|password"
)
_NOWHERE = re.compile(
    rb"(?i)(?:^|\.)(?:localhost|internal|local|localdomain|lan|corp|test|invalid|example"
    rb"|(?:example|company|acme|acme-corp)\.[a-z]+)$|^(?:127|10|192\.168|172\.[123][0-9])\.[0-9.]+$"
)
_ROWS = ("abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm")
_STEPS = {pair for row in _ROWS for pair in pairwise(row)}
_RUN = 5
_FEW = 11


def is_made_up(rule: str, value: bytes) -> bool:
    """Whether a value of this shape is a placeholder, an example, or no use to a stranger."""
    if rule == "private-key":
        return False
    if rule == "jwt":
        return not _has_issuer(value)
    if rule == "url":
        host = value.rpartition(b"@")[2]
        return bool(_NOWHERE.search(host) or _WORDS.search(value) or b"secret" in value)
    if _WORDS.search(value) or any(each in value for each in _PUBLISHED):
        return True
    text = max(re.split("[-_=:.]", value.decode("latin-1")), key=len).lower()
    letters = "".join(filter(str.isalpha, text))
    digits = "".join(filter(str.isdigit, text))
    few = min(len(text) // 2, _FEW)
    return len(set(text)) < few or _in_a_row(letters) or _in_a_row(digits)


def _in_a_row(text: str) -> bool:
    """Whether characters follow each other as on a keyboard or in the alphabet."""
    run = 0
    for pair in pairwise(text):
        run = run + 1 if pair in _STEPS else 0
        if run >= _RUN:
            return True
    return False


def _has_issuer(token: bytes) -> bool:
    """Whether a service of the network says that it made the token; tests' own have none."""
    payload = token.split(b".")[1]
    try:
        said = json.loads(urlsafe_b64decode(payload + b"=" * (-len(payload) % 4)))
        issuer = said["iss"].encode()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False
    host = re.sub(rb"^[a-z]+://|[:/].*$", b"", issuer)
    return b"." in host and not _NOWHERE.search(host)
