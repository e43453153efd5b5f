"""Run the tasks of a corpus, before and after conversion: the same outcome, or the reason.

    scripts/corpus_run CORPUS [--sample N] [--sandbox NAME] [--timeout SECONDS] [--jobs N]

CORPUS is a folder of task sets (scripts/corpus lays published ones out), or one set. Every task
with an oracle is converted to the first of NeMo Gym, OpenEnv and Verifiers that takes it. It is run
by the real Harbor, and again as it is after conversion where its files are other ones there; of
those without an oracle, a sample of N (10) is run by an agent that does nothing. This runs the code
of these tasks. Of a task that could not be run, the reason is shown: a substitute for its base
image, or a machine without a network, is no fault of it. The exit status is 0 when no outcome
differs.

    eval "$(scripts/sandbox DIR --published)"; eval "$(scripts/frameworks DIR)"
    scripts/corpus_run CORPUS
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rlconvert import convert, verify
from rlconvert.errors import RlconvertError
from rlconvert.format import get_format
from rlconvert.orders import Prepared, Sample, Side
from rlconvert.pipe import Settings
from rlconvert.runner import ORACLE
from rlconvert.sandboxes import Question
from rlconvert.selection import Selection
from rlconvert.source import FolderSource
from rlconvert.verifying import VerifyRun

from .corpus_sets import TaskSet, find_sets

READ_AS = "harbor"
TARGETS = ("nemo", "openenv", "verifiers")


def with_oracle(folder: Path) -> tuple[list[str], list[str]]:
    """The tasks of a set that have an oracle, and those that have none."""
    side = Side(FolderSource(str(folder)), get_format(READ_AS), {})
    have: list[str] = []
    lack: list[str] = []
    for ref in side.refs(Selection(), Sample()):
        task = side.prepare(ref)
        if isinstance(task, Prepared):
            (have if ORACLE in task.agents else lack).append(task.task)
    return have, lack


def exactly(tasks: list[str]) -> Selection:
    """These tasks; what means something in a pattern stands for itself."""
    return Selection(include=tuple(task.replace("[", "[[]") for task in tasks))


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
        have, lack = with_oracle(tasks.root)
        print(f"{tasks.name}: {len(have)} with an oracle, {len(lack)} without", flush=True)
        for target in TARGETS:
            out = str(self.work / target / tasks.name)
            taken = self.convert(tasks, have, target, out)
            have = [task for task in have if task not in taken]
            if taken:
                self.verify(tasks, taken, target, against=out)
        if have:
            self.verify(tasks, have, "no target takes it")
        if lack and self.options.sample:
            self.verify(tasks, lack, "only run before", sample=self.options.sample)

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
            self.counts[f"{each.outcome.value}: {each.reason}"] += 1
            self.compared[after.partition(":")[0]] += 1
            print(f"  {each.outcome.value:<10} {each.task}: {shortened(each.problem)} [{after}]")


def main() -> int:
    """Run everything; see the module's text for the arguments."""
    parser = argparse.ArgumentParser(prog="scripts/corpus_run", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--sample", type=int, default=10)
    parser.add_argument("--sandbox", default=os.environ.get("RLCONVERT_SANDBOX"))
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
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
