"""Every NeMo Gym row of a corpus: back byte for byte, rebuilt alike, judged as NeMo Gym judges it.

Run by `scripts/nemo_corpus_check`. A broken promise is printed and makes the exit status 50.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rlconvert.errors import RlconvertError
from rlconvert.files import FileTree
from rlconvert.format import Format, Options, Reader, get_format
from rlconvert.model import Repo, Task, TaskRef, differing_fields
from rlconvert.pipe import Settings, convert
from rlconvert.sidecar import MANIFEST, TaskRecord, parse
from rlconvert.source import FolderSource, Source

FORMAT = "nemo"
Place = tuple[str, int]
JUDGE = Path(__file__).parents[1] / "formats" / "nemo" / "judge" / "nemo_rows.py"
MAY_BE_STRICTER = {
    "rollout": "a rollout is no task: NeMo Gym ignores the response in it",
    "contradictory-fields": "NeMo Gym's own schema check reports the conflict, its server does not",
    "lone-surrogate": "accepted as JSON, cannot be sent",
    "duplicate-key": "Python's json keeps the last value",
    "not-a-number": "Python's json takes it, the wire format does not",
    "bad-param": "pydantic would coerce the value",
}


@dataclass
class Tally:
    """What was found, and what should not have been."""

    counts: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    stricter: Counter[str] = field(default_factory=Counter)
    graders: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def wrong(self, what: str) -> None:
        """A promise that was not kept."""
        self.broken.append(what)


@dataclass(frozen=True)
class Ours:
    """Our verdict on one row: read or refused, and whether NeMo Gym takes it without harm."""

    reason: str | None
    harms: tuple[str, ...] = ()
    component: str | None = None


def laid_out(component: Path, where: Path) -> Path:
    """The component as a repo: its files where its configs and the framework's tree have them."""
    kind, _, name = component.name.partition("__")
    home = where / kind / name
    for path in sorted(component.rglob("*")):
        if not path.is_file():
            continue
        inner = path.relative_to(component)
        target = home / "data" / inner if inner.suffix == ".jsonl" else home / inner
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    return where


class Stripping:
    """A reader whose tasks know nothing of their own bytes."""

    def __init__(self, inner: Reader) -> None:
        self._inner = inner

    def repo(self) -> Repo:
        return replace(self._inner.repo(), shared=FileTree())

    def refs(self) -> Iterator[TaskRef]:
        return self._inner.refs()

    def load(self, ref: TaskRef) -> Task:
        return self._inner.load(ref).stripped


def stripped(known: Format) -> Format:
    """The format with such a reader."""

    def reader(source: Source, options: Options) -> Reader:
        return Stripping(known.reader(source, options))

    return replace(known, reader=reader)


def check_identity(repo: Path, work: Path, tally: Tally) -> bool:
    """NeMo -> NeMo: every file the same, but for rows that were refused by name."""
    out = work / "same"
    try:
        made = convert(
            FolderSource(str(repo)), get_format(FORMAT), [FORMAT], str(out), Settings(jobs=1)
        )
    except RlconvertError as error:
        tally.counts[f"components not read: {error.reason}"] += 1
        return False
    refused = {str(key.what): each.count for key, each in made.report.unreadable.items()}
    tally.refused.update(refused)
    if made.error is not None:
        tally.counts["components of which not one row is a task"] += 1
        return False
    for path in (path for path in sorted(repo.rglob("*")) if path.is_file()):
        copy = out / path.relative_to(repo)
        same = copy.is_file() and copy.read_bytes() == path.read_bytes()
        tally.counts["files back byte for byte" if same else "files changed"] += 1
        if not same and not refused:
            tally.wrong(f"changed: {path.relative_to(repo)}")
    return True


def check_rebuild(repo: Path, work: Path, tally: Tally) -> None:
    """Written from the model alone and read again: the same task."""
    known, out = get_format(FORMAT), work / "rebuilt"
    made = convert(FolderSource(str(repo)), stripped(known), [FORMAT], str(out), Settings(jobs=1))
    for key, each in made.report.refused.items():
        tally.counts[f"rows not rebuilt: {key.what}"] += each.count
    if made.error is not None:
        return
    before, after = tasks_of(repo), tasks_of(out)
    for line in FolderSource(str(out)).lines(MANIFEST):
        record = parse(TaskRecord, line, MANIFEST)
        new = record.targets[FORMAT].id
        if new not in after:
            tally.wrong(f"rebuilt row not found: {repo.name} {record.task}")
        elif gone := differing_fields(before[record.task], after[new]):
            tally.wrong(f"rebuilt row differs: {repo.name} {record.task}: {sorted(gone)}")
        else:
            tally.counts["rows rebuilt with the same meaning"] += 1


def tasks_of(repo: Path) -> dict[str, Task]:
    """Every task that can be read, without its own bytes."""
    reader, found = get_format(FORMAT).reader(FolderSource(str(repo)), {}), {}
    for ref in reader.refs():
        try:
            found[ref.id] = reader.load(ref).stripped
        except RlconvertError:
            continue
    return found


