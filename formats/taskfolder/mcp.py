"""Harbor's rules for the headers of MCP servers: they may name secrets, never hold one.

Facts: harbor 0.26.0, `harbor/utils/env.py` (`resolve_embedded_env_vars`,
`has_literal_header_credential`) and `MCPServerConfig.validate_headers`.
"""

from __future__ import annotations

import re

from .problems import Reason, RuleBroken

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TEMPLATE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_SENSITIVE = re.compile(r"KEY|SECRET|TOKEN(?!S)|PASSWORD|CREDENTIAL|AUTH", re.IGNORECASE)
_COOKIES = ("cookie", "set-cookie")
_REFERENCE = r"\$\{[A-Za-z_][A-Za-z0-9_]*(?::-)?\}"
_ONLY_REFERENCES = re.compile(rf"\s*(?:[A-Za-z]+\s+)?{_REFERENCE}(?:[\s:-]*{_REFERENCE})*\s*")


def safe_headers(headers: dict[str, str]) -> dict[str, str]:
    """The headers, as they are.

    Refused: a bad name, a line end, a broken ``${VAR}`` template, a literal credential. No message
    repeats a value: it may be the secret.
    """
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise RuleBroken(Reason.MCP_HEADER, f"not an HTTP header name: {name!r}")
        if "\r" in value or "\n" in value:
            raise RuleBroken(Reason.MCP_HEADER, f"header {name!r} must not contain a line end")
        defaults = [match[2] for match in _TEMPLATE.finditer(value)]
        if "${" in _TEMPLATE.sub(" ", value) or any("${" in text for text in defaults if text):
            raise RuleBroken(Reason.MCP_HEADER, f"header {name!r} has a broken ${{VAR}} template")
        if _holds_credential(name, value):
            raise RuleBroken(
                Reason.MCP_CREDENTIAL,
                f"header {name!r} must name its credential as ${{VAR}} without a default,"
                " such as 'Bearer ${TOKEN}'",
            )
    return headers


def _holds_credential(name: str, value: str) -> bool:
    secret_header = bool(_SENSITIVE.search(name)) or name.lower() in _COOKIES
    for match in _TEMPLATE.finditer(value):
        if match[2] and (secret_header or _SENSITIVE.search(match[1])):
            return True
    return secret_header and bool(value.strip()) and not _ONLY_REFERENCES.fullmatch(value)
