"""The promises, each checked on all sets of a corpus: counts, and what breaks it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rlconvert.errors import RlconvertError
from rlconvert.model import TaskRef

from .corpus_judges import Judges
from .corpus_reasons import harbor_may_load, is_listed, refusals_of
from .corpus_sets import (
    REGISTRY,
    Run,
    TaskSet,
    convert_set,
    find_sets,
    rebuild,
    refs_of,
    registry_left,
    same_trees,
)
from .corpus_trees import OURS, copy_backwards, differences, snapshot, tree_digest

ROOT = Path(__file__).resolve().parent.parent

SURROUNDINGS: tuple[dict[str, str], ...] = (
    {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "UTC", "umask": "022", "jobs": "1"},
    {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8", "TZ": "Asia/Kabul", "umask": "077", "jobs": "2"},
)
"""Two runs that must give the same bytes."""


@dataclass(frozen=True)
class Checked:
    """A promise that was checked: it holds when there are no faults."""

    text: str
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Converted:
    """A set and what became of it: `there` in NeMo Gym's layout, `same` in Harbor's own again."""

    taskset: TaskSet
    refs: dict[str, TaskRef]
    there: Run
    same: Run

    def __str__(self) -> str:
        return self.taskset.name

    @property
    def read(self) -> frozenset[str]:
        """The ids of the tasks that were read: Harbor's own writer refuses none of them."""
        return self.same.done

    def places(self, tasks: frozenset[str]) -> list[str]:
        """Where these tasks stand."""
        return [ref.path for task, ref in self.refs.items() if task in tasks]

    def gone(self, run: Run) -> frozenset[str]:
        """The task folders that are not in an output."""
        return frozenset(self.taskset.places) - frozenset(self.places(run.done))


