"""Writes NeMo Gym environments for tasks that Harbor runs: folders, rows, config, manifest.

Facts: NeMo Gym 0.7.0, agent `harbor_agent_general` (README.md). A row names a task folder; Harbor
runs it and grades it; the agent then reports one number. A task for which that number could be
another one than Harbor's is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from rlconvert.errors import UsageError
from rlconvert.files import Blob, name_fault
from rlconvert.format import (
    Aim,
    AppendRow,
    CardRows,
    Fate,
    Note,
    Outcome,
    PutFile,
    PutTree,
    Refusal,
    RepoNote,
    RepoPart,
    Written,
)
from rlconvert.formats.taskfolder.folder import FORMAT as FOLDER
from rlconvert.formats.taskfolder.graders import graders, scored_by
from rlconvert.formats.taskfolder.layouts import REGISTRY
from rlconvert.formats.taskfolder.registries import registry_stands
from rlconvert.formats.taskfolder.saying import (
    folder_of,
    foreign_extras,
    git_links,
    own_extras,
    rebuilt_rewards,
    reward_names,
)
from rlconvert.links import links_to_nothing
from rlconvert.model import Native, Repo, RowLine, Step, Task, Taskset
from rlconvert.reward import Script, StepRewards

from .card import reward_section, row_reward_section, row_use_section, use_section
from .fates import FROM_ROW, REFUSALS
from .layout import (
    AdoptedFrom,
    AgentConfig,
    DatasetEntry,
    Manifest,
    config_yaml,
    manifest_yaml,
    row_fault,
    row_line,
)
from .licences import UNKNOWN, nemo_licence
from .naming import harbor_instance, slug, slugs
from .returning import lost_on_return, task_of_row
from .rowwriter import RowWriter, folder_tasksets, is_row_label, is_row_task

FORMAT = "nemo"
REWARD = "reward"
HUB = "https://huggingface.co/datasets/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The options of the writer, checked."""

    repo_id: str | None
    reward_key: str | None
    licence: str | None
    normalise: bool

    @property
    def repo_url(self) -> str | None:
        return None if self.repo_id is None else HUB + self.repo_id


