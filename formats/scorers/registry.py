"""The scorers by name, by version and by the server whose rule they keep."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Protocol, TypedDict, cast

from rlconvert.data import Data
from rlconvert.errors import Malformed, NewerSchema
from rlconvert.reward import Submission

HOME = Path(__file__).parent
_FUTURE = "from __future__ import annotations\n"
_OF_A_PART = re.compile(r"^from \.\w+ import (?:\([^)]*\)|[^(\n]*)\n", re.MULTILINE)

FOLDERS = (
    "nemo_arc_agi",
    "nemo_bunsenbench_chemistry_mcq",
    "nemo_calendar",
    "nemo_circle_click",
    "nemo_circle_count",
    "nemo_citation_if",
    "nemo_equivalence_rule",
    "nemo_format_verification",
    "nemo_gpqa_diamond",
    "nemo_graphwalks",
    "nemo_hotpotqa_qa",
    "nemo_math_with_judge",
    "nemo_mcqa",
    "nemo_mrcr",
    "nemo_reasoning_gym",
    "nemo_ruler",
    "nemo_single_step_tool_use",
    "nemo_string_match",
    "nemo_structeval",
    "nemo_structured_outputs",
    "nemo_verifif",
    "nemo_xlam_fc",
)
"""One folder for each scorer."""


class Call(TypedDict):
    """A tool call; `arguments` is the text of a JSON object, as a model writes it."""

    name: str
    arguments: str


class Answer(TypedDict):
    """What is scored: the final message, and the tool calls."""

    text: str
    calls: Sequence[Call]


class Params(TypedDict):
    """What decides, beside the submission: of the server's config, and of the row."""

    config: Mapping[str, Data]
    row: Mapping[str, Data]


class Grade(TypedDict):
    """`outcome` is `graded`, `not extractable` or `invalid task`.

    `reward` is None for an invalid task, and where the original fails on a submission.
    """

    outcome: str
    reward: float | None
    parts: Mapping[str, float]
    detail: str


class Rule(Protocol):
    """What `score.py` of every scorer defines."""

    def score(self, params: Params, submission: Answer) -> Grade:
        """The reward of a submission. Never raises; it may take long: `grade.py` has limits."""
        ...

    def gold(self, params: Params) -> Answer | None:
        """A submission that earns the full reward, where the row tells one."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """A rule of a framework's server, as one file that runs alone.

    `requirements` are exact pins of what it needs beside the standard library. `config` are the
    keys of the server's config that decide, with the framework's own defaults; `idle` are those
    that decide nothing where this scorer grades. `row` are the top-level fields of a row that the
    server reads or refuses. `parts` are the files beside `score.py` that belong to it. `no_deps`:
    the requirements are all there is to install, and what they ask for beside is not needed.
    """

    name: str
    version: int
    submission: Submission
    requirements: tuple[str, ...]
    framework: str
    framework_version: str
    servers: tuple[str, ...]
    config: Mapping[str, Data]
    row: tuple[str, ...]
    folder: Path = field(repr=False)
    idle: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    no_deps: bool = False

    @property
    def id(self) -> str:
        """How a rule names it: ``nemo.mcqa@1``."""
        return f"{self.name}@{self.version}"

    @property
    def source(self) -> bytes:
        """`score.py` with its parts in it, to be written beside `grade.py`."""
        return _joined(self.folder, self.parts)

    @property
    def grade(self) -> bytes:
        """`grade.py`, which runs `score.py` on a file; it is the same for all."""
        return (HOME / "grade.py").read_bytes()

    def params(self, config: Mapping[str, Data], row: Mapping[str, Data]) -> Params:
        """What this scorer needs of a server's config and of a row; the rest is left out."""
        return {
            "config": {key: config.get(key, default) for key, default in self.config.items()},
            "row": {key: row[key] for key in self.row if key in row},
        }

    @property
    def finder(self) -> bytes:
        """`gold.py`, which writes down what `gold` of a `score.py` beside it says."""
        return (HOME / "gold.py").read_bytes()

    def submission_for(self, params: Params) -> Submission:
        """What is submitted: some scorers let the row say it, by a function `submission_of`."""
        said = getattr(self.rule(), "submission_of", None)
        return self.submission if said is None else Submission(said(params))

    def refusal(self, params: Params) -> str:
        """What a row needs beside the scorer; "" where that is nothing, as for most scorers."""
        said = getattr(self.rule(), "refusal", None)
        return "" if said is None else str(said(params))

    def rule(self) -> Rule:
        """`score.py`, loaded. In this process nothing limits its time or memory."""
        return _loaded(self.folder, self.parts)


@cache
def _joined(folder: Path, parts: tuple[str, ...]) -> bytes:
    first, *rest = [(folder / name).read_text(encoding="utf-8") for name in ("score.py", *parts)]
    if not rest:
        return first.encode()
    joined = [first, *(text.replace(_FUTURE, "") for text in rest)]
    return "\n\n".join(_OF_A_PART.sub("", text) for text in joined).encode()


@cache
def _loaded(folder: Path, parts: tuple[str, ...]) -> Rule:
    module = ModuleType(f"score_{folder.name}")
    name = f"{folder.name} joined" if parts else str(folder / "score.py")
    exec(compile(_joined(folder, parts), name, "exec"), module.__dict__)  # noqa: S102
    return cast("Rule", module)


@cache
def scorers() -> tuple[Scorer, ...]:
    """All of them, by name."""
    return tuple(_read(HOME / folder) for folder in FOLDERS)


def _read(folder: Path) -> Scorer:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    origin = manifest["origin"]
    return Scorer(
        name=manifest["name"],
        version=manifest["version"],
        submission=Submission(manifest["submission"]),
        requirements=tuple(manifest["requirements"]),
        framework=origin["framework"],
        framework_version=origin["version"],
        servers=tuple(origin["servers"]),
        config=manifest["config"],
        row=tuple(manifest["row"]),
        folder=folder,
        idle=tuple(manifest.get("idle", ())),
        parts=tuple(manifest.get("parts", ())),
        no_deps=manifest.get("no_deps", False),
    )


def scorer(name: str) -> Scorer:
    """The scorer of a rule (``nemo.mcqa@1``).

    `NewerSchema` where only the version is unknown, `Malformed` where the name is.
    """
    by_name = {known.name: known for known in scorers()}
    base, at, version = name.rpartition("@")
    known = by_name.get(base)
    if not at or known is None:
        raise Malformed(
            f"there is no scorer {name!r}",
            reason="unknown-scorer",
            remedy="A scorer is named with its version; the known ones are: "
            + ", ".join(each.id for each in scorers()),
        )
    if version != str(known.version):
        raise NewerSchema(
            f"there is no version {version!r} of the scorer {base!r}",
            reason="unknown-scorer-version",
            remedy=f"Known is {known.id}; a newer rlconvert may know others",
        )
    return known


def scorer_for_server(server: str) -> Scorer | None:
    """The scorer that keeps a server's rule, if there is one."""
    return next((each for each in scorers() if server in each.servers), None)
