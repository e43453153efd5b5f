"""Harbor's `oracle` and `nop` for NeMo Gym, whose Harbor agent wants a trajectory of every trial.

Harbor imports this module by its name, in a worker of Ray: it must be importable there. Written for
nemo-gym 0.7.0 with harbor 0.25.0.
"""

# The frameworks are not dependencies, and not in the type checkers' environment: their objects are
# untyped here.
# mypy: disable-error-code="import-not-found,misc"
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harbor.agents.nop import NopAgent
from harbor.agents.oracle import OracleAgent

TRAJECTORY = "trajectory.json"


def write_trajectory(agent: str, logs: Path) -> None:
    """The shortest trajectory that there is: one step, in which no model was asked."""
    logs.mkdir(parents=True, exist_ok=True)
    trajectory = {
        "schema_version": "ATIF-v1.7",
        "session_id": agent,
        "agent": {"name": agent, "version": "1.0.0", "model_name": "none"},
        "steps": [{"step_id": 1, "source": "agent", "message": agent}],
    }
    (logs / TRAJECTORY).write_text(json.dumps(trajectory), encoding="utf-8")


class Nop(NopAgent):
    """Harbor's `nop`."""

    async def run(self, instruction: str, environment: Any, context: Any) -> None:
        """Do nothing."""
        await super().run(instruction, environment, context)
        write_trajectory("nop", self.logs_dir)


class Oracle(NopAgent):
    """Harbor's `oracle`, which gets from Harbor only under its own name what it needs."""

    inner: OracleAgent | None = None

    async def run(self, instruction: str, environment: Any, context: Any) -> None:
        """Apply the reference solution, of each step in turn."""
        if self.inner is None:  # it counts the steps
            self.inner = OracleAgent(
                self.logs_dir, Path(environment.environment_dir).parent, environment.trial_paths
            )
        try:
            await self.inner.run(instruction, environment, context)
        finally:
            write_trajectory("oracle", self.logs_dir)
