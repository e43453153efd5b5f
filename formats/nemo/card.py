"""The sections of a card for tasks that NeMo Gym hands to Harbor."""

from __future__ import annotations

from collections.abc import Sequence

from rlconvert.card import in_code
from rlconvert.format import CardSection

NEMO, HARBOR = "0.7.0", "0.25.0"
"""The versions this layout was checked with; NeMo Gym 0.7.0 resolves with Harbor 0.25.0."""


def use_section(environments: Sequence[str], repo_id: str | None) -> CardSection:
    """How to run it: every command pinned."""
    name = environments[0]
    get = (
        f"hf download {repo_id} --repo-type dataset --local-dir repo\nREPO=$PWD/repo"
        if repo_id
        else "REPO=/absolute/path/of/this/folder"
    )
    where = "" if repo_id else " \\\n  ++harbor_dataset_path=$REPO/tasks"
    listed = "\n".join(f"- {in_code(each)}" for each in environments)
    text = f"""\
Checked with NeMo Gym {NEMO} and Harbor {HARBOR}. NeMo Gym needs Python 3.13.14 or later, and a
container backend (docker in the config) to run tasks.

```bash
pip install nemo-gym=={NEMO} harbor=={HARBOR}
{get}
gym env validate {name} --search-dir $REPO
NEMO_GYM_EXTRA_ROOTS=$REPO gym dataset collate \\
  --config environments/{name}/config.yaml --mode train_preparation --output-dir collated
NEMO_GYM_EXTRA_ROOTS=$REPO gym env start --config environments/{name}/config.yaml \\
  --model-type openai_model --model MODEL --model-url URL --model-api-key KEY{where}
gym eval run --no-serve --input collated/train.jsonl --output rollouts.jsonl
```

Environments:

{listed}"""
    return CardSection("Use with NeMo Gym", text)


def reward_section() -> CardSection:
    """What produces the reward, and where it can differ from a run under Harbor alone."""
    text = """\
Harbor runs each task folder in a container and its verifier leaves the reward in
`/logs/verifier/reward.json` or `reward.txt`; NeMo Gym's agent `harbor_agent_general` reports one
number of it: the key `harbor_reward_key` (`reward` unless the config says otherwise) of the last
step. Tasks for which that could be another number than Harbor's were left out.

The agent counts every trial that ends in an exception as 0.0, with failure class
`harbor_failed`. That includes a run in which the agent used up its time, which Harbor alone still
grades. It needs a harness that writes a trajectory, and it is for evaluation: it returns no token
ids to train on."""
    return CardSection("The reward", text)
