"""Run the tasks of a corpus, before and after conversion: the same outcome, or the reason.

    scripts/corpus_run CORPUS [--sample N] [--sandbox NAME] [--build] [--timeout SECONDS] [--jobs N]

CORPUS is a folder of task sets, as scripts/corpus lays published ones out. Every task with an
oracle is converted to the first of NeMo Gym, OpenEnv and Verifiers that takes it. It is run by the
real Harbor, and again as it is after conversion where its files are other ones there; of those
without an oracle, a sample of N (10) is run by an agent that does nothing. This runs the code of
these tasks. Of a task that could not be run, the reason is shown: a substitute for its base image,
or a machine without a network, is no fault of it. With `--build` an image that such a task names
and docker or podman (NAME) has not is built under that name from the Dockerfile beside it, where
that goes. The exit status is 0 when no outcome differs.

    eval "$(scripts/sandbox DIR --published)"; eval "$(scripts/frameworks DIR)"
    scripts/corpus_run CORPUS --build
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from rlconvert import convert, verify
from rlconvert.errors import RlconvertError
from rlconvert.format import get_format
from rlconvert.pipe import Settings
from rlconvert.running.engines import ENGINES
from rlconvert.running.orders import Sample, Side
from rlconvert.running.runner import ORACLE
from rlconvert.running.sandboxes import Question
from rlconvert.running.verdicts import TaskRun
from rlconvert.running.verifying import VerifyRun
from rlconvert.selection import Selection
from rlconvert.source import FolderSource

from .corpus_sets import TaskSet, find_sets

READ_AS = "harbor"
TARGETS = ("nemo", "openenv", "verifiers")


@dataclass(slots=True)
class Sorted:
    """The tasks of a set: with an oracle (and where they are), without, and not to be run."""

    have: dict[str, str] = field(default_factory=dict)
    lack: list[str] = field(default_factory=list)
    not_run: list[TaskRun] = field(default_factory=list)


def sort(folder: Path) -> Sorted:
    """The tasks in a folder."""
    side = Side(FolderSource(str(folder)), get_format(READ_AS), {})
    found = Sorted()
    for ref in side.refs(Selection(), Sample()):
        task = side.prepare(ref)
        if isinstance(task, TaskRun):
            found.not_run.append(task)
        elif ORACLE in task.agents:
            found.have[task.task] = ref.path
        else:
            found.lack.append(task.task)
    return found


def exactly(tasks: list[str]) -> Selection:
    """These tasks; what means something in a pattern stands for itself."""
    return Selection(include=tuple(task.replace("[", "[[]") for task in tasks))


def build_missing(folder: Path, engine: str, seconds: float) -> None:
    """The image that a task names, out of its Dockerfile. If that fails, running it says why."""
    facts = tomllib.loads((folder / "task.toml").read_text(encoding="utf-8"))
    image = facts.get("environment", {}).get("docker_image")
    context = folder / "environment"
    if not image or not (context / "Dockerfile").is_file():
        return
    if not went_well(engine, "image", "inspect", image, seconds=60):
        build = ("build", "--network=host", f"--tag={image}", str(context))
        built = went_well(engine, *build, seconds=seconds)
        print(f"  {'built' if built else 'not built':<10} {image}", flush=True)


def went_well(*command: str, seconds: float) -> bool:
    """Whether a command went well, in time."""
    with suppress(subprocess.TimeoutExpired):
        done = subprocess.run(command, capture_output=True, timeout=seconds, check=False)
        return done.returncode == 0
    return False


def shortened(problem: str) -> str:
    """Both ends of a long problem: the cause comes last."""
    return problem if len(problem) <= 200 else f"{problem[:60]} ... {problem[-130:]}"


class Runs:
    """All that was run, and how it came out."""

    def __init__(self, options: argparse.Namespace, work: Path) -> None:
        self.options = options
        self.work = work
        python = os.environ.get("RLCONVERT_HARBOR_PYTHON")
        self.using = {} if python is None else {READ_AS: python}
        self.question = Question(
            sandbox=options.sandbox, jobs=options.jobs, seconds=options.timeout
        )
        self.counts: Counter[str] = Counter()
        self.compared: Counter[str] = Counter()
        self.differ = 0

    def run(self, tasks: TaskSet) -> None:
        """One set: what has an oracle on both sides, and a sample of the rest by `nop` alone."""
        found = sort(tasks.root)
        print(f"{tasks.name}: {len(found.have)} with an oracle, {len(found.lack)} without")
        for each in found.not_run:
            self.line(each, "not to be run")
        for place in found.have.values() if self.options.build else ():
            build_missing(tasks.folder(place), self.options.sandbox, self.options.timeout)
        left = list(found.have)
        for target in TARGETS:
            out = str(self.work / target / tasks.name)
            taken = self.convert(tasks, left, target, out)
            left = [task for task in left if task not in taken]
            if taken:
                self.verify(tasks, taken, target, against=out)
        if left:
            self.verify(tasks, left, "no target takes it")
        if found.lack and self.options.sample:
            self.verify(tasks, found.lack, "only run before", sample=self.options.sample)

    def convert(self, tasks: TaskSet, some: list[str], target: str, out: str) -> list[str]:
        """Convert some tasks, and say which of them are in `out`."""
        taken: list[str] = []

        def note(task: str, faults: Sequence[RlconvertError]) -> None:
            if not faults:
                taken.append(task)

        if some:
            settings = Settings(selection=exactly(some), on_verdict=note)
            convert(str(tasks.root), out, to=[target], read_as=READ_AS, settings=settings)
        return taken

    def verify(
        self,
        tasks: TaskSet,
        some: list[str],
        where: str,
        *,
        against: str | None = None,
        sample: int = 0,
    ) -> None:
        """Run some tasks, here and in `against`, and show how they came out."""
        run = verify(
            str(tasks.root),
            against=against,
            read_as=READ_AS,
            using=self.using,
            question=self.question,
            selection=exactly(some),
            sample=Sample(count=sample),
            record=False,
        )
        self.show(run, where, everywhere=against is not None)

    def show(self, run: VerifyRun, where: str, *, everywhere: bool) -> None:
        """A line for each task."""
        (result,) = run.results
        if result.missing is not None:
            raise result.missing
        twins = {each.here.task: each for each in result.compared}
        for each in result.runs:
            twin = twins.get(each.task)
            if twin is None:
                after = f"{where}, NOT FOUND" if everywhere else where
            elif twin.same_files:
                after = f"{where}, the same files"
            elif twin.equal:
                after = f"{where}, run again, the same"
            else:
                after = f"{where}, DIFFERS: {twin.there.reason}: {twin.there.problem}"
            self.differ += everywhere and (twin is None or not twin.equal)
            self.line(each, after)

    def line(self, run: TaskRun, after: str) -> None:
        """Count a task, and show how it came out."""
        self.counts[f"{run.outcome.value}: {run.reason}"] += 1
        self.compared[after.partition(":")[0]] += 1
        problem = shortened(run.problem)
        print(f"  {run.outcome.value:<10} {run.task}: {problem} [{after}]", flush=True)


def main() -> int:
    """Run everything; see the module's text for the arguments."""
    parser = argparse.ArgumentParser(prog="scripts/corpus_run", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--sample", type=int, default=10)
    parser.add_argument("--sandbox", default=os.environ.get("RLCONVERT_SANDBOX"))
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.build and options.sandbox not in ENGINES:
        parser.error(f"--build needs --sandbox {' or '.join(ENGINES)}")
    with tempfile.TemporaryDirectory(prefix="corpus-") as work:
        runs = Runs(options, Path(work))
        for tasks in find_sets(options.corpus.resolve()):
            runs.run(tasks)
    for title, counts in (("verdicts", runs.counts), ("after conversion", runs.compared)):
        print(f"\n{title}:")
        for what, count in counts.most_common():
            print(f"{count:>5}  {what}")
    return runs.differ > 0


if __name__ == "__main__":
    sys.exit(main())
