"""NVIDIA NeMo Gym: JSONL rows, and a config that says which agent and server they are for."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from rlconvert.format import Aim, Finding, Format, Option, Options, Reader, Writer
from rlconvert.formats.taskfolder.fates import REFUSALS as FOLDER_REFUSALS
from rlconvert.formats.taskfolder.scrutiny import host_access, weaknesses
from rlconvert.judge import Hearing, Judge, Runner, Verdict

from .fates import REFUSALS, WAYS

if TYPE_CHECKING:
    from rlconvert.model import Repo, Task
    from rlconvert.soundness import Weakness
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


def _weaknesses(task: Task) -> tuple[Weakness, ...]:
    native = task.native.get("nemo")
    if native is not None and not native.tree.entries:
        return ()  # a row has no files that could be weak
    return weaknesses(task)


def _hear(hearing: Hearing) -> Verdict:
    from .check import hear

    return hear(hearing)


JUDGE = Judge(
    # NeMo Gym names no Harbor; its Harbor agent resolves tasks with this one.
    requirements=("nemo-gym==0.7.0", "harbor==0.25.0"),
    pythons=("3.13",),
    proof="import responses_api_agents.harbor_agent_general.app",
    scripts=str(Path(__file__).with_name("judge")),
    hear=_hear,
    # It asks for Python 3.13.14; what is used of it here runs on every 3.13.
    pip_flags=("--ignore-requires-python",),
    environment={"LITELLM_LOCAL_MODEL_COST_MAP": "True"},
    # Harbor holds the trials.
    runner=Runner(
        script="nemo_runs.py",
        environment={"HARBOR_TELEMETRY": "0"},
        tools={"podman": "podman-compose==1.6.0"},
    ),
)

FORMAT = Format(
    name="nemo",
    title="NeMo Gym",
    version="0.7.0",
    tag="nemo-gym",
    sniff=_sniff,
    reader=_reader,
    writer=_writer,
    ways=WAYS,
    refusals=MappingProxyType(dict(FOLDER_REFUSALS) | dict(REFUSALS)),
    reader_options=(
        Option(
            name="nemo-server",
            help="The server of NeMo Gym that grades the rows, where no config says it.",
        ),
        Option(
            name="nemo-config",
            help="A config of NeMo Gym that names that server and its settings.",
        ),
    ),
    writer_options=(
        Option(
            name="normalise",
            help="Rewrite NeMo Gym's own rows so that it takes all of them in.",
            flag=True,
        ),
        Option(
            name="repo-id",
            help="The Hub repo (org/name) the output is for: NeMo Gym's config then names it.",
        ),
        Option(
            name="reward-key",
            help="The named reward NeMo Gym is to report, where the files do not tell.",
        ),
        Option(name="licence", help="The licence of the tasks (SPDX), where the source has none."),
    ),
    judge=JUDGE,
    host_access=host_access,
    weaknesses=_weaknesses,
)
