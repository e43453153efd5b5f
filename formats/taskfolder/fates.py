"""What becomes of each field when a task becomes a task folder, and why it may not become one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rlconvert.format import Fate, FieldFate
from rlconvert.model import field_paths

REFUSALS: Mapping[str, str] = MappingProxyType(
    {
        "prompt-not-text": "the prompt is not one user message of plain text",
        "no-reward-script": "the reward is not a script that runs in a container",
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