class Promises:
    """A corpus, converted once in each direction under the folder `work`."""

    def __init__(self, corpus: Path, work: Path) -> None:
        self._work = work
        self.sets = [
            Converted(
                taskset,
                refs_of(taskset),
                convert_set(taskset.root, "harbor", "nemo", work / "nemo" / taskset.name),
                convert_set(taskset.root, "harbor", "harbor", work / "same" / taskset.name),
            )
            for taskset in find_sets(corpus)
        ]

    def left_out(self) -> dict[str, list[str]]:
        """By reason, the tasks that could not be read or not go to NeMo Gym."""
        found: dict[str, list[str]] = defaultdict(list)
        for each in self.sets:
            for task, fault in {**each.same.left_out, **self._refused(each)}.items():
                found[fault.reason].append(f"{each}/{task}")
        return found

    def _refused(self, each: Converted) -> dict[str, RlconvertError]:
        left_out = each.there.left_out
        return {task: left_out[task] for task in left_out if task not in each.same.left_out}

    def everything_is_accounted_for(self) -> Checked:
        """Every folder with a `task.toml` is read, or left out for a reason of the table."""
        folders = read = refused = unnamed = 0
        faults: list[str] = []
        for each in self.sets:
            known = {ref.path for ref in each.refs.values()}
            missed = [place for place in each.taskset.places if place not in known]
            folders += len(each.taskset.places)
            read += len(each.read)
            refused += len(each.same.left_out)
            if (each.taskset.root / REGISTRY).exists():  # then a set is what the registry names
                unnamed += len(missed)
            else:
                faults += [f"{each}/{place}: neither read nor refused" for place in missed]
            for run in (each.there, each.same):
                silent = each.refs.keys() - run.verdicts
                faults += [f"{each}/{task}: no verdict" for task in sorted(silent)]
                if run.stray_faults:
                    faults.append(f"{each}: {run.stray_faults} files of no task cannot be read")
                if run.error is not None and run.done:
                    faults.append(f"{each}: {run.error}")
            faults += [
                f"{each}/{task}: {fault.reason} is not in the table of reasons"
                for task, fault in each.same.left_out.items()
                if not is_listed(fault.reason)
            ]
        also = f", {unnamed} that no registry names" if unnamed else ""
        text = (
            f"{len(self.sets)} sets with {folders:,} task folders{also}: "
            f"{read:,} tasks read, {refused:,} left out for a listed reason"
        )
        return Checked(text, tuple(faults))

    def harbor_agrees(self, judges: Judges) -> Checked:
        """What Harbor loads is read; what it does not load is not; but for our own rules."""
        both = stricter = neither = 0
        faults: list[str] = []
        for each in self.sets:
            ids = {ref.path: task for task, ref in each.refs.items()}
            places = [place for place in each.taskset.places if place in ids]
            verdicts = judges.loads([each.taskset.folder(place) for place in places])
            for place in places:
                complaint = verdicts[each.taskset.folder(place)]
                fault = each.same.left_out.get(ids[place])
                if fault is None:
                    both += complaint is None
                    if complaint is not None:
                        faults.append(f"{each}/{place}: read, but Harbor says {complaint}")
                elif complaint is not None:
                    neither += 1
                elif harbor_may_load(fault.reason):
                    stricter += 1
                else:
                    faults.append(f"{each}/{place}: Harbor loads it, but {fault}")
        text = (
            f"the real Harbor: {both + stricter:,} load, of which {both:,} are read and {stricter} "
            f"are refused by a rule of ours; {neither} load neither there nor here"
        )
        return Checked(text, tuple(faults))

    def nemo_is_complete(self) -> Checked:
        """What was read goes to NeMo Gym or is refused for a reason its format lists."""
        done = sum(len(each.there.done) for each in self.sets)
        refused = {str(each): self._refused(each) for each in self.sets}
        faults = [
            f"{name}/{task}: {fault.reason} is not among the format's refusals"
            for name, tasks in refused.items()
            for task, fault in tasks.items()
            if fault.reason not in refusals_of("nemo")
        ]
        count = sum(map(len, refused.values()))
        text = (
            f"Harbor -> NeMo Gym: {done:,} tasks converted, {count:,} refused for a listed reason"
        )
        return Checked(text, tuple(faults))

    def there_and_back(self) -> Checked:
        """Harbor -> NeMo Gym -> Harbor gives the same files back."""
        faults: list[str] = []
        tasks = entries = 0
        for each in self.sets:
            if not each.there.done:
                continue
            out = self._work / "back" / each.taskset.name
            back = convert_set(each.there.out, "nemo", "harbor", out)
            faults += [f"{each}/{task}: {why}" for task, why in back.left_out.items()]
            if back.error is not None:
                faults.append(f"{each}: {back.error}")
                continue
            tasks += len(back.done)
            entries += self._compare(each, each.there, out, faults)
        text = (
            f"Harbor -> NeMo Gym -> Harbor: {tasks:,} tasks, {entries:,} files, links and folders "
            "are the same, modes included"
        )
        return Checked(text, tuple(faults))

    def same_again(self) -> Checked:
        """Harbor -> model -> Harbor gives the same files."""
        faults: list[str] = []
        tasks = entries = 0
        for each in self.sets:
            if each.same.done:
                tasks += len(each.same.done)
                entries += self._compare(each, each.same, each.same.out, faults)
        text = (
            f"Harbor -> model -> Harbor: {tasks:,} tasks, {entries:,} files, links and folders are "
            "the same, modes included"
        )
        return Checked(text, tuple(faults))

    def _compare(self, each: Converted, run: Run, out: Path, faults: list[str]) -> int:
        gone = each.gone(run)
        edited: list[str] = []
        if gone or run.left_out:  # then the registry names fewer tasks: its text is another
            edited = [path for path in (REGISTRY,) if (each.taskset.root / path).exists()]
        expected = snapshot(each.taskset.root, without={*gone, *edited, OURS})
        actual = snapshot(out, without={*edited, OURS})
        faults += [f"{each}/{line}" for line in differences(actual, expected)]
        faults += same_trees(each.taskset, each.places(run.done), out)
        for path in edited:
            before = registry_left((each.taskset.root / path).read_bytes(), gone)
            if registry_left((out / path).read_bytes(), frozenset()) != before:
                faults.append(f"{each}/{path}: does not name the tasks that are there")
        return len(expected)

    def rebuilt(self, judges: Judges | None) -> Iterator[Checked]:
        """Without its own bytes a task is written from the model and read as the same task."""
        faults: list[str] = []
        pairs: list[tuple[Path, Path]] = []
        for each in self.sets:
            made = rebuild(each.taskset, each.read, self._work / "rebuilt" / each.taskset.name)
            faults += [f"{each}/{fault}" for fault in made.faults]
            pairs += made.pairs
        text = f"the rebuild law: {len(pairs):,} tasks written from the model alone read the same"
        yield Checked(text, tuple(faults))
        if judges is not None:
            yield Checked(
                f"the real Harbor: config, name and instructions of {len(pairs):,} rebuilt tasks "
                "are those of the originals",
                tuple(judges.same_config(pairs)),
            )

    def harbor_loads_what_nemo_gets(self, judges: Judges) -> Checked:
        """Every folder in an output for NeMo Gym."""
        count = 0
        faults: list[str] = []
        for each in self.sets:
            if each.there.done:
                verdicts = judges.loads(sorted((each.there.out / "tasks").iterdir()))
                count += len(verdicts)
                faults += [f"{path}: {said}" for path, said in verdicts.items() if said is not None]
        return Checked(f"the real Harbor loads the {count:,} folders for NeMo Gym", tuple(faults))

    def nemo_accepts(self, judges: Judges) -> Checked:
        """NeMo Gym's request models, its resolution of each row, and its own commands."""
        repos = [each.there.out for each in self.sets if each.there.done]
        with ThreadPoolExecutor(2) as pool:  # each starts the framework several times
            verdicts = list(pool.map(judges.accepts, repos))
        environments = sum(count for count, _, _ in verdicts)
        rows = sum(count for _, count, _ in verdicts)
        faults = [fault for _, _, found in verdicts for fault in found]
        text = (
            f"the real NeMo Gym accepts {rows:,} rows of {environments} environments: request, "
            "agent, the one task each row runs, `gym env validate`, `gym dataset collate`"
        )
        return Checked(text, tuple(faults))

    def same_bytes_anywhere(self) -> Checked:
        """Hash seed, locale, zone, umask, the order folders list in, and workers change nothing."""
        wanted: list[tuple[str, Path, Path, str, str]] = []
        (self._work / "backwards").mkdir()
        for each in self.sets:
            if each.there.done:
                name, root, there = each.taskset.name, each.taskset.root, each.there.out
                backwards = self._work / "backwards" / name
                copy_backwards(root, backwards)
                wanted.append((name, root, backwards, "harbor", "nemo"))
                wanted.append((name, there, there, "nemo", "harbor"))
        for number, around in enumerate(SURROUNDINGS):
            runs = [
                (str((one, other)[number]), read_as, target, str(self._out(number, target, name)))
                for name, one, other, read_as, target in wanted
            ]
            if trouble := _convert_elsewhere(runs, around, self._work):
                return Checked(f"conversions with {around} ended early", (trouble,))
        faults: list[str] = []
        for name, *_, target in wanted:
            one, other = (snapshot(self._out(number, target, name)) for number in (0, 1))
            if tree_digest(one) != tree_digest(other):
                faults += [f"{name} -> {target}: {line}" for line in differences(other, one)]
        text = f"the same bytes whatever the surroundings: {len(wanted)} conversions, twice each"
        return Checked(text, tuple(faults))

    def _out(self, run: int, target: str, name: str) -> Path:
        return self._work / f"run-{run}" / target / name


def _convert_elsewhere(
    runs: Sequence[tuple[str, str, str, str]], around: dict[str, str], work: Path
) -> str | None:
    """Convert in another process; what it complained of when it did not end well."""
    kept = {key: os.environ[key] for key in ("PATH", "TMPDIR", "HOME") if key in os.environ}
    path = filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])
    done = subprocess.run(
        [sys.executable, "-m", "scripts.corpus_convert", around["jobs"]],
        input=json.dumps(runs),
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        cwd=work,
        env={**kept, **around, "PYTHONPATH": os.pathsep.join(path)},
        umask=int(around["umask"], 8),
    )
    return done.stderr[-2000:] or f"exit status {done.returncode}" if done.returncode else None
