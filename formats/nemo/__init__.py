"""NVIDIA NeMo Gym: JSONL rows, and a config that says which agent and server they are for."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from rlconvert.format import Aim, Finding, Format, Option, Options, Reader, Writer
from rlconvert.formats.taskfolder.fates import REFUSALS as FOLDER_REFUSALS

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


FORMAT = Format(
    name="nemo",
    title="NeMo Gym",
    version="0.7.0",
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
            help="yes: rewrite NeMo Gym's own rows so that it takes all of them in.",
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
)
