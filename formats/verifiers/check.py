"""Asks the real Verifiers which tasks its taskset `harbor` loads from a repo, by its Hub address.

Facts: verifiers 0.4.0 with harbor 0.24.0. It stops at the first task that it cannot load; so each
folder is asked about by itself too, and what a dataset holds is compared with what it lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from rlconvert.errors import RlconvertError
from rlconvert.formats.taskfolder.layouts import REGISTRY
from rlconvert.judge import ANSWER, Hearing, TaskVerdict, Verdict
from rlconvert.proof.answers import Answer, answer

from .reader import find


class _Dataset(Answer):
    dataset: str
    count: int
    names: tuple[str, ...]
    error: str | None
    each: Mapping[str, str | None] = {}


class _Said(Answer):
    verifiers: str
    harbor: str
    python: str
    datasets: tuple[_Dataset, ...]


def hear(hearing: Hearing) -> Verdict:
    """The verdict on every task of every dataset that is for Verifiers."""
    try:
        layout = find(hearing.source)
    except RlconvertError as error:
        return Verdict(faults=(str(error),))
    named = layout.kind == REGISTRY
    keys = [taskset.key if named else "" for taskset in layout.tasksets]
    chosen = [part for key in keys if key for part in ("--dataset", key)]
    said = answer(
        _Said,
        hearing.ask("verifiers_loads.py", hearing.source.root, ANSWER, "--each", *chosen),
    )
    reasons: dict[str, str | None] = {ref.path: None for ref in layout.refs}
    faults: list[str] = []
    if sorted(each.dataset for each in said.datasets) != sorted(keys):
        faults.append(f"of the datasets {keys}, {[e.dataset for e in said.datasets]} were judged")
    for dataset in said.datasets:
        at = dataset.dataset or "tasks/"
        wanted = {
            ref.path: ref.path.rpartition("/")[2]
            for ref in layout.refs
            if not named or dataset.dataset in ref.tasksets
        }
        loaded = Counter(dataset.names)
        failing = False
        for path, name in wanted.items():
            reason = dataset.each.get(name)
            if reason is None and dataset.error is None and loaded[name] != 1:
                reason = f"{at} has it {loaded[name]} times"
            elif reason is None and name not in dataset.each:
                reason = f"{at} does not find it: {dataset.error or 'no such folder'}"
            failing = failing or reason is not None
            reasons[path] = reasons[path] or reason
        if dataset.error is not None and not failing:
            faults.append(f"{at}: {dataset.error}")
        elif dataset.error is None and dataset.count != len(wanted):
            faults.append(f"{at}: {len(wanted)} tasks are listed, Verifiers has {dataset.count}")
    tasks = [TaskVerdict(ref.id, str(error), ref.path) for ref, error in layout.faults]
    tasks += [TaskVerdict(ref.id, reasons[ref.path], ref.path) for ref in layout.refs]
    return Verdict(
        versions={"verifiers": said.verifiers, "harbor": said.harbor},
        python=said.python,
        tasks=tuple(tasks),
        faults=tuple(faults),
    )
