"""A harness for Verifiers that asks no model, and a task that tells what its verifier said.

Verifiers imports this module by its name, as it does any harness: it must be importable. `TOLD`
says for the trial at hand whether the reference solution is to be applied, and takes what is heard.
Written for verifiers 0.4.0 with harbor 0.24.0.
"""

# The framework is not a dependency, and not in the type checkers' environment: its objects are
# untyped here.
# mypy: disable-error-code="import-not-found,misc,no-any-return"
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import shlex
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harbor.models.task.task import Task as HarborModelTask
from harbor.utils.scripts import build_execution_command
from verifiers.v1.configs.harness import HarnessConfig
from verifiers.v1.harness import Harness
from verifiers.v1.runtimes import ProgramResult, Runtime
from verifiers.v1.tasksets.harbor.taskset import HarborTask, make_tar, resolve_env

__all__ = ["SolutionHarness"]

TEST = ["bash", "/tests/test.sh"]
PACKED = "/tmp/solution.tgz"  # noqa: S108 - in the container


@dataclass
class Told:
    """One trial: whether its agent is the oracle, and what its programs said."""

    oracle: bool
    solved: ProgramResult | None = None
    tested: ProgramResult | None = None
    rewards: dict[str, float] | None = None
    kind: str = ""
    """Why there is no reward, where the verifier has begun."""


TOLD: ContextVar[Told] = ContextVar("TOLD")


class SolutionHarness(Harness[HarnessConfig]):
    """Does what Harbor's `oracle` does, or nothing."""

    SUPPORTS_MCP = True
    SUPPORTS_SKILLS = True

    async def launch(
        self,
        ctx: Any,
        trace: Any,
        runtime: Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: Any,
    ) -> ProgramResult:
        """Apply the reference solution; its exit status says nothing, the verifier does."""
        told = TOLD.get()
        if told.oracle:
            told.solved = await solve(runtime, Path(data.task_dir))
        return ProgramResult(0, "", "")


async def solve(runtime: Runtime, folder: Path) -> ProgramResult:
    """Run the solution of a task, in its runtime, with the environment that Harbor gives it."""
    task = HarborModelTask(folder)
    script = task.paths.discovered_solve_path_for(task.config.environment.os)
    if script is None:
        raise FileNotFoundError(f"Solution script not found: {task.paths.solve_path.name}")
    task.paths.validate_input_tree(task.paths.solution_dir)
    root = runtime.with_user(None)
    await root.write(PACKED, make_tar(task.paths.solution_dir))
    place = f"/solution/{script.relative_to(task.paths.solution_dir).as_posix()}"
    unpack = f"mkdir -p /solution && tar -xzf {PACKED} -C /solution && rm {PACKED}"
    unpacked = await root.run(["sh", "-c", f"{unpack} && chmod +x {shlex.quote(place)}"], {})
    if unpacked.exit_code:
        raise RuntimeError(f"the solution cannot be copied: {unpacked.stderr.strip()[-500:]}")
    env = {"DEBIAN_FRONTEND": "noninteractive", **resolve_env(task.config.solution.env)}
    return await runtime.run(["bash", "-c", build_execution_command(place)], env)


class Overheard:
    """A runtime for one verifier, whose output is kept."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    def __getattr__(self, name: str) -> Any:
        return getattr(self.runtime, name)

    async def run(self, argv: list[str], env: dict[str, str]) -> ProgramResult:
        """As the runtime does it."""
        result = await self.runtime.run(argv, env)
        if argv == TEST:
            TOLD.get().tested = result
        return result


class OverheardTask(HarborTask):
    """A task that keeps all rewards, not only the one that Verifiers takes."""

    async def run_verifier(self, runtime: Runtime, trace: Any) -> dict[str, float]:
        """The reward that Verifiers takes."""
        told = TOLD.get()
        told.kind = "crash"
        rewards = await super().run_verifier(Overheard(runtime), trace)
        told.rewards = told.rewards or dict(rewards)
        return rewards

    async def read_reward_json(self, runtime: Runtime) -> dict[str, float] | None:
        """All that it holds."""
        told = TOLD.get()
        told.kind = "bad-reward"
        told.rewards = await super().read_reward_json(runtime)
        if told.rewards is None:
            found = await runtime.run(["test", "-e", "/logs/verifier/reward.txt"], {})
            told.kind = "bad-reward" if found.exit_code == 0 else "no-reward"
        return told.rewards
