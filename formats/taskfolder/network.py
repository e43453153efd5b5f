"""Harbor's rules for network access: modes, and the hosts of an allowlist.

Facts: harbor 0.26.0, `harbor/models/task/config.py` (`_validate_allowed_host_names`,
`_validate_network_policy_fields`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from ipaddress import IPv6Address, ip_address, ip_network

from .problems import Reason, RuleBroken

_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_V4_MAPPED = 0xFFFF << 32


class NetworkMode(StrEnum):
    """What the agent or the verifier may reach."""

    NO_NETWORK = "no-network"
    PUBLIC = "public"
    ALLOWLIST = "allowlist"


def normal_host(host: str) -> str:
    """An allowlist entry in the form Harbor keeps: stripped, lower case, no trailing dot.

    A host name, ``*.suffix``, an IP address, or an IP network without host bits; anything else is
    `RuleBroken`. Also refused, though Harbor lets it pass: a newline at the end of a label.
    """
    plain = host.strip().lower().rstrip(".")
    if "/" in plain:
        return _network(plain)
    if ":" in plain:
        return _address(plain)
    name = plain.removeprefix("*.")
    if name != plain and _is_address(name):
        raise RuleBroken(
            Reason.NETWORK_HOST, f"a wildcard needs a host name, not an address: {host!r}"
        )
    labels = name.split(".")
    if not all(_LABEL.fullmatch(label.removesuffix("\n")) for label in labels):
        raise RuleBroken(
            Reason.NETWORK_HOST,
            f"not a host name, '*.' and a host name, an IP address or an IP network: {host!r}",
        )
    if "\n" in name:
        raise RuleBroken(Reason.CONTROL_CHARACTER, f"newline inside a host: {host!r}")
    return plain


def check_policy(mode: NetworkMode | None, hosts: Sequence[str] | None) -> None:
    """Refuse hosts that no mode would use; ``allowlist`` without hosts is allowed.

    `None` as mode is the unset phase mode of ``[agent]`` and ``[verifier]``: there even an empty
    list is refused.
    """
    if mode is NetworkMode.ALLOWLIST or (hosts is None if mode is None else not hosts):
        return
    raise RuleBroken(
        Reason.NETWORK_POLICY, "allowed_hosts is only valid with network_mode = 'allowlist'"
    )


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _address(text: str) -> str:
    try:
        address = ip_address(text)
    except ValueError:
        address = None
    if not isinstance(address, IPv6Address) or "%" in text:
        raise RuleBroken(Reason.NETWORK_HOST, f"not an IPv6 address (no port, no URL): {text!r}")
    return _written(address)


def _network(text: str) -> str:
    try:
        network = ip_network(text, strict=True)
    except ValueError:
        network = None
    if network is None or "%" in text:
        raise RuleBroken(
            Reason.NETWORK_HOST, f"not an IP network without host bits (no URL, no path): {text!r}"
        )
    base = network.network_address
    written = _written(base) if isinstance(base, IPv6Address) else str(base)
    return f"{written}/{network.prefixlen}"


def _written(address: IPv6Address) -> str:
    """The shortest form. IPv4-mapped ones as before Python 3.13, so that no version differs."""
    number = int(address)
    if number >> 32 << 32 == _V4_MAPPED:
        return f"::ffff:{number >> 16 & 0xFFFF:x}:{number & 0xFFFF:x}"
    return address.compressed
