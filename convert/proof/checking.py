"""Asking the real frameworks whether they load a repo, and recording what they say.

Each judge runs as a subprocess in an enclosure. What it says is read from the file it writes,
never from its exit status: frameworks end with 0 in many a failure. What the repo claims, by the
record of its conversion, is compared with what the framework found.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rlconvert.address import is_repo_id
from rlconvert.errors import (
    CheckFailed,
    ExitCode,
    JudgeMissing,
    SourceChanged,
    UnknownFormat,
    UsageError,
)
from rlconvert.format import Format, format_names, get_format, sniff
from rlconvert.judge import ANSWER, Judge, Verdict
from rlconvert.sidecar import PROVENANCE, parse_provenance
from rlconvert.source import FolderSource, Kind

from .claims import with_claims
from .enclosure import Enclosure, Limits
from .judges import judge_python, own_python
from .proofs import recorded_checks, recorded_runs, write_proofs
from .published import layout_digest, make_bare
from .records import record_of
from .whereabouts import Whereabouts

_HUB = "https://huggingface.co/"
_MAX_ANSWER = 1 << 30
_MAX_RECORDS = 64 << 20

OnStart = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What came of asking one framework: a verdict, or that it cannot be had."""

    format: str
    title: str
    verdict: Verdict = field(default_factory=Verdict)
    missing: JudgeMissing | None = None
    network_blocked: bool = False
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether the framework was asked and loads everything."""
        return self.missing is None and self.verdict.passed

    def facts(self) -> dict[str, object]:
        """The outcome for ``--json``."""
        if self.missing is not None:
            return {"outcome": "not available", "problem": self.missing.problem}
        said = self.verdict
        return {
            "outcome": "loads" if said.passed else "does not load",
            "versions": dict(said.versions),
            "python": said.python,
            "network": "blocked" if self.network_blocked else "not blocked",
            "total": len(said.tasks),
            "loaded": said.loaded,
            "failures": [{"task": each.task, "reason": each.reason} for each in said.failures],
            "faults": list(said.faults),
            "warnings": list(said.warnings),
            "graders": list(said.graders),
            "seconds": round(self.seconds, 1),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRun:
    """One run of `check`. `card`: whether the card has a section that was made anew."""

    out: str
    digest: str
    results: tuple[Checked, ...]
    card: bool

    @property
    def exit_code(self) -> ExitCode:
        """Red before missing: what was disproved matters more than what was not tried."""
        if any(each.missing is None and not each.passed for each in self.results):
            return ExitCode.CHECK_FAILED
        if any(each.missing is not None for each in self.results):
            return ExitCode.JUDGE_MISSING
        return ExitCode.DONE

    def facts(self) -> dict[str, object]:
        """Everything for ``--json``."""
        return {
            "out": self.out,
            "digest": self.digest,
            "frameworks": {each.format: each.facts() for each in self.results},
            "exit_code": int(self.exit_code),
        }


def check(
    out: str,
    *,
    frameworks: Sequence[str] = (),
    using: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    on_start: OnStart | None = None,
) -> CheckRun:
    """Ask each framework about the repo in the folder `out`, and record the verdicts there.

    Without `frameworks`: those it was converted for, else those whose layout it has. `using` names
    the user's own Python for a framework. A framework that cannot be had is told of in the result.
    """
    using = using or {}
    for name in (*frameworks, *using):
        _judge_of(get_format(name))
    if not Path(out).is_dir():
        raise UsageError(
            f"there is no folder {out!r}",
            reason="no-such-folder",
            remedy="Give the folder of a converted or published repo",
        )
    source = FolderSource(out)
    records = recorded_checks(source)
    digest = layout_digest(source)
    results = []
    for chosen in _chosen(source, frameworks):
        if on_start is not None:
            on_start(chosen.title)
        results.append(_checked(chosen, source, using.get(chosen.name), limits or Limits()))
    if layout_digest(source) != digest:
        raise SourceChanged(
            "the repo changed while it was checked: nothing was recorded",
            reason="changed-while-checked",
            remedy="Check again when nothing writes to it",
        )
    for result in results:
        if result.missing is None:
            records[result.format] = record_of(
                result.verdict, digest, network_blocked=result.network_blocked
            )
    card = bool(records) and write_proofs(
        source, digest, checks=records, runs=recorded_runs(source)
    )
    return CheckRun(out=out, digest=digest, results=tuple(results), card=card)


def _judge_of(chosen: Format) -> Judge:
    if chosen.judge is None:
        raise UsageError(
            f"{chosen.title} cannot be asked yet", reason="no-judge", remedy="Leave it out"
        )
    return chosen.judge


def _chosen(source: FolderSource, asked: Sequence[str]) -> list[Format]:
    names: Iterable[str] = dict.fromkeys(asked)
    if not asked:
        names = _targets(source) or [found.format for found in sniff(source)]
        names = [name for name in names if get_format(name).judge is not None]
    if not names:
        raise UnknownFormat(
            "no framework's layout was recognised, so there is none to ask",
            reason="unknown-format",
            remedy="Name one with --framework: " + ", ".join(format_names()),
        )
    return [get_format(name) for name in names]


def _targets(source: FolderSource) -> list[str]:
    """What the repo was converted for, as far as this installation knows it."""
    if source.kind(PROVENANCE) is not Kind.FILE:
        return []
    targets = parse_provenance(source.read(PROVENANCE, _MAX_RECORDS)).targets
    return [name for name in format_names() if name in targets]


# --- one framework -----------------------------------------------------------------------------


def _checked(chosen: Format, source: FolderSource, own: str | None, limits: Limits) -> Checked:
    judge = _judge_of(chosen)
    started = time.monotonic()
    try:
        if own is not None:
            python = own_python(chosen.name, judge, own)
        else:
            python = judge_python(chosen.name, judge)
    except JudgeMissing as missing:
        return Checked(format=chosen.name, title=chosen.title, missing=missing)
    with tempfile.TemporaryDirectory(prefix="rlconvert-") as work:
        enclosure = Enclosure(os.path.realpath(work), limits)
        verdict = heard(judge, python, source, enclosure)
    verdict = with_claims(verdict, source, chosen.name)
    return Checked(
        format=chosen.name,
        title=chosen.title,
        verdict=verdict,
        network_blocked=enclosure.network_blocked,
        seconds=time.monotonic() - started,
    )


def heard(judge: Judge, python: str, source: FolderSource, enclosure: Enclosure) -> Verdict:
    """A judge's verdict, without a trace of this machine; no answer is a red one."""
    try:
        verdict = judge.hear(_Hearing(source, judge, python, enclosure))
    except CheckFailed as error:
        verdict = Verdict(faults=(str(error),))
    clean = Whereabouts(source.root, python, enclosure.work)
    return replace(
        verdict,
        tasks=tuple(
            replace(each, reason=None if each.reason is None else clean(each.reason))
            for each in verdict.tasks
        ),
        faults=tuple(map(clean, verdict.faults)),
        warnings=tuple(map(clean, verdict.warnings)),
        graders=tuple(map(clean, verdict.graders)),
    )


