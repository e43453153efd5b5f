"""The sections of a card for task folders that Harbor runs itself."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rlconvert.card import REPO
from rlconvert.format import CardSection
from rlconvert.formats.taskfolder.choices import HUB

HARBOR = "0.26.0"
"""The version this layout was checked with."""


def use_section(datasets: Sequence[str], repo_id: str | None) -> CardSection:
    """How to run it: every command pinned, one for each dataset.

    Without a dataset it is the folders in `tasks/` that are run.
    """
    repo = HUB + (repo_id or REPO)
    chosen = [f" --dataset {shlex.quote(each)}" for each in datasets] or [""]
    runs = "\n".join(
        f"harbor run --repo {repo}{each} --agent oracle --env docker" for each in chosen
    )
    text = f"""\
Checked with Harbor {HARBOR}; Python 3.12 or later, Git, and docker to run tasks.

```bash
pip install harbor=={HARBOR}
{runs}
```

The agent `oracle` runs each task's own solution; put another in its place with `--model MODEL`.
`@REVISION` behind the repo chooses a commit, a branch or a tag of it."""
    return CardSection("Use with Harbor", text)


def reward_section(scorers: str) -> CardSection:
    """What produces the reward."""
    text = """\
Harbor runs `tests/test.sh` of a task in its container when the agent has finished. The reward is
what that leaves in `/logs/verifier/reward.json`, an object of named numbers, or `reward.txt`, one
number. A task of several steps has one for each step, of which its `task.toml` takes the mean or
the last."""
    return CardSection("The reward in Harbor", text + scorers)
