"""Convert RL task sets between frameworks, and say exactly what was kept.

    import rlconvert

    result = rlconvert.convert("org/name", "out", to=[TARGET])
    print(result.report.facts())

The functions do what the verbs of the same name do on the command line. They raise
`rlconvert.errors.RlconvertError` for what ends a run; faults of single tasks are in the report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api import check, convert, convert_shard, inspect, merge, publish, roundtrip, tag, verify

__version__ = "0.1.0"
__all__ = [
    "__version__",
    "check",
    "convert",
    "convert_shard",
    "inspect",
    "merge",
    "publish",
    "roundtrip",
    "tag",
    "verify",
]


def __getattr__(name: str) -> object:
    # Loaded when first used: `rlconvert --help` needs none of it.
    if name in __all__:
        from . import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
