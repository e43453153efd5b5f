"""What becomes of each field when task folders go to Verifiers, and why one may not go.

Facts: verifiers 0.4.0, taskset `harbor`, with harbor 0.24.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rlconvert.format import Fate, FieldFate
from rlconvert.formats.taskfolder.fates import IDENTITY, MADE
from rlconvert.model import field_paths

FAILS_TO_LOAD: Mapping[str, str] = MappingProxyType(
    {
        "several-steps": "its taskset takes no task with [[steps]]",
        "verifier-user": "its taskset takes no task with [verifier].user",
        "collect-user": "its taskset takes no collect hook with a user",
        "service-undeclared": "an artifact or a collect hook names a service that no file declares",
        "compose-unreadable": "docker-compose.yaml does not hold the services as it reads them",
        "image-missing": "it builds no Dockerfile, and no image is named",
        "verifier-image-missing": "it builds no Dockerfile for the verifier, and no image is named",
        "verifier-machine": "the verifier's own machine is no Linux, or has a TPU",
        "metadata-types": "difficulty, category or tags in [metadata] are of another type",
        "fraction-of-a-cpu": "the release of Harbor that it comes with has no fractions of a CPU",
        "task-inside": "a task.toml further down in the folder would be one more task",
        "link-to-nothing": "Harbor fetches no set from Git in which a link leads to nothing",
        "name-not-fetched": "Git takes the folder's name for a pattern, so that it is not fetched",
    }
)
"""Reasons for which Verifiers itself fails: it raises, or counts another number of tasks."""

LOADS_BUT_DIFFERS: Mapping[str, str] = MappingProxyType(
    {
        "windows": "it runs `bash /tests/test.sh`, which no Windows container has",
        "tpu": "it has no word for a TPU and would run the task without",
        "compose-refused": "it refuses at each run what docker-compose.yaml asks for",
        "files-without-image": "it puts files of environment/ into images alone, and none is named",
        "script-not-bash": "it runs tests/test.sh by bash, and the script is for another program",
        "script-options": "it runs tests/test.sh by bash, without the options in its first line",
        "tests-ignored": "it has no .harborignore: files that Harbor keeps back would be tests",
        "conversation-before": "it does not give the agent the conversation in trajectory.json",
        "mcp-headers": "it contacts MCP servers without the headers that the task states",
        "artifact-twice": "it fails at each run for an artifact that is named twice",
        "reward-key-missing": "none of the named rewards is the one that it is to look for",
    }
)
"""Reasons for which Verifiers would load a task and then show or grade another one; stricter."""

OURS: Mapping[str, str] = MappingProxyType(
    {
        "image-not-a-reference": "what --image-template or --image-map gives is no image's name",
        "config-not-editable": "the image cannot be put into this task.toml without changing more",
    }
)

REFUSALS: Mapping[str, str] = MappingProxyType({**FAILS_TO_LOAD, **LOADS_BUT_DIFFERS, **OURS})


def _delegated(reason: str) -> FieldFate:
    return FieldFate(fate=Fate.DELEGATED, reason=reason)


_LIMITS = "its taskset reads the folder; time limits count with ignore_timeouts = false alone"
_FIELDS = dict.fromkeys(field_paths(), _delegated("its taskset `harbor` reads the folder")) | {
    "steps.prompt": _delegated("its taskset reads instruction.md and strips blanks at both ends"),
    "agent": _delegated(_LIMITS),
    "verifier": _delegated(_LIMITS),
    "oracle": _delegated("the files stay in the folder; Verifiers has no use for them"),
    "reward": _delegated(
        "its taskset runs tests/test.sh; what is no finite number, and a missing key, is an error"
    ),
}
_IMAGED = FieldFate(
    fate=Fate.TRANSLATED,
    reason="docker_image is written into task.toml, as asserted by the user",
)
_REBUILT = FieldFate(
    fate=Fate.TRANSLATED, reason="written as instruction.md, with line feeds as line ends"
)

WAYS: Mapping[str, Mapping[str, FieldFate]] = MappingProxyType(
    {
        "identity": IDENTITY,
        "delegated": MappingProxyType(_FIELDS),
        "imaged": MappingProxyType(_FIELDS | {"runtime": _IMAGED}),
        "rebuilt": MappingProxyType(_FIELDS | {"steps.prompt": _REBUILT}),
        "rebuilt, imaged": MappingProxyType(
            _FIELDS | {"steps.prompt": _REBUILT, "runtime": _IMAGED}
        ),
        "scored": MappingProxyType(_FIELDS | dict(MADE)),
        "scored, imaged": MappingProxyType(_FIELDS | dict(MADE) | {"runtime": _IMAGED}),
    }
)
