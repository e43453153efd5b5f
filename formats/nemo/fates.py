"""What becomes of each field when Harbor's tasks go to NeMo Gym, and why a task may not go.

Facts: NeMo Gym 0.7.0, agent `harbor_agent_general`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rlconvert.format import Fate, FieldFate
from rlconvert.formats.taskfolder.fates import IDENTITY, REBUILT
from rlconvert.model import field_paths

REFUSALS: Mapping[str, str] = MappingProxyType(
    {
        "steps-averaged": "several steps whose rewards are averaged: the agent reports the last",
        "reward-keys-unknown": "reading its files does not tell which named rewards it writes",
        "reward-key-missing": "several named rewards, and none is the one the agent looks for",
        "name-not-a-row": "no row can name its folder",
        "link-to-nothing": "with --repo-id Harbor fetches by Git, and refuses links to nothing",
        "server-unknown": "nobody says which server of NeMo Gym grades the row",
        "row-cannot-say": "no row can say it so that NeMo Gym takes it in",
        "not-a-row": "a row has no place for a part of it",
        "folder-taken": "another task stands where its folder would go",
    }
)

_BY_HARBOR = FieldFate(
    fate=Fate.DELEGATED, reason="the agent hands the task folder to Harbor, which reads it"
)
_REWARD = FieldFate(
    fate=Fate.DELEGATED,
    reason="Harbor grades; the agent reports one number, and 0.0 for a trial that ends in an "
    "exception (an agent that ran out of time too, which Harbor alone still grades)",
)
_DELEGATED = dict.fromkeys(field_paths(), _BY_HARBOR) | {
    "reward": _REWARD,
    "steps.reward": _REWARD,
}

_ROW = dict(IDENTITY) | {
    "steps.prompt": FieldFate(
        fate=Fate.TRANSLATED,
        reason="written as Responses items; ids of earlier items are numbered anew",
    ),
}
"""A row is written from the model, flat and without routing keys."""

FROM_ROW = "from its row"
_BACK = dict.fromkeys(
    field_paths(),
    FieldFate(
        fate=Fate.TRANSLATED,
        reason="the row that the folder was made from; the folder is made from it again",
    ),
)
"""An untouched folder of ours goes back to the row it was."""

WAYS: Mapping[str, Mapping[str, FieldFate]] = MappingProxyType(
    {
        "identity": IDENTITY,
        "row": MappingProxyType(_ROW),
        FROM_ROW: MappingProxyType(_BACK),
        "delegated": MappingProxyType(_DELEGATED),
        "rebuilt": MappingProxyType(_DELEGATED | {"steps.prompt": REBUILT["steps.prompt"]}),
    }
)
