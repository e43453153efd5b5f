"""The sections of a card for tasks that Verifiers loads by its taskset `harbor`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rlconvert.card import REPO
from rlconvert.format import CardSection
from rlconvert.formats.taskfolder.choices import HUB

VERIFIERS, HARBOR = "0.4.0", "0.24.0"
"""The versions this layout was checked with; the extra `harbor` of Verifiers 0.4.0 pins Harbor."""


def use_section(datasets: Sequence[str], repo_id: str | None, key: str) -> CardSection:
    """How to run it: every command pinned."""
    repo = HUB + (repo_id or REPO)
    more = "" if key == "reward" else f" \\\n  --env.taskset.task.reward-key {shlex.quote(key)}"
    runs = "\n".join(
        f"""\
vf-eval harbor --env.taskset.repo {repo} \\
  --env.taskset.dataset {shlex.quote(each)}{more} \\
  --env.agent.runtime.type docker --env.agent.harness.id bash \\
  --model MODEL --client.base-url URL --client.api-key-var NAME_OF_VARIABLE \\
  --no-push"""
        for each in datasets
    )
    text = f"""\
Checked with Verifiers {VERIFIERS} and Harbor {HARBOR}, which it pins; Python 3.12 or later.
Verifiers pulls images and builds none: these datasets, of `registry.json`, name exactly the tasks
that it can load.

```bash
pip install 'verifiers[harbor]=={VERIFIERS}'
{runs}
```

It loads from a Git repository alone, and keeps what it has loaded in `~/.cache/harbor` for good:
remove that folder, or put `@REVISION` behind the repo, to see a change. Time limits of the tasks
count with `--env.taskset.ignore-timeouts false`."""
    return CardSection("Use with Verifiers", text)


def reward_section(key: str, scorers: str) -> CardSection:
    """What produces the reward, and where it can differ from a run under Harbor alone."""
    text = f"""\
Verifiers runs `bash /tests/test.sh` and reads `/logs/verifier/reward.json`, an object of finite
numbers, else `reward.txt`, one number. The value of the key `{key}` is the reward, other keys are
metrics. Anything else (no file, no such key, a value that is no finite number, an artifact or a
collect hook that fails) is an error of the run and never a reward of 0. Tasks for which it could be
another number than Harbor's were left out."""
    return CardSection("The reward in Verifiers", text + scorers)