def our_verdicts(repo: Path, tally: Tally) -> dict[Place, Ours]:
    """What we say of each row of a task file."""
    reader = get_format(FORMAT).reader(FolderSource(str(repo)), {})
    verdicts = {}
    for ref in reader.refs():
        if not ref.rows:
            continue
        place = (ref.rows[0].path, ref.rows[0].number)
        try:
            task = reader.load(ref)
        except RlconvertError as error:
            verdicts[place] = Ours(error.reason)
            continue
        remarks = task.native[FORMAT].remarks
        component = getattr(task.reward, "component", None)
        tally.graders["known" if component else "unknown"] += 1
        harms = tuple(f"{each.reason}: {each.detail}" for each in remarks if each.harm)
        verdicts[place] = Ours(None, harms, component)
    return verdicts


def compare(
    ours: Mapping[Path, Mapping[Place, Ours]], python: str, work: Path, tally: Tally
) -> None:
    """Our verdicts, by repo, and those of NeMo Gym's request model: one run of it for all."""
    asked, owners = [], {}
    for repo, verdicts in ours.items():
        components: dict[str, str | None] = {}
        for (path, _), verdict in verdicts.items():
            components[path] = components.get(path) or verdict.component
        for path, component in components.items():
            owners[str(repo / path)] = repo
            known = [] if component is None else [component]
            question = {"path": str(repo / path), "components": known, "routed": False}
            asked.append(json.dumps(question) + "\n")
    questions, answers = work / "asked", work / "answers"
    questions.write_text("".join(asked), encoding="utf-8")
    command = [python, str(JUDGE), str(questions), str(answers)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        tally.wrong(f"the judge failed: {done.stderr[-500:]}")
        return
    for line in answers.read_text(encoding="utf-8").splitlines():
        answer: dict[str, Any] = json.loads(line)
        repo = owners[answer["path"]]
        place = (str(Path(answer["path"]).relative_to(repo)), answer["line"])
        judge_row(place, ours[repo].get(place), answer, tally)


def judge_row(place: Place, mine: Ours | None, answer: Mapping[str, Any], tally: Tally) -> None:
    """One row: the same verdict, or ours stricter for a reason that is listed."""
    where = f"{place[0]}:{place[1]}"
    tally.counts["rows judged by NeMo Gym"] += 1
    if mine is None:
        tally.wrong(f"{where}: NeMo Gym sees a row that we do not")
        return
    refuses = mine.reason is not None or any(
        each.startswith("NeMo Gym refuses") for each in mine.harms
    )
    if answer["accepted"] and mine.reason is not None:
        tally.stricter[mine.reason] += 1
        if mine.reason not in MAY_BE_STRICTER:
            tally.wrong(f"{where}: we refuse ({mine.reason}), NeMo Gym accepts")
    elif answer["accepted"] == refuses:
        tally.wrong(f"{where}: ours {mine}, NeMo Gym's {answer['accepted']} ({answer['why']})")
    elif answer["lost"] and not mine.harms:
        tally.wrong(f"{where}: NeMo Gym loses {answer['lost']} and we do not say so")
    else:
        tally.counts["rows with the same verdict"] += 1
    if answer["schema"] and mine.reason is None:
        tally.counts["rows that the server's own schema does not take"] += 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    python, tally = os.environ.get("RLCONVERT_NEMO_PYTHON"), Tally()
    components = sorted(path for path in given.corpus.iterdir() if path.is_dir())
    tally.counts["components"] = len(components)
    tally.counts["JSONL files"] = sum(1 for _ in given.corpus.rglob("*.jsonl"))
    with tempfile.TemporaryDirectory() as folder:
        ours: dict[Path, Mapping[Place, Ours]] = {}
        for component in components:
            work = Path(folder) / component.name
            repo = laid_out(component, work / "repo")
            if check_identity(repo, work, tally):
                check_rebuild(repo, work, tally)
                ours[repo] = our_verdicts(repo, tally)
        tally.counts["files of tasks"] = sum(
            len({path for path, _ in each}) for each in ours.values()
        )
        tally.counts["rows of tasks"] = sum(map(len, ours.values()))
        if python:
            compare(ours, python, Path(folder), tally)
    return report(tally, judged=bool(python), file=given.json)


def report(tally: Tally, *, judged: bool, file: Path | None) -> int:
    """Print what was found; the exit status."""
    for what, count in sorted(tally.counts.items()):
        print(f"{count:8,}  {what}")
    for title, counter in (
        ("refused by name", tally.refused),
        ("stricter than NeMo Gym", tally.stricter),
        ("rows whose server is", tally.graders),
    ):
        for what, count in counter.most_common():
            print(f"{count:8,}  {title}: {what}", MAY_BE_STRICTER.get(what, ""))
    for what in tally.broken[:40]:
        print("broken:", what)
    print(f"{len(tally.broken):8,}  broken promises")
    if file is not None:
        facts = {"counts": tally.counts, "refused": tally.refused, "stricter": tally.stricter}
        file.write_text(json.dumps(facts, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    if not judged:
        print("not judged: RLCONVERT_NEMO_PYTHON is not set", file=sys.stderr)
    return 50 if tally.broken else 0 if judged else 51


if __name__ == "__main__":
    sys.exit(main())
