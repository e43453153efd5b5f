"""Run tasks with the real NeMo Gym. Runs inside its own Python.

    PYTHON nemo_runs.py ORDER TRIALS

What ORDER and TRIALS hold is said in rlconvert's `runner.py`. Each trial is a request to the route
`/run` of NeMo Gym's `harbor_agent_general`, which has Ray hold it; the agents are Harbor's own
(`nemo_oracle.py`). Its answer 0 with a failure class is no reward. Harbor's `result.json` of a
trial that fails is gone by then: NeMo Gym removes it, and its message is what is left. Written for
nemo-gym 0.7.0 with harbor 0.25.0.
"""

# The frameworks are not dependencies, and not in the type checkers' environment: their objects are
# untyped here.
# mypy: disable-error-code="import-not-found"
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import os
import platform
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any

sys.path.append(str(Path(__file__).parents[2] / "taskfolder" / "judge"))

from harbor_trials import TAIL, Trials, crash_of, error_of, facts_of, is_unset, tail_of

REWARD = "reward"
AGENTS = {"oracle": "nemo_oracle:Oracle", "nop": "nemo_oracle:Nop"}
FAILED = re.compile(r"Harbor trial failed with (\w+): (.*)", re.DOTALL)
FAILURE = "_ng_failure_class"
STORE = 80 << 20
"""Bytes of Ray's store of objects: no object goes through it that is worth a mention."""

SETTINGS = {
    "RAY_USE_UVLOOP": "0",  # under uvloop an environment in podman hangs for ever
    "RAY_worker_niceness": "0",  # the time that a task allows itself is for a worker like any other
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "disabled",
    "PYTHONPATH": str(Path(__file__).parent),  # for Ray's workers
}


@dataclass(frozen=True)
class Asked:
    """One trial: the `number` of its task in the order is the task's index for NeMo Gym."""

    number: int
    task: Mapping[str, Any]
    agent: str
    attempt: int

    @property
    def app(self) -> tuple[str, str, str]:
        """What the config of its server depends on."""
        return self.agent, str(Path(self.task["folder"]).parent), self.task["reward_key"] or REWARD

    def jobs(self, work: str) -> Path:
        """The folder of Harbor's jobs for its server: a job that is there is not run again."""
        return Path(work, "jobs", self.agent)

    def row(self) -> dict[str, object]:
        """The row of a dataset, with the keys that collecting rollouts adds."""
        return {
            "task_name": Path(self.task["folder"]).name,
            "responses_create_params": {"input": []},
            "_ng_task_index": self.number,
            "_ng_rollout_index": self.attempt,
        }

    def trial(self, work: str) -> Path | None:
        """The folder of Harbor's trial, if it came that far."""
        job = self.jobs(work) / f"t{self.number}-r{self.attempt}"
        return next((path.parent for path in job.glob("*/config.json")), None)


def asked_in(order: Mapping[str, Any]) -> Iterator[Asked]:
    """All trials that are ordered."""
    for number, task in enumerate(order["tasks"]):
        for agent in task["agents"]:
            for attempt in range(order["repeat"]):
                yield Asked(number, task, agent, attempt)


def server_of(order: Mapping[str, Any], asked: Asked) -> Any:
    """The web server of `harbor_agent_general`, configured as for a dataset in a folder."""
    from unittest.mock import MagicMock

    from nemo_gym.server_utils import ServerClient
    from responses_api_agents.harbor_agent_general.app import HarborAgent, HarborAgentConfig

    agent, folder, key = asked.app
    seconds = order["seconds"]
    config = HarborAgentConfig.model_validate(
        {
            "name": "harbor_agent_general",
            "entrypoint": "app.py",
            "domain": "agent",
            "host": "127.0.0.1",
            "port": 0,
            "harbor_jobs_dir": str(asked.jobs(order["work"])),
            "harbor_dataset": {"path": folder},
            "harbor_environment": {"type": order["sandbox"]},
            "harbor_agent": {
                "import_path": AGENTS[agent],
                "model_name": "none/none",
                "max_timeout_sec": seconds,
            },
            "harbor_verifier": {"max_timeout_sec": seconds},
            "harbor_reward_key": key,
        }
    )
    # It talks to no other server.
    server = HarborAgent(config=config, server_client=MagicMock(spec=ServerClient))
    return server.setup_webserver()


def failure_of(message: str, trial: Path | None) -> dict[str, object]:
    """A trial without a reward, from NeMo Gym's words and from what is left of Harbor's files."""
    logs = list(trial.rglob("test-stdout.txt")) if trial else []
    begun = bool(logs) or bool(trial and any(trial.rglob("trajectory.json")))
    found = FAILED.search(message)
    if found:
        info = {"exception_type": found[1], "exception_message": found[2]}
        error = error_of(info, started=begun, reached=bool(logs))
    else:
        kind = "unset-variable" if is_unset(message) else "crash"
        error = {"kind": kind, "message": message[-TAIL:]}
    said = logs or (list(trial.rglob("oracle.txt")) if trial else [])
    return {"error": error, "log": "".join(map(tail_of, said))[-TAIL:]}


def trial_of(order: Mapping[str, Any], asked: Asked, client: Any) -> dict[str, object]:
    """One request as a line."""
    began = time.monotonic()
    answer = client.post("/run", json=asked.row())
    seconds = time.monotonic() - began
    trial = asked.trial(order["work"])
    said = answer.json() if answer.status_code == 200 else {"error": answer.text}
    if answer.status_code != 200 or FAILURE in said:
        return {**failure_of(str(said.get("error")), trial), "seconds": seconds}
    result = json.loads((trial / "result.json").read_bytes()) if trial else {}
    facts = facts_of(result, trial or Path())
    error = facts["error"]
    if error is None and not facts["rewards"]:
        # It takes 0 for none.
        error = {"kind": "no-reward", "message": "the verifier left no reward"}
    reward = None if error else said["reward"]
    return {**facts, "reward": reward, "error": error, "seconds": seconds}


def main() -> None:
    """Run what is ordered."""
    order = json.loads(Path(sys.argv[1]).read_bytes())
    trials = Trials(sys.argv[2])
    versions = {name: version(name) for name in ("nemo-gym", "harbor", "ray")}
    trials.add({"versions": versions, "python": platform.python_version()})
    tempfile.tempdir = work = order["work"]
    os.environ |= {**order["variables"], **SETTINGS, "TMPDIR": work}

    import nemo_gym.global_config
    import ray
    from fastapi.testclient import TestClient
    from omegaconf import OmegaConf

    jobs = order["jobs"]
    # Otherwise it reads the command line.
    nemo_gym.global_config._GLOBAL_CONFIG_DICT = OmegaConf.create({"num_samples_in_parallel": jobs})
    ray.init(
        num_cpus=jobs,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=STORE,
        _temp_dir=f"{work}/ray",
    )
    clients: dict[tuple[str, str, str], Any] = {}
    writing = Lock()
    with ExitStack() as stack, ThreadPoolExecutor(jobs) as room:

        def hold(asked: Asked) -> None:
            head = {"task": asked.task["task"], "agent": asked.agent, "attempt": asked.attempt}
            try:
                facts = trial_of(order, asked, clients[asked.app])
            except Exception as error:  # the other trials go on
                facts = crash_of(error)
            with writing:
                trials.add({**head, **facts})

        for asked in asked_in(order):
            if asked.app not in clients:
                client = TestClient(server_of(order, asked), raise_server_exceptions=False)
                clients[asked.app] = stack.enter_context(client)
            room.submit(hold, asked)


if __name__ == "__main__":
    main()
