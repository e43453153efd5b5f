"""Licence names: SPDX (and the Hub's lower-case spelling of it) to NeMo Gym's words and back.

A dataset entry of type train or validation must carry one of ten literal strings (NeMo Gym 0.7.0,
`config_types.DatasetConfig.license`); anything else, `Apache-2.0` included, makes the whole config
unreadable. A manifest's `licensing` is an SPDX expression, or `unknown`.
"""

from __future__ import annotations

import re

UNKNOWN = "TBD"

_NEMO = {
    "apache-2.0": ("Apache 2.0", "Apache-2.0"),
    "mit": ("MIT", "MIT"),
    "cc-by-4.0": ("Creative Commons Attribution 4.0 International", "CC-BY-4.0"),
    "cc-by-sa-4.0": (
        "Creative Commons Attribution-ShareAlike 4.0 International",
        "CC-BY-SA-4.0",
    ),
    "cc-by-nc-3.0": ("CC BY-NC 3.0", "CC-BY-NC-3.0"),
    "gpl-3.0-only": ("GNU General Public License v3.0", "GPL-3.0-only"),
    "gpl-3.0": ("GNU General Public License v3.0", "GPL-3.0-only"),
}
_SPDX_OF = {
    **dict(_NEMO.values()),
    "CC BY-SA 4.0": "CC-BY-SA-4.0",
}
NEMO_LICENCES = frozenset(_SPDX_OF) | {
    "NVIDIA Internal Use Only, Do Not Distribute",
    "NVIDIA Evaluation Dataset License Agreement",
    UNKNOWN,
}

# What people put on cards and is an SPDX identifier. What is not listed here (openrail, other,
# the licences of single models) is written as `unknown`: a wrong word makes NeMo refuse the file.
_SPDX = """
AFL-3.0 AGPL-3.0 AGPL-3.0-only AGPL-3.0-or-later Apache-2.0 Artistic-2.0 BSD-2-Clause BSD-3-Clause
BSD-3-Clause-Clear BSL-1.0 C-UDA-1.0 CC-BY-2.0 CC-BY-2.5 CC-BY-3.0 CC-BY-4.0 CC-BY-NC-2.0
CC-BY-NC-3.0 CC-BY-NC-4.0 CC-BY-NC-ND-3.0 CC-BY-NC-ND-4.0 CC-BY-NC-SA-2.0 CC-BY-NC-SA-3.0
CC-BY-NC-SA-4.0 CC-BY-ND-4.0 CC-BY-SA-3.0 CC-BY-SA-4.0 CC0-1.0 CDLA-Permissive-1.0
CDLA-Permissive-2.0 CDLA-Sharing-1.0 ECL-2.0 EPL-1.0 EPL-2.0 EUPL-1.1 EUPL-1.2 GPL-2.0 GPL-2.0-only
GPL-2.0-or-later GPL-3.0 GPL-3.0-only GPL-3.0-or-later ISC LGPL-2.1 LGPL-2.1-only LGPL-2.1-or-later
LGPL-3.0 LGPL-3.0-only LGPL-3.0-or-later LPPL-1.3c MIT MPL-2.0 MS-PL NCSA ODC-By-1.0 ODbL-1.0
OFL-1.1 OSL-3.0 PDDL-1.0 PostgreSQL Unlicense WTFPL Zlib etalab-2.0
"""
SPDX_BY_LOWER = {name.lower(): name for name in _SPDX.split()} | {
    "odc-by": "ODC-By-1.0",
    "odbl": "ODbL-1.0",
    "pddl": "PDDL-1.0",
    "c-uda": "C-UDA-1.0",
}
_JOIN = re.compile(r"\s+(AND|OR)\s+")


def nemo_licence(spdx: str | None) -> tuple[str, bool]:
    """NeMo's words for a licence, and whether they say the same; `TBD` where NeMo has no words."""
    entry = _NEMO.get(spdx.strip().lower()) if spdx is not None else None
    return (entry[0], True) if entry is not None else (UNKNOWN, False)


def spdx_licence(words: str) -> str | None:
    """The SPDX identifier behind one of NeMo's licence strings; None where there is none."""
    return _SPDX_OF.get(words)


def manifest_licensing(spdx: str | None) -> str:
    """`licensing` of a manifest: an SPDX expression of well-known licences, else `unknown`."""
    parts = _JOIN.split((spdx or "").strip())
    names = [SPDX_BY_LOWER.get(part.lower()) for part in parts[::2]]
    if None in names:
        return "unknown"
    return " ".join(
        str(part) for pair in zip(names, [*parts[1::2], ""], strict=True) for part in pair if part
    )
