"""What becomes of each field when task folders go to OpenEnv, and why one may not go.

Facts: openenv 0.10.0, `openenv harbor`, with harbor 0.25.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rlconvert.format import Fate, FieldFate
from rlconvert.formats.taskfolder.fates import IDENTITY, MADE
from rlconvert.model import field_paths

REFUSALS: Mapping[str, str] = MappingProxyType(
    {
        "name-hidden": "its loader leaves out folders whose name begins with a dot",
        "links": "it fetches a repo over HTTP, by which links arrive as files with their target",
        "reward-key-missing": "several named rewards, and none is the one that it looks for",
    }
)

_DELEGATED = FieldFate(
    fate=Fate.DELEGATED, reason="OpenEnv hands the task folder to Harbor, which reads and runs it"
)
_REWARD = FieldFate(
    fate=Fate.DELEGATED,
    reason="Harbor grades; OpenEnv reports one finite number of it, and no number is no reward",
)
_FIELDS = dict.fromkeys(field_paths(), _DELEGATED) | {"reward": _REWARD, "steps.reward": _REWARD}
_REBUILT = FieldFate(
    fate=Fate.TRANSLATED, reason="written as instruction.md, with line feeds as line ends"
)

WAYS: Mapping[str, Mapping[str, FieldFate]] = MappingProxyType(
    {
        "identity": IDENTITY,
        "delegated": MappingProxyType(_FIELDS),
        "rebuilt": MappingProxyType(_FIELDS | {"steps.prompt": _REBUILT}),
        "scored": MappingProxyType(_FIELDS | dict(MADE)),
    }
)
