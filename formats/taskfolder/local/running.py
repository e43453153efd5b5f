"""Runs an order: every task, agent and attempt, and a line for each."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import IO

from rlconvert import __version__
from rlconvert.errors import RlconvertError
from rlconvert.files import FileTree
from rlconvert.formats.taskfolder.folder import task_from_folder
from rlconvert.model import Task
from rlconvert.running.runner import AgentName, ErrorKind, Head, Order, TaskOrder, Trial
from rlconvert.source import FolderSource

from .building import Builder, BuildFailed, recipe_of
from .dockerfile import BadDockerfile, Recipe
from .machine import Machine, MachineFault, missing_tools, remove
from .phases import BUILD_SECONDS, Held, Site, TrialFault, envs_of, hold
from .refusals import check_task


def run_order(order: Order, lines: IO[str]) -> None:
    """Run `order`; a `Head`, then a `Trial` as each is over, are written to `lines`."""
    Running(order, lines).run()


class Running:
    """One order on its way."""

    def __init__(self, order: Order, lines: IO[str]) -> None:
        self._order = order
        self._lines = lines
        self._lock = Lock()
        self._work = Path(order.work).absolute()
        self._base = Path(order.rootfs or "").absolute()
        self._builder = Builder(self._work / "layers", self._base)

    def run(self) -> None:
        """All of it. A machine that cannot be had is the error of every trial."""
        self._write(Head(versions=self._versions(), python=platform.python_version()))
        fault = self._fault()
        with ThreadPoolExecutor(self._order.jobs) as pool:
            number = 0
            for task in self._order.tasks:
                for agent in task.agents:
                    for attempt in range(self._order.repeat):
                        number += 1
                        pool.submit(self._trial, number, task, agent, attempt, fault)

    def _versions(self) -> dict[str, str]:
        versions = {"rlconvert": __version__, "substitute base": _system(self._base)}
        with suppress(OSError):
            command = ["bwrap", "--version"]
            said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
            versions["bubblewrap"] = said.split()[-1] if said.split() else "unknown"
        return versions

    def _fault(self) -> str | None:
        """Why no machine can be had, or None when one was."""
        if not self._order.rootfs or not self._base.is_dir():
            return "no root file system is named, or it is not a folder"
        if os.geteuid() not in (0, self._base.stat().st_uid):
            return "the root file system belongs to somebody else, so that nothing of it can change"
        if missing := missing_tools():
            return f"not found on PATH: {', '.join(missing)}"
        folder = self._work / "probe"
        try:
            with Machine(folder, [self._base], network=True) as machine:
                machine.run(["/bin/sh", "-c", ":"], until=time.monotonic() + 30)
        except MachineFault as fault:
            return fault.problem
        finally:
            remove(folder)
        return None

    def _write(self, line: Head | Trial) -> None:
        with self._lock:
            self._lines.write(line.model_dump_json() + "\n")
            self._lines.flush()

    def _trial(
        self, number: int, order: TaskOrder, agent: AgentName, attempt: int, fault: str | None
    ) -> None:
        began = time.monotonic()
        refused = None
        held = Held()
        try:
            if fault is not None:
                raise TrialFault(ErrorKind.ENVIRONMENT, fault)
            held = self._held(number, order, agent)
        except RlconvertError as error:
            refused = str(error)
        except TrialFault as error:
            held.blame(error)
        except (BadDockerfile, BuildFailed) as error:
            held.blame(TrialFault(ErrorKind.ENVIRONMENT, f"environment/Dockerfile: {error}"))
        except Exception as error:  # noqa: BLE001 - one trial never stops the others
            held.blame(TrialFault(ErrorKind.CRASH, f"{type(error).__name__}: {error}"))
        self._write(
            Trial(
                task=order.task,
                agent=agent,
                attempt=attempt,
                rewards=held.rewards,
                reward=number_of(held.rewards, order.reward_key),
                steps=tuple(held.steps),
                error=held.error,
                refused=refused,
                log=held.log,
                seconds=time.monotonic() - began,
            )
        )

    def _held(self, number: int, order: TaskOrder, agent: AgentName) -> Held:
        task = task_from_folder(order.task, "", FolderSource(order.folder).tree(""))
        check_task(task)
        recipe, context = recipe_of(task)
        envs = envs_of(task, agent, self._order.variables)
        folder = self._work / f"trial-{number}"
        layers = self._layers(task, recipe, context)
        site = Site(folder / "machine", layers, self._order.seconds)
        try:
            return hold(task, recipe, site, agent, envs)
        finally:
            remove(folder)

    def _layers(self, task: Task, recipe: Recipe, context: FileTree) -> tuple[Path, ...]:
        stated = task.runtime.build_timeout
        limit = BUILD_SECONDS if stated is None else stated
        return self._builder.layers(recipe, context, min(limit, self._order.seconds))


def number_of(rewards: dict[str, float] | None, key: str | None) -> float | None:
    """The one number: of the key that is asked for, of `reward`, or the only one there is."""
    if not rewards:
        return None
    if key is not None or "reward" in rewards:
        return rewards.get(key or "reward")
    return next(iter(rewards.values())) if len(rewards) == 1 else None


def _system(root: Path) -> str:
    """What the root file system says that it is."""
    with suppress(OSError, ValueError):
        for line in (root / "usr/lib/os-release").read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition("=")
            if name == "PRETTY_NAME":
                return " ".join(shlex.split(value))
    return "unknown"
