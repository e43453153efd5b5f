"""What becomes of each field when a task becomes a task folder, and why it may not become one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rlconvert.format import Fate, FieldFate
from rlconvert.model import field_paths

REFUSALS: Mapping[str, str] = MappingProxyType(
    {
        "prompt-not-text": "the prompt is not one user message of plain text",
        "media-elsewhere": "the prompt shows by its address what no file holds",
        "no-reward-script": "the reward is not a script that runs in a container",
        "not-gradable": "its scorer can grade no answer to it",
        "other-script": "the reward's script is not the one that Harbor runs",
        "not-a-task-folder": "Harbor would not load the folder that says it",
        "environment-server": "the task lives on an environment server, not in a container",
        "functions": "the model calls functions that no container offers",
        "values-not-toml": "a value cannot be written to task.toml",
        "id-not-a-name": "the id cannot be the name of a folder",
        "folder-taken": "another task stands where its folder would go",
    }
)

IDENTITY: Mapping[str, FieldFate] = MappingProxyType(
    dict.fromkeys(field_paths(), FieldFate(fate=Fate.EXACT))
)
"""The folder goes over as it is, every byte of it."""

REBUILT: Mapping[str, FieldFate] = MappingProxyType(
    dict(IDENTITY)
    | {
        "steps.prompt": FieldFate(
            fate=Fate.TRANSLATED,
            reason="written as instruction.md: line feeds as line ends, no blank lines first",
        )
    }
)
"""The folder is written from the model."""

_LIMITS = FieldFate(
    fate=Fate.TRANSLATED, reason="the source states no limits; those of a container are written"
)
SCORED: Mapping[str, FieldFate] = MappingProxyType(
    dict(REBUILT)
    | {
        "steps.prompt": FieldFate(
            fate=Fate.TRANSLATED,
            reason="written as instruction.md, its media as files, with a word on where the answer "
            "goes",
        ),
        "runtime": FieldFate(
            fate=Fate.TRANSLATED,
            reason="an image is built for it; functions are told of in instruction.md",
        ),
        "reward": FieldFate(
            fate=Fate.TRANSLATED,
            reason="the answer is a file, which the same scorer grades in the container",
        ),
        "tests": FieldFate(
            fate=Fate.TRANSLATED, reason="the scorer, its rule as data, and the row as it was"
        ),
        "oracle": FieldFate(
            fate=Fate.TRANSLATED, reason="the answer that the rule takes, where it tells one"
        ),
        "agent": _LIMITS,
        "verifier": _LIMITS,
        "extras": FieldFate(
            fate=Fate.TRANSLATED, reason="kept in the row, tests/row.json, for the way back"
        ),
    }
)
"""The folder is made for a task that was a prompt and a rule."""

MADE: Mapping[str, FieldFate] = MappingProxyType(
    {path: fate for path, fate in SCORED.items() if fate.fate is not Fate.EXACT}
)
"""Of these, what is other than in a folder that was there."""
