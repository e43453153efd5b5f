"""Cleans up after runs, however rlconvert ends. It runs alone, by the Python that runs rlconvert:

    python -I keeper.py WORK MARK [ENGINE...]

It waits for the end of its input, which comes when rlconvert closes it or dies. Then it ends every
process that has `MARK` in its environment, removes each container of the engines that mentions the
folder WORK (it mounts something from there, or a label says it came from there) with all others of
its compose project, and the networks, volumes and images of that, takes down what is mounted below
WORK, and removes WORK. The user's other containers are left alone.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROJECTS = ("com.docker.compose.project", "io.podman.compose.project")
SECONDS = 120
TRIES = 60
CALM_SECONDS = 0.5
SHARED = frozenset({"aardvark-dns", "conmon"})
"""An engine starts these in our name: the first serves all its containers, the second ends with
its container, which cannot be removed in good order without it."""


def marked(mark: str) -> Iterator[int]:
    """Processes that have the mark in their environment; never this one."""
    wanted = mark.encode()
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and int(folder.name) != os.getpid():
            with suppress(OSError):
                if (folder / "comm").read_text().strip() in SHARED:
                    continue
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name)


def end_processes(mark: str) -> None:
    """Kill until none is left: a dying one may just have started another."""
    for _ in range(50):
        found = list(marked(mark))
        if not found:
            return
        for process in found:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.05)


def said(engine: str, *arguments: str) -> str:
    """What an engine prints; nothing when it fails."""
    with suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run(
            [engine, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        ).stdout
    return ""


def inspected(engine: str) -> dict[str, object]:
    """All containers by id."""
    found: dict[str, object] = {}
    for container in said(engine, "ps", "--all", "--quiet", "--no-trunc").split():
        # One by one: of several, a vanished one would fail them all.
        with suppress(ValueError, IndexError):
            found[container] = json.loads(said(engine, "inspect", container))[0]
    return found


def project_of(container: object) -> str | None:
    """The compose project of a container."""
    labels = container.get("Config", {}).get("Labels") if isinstance(container, dict) else None
    for label in PROJECTS:
        if isinstance(labels, dict) and isinstance(labels.get(label), str):
            return str(labels[label])
    return None


def found(engine: str, work: str) -> tuple[set[str], set[str]]:
    """The containers of this run, and their compose projects."""
    every = inspected(engine)
    ours = {name for name, facts in every.items() if work in json.dumps(facts)}
    projects = {project for name in ours if (project := project_of(every[name])) is not None}
    return ours | {name for name, facts in every.items() if project_of(facts) in projects}, projects


def sweep(engine: str, work: str) -> None:
    """Remove the containers, networks, volumes and images of this run.

    An engine that was killed while it started a container may still bring it up: it is looked for
    until there has been none for a while.
    """
    projects: set[str] = set()
    calm = 0
    for _ in range(TRIES):
        ours, more = found(engine, work)
        projects |= more
        calm = 0 if ours else calm + 1
        if calm > 1:
            break
        if ours:
            said(engine, "rm", "--force", "--volumes", *sorted(ours))
        time.sleep(CALM_SECONDS)
    for project in sorted(projects):
        for kind in ("network", "volume"):
            for label in PROJECTS:
                mine = said(engine, kind, "ls", "--quiet", "--filter", f"label={label}={project}")
                if mine.split():
                    said(engine, kind, "rm", *mine.split())
        names = ("image", "ls", "--format", "{{.Repository}}:{{.Tag}}", "--filter")
        built = said(engine, *names, f"reference=*{project}*").split()
        if built:
            said(engine, "image", "rm", *built)


def unmount(work: str) -> None:
    """Take down what is mounted below the folder, the last first."""
    with suppress(OSError):
        lines = Path("/proc/self/mountinfo").read_text(errors="replace").splitlines()
        places = [line.split()[4] for line in lines]
        for place in reversed([each for each in places if each.startswith(f"{work}/")]):
            said("umount", "--lazy", place)


def main(work: str, mark: str, *engines: str) -> None:
    """Wait, then clean up."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    sys.stdin.buffer.read()
    end_processes(mark)
    for engine in engines:
        sweep(engine, work)
    unmount(work)
    shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
