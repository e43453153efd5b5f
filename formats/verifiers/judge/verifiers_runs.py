"""Run tasks with the real Verifiers. Runs inside its own Python.

    PYTHON verifiers_runs.py ORDER TRIALS

What ORDER and TRIALS hold is said in rlconvert's `runner.py`. Each trial is an episode of
Verifiers' own `HarborEnv`, whose agent has a harness that asks no model (`verifiers_oracle.py`):
the runtime, the separate verifier, the services and the reward are Verifiers'. As in its runs, the
time that a task allows itself is not looked at. Its containers carry the label `verifiers.run`,
which is `Order.work` here. Written for verifiers 0.4.0 with harbor 0.24.0.
"""

# The framework is not a dependency, and not in the type checkers' environment: its objects are
# untyped here.
# mypy: disable-error-code="import-not-found"
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import json
import os
import platform
import re
import sys
import tempfile
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[2] / "taskfolder" / "judge"))

from harbor_trials import TAIL, Trials, crash_of, is_unset

TIMEOUTS = {
    "setup_timeout": "environment",
    "agent_timeout": "agent-timeout",
    "finalize_timeout": "verifier-timeout",
    "scoring_timeout": "verifier-timeout",
}
ERRORS = {"SandboxError": "environment", "HarnessError": "agent-failed"}
REFUSAL = re.compile(r"HarborEnv\.run\(\): (?:TypeError|ValueError): (.*)", re.DOTALL)
"""What Verifiers raises of a task before anything of it was started."""


def environment_of(order: Mapping[str, Any]) -> Any:
    """Verifiers' environment for Harbor's tasks, in the sandbox of the order."""
    from verifiers.v1.tasksets.harbor import HarborEnv, HarborEnvConfig

    seconds = order["seconds"]
    stages = dict.fromkeys(("setup", "rollout", "finalize", "scoring"), seconds)
    config = HarborEnvConfig.model_validate(
        {
            "taskset": {"id": "harbor"},
            "agent": {
                "harness": {"id": "verifiers_oracle"},
                "runtime": {"type": order["sandbox"]},
                "timeout": stages,
            },
            "verifier": {"retries": 0},
            # The start of a container is in no stage, and has the seconds of one.
            "timeout": {"episode": 5 * seconds, "finalize": 3 * seconds},
            "trust_compose": True,
        }
    )
    return HarborEnv(config)


def task_of(ordered: Mapping[str, Any]) -> Any:
    """A task as Verifiers loads it; raises what Verifiers raises."""
    from verifiers.v1.tasksets.harbor.taskset import HarborConfig, HarborTaskConfig, parse_task
    from verifiers_oracle import OverheardTask

    key = ordered["reward_key"]
    config = HarborTaskConfig() if key is None else HarborTaskConfig(reward_key=key)
    data = parse_task(Path(ordered["folder"]), 0, HarborConfig(id="harbor", task=config))
    return OverheardTask(data, config)


def error_of(episode: Any, told: Any) -> dict[str, str] | None:
    """Why an episode has no reward, in words that all frameworks share."""
    trace = episode.traces[0] if episode.traces else None
    if trace is not None and trace.is_timeout:
        return {"kind": TIMEOUTS[trace.stop_condition], "message": trace.stop_condition}
    errors = [*episode.errors, *(trace.errors if trace is not None else ())]
    if not errors:
        return None
    name, message = errors[-1].type, errors[-1].message
    if is_unset(message):
        kind = "unset-variable"
    elif told.kind:
        kind = "verifier-timeout" if "timed out" in message and not told.tested else told.kind
    elif trace is None or not trace.timing.agent.start:
        kind = "environment"
    else:
        kind = ERRORS.get(name, "crash")
    return {"kind": kind, "message": f"{name}: {message}"[-TAIL:]}


def log_of(told: Any) -> str:
    """The end of what the verifier said, and of what the oracle said where that failed."""
    said = [told.tested]
    if told.solved is not None and (told.solved.exit_code or told.tested is None):
        said.insert(0, told.solved)
    return "".join(each.stdout + each.stderr for each in said if each is not None)[-TAIL:]


async def trial_of(env: Any, context: Any, task: Any, agent: str) -> dict[str, object]:
    """One episode as a line."""
    from verifiers_oracle import TOLD, Told

    told = Told(agent == "oracle")
    TOLD.set(told)
    began = time.monotonic()
    episode = await env.run_episode(task, context)
    seconds = time.monotonic() - began
    error = error_of(episode, told)
    refusal = None if episode.traces else REFUSAL.search(error["message"] if error else "")
    if error and refusal and error["kind"] != "unset-variable":
        return {"refused": refusal[1]}
    reward = None
    if error is None:
        reward = episode.traces[0].reward
    return {
        "rewards": told.rewards,
        "reward": reward,
        "error": error,
        "log": log_of(told),
        "seconds": seconds,
    }


async def run(order: Mapping[str, Any], trials: Trials) -> None:
    """Run what is ordered, as many trials at a time as it says."""
    from verifiers.v1 import EvalClientConfig, ModelContext, SamplingConfig

    env = environment_of(order)
    context = ModelContext(model="none", client=EvalClientConfig(), sampling=SamplingConfig())
    room = asyncio.Semaphore(order["jobs"])

    async def hold(ordered: Mapping[str, Any], agent: str, attempt: int) -> None:
        head = {"task": ordered["task"], "agent": agent, "attempt": attempt}
        async with room:
            try:
                task = task_of(ordered)
            except Exception as error:
                trials.add({**head, "refused": f"{type(error).__name__}: {error}"})
                return
            try:
                facts = await trial_of(env, context, task, agent)
            except Exception as error:  # the other trials go on
                facts = crash_of(error)
            trials.add({**head, **facts})

    async with env.serving(), asyncio.TaskGroup() as group:
        for ordered in order["tasks"]:
            for agent in ordered["agents"]:
                for attempt in range(order["repeat"]):
                    group.create_task(hold(ordered, agent, attempt))


def main() -> None:
    """Run what is ordered."""
    order = json.loads(Path(sys.argv[1]).read_bytes())
    trials = Trials(sys.argv[2])
    versions = {name: version(name) for name in ("verifiers", "harbor")}
    trials.add({"versions": versions, "python": platform.python_version()})
    tempfile.tempdir = order["work"]
    os.environ |= {**order["variables"], "VF_RUN_ID": order["work"], "TMPDIR": order["work"]}
    asyncio.run(run(order, trials))


if __name__ == "__main__":
    main()
