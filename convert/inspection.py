"""What a source is, and what each target would make of it; nothing is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from .archives.finding import Archives
from .archives.view import ArchiveSource
from .errors import RlconvertError
from .features import features_of
from .files import unreadable
from .format import Aim, Finding, Format, Options, Refusal, format_names, get_format, sniff
from .model import Repo
from .report import Tally, count_weaknesses, tallied
from .source import Source


@dataclass(slots=True)
class Verdict:
    """What one target would get: how many tasks, and why others would not go."""

    converted: int = 0
    refused: dict[str, Tally] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Inspection:
    """The answer to "what is it, and what would each target get?"."""

    format: str
    title: str
    findings: list[Finding]
    repo: Repo
    archives: Archives = Archives()
    tasks: int = 0
    readable: int = 0
    tasksets: Counter[str] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    unreadable: dict[str, Tally] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    weaknesses: dict[str, Tally] = field(default_factory=dict)

    @property
    def best_target(self) -> str | None:
        """The other format that would get most tasks, the first of equals."""
        others = {name: v.converted for name, v in self.verdicts.items() if name != self.format}
        best = max(others, key=lambda name: others[name], default=None)
        return best if best is not None and others[best] else None

    def facts(self) -> dict[str, object]:
        """Everything found, for ``--json``."""
        repo = self.repo
        return {
            "format": self.format,
            "layouts": [
                {"format": each.format, "layout": each.layout, "because": each.because}
                for each in self.findings
            ],
            "archives": {
                "read": list(self.archives.read),
                "not_read": list(self.archives.unread),
            },
            "source": repo.origin.label,
            "commit": repo.origin.commit,
            "licence": repo.licence,
            "tasks": self.tasks,
            "readable": self.readable,
            "tasksets": [
                {
                    "name": taskset.name,
                    "version": taskset.version,
                    "tasks": self.tasksets[taskset.key],
                }
                for taskset in repo.tasksets
            ],
            "features": dict(self.features.most_common()),
            "weaknesses": tallied(self.weaknesses),
            "unreadable": tallied(self.unreadable),
            "targets": {
                name: {"converted": verdict.converted, "refused": tallied(verdict.refused)}
                for name, verdict in self.verdicts.items()
            },
        }


def inspect(
    source: Source,
    source_format: Format,
    options: Options,
    progress: Callable[[int], None] | None = None,
) -> Inspection:
    """Load every task, ask every writer, and count. A task that cannot be read is counted too."""
    reader = source_format.reader(source, options)
    repo = reader.repo()
    targets = format_names()
    aim = Aim(options=options, alone=True)
    writers = {name: get_format(name).writer(repo, aim) for name in targets}
    found = Inspection(
        format=source_format.name,
        title=source_format.title,
        findings=sniff(source),
        repo=repo,
        archives=source.found if isinstance(source, ArchiveSource) else Archives(),
        verdicts={name: Verdict() for name in targets},
    )
    for ref in reader.refs():
        found.tasks += 1
        found.tasksets.update(ref.tasksets)
        if progress is not None:
            progress(found.tasks)
        try:
            task = reader.load(ref)
            weaknesses = source_format.weaknesses(task)
        except RlconvertError as error:
            _count_fault(found, error.for_task(ref.id))
            continue
        except OSError as error:
            _count_fault(found, unreadable(ref.path, error).for_task(ref.id))
            continue
        found.readable += 1
        found.features.update(features_of(task))
        count_weaknesses(found.weaknesses, ref.id, weaknesses)
        for name, writer in writers.items():
            answer = writer.task(task, ref.tasksets)
            if isinstance(answer, Refusal):
                tally = found.verdicts[name].refused.setdefault(answer.reason, Tally())
                tally.add(ref.id, answer.problem, answer.remedy)
            else:
                found.verdicts[name].converted += 1
    return found


def _count_fault(found: Inspection, error: RlconvertError) -> None:
    found.unreadable.setdefault(error.reason, Tally()).add_fault(error)
