"""OpenEnv: Harbor's task folders in `tasks/`, run by `openenv harbor`."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from rlconvert.format import Aim, Finding, Format, Option, Options, Reader, Writer
from rlconvert.formats.taskfolder.choices import BASE_IMAGE
from rlconvert.formats.taskfolder.fates import REFUSALS as FOLDER_REFUSALS
from rlconvert.formats.taskfolder.scrutiny import host_access, weaknesses
from rlconvert.judge import Hearing, Judge, Runner, Verdict

from .fates import REFUSALS, WAYS

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
    requirements=("openenv[harbor]==0.10.0", "harbor==0.25.0"),
    pythons=("3.12", "3.13"),
    proof="import openenv.harbor.tasks",
    scripts=str(Path(__file__).with_name("judge")),
    hear=_hear,
    environment={"LITELLM_LOCAL_MODEL_COST_MAP": "True"},
    # Harbor holds the trials.
    runner=Runner(
        script="openenv_runs.py",
        environment={"HARBOR_TELEMETRY": "0"},
        tools={"podman": "podman-compose==1.6.0"},
    ),
)

FORMAT = Format(
    name="openenv",
    title="OpenEnv",
    version="0.10.0",
    tag="openenv",
    sniff=_sniff,
    reader=_reader,
    writer=_writer,
    ways=WAYS,
    refusals=MappingProxyType(dict(FOLDER_REFUSALS) | dict(REFUSALS)),
    writer_options=(
        Option(name="reward-key", help="The named reward that OpenEnv is to report."),
        Option(
            name="repo-id", help="The Hub repo (org/name) the output is for; the card names it."
        ),
        BASE_IMAGE,
    ),
    judge=JUDGE,
    host_access=host_access,
    weaknesses=weaknesses,
)
