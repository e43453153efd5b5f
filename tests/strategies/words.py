"""Names and texts: small alphabets, in which every member once broke some converter.

What is drawn again and again is made once, here and beside it: Hypothesis looks a new strategy over
before it draws, which takes longer than drawing.
"""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from rlconvert.files import name_fault

coin = st.booleans()


@cache
def one_in(sides: int) -> st.SearchStrategy[bool]:
    """True where a die of so many sides falls on its last one."""
    return st.integers(1, sides).map(sides.__eq__)


ODD_NAMES = (
    "a",
    "b.txt",
    "C",
    "-n",
    ".hidden",
    "with space",
    " lead",
    "e\u0301.md",  # NFD
    "ü",
    "\U0001f600",
    "${X}",
    "it's",
    '"q"',
    "#1",
    "a&b;c",
    "100%",
    "~",
    "[x]",
    "x*",
    "$(id)",
    "--",
    "..a",
    "\u202e",
)
"""Names that are one path part on every system, however odd they look."""
assert not any(map(name_fault, ODD_NAMES))

names = st.sampled_from(ODD_NAMES)

PLAIN_NAMES = ("alpha", "beta", "gamma-1", "delta_2", "Epsilon", "zeta.z")
plain_names = st.sampled_from(PLAIN_NAMES)

_PIECES = (
    "",
    " ",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "Do it.",
    "<!-- harness-canary GUID 1-2-3 -->",
    "# canary: do not train on this",
    "# A heading",
    "\ufeff",
    "e\u0301",
    "\u00e9",
    "\U0001f600",
    "\u2028",
    "\x85",
    "\x00",
    "\x0c",
    '"',
    "'",
    "\\",
    "${X}",
    "{{ x }}",
    "-",
    "--",
    "```",
    "---",
)

texts = st.lists(st.sampled_from(_PIECES), max_size=6).map("".join)
"""Text as people leave it: line ends of all systems, canaries, marks, quotes, nothing at all."""

lines = st.lists(st.sampled_from([piece for piece in _PIECES if piece != "\r"]), max_size=4).map(
    "\n".join
)
"""The same, with more lines."""

words = texts.filter(lambda text: "\x00" not in text)

payloads = (
    st.just(b"")
    | texts.map(str.encode)
    | st.sampled_from([b"\xff\xfe\x00", b"\x00" * 9, b"\xed\xa0\x80", b"#!/bin/sh\r\nexit 0\r\n"])
    | st.binary(max_size=4)
)
"""Bytes of a file that nobody parses."""
