"""Harbor: task folders with `task.toml`, tests in a container, a reward file."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from rlconvert.format import Aim, Finding, Format, Option, Options, Reader, Writer
from rlconvert.formats.taskfolder.choices import BASE_IMAGE
from rlconvert.formats.taskfolder.fates import IDENTITY, REBUILT, REFUSALS, SCORED
from rlconvert.formats.taskfolder.scrutiny import host_access, weaknesses
from rlconvert.judge import Hearing, Judge, Runner, Verdict

if TYPE_CHECKING:
    from rlconvert.model import Repo
    from rlconvert.source import Source


def _sniff(source: Source) -> Finding | None:
    from .reader import sniff

    return sniff(source)


def _reader(source: Source, options: Options) -> Reader:
    from .reader import open_reader

    return open_reader(source, options)


def _writer(repo: Repo, aim: Aim) -> Writer:
    from .writer import open_writer

    return open_writer(repo, aim)


def _hear(hearing: Hearing) -> Verdict:
    from .check import hear

    return hear(hearing)


JUDGE = Judge(
    requirements=("harbor==0.26.0",),
    pythons=("3.12", "3.13"),
    proof="import harbor.models.task.task, harbor.models.job.config",
    scripts=str(Path(__file__).with_name("judge")),
    hear=_hear,
    # Without it, importing waits ten seconds for a price list that it cannot get.
    environment={"LITELLM_LOCAL_MODEL_COST_MAP": "True"},
    runner=Runner(
        script="harbor_runs.py",
        local="rlconvert.formats.taskfolder.local",
        environment={"HARBOR_TELEMETRY": "0"},
        tools={"podman": "podman-compose==1.6.0"},
    ),
)

FORMAT = Format(
    name="harbor",
    title="Harbor",
    version="0.26.0",
    tag="harbor",
    sniff=_sniff,
    reader=_reader,
    writer=_writer,
    ways=MappingProxyType({"identity": IDENTITY, "rebuilt": REBUILT, "scored": SCORED}),
    refusals=REFUSALS,
    writer_options=(
        Option(
            name="repo-id", help="The Hub repo (org/name) the output is for; the card names it."
        ),
        BASE_IMAGE,
    ),
    judge=JUDGE,
    host_access=host_access,
    weaknesses=weaknesses,
)
