"""What a scorer says of a rule before anybody has answered: whether it can grade, and the answer.

The scorer is our own file, run in this process; the parameters are data to it.
"""

from __future__ import annotations

import json
from typing import cast

from rlconvert.formats.scorers import Answer, Params, Scorer
from rlconvert.reward import Scored, Submission

_NOTHING: Answer = {"text": "", "calls": []}


def trouble_of(known: Scorer, rule: Scored) -> str | None:
    """Why nothing can be graded by a rule; None when something can."""
    said = known.rule().score(_params(rule), _NOTHING)
    return said["detail"] if said["outcome"] == "invalid task" else None


def answer_of(known: Scorer, rule: Scored) -> bytes | None:
    """A submission that earns more than nothing does, as the file it is handed in as.

    None where the scorer knows none, and where no file can hold it.
    """
    gold = known.rule().gold(_params(rule))
    if gold is None or not _earns(known, rule, gold) > _earns(known, rule, _NOTHING):
        return None
    if rule.submission is Submission.TOOL_CALLS:
        return json.dumps(gold["calls"], indent=2).encode("ascii") + b"\n"
    try:
        return gold["text"].encode()
    except UnicodeEncodeError:
        return None


def _params(rule: Scored) -> Params:
    return cast("Params", rule.params)


def _earns(known: Scorer, rule: Scored, submission: Answer) -> float:
    reward = known.rule().score(_params(rule), submission)["reward"]
    return 0.0 if reward is None else reward