class NemoWriter:
    """One environment per taskset (and per reward key that is not `reward`)."""

    def __init__(self, repo: Repo, aim: Aim) -> None:
        self._repo = repo
        self._alone = aim.alone
        self._home = aim.home
        self._choices = _choices(aim)
        self._slugs = slugs(folder_tasksets(repo))
        self._rows = RowWriter(repo, repo_id=self._choices.repo_id, licence=self._choices.licence)

    # tasks

    def task(self, task: Task, tasksets: tuple[str, ...]) -> Written | Refusal:
        own = task.native.get(FORMAT)
        before = task_of_row(task)
        if before is not None:
            return self._returned(task, before, tasksets)
        if is_row_task(task):
            row = self._row(task, tasksets)
            # A folder that the sidecar knows to be untouched, though this version writes others.
            if isinstance(row, Written) and isinstance(task.reward, Script):
                return replace(row, way=FROM_ROW)
            return row
        if own is not None and own.rows and self._alone:
            rows = tuple(AppendRow(row.path, row.line, at=row.at) for row in own.rows)
            return Written(
                way="identity", id=task.id, native=own, parts=(PutTree(own.path, own.tree), *rows)
            )
        made = folder_of(task)
        if isinstance(made, Refusal):
            return made
        tree = made.tree
        if self._choices.repo_id is not None and any(links_to_nothing(tree)):
            return _refuse("link-to-nothing", "files", "Remove the link, or leave --repo-id out")
        name = self._name(task)
        if isinstance(name, Refusal):
            return name
        key = self._key(task)
        if isinstance(key, Refusal):
            return key
        line = row_line(name, task.extras.get(FORMAT, {}))
        rows = tuple(
            AppendRow(self._row_path(taskset, key), line, label=f"{taskset}\n{key}")
            for taskset in tasksets
        )
        folder = f"tasks/{name}"
        return Written(
            way="delegated" if FOLDER in task.native else "rebuilt",
            id=name,
            native=Native(folder, tree, tuple(RowLine(row.path, row.line) for row in rows)),
            parts=(PutTree(folder, tree), *rows, *graders(FORMAT, made.task)),
            notes=(
                *self._notes(task, name, key),
                *own_extras(task, Fate.DELEGATED),
                *git_links(task, Fate.DELEGATED),
                *foreign_extras(task, FOLDER, FORMAT),
                *rebuilt_rewards(made),
            ),
        )

    def _row(self, task: Task, tasksets: tuple[str, ...]) -> Written | Refusal:
        if FORMAT in task.native and self._alone:
            return self._rows.home(task, normalise=self._choices.normalise)
        return self._rows.task(task, tasksets)

    def _returned(
        self, task: Task, before: Task, tasksets: tuple[str, ...]
    ) -> Written | Refusal:  # fmt: skip
        """A folder that was made from a row, as that row."""
        if FORMAT in task.native:
            row = self._row(replace(before, native=task.native), tasksets)
        else:
            row = self._rows.task(before, tasksets, verbatim=True)
        if isinstance(row, Refusal):
            return row
        return replace(row, way=FROM_ROW, notes=(*row.notes, *lost_on_return(task)))

    def _name(self, task: Task) -> str | Refusal:
        """The folder's name. The agent looks a trial up by the last part of `[task].name`."""
        declared = None if task.identity is None else task.identity.name
        name = task.id if declared is None else declared.rsplit("/", 1)[-1]
        fault = row_fault(name, declared, from_repo=self._choices.repo_id is not None)
        if unsafe := name_fault(name):
            fault = f"the name {unsafe}"
        if fault is None:
            return name
        return Refusal(
            reason="name-not-a-row",
            problem=f"{REFUSALS['name-not-a-row']}: {fault}",
            field="identity",
            remedy="Rename the task in the source",
        )

    def _key(self, task: Task) -> str | Refusal:
        """The reward key the agent must look for so that its number is Harbor's."""
        if len(task.steps) > 1 and task.step_rewards is not StepRewards.FINAL:
            return _refuse(
                "steps-averaged",
                "step_rewards",
                'Only a task with multi_step_reward_strategy = "final" keeps its reward here',
            )
        keys = [_keys(task, step) for step in task.steps]
        single = {each[0] for each in keys if each is not None and len(each) == 1}
        wanted = self._choices.reward_key or (single.pop() if len(single) == 1 else REWARD)
        for each in keys:
            if each is None and self._choices.reward_key is None:
                return _refuse(
                    "reward-keys-unknown",
                    "reward",
                    "State the key to report with --reward-key once you know what it writes",
                )
            if each is not None and len(each) > 1 and wanted not in each:
                return _refuse(
                    "reward-key-missing",
                    "reward",
                    f"It writes {', '.join(each)}: choose one with --reward-key",
                )
        return wanted

    def _notes(self, task: Task, name: str, key: str) -> Iterator[Note]:
        if name != task.id:
            yield Note(
                field="identity",
                fate=Fate.TRANSLATED,
                reason="the folder is called like [task].name's last part, for rows to find it",
                detail=f"{task.id} -> {name}",
            )
        for step in task.steps:
            keys = _keys(task, step)
            if keys is None:
                yield Note(
                    field="reward",
                    fate=Fate.DELEGATED,
                    reason="the reward key is asserted by the user, not read from the verifier",
                    detail=key,
                )
            elif len(keys) > 1:
                yield Note(
                    field="reward",
                    fate=Fate.DROPPED,
                    reason="named rewards beside the one the agent reports",
                    detail=", ".join(each for each in keys if each != key),
                )
        if len(task.steps) > 1:
            yield Note(
                field="steps.prompt",
                fate=Fate.DELEGATED,
                reason="the agent reports the first step's conversation, the last step's reward",
            )

    def _row_path(self, taskset: str, key: str) -> str:
        return f"data/{self._environment(taskset, key)}/harbor_agent_general-train.jsonl"

    def _environment(self, taskset: str, key: str) -> str:
        name = self._slugs[taskset]
        return name if key == REWARD else f"{name}-{slug(key)}"

    # the rest

    def close(self, outcome: Outcome) -> Iterator[RepoPart]:
        """Config and manifest per environment, and what the card says about them."""
        environments = [
            (path, file)
            for path, file in outcome.row_files.items()
            if "\n" in file.label and not is_row_label(file.label)
        ]
        licence, known = nemo_licence(self._choices.licence or self._repo.licence)
        if environments and not known:
            yield RepoNote(
                Note(
                    field="licence",
                    fate=Fate.TRANSLATED,
                    reason=f"NeMo Gym has no words for the licence; its config says {UNKNOWN}",
                    detail=self._choices.licence or self._repo.licence or "the source states none",
                )
            )
        names = []
        tasksets = {taskset.key: taskset for taskset in self._repo.tasksets}
        for path, file in environments:
            key, _, reward = file.label.partition("\n")
            name = self._environment(key, reward)
            names.append(name)
            entry = DatasetEntry(
                name=name,
                type="train",
                jsonl_fpath=path,
                licence=licence,
                hub_repo_id=self._choices.repo_id,
            )
            home = f"environments/{name}"
            yield PutFile(f"{home}/config.yaml", Blob(self._config(name, reward, entry)))
            manifest = self._manifest(name, tasksets[key], entry)
            yield PutFile(f"{home}/manifest.yaml", Blob(manifest))
            yield CardRows(config=name, split="train", path=path)
        yield from self._rows.close(outcome)
        if names:
            yield use_section(names, self._choices.repo_id)
            yield reward_section(scored_by(FORMAT, outcome))
        if not self._home and (servers := self._rows.servers(outcome)):
            splits = {name: split for name, (_, split) in servers.items()}
            yield row_use_section(splits, self._choices.repo_id)
            yield row_reward_section({name: server for name, (server, _) in servers.items()})

    def _config(self, name: str, reward: str, entry: DatasetEntry) -> bytes:
        return config_yaml(
            AgentConfig(
                environment=name,
                datasets=(entry,),
                repo_url=self._choices.repo_url,
                reward_key=None if reward == REWARD else reward,
                instance=harbor_instance(name),
            )
        )

    def _manifest(self, name: str, taskset: Taskset, entry: DatasetEntry) -> bytes:
        origin = self._repo.origin
        adopted = None
        if origin.url and origin.commit and origin.date:
            adopted = AdoptedFrom(origin.url, origin.commit, origin.date)
        about = f"The tasks of {taskset.name}, run and graded by Harbor"
        return manifest_yaml(
            Manifest(
                name=name,
                version=(taskset.version or "").strip() or "0",
                description=(taskset.description or "").strip() or about,
                authors=(f"the authors of {origin.repo or taskset.name}",),
                datasets=(entry,),
                licence=self._choices.licence or self._repo.licence,
                adopted_from=adopted,
            )
        )

    def owns(self, path: str, outcome: Outcome) -> bool:
        if self._home:
            return False
        if path == REGISTRY:
            return not registry_stands(outcome)
        return path.partition("/")[0] in ("tasks", "data", "environments") or path == "README.md"


