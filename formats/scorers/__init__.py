"""Reward rules of frameworks' own servers, each as one file that runs alone.

A scorer is a folder: `score.py` is written verbatim into the tasks that need it, beside `grade.py`,
which runs it, with its parts in it if it is long; `manifest.json` says what it is and whose rule it
keeps; `cases.jsonl` what it gives.
It is never imported: it is data of this package, and only `registry.Scorer.rule` loads it.
"""

from .registry import (
    Answer,
    Call,
    Grade,
    Params,
    Rule,
    Scorer,
    scorer,
    scorer_for_server,
    scorers,
)

__all__ = [
    "Answer",
    "Call",
    "Grade",
    "Params",
    "Rule",
    "Scorer",
    "scorer",
    "scorer_for_server",
    "scorers",
]