@dataclass(slots=True)
class _Hearing:
    source: FolderSource
    judge: Judge
    python: str
    enclosure: Enclosure
    _bare: str | None = None
    _asked: int = 0

    def ask(self, script: str, *arguments: str) -> bytes:
        self._asked += 1
        path = Path(self.enclosure.work, f"answer-{self._asked}")
        command = [self.python, f"{self.judge.scripts}/{script}"]
        command += [each.replace(ANSWER, str(path)) for each in arguments]
        last_words = self.enclosure.run(command, self.judge.environment)
        if not path.is_file() or path.is_symlink() or not path.stat().st_size:
            raise CheckFailed(
                f"{script} wrote no verdict; its last words: {last_words or 'none'}",
                reason="no-verdict",
            )
        if path.stat().st_size > _MAX_ANSWER:
            raise CheckFailed(f"the verdict of {script} is too long", reason="garbled-verdict")
        return path.read_bytes()

    def note(self, name: str, text: str) -> str:
        path = Path(self.enclosure.work, name)
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
        return str(path)

    def serve(self, repo_id: str) -> str:
        if not is_repo_id(repo_id):
            raise CheckFailed(f"{repo_id!r} is no name of a repo", reason="no-such-repo")
        hub = Path(self.enclosure.work, "hub", "datasets")
        if self._bare is None:
            self._bare = f"{self.enclosure.work}/served.git"
            rule = f'[url "{Path(self.enclosure.work, "hub").as_uri()}/"]\n\tinsteadOf = {_HUB}\n'
            Path(self.enclosure.home, ".gitconfig").write_text(rule, encoding="utf-8")
            make_bare(self.source, self._bare, self.enclosure.environment())
        place = hub / repo_id
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.is_symlink():
            place.symlink_to(self._bare)
        return f"{_HUB}datasets/{repo_id}"
