"""The sections of a card for tasks that OpenEnv hands to Harbor."""

from __future__ import annotations

import shlex

from rlconvert.card import REPO
from rlconvert.format import CardSection

OPENENV, HARBOR = "0.10.0", "0.25.0"
"""The versions this layout was checked with."""


def use_section(tasks: int, others: int, repo_id: str | None, key: str | None) -> CardSection:
    """How to run it: every command pinned."""
    dataset = repo_id or REPO
    more = "" if key is None else f" --reward-key {shlex.quote(key)}"
    count = f"{tasks} tasks" if tasks != 1 else "1 task"
    warning = ""
    if others:
        warning = f"""

**Not all folders are for OpenEnv.** It counts {tasks + others} in `tasks/`; {others} of them are of
tasks that were refused for it (see `.rlconvert/loss.jsonl`), and running one is an error or gives
another reward than Harbor does."""
    text = f"""\
Checked with OpenEnv {OPENENV} and Harbor {HARBOR}; Python 3.12 or later. {count}, each known by its
place in the sorted list of the folders in `tasks/`, from 0 on.{warning}

```bash
pip install 'openenv[harbor]=={OPENENV}' harbor=={HARBOR}
openenv harbor info --dataset {dataset}
openenv harbor rollout --dataset {dataset} --task-index 0 --harness opencode --sandbox docker \\
  --llm-url URL --model MODEL{more} --out result.json
```

OpenEnv takes the newest revision of the repo, and never removes from its download
(`~/.cache/openenv/harbor-datasets`) what is gone there: empty that folder when tasks have been
removed."""
    return CardSection("Use with OpenEnv", text)


def reward_section(scorers: str) -> CardSection:
    """What produces the reward, and where it can differ from a run under Harbor alone."""
    text = """\
Harbor runs the task and grades it; OpenEnv reports one finite number of that: the key given with
`--reward-key`, else the only key there is, else the key `reward`. Without such a number a rollout
has no reward, which is not a reward of 0. Tasks for which it could be another number than Harbor's
were left out."""
    return CardSection("The reward in OpenEnv", text + scorers)