def _keys(task: Task, step: Step) -> tuple[str, ...] | None:
    return reward_names(step.reward or task.reward)


def _refuse(reason: str, field: str, remedy: str) -> Refusal:
    return Refusal(reason=reason, problem=REFUSALS[reason], field=field, remedy=remedy)


def _choices(aim: Aim) -> Choices:
    repo_id = aim.options.get("repo-id")
    if repo_id is not None and not re.fullmatch(r"[\w.-]+/[\w.-]+", repo_id, re.ASCII):
        raise UsageError(
            f"{repo_id!r} is not the id of a Hub repo",
            reason="bad-repo-id",
            remedy="Write it as org/name",
        )
    return Choices(
        repo_id=repo_id,
        reward_key=aim.options.get("reward-key"),
        licence=aim.options.get("licence"),
        normalise=_is_on(aim, "normalise"),
    )


def _is_on(aim: Aim, name: str) -> bool:
    said = aim.options.get(name, "no")
    if said not in ("yes", "no"):
        raise UsageError(
            f"{name} is a flag, and {said!r} is neither yes nor no",
            reason="bad-option",
            remedy=f"Give --{name} without a value",
        )
    return said == "yes"


def open_writer(repo: Repo, aim: Aim) -> NemoWriter:
    """A writer of NeMo Gym environments; `UsageError` for an option that makes no sense."""
    return NemoWriter(repo, aim)
