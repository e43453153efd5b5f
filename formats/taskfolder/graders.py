"""Which scorers grade the tasks of an output: counted for its card."""

from __future__ import annotations

from collections import Counter

from rlconvert.card import in_code
from rlconvert.format import ListItem, Outcome
from rlconvert.model import Task
from rlconvert.reward import Scored


def graders(framework: str, task: Task) -> tuple[ListItem, ...]:
    """What `scored_by` will know of a task: the scorers of its rewards."""
    rules = [task.reward, *(step.reward for step in task.steps)]
    names = dict.fromkeys(rule.scorer for rule in rules if isinstance(rule, Scored))
    return tuple(ListItem(f"{framework} scorers", name) for name in names)


def scored_by(framework: str, outcome: Outcome) -> str:
    """A paragraph of Markdown on the scorers that `graders` has told of; nothing for none."""
    found = Counter(outcome.items(f"{framework} scorers"))
    if not found:
        return ""
    listed = "\n".join(f"- {in_code(name)}: {found[name]:,}" for name in sorted(found))
    return f"""

Tasks that were a prompt and a rule carry the rule with them: `tests/test.sh` has `tests/score.py`
grade what was submitted, with the parameters in `tests/rule.json`. By scorer, so many tasks:

{listed}"""
