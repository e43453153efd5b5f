"""Every reason for which a task may be left out, and whose rule it is.

A reason that is not in this table fails the check of the corpus, and so does a task that is refused
by a rule said to be Harbor's while Harbor loads it.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlconvert.format import get_format
from rlconvert.formats.taskfolder.problems import Reason

HARBORS: Mapping[str, str] = {
    "file-missing": "a file or folder that Harbor demands is missing",
    "script-ignored": "the verifier's script is excluded by a .harborignore",
}
"""Harbor would not load the task either."""

OURS: Mapping[str, str] = {
    "lfs-pointer": "a Git LFS pointer stands where the file itself should",
    "config-is-a-link": "task.toml is a link",
    "instruction-is-a-link": "an instruction is a link",
    "instruction-not-utf8": "an instruction is not UTF-8 (Harbor fails when it runs the task)",
    "unsafe-name": "a name that cannot exist on every system",
    "names-clash": "two names are one where case or normal form is folded",
    "link-escapes": "a link leads out of its task",
    "link-cycle": "a link leads round in a circle",
    "not-a-file": "a device, socket or pipe",
    "too-big": "a file above the limit of its kind",
    "too-deep": "nested too deeply",
    "unreadable": "the operating system does not let us read it",
    "changed-while-read": "the file changed while it was read",
    "duplicate-id": "two tasks have one id",
    "foreign-git-url": "the registry's entry is a task in another repository",
    "path-escapes": "the registry's entry leads out of the repository",
    "task-missing": "the registry's entry leads to no folder",
}
"""Rules of rlconvert alone: Harbor may load the task."""


def is_listed(reason: str) -> bool:
    """Whether the reason is one that a task may be left out for."""
    return reason in HARBORS or reason in OURS or _of_document(reason) is not None


def harbor_may_load(reason: str) -> bool:
    """Whether the rule behind a reason for not reading a task is ours alone."""
    document = _of_document(reason)
    return reason in OURS or (document is not None and document.harbor_accepts)


def _of_document(reason: str) -> Reason | None:
    return next((each for each in Reason if each.value == reason), None)


def refusals_of(target: str) -> Mapping[str, str]:
    """The reasons for which a target's writer may refuse a task that was read."""
    return get_format(target).refusals


def meaning(reason: str) -> str:
    """One sentence for a reason, and whose rule it is."""
    if reason in HARBORS:
        return f"{HARBORS[reason]} (Harbor's rule)"
    if reason in OURS:
        return f"{OURS[reason]} (our rule)"
    document = _of_document(reason)
    if document is not None:
        whose = "our rule" if document.harbor_accepts else "Harbor's rule"
        return f"task.toml breaks a rule of this name ({whose}; `Reason` in problems.py)"
    for target in ("nemo", "harbor"):
        if reason in refusals_of(target):
            return f"{refusals_of(target)[reason]} (cannot go to {get_format(target).title})"
    return "NOT IN THE TABLE"
