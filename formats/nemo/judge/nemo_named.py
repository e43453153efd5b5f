"""Which server grades a row that names its agent. Runs inside NeMo Gym's own Python.

A rollout goes by the row's `agent_ref`, else by its `task_source`: the name of an agent, or of a
server, in the config that runs. Where no config of a repo lists rows, that name means something
only if a config that NeMo Gym ships has it. A row in an envelope goes by its taskset, which only a
config routes. Written for nemo-gym 0.7.0, whose own configs use a name for one component, but for
few; a name for several names none.
"""

# The framework is no dependency, and not in the type checkers' environment.
# mypy: disable-error-code="import-not-found"
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from nemo_gym import PARENT_DIR
from nemo_gym.episode_types import is_materialized_task_row
from nemo_gym.global_config import GlobalConfigDictParser
from omegaconf import OmegaConf

SERVERS, AGENTS = "resources_servers", "responses_api_agents"
PLACES = (
    f"{SERVERS}/*/configs/*.yaml",
    f"{AGENTS}/*/configs/*.yaml",
    "environments/*/config.yaml",
    "benchmarks/*/config.yaml",
)


def route_of(row: Any) -> str | None:
    """The name that a rollout goes by."""
    if not isinstance(row, Mapping) or is_materialized_task_row(row):
        return None
    agent = row.get("agent_ref")
    name = agent.get("name") if isinstance(agent, Mapping) else None
    name = row.get("task_source") if name is None else name
    return name if isinstance(name, str) and name else None


@cache
def shipped() -> dict[Path, bytes]:
    """The text of every config that NeMo Gym ships."""
    paths = [path for place in PLACES for path in Path(PARENT_DIR).glob(place)]
    return {path: path.read_bytes() for path in sorted(paths)}


@cache
def graded_by(name: str) -> str | None:
    """The one component that grades what this agent or server of a shipped config runs."""
    found = {
        grader
        for path, text in shipped().items()
        if name.encode() in text and (grader := grader_in(merged(path), name)) is not None
    }
    return found.pop() if len(found) == 1 else None


@cache
def merged(path: Path) -> Any:
    """A shipped config with those that it names, put together as NeMo Gym does; None if it cannot.

    Not through its whole parser, which wants every model and every variable of the environment.
    """
    parser = GlobalConfigDictParser()
    with suppress(Exception):
        _, configs = parser.load_extra_config_paths([str(path)])
        whole = OmegaConf.merge(*configs)
        parser._recursively_swap_keys(whole)
        return whole
    return None


def grader_in(config: Any, name: str) -> str | None:
    """Who grades for an instance of a config: a server, or an agent (`responses_api_agents/X`)."""
    with suppress(Exception):  # a value that is not there, or is to be given
        block = config[name]
        if SERVERS in block:
            return str(next(iter(block[SERVERS])))
        implementation, settings = next(iter(block[AGENTS].items()))
        reference = settings.get("resources_server")
        if reference is None:
            return f"{AGENTS}/{implementation}"
        return str(next(iter(config[reference["name"]][SERVERS])))
    return None
