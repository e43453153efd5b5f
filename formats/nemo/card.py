"""The sections of a card for environments of NeMo Gym: tasks that Harbor runs, and rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlconvert.card import REPO, in_code
from rlconvert.format import CardSection

from .layout import SplitType

NEMO, HARBOR = "0.7.0", "0.25.0"
"""The versions this layout was checked with; NeMo Gym 0.7.0 resolves with Harbor 0.25.0."""

_PYTHON = "NeMo Gym needs Python 3.13.14 or later"


def use_section(environments: Sequence[str], repo_id: str | None) -> CardSection:
    """How to run tasks by Harbor: every command pinned, for each environment."""
    splits: dict[str, SplitType] = dict.fromkeys(environments, "train")
    where = "" if repo_id else " \\\n  ++harbor_dataset_path=$REPO/tasks"
    text = f"""\
Checked with NeMo Gym {NEMO} and Harbor {HARBOR}. {_PYTHON}, and a
container backend (docker in the config) to run tasks.

{_commands(splits, repo_id, f" harbor=={HARBOR}", where)}"""
    return CardSection("Use with NeMo Gym", text)


def row_use_section(splits: Mapping[str, SplitType], repo_id: str | None) -> CardSection:
    """How to run rows: every command pinned, for each environment and a split that it has."""
    text = f"""\
Checked with NeMo Gym {NEMO}. {_PYTHON}.

{_commands(splits, repo_id)}"""
    return CardSection("Use the rows with NeMo Gym", text)


def _commands(
    splits: Mapping[str, SplitType], repo_id: str | None, more: str = "", where: str = ""
) -> str:
    runs = "\n".join(
        f"""
gym env validate {name} --search-dir $REPO
NEMO_GYM_EXTRA_ROOTS=$REPO gym dataset collate \\
  --config environments/{name}/config.yaml --mode {_mode(split)} --output-dir collated/{name}
NEMO_GYM_EXTRA_ROOTS=$REPO gym env start --config environments/{name}/config.yaml \\
  --model-type openai_model --model MODEL --model-url URL --model-api-key KEY{where}
gym eval run --no-serve --input collated/{name}/{split}.jsonl --output rollouts-{name}.jsonl"""
        for name, split in splits.items()
    )
    return f"""\
```bash
pip install nemo-gym=={NEMO}{more}
hf download {repo_id or REPO} --repo-type dataset --local-dir repo
REPO=$PWD/repo
{runs}
```

`gym env start` goes on until it is stopped: what follows it goes into a second shell."""


def _mode(split: SplitType) -> str:
    return "example_validation" if split == "example" else "train_preparation"


def row_reward_section(graders: Mapping[str, str]) -> CardSection:
    """What produces the reward of rows: by environment, the server that grades it."""
    listed = "\n".join(f"- {in_code(name)}: {in_code(by)}" for name, by in graders.items())
    text = f"""\
Each row is graded by `verify()` of a server of NeMo Gym {NEMO}, with the values in the row and the
settings in its environment's `config.yaml`. By environment:

{listed}"""
    return CardSection("The reward of the rows", text)


def reward_section(scorers: str) -> CardSection:
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
    return CardSection("The reward in NeMo Gym", text + scorers)
