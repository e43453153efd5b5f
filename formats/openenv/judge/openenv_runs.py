"""Run tasks with the real OpenEnv. Runs inside its own Python.

    PYTHON openenv_runs.py ORDER TRIALS

What ORDER and TRIALS hold is said in rlconvert's `runner.py`. Each trial is one call of OpenEnv's
`run_rollout`, with Harbor's `oracle` or `nop` as the harness, which gets an entry in OpenEnv's
table of them; the reward is the one that OpenEnv makes of what the verifier wrote. Neither agent
calls a model, so OpenEnv calls every such rollout failed, which is not looked at: what counts are
the reward, the exception and Harbor's `result.json`. Written for openenv 0.10.0 with harbor 0.25.0.
"""

# The frameworks are not dependencies, and not in the type checkers' environment: their objects are
# untyped here.
# mypy: disable-error-code="import-not-found"
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import json
import os
import platform
import sys
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[2] / "taskfolder" / "judge"))

from harbor_trials import TAIL, Trials, crash_of, facts_of, is_unset


def prepare(seconds: float) -> None:
    """Give OpenEnv the two harnesses, and every trial the limit of time that it has no word for."""
    from harbor.models.task.task import Task
    from openenv.harbor import rollout, seams

    for name in ("oracle", "nop"):
        seams.SEAMS[name] = seams.Seam(name=name, dialect="none")
    configure = rollout.build_trial_config

    def limited(**given: Any) -> Any:
        config = configure(**given)
        config.agent.max_timeout_sec = config.verifier.max_timeout_sec = seconds
        build = Task(config.task.path).config.environment.build_timeout_sec
        config.environment_build_timeout_multiplier = min(1.0, seconds / build)
        return config

    rollout.build_trial_config = limited


def error_of(result: Any, facts: Mapping[str, Any]) -> dict[str, str] | None:
    """Why a rollout has no reward, in words that all frameworks share."""
    if facts.get("error"):
        return dict(facts["error"])
    if result.exception_type is not None:  # and no trial: it was not even begun
        kind = "unset-variable" if is_unset(result.error) else "crash"
        return {"kind": kind, "message": f"{result.exception_type}: {result.error}"}
    if result.reward is not None:
        return None
    kind = "bad-reward" if facts.get("rewards") else "no-reward"
    return {"kind": kind, "message": str(result.error)[-TAIL:]}


async def trial_of(
    order: Mapping[str, Any], ordered: Mapping[str, Any], agent: str, registry: Any
) -> dict[str, object]:
    """One rollout as a line."""
    from openenv.harbor.rollout import run_rollout

    folder = Path(order["work"], "trials")
    result = await run_rollout(
        task_dir=ordered["folder"],
        harness=agent,
        sandbox=order["sandbox"],
        registry=registry,
        intercept_url="http://127.0.0.1:1",  # of an agent that calls a model
        model="none",
        trials_dir=folder,
        reward_key=ordered["reward_key"] or "",
        capture_level="text",
        purpose="eval",
    )
    trial = folder / result.trial_name
    facts: dict[str, object] = {}
    if (trial / "result.json").is_file():
        facts = facts_of(json.loads((trial / "result.json").read_bytes()), trial)
    error = error_of(result, facts)
    return {**facts, "reward": result.reward, "error": error, "seconds": result.wall_s}


async def run(order: Mapping[str, Any], trials: Trials) -> None:
    """Run what is ordered, as many trials at a time as it says."""
    from openenv.core.harness.capture.sessions import SessionRegistry

    prepare(order["seconds"])
    registry = SessionRegistry()
    room = asyncio.Semaphore(order["jobs"])

    async def hold(ordered: Mapping[str, Any], agent: str, attempt: int) -> None:
        async with room:
            try:
                facts = await trial_of(order, ordered, agent, registry)
            except Exception as error:  # the other trials go on
                facts = crash_of(error)
            trials.add({"task": ordered["task"], "agent": agent, "attempt": attempt, **facts})

    async with asyncio.TaskGroup() as group:
        for ordered in order["tasks"]:
            for agent in ordered["agents"]:
                for attempt in range(order["repeat"]):
                    group.create_task(hold(ordered, agent, attempt))


def main() -> None:
    """Run what is ordered."""
    order = json.loads(Path(sys.argv[1]).read_bytes())
    trials = Trials(sys.argv[2])
    versions = {name: version(name) for name in ("openenv", "harbor")}
    trials.add({"versions": versions, "python": platform.python_version()})
    tempfile.tempdir = order["work"]
    os.environ |= {**order["variables"], "TMPDIR": order["work"]}
    asyncio.run(run(order, trials))


if __name__ == "__main__":
    main()
