"""What a task folder can say of a task that comes from elsewhere, and what it cannot.

Any format that hands folders to Harbor asks here; the answer is the folder, or the reason why
there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from rlconvert.errors import RlconvertError, UnsafePath
from rlconvert.files import FileTree, check_clashes, name_fault
from rlconvert.format import Fate, Note, Refusal
from rlconvert.links import check_links, links_to_nothing
from rlconvert.model import Task, differing_fields
from rlconvert.prompt import Messages
from rlconvert.reward import Hosted, Reward, Scored, Script, Submission
from rlconvert.runtime import EnvServer, Function

from .fates import REFUSALS
from .folder import FORMAT, folder_from_task, task_from_folder
from .problems import CannotEncode
from .scored import KEYS, in_container


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder, and the task as it says it. `way`: how the task came to it, unless it had it."""

    task: Task
    tree: FileTree
    way: Literal["rebuilt", "scored"] | None = None


def folder_of(task: Task, base_image: str | None = None) -> Folder | Refusal:
    """The task's own folder where it has one, else one written from the model.

    What was a prompt and a rule alone gets a container, made from `base_image`.
    """
    native = task.native.get(FORMAT)
    if native is not None:
        return Folder(task, native.tree)
    made = in_container(task, base_image)
    if isinstance(made, Refusal):
        return made
    tree = _written(made)
    if isinstance(tree, Refusal):
        return tree
    return Folder(made, tree, "rebuilt" if made is task else "scored")


def _written(task: Task) -> FileTree | Refusal:
    if refusal := _refusal(task):
        return refusal
    try:
        tree = folder_from_task(task)
        check_clashes(tree)
        check_links(tree)
    except (CannotEncode, ValidationError) as error:
        first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        return _refuse("values-not-toml", "extras", f": {first}")
    except UnsafePath as error:
        return _refuse("values-not-toml", "files", f": {error}")
    return _changed(task, tree) or tree


def _changed(task: Task, tree: FileTree) -> Refusal | None:
    """A refusal when the folder that was written does not run what the task runs."""
    try:
        read = task_from_folder(task.id, "", tree)
    except RlconvertError as error:
        return _refuse("not-a-task-folder", "files", f": {error}")
    for step, other in zip(task.steps, read.steps, strict=True):
        match step.reward or task.reward, other.reward or read.reward:
            case Script(command=command), Script(command=known):
                if command != known:
                    return _refuse("other-script", "reward", f" ({command}, not {known})")
            case Scored() as rule, known_rule if rule == known_rule:
                continue
            case _:
                return _refuse("no-reward-script", "reward")
    return None


def rebuilt_rewards(folder: Folder) -> tuple[Note, ...]:
    """Notes when reading the folder that was written tells other names of rewards."""
    if folder.way is None:
        return ()
    changed = differing_fields(folder.task, task_from_folder(folder.task.id, "", folder.tree))
    return tuple(
        Note(
            field=path,
            fate=Fate.TRANSLATED,
            reason="a folder names no rewards: they are what reading its tests tells",
        )
        for path in ("reward", "steps.reward")
        if path in changed
    )


def folder_name(task: Task, *, shared: bool) -> str | Refusal:
    """The name of the task's folder under `tasks/`: its id.

    Where the folder is `shared` with other targets it is the last part of the published name, if
    there is one: NeMo Gym (0.7.0) finds a finished trial by that alone.
    """
    declared = None if task.identity is None or not shared else task.identity.name
    last = "" if declared is None else declared.rsplit("/", 1)[-1]
    if last and not name_fault(last):
        return last
    if fault := name_fault(task.id):
        return Refusal(
            reason="id-not-a-name",
            problem=f"{REFUSALS['id-not-a-name']}: it {fault}",
            field="identity",
            remedy="Rename the task in the source",
        )
    return task.id


def _refusal(task: Task) -> Refusal | None:
    for step in task.steps:
        if not isinstance(step.prompt, Messages) or step.prompt.plain is None:
            return _refuse("prompt-not-text", "steps.prompt")
        rule = step.reward or task.reward
        if not _is_in_files(rule):
            return _refuse("no-reward-script", "reward", _who_grades(task, rule))
    runtimes = [task.runtime, task.verifier.runtime, *(s.verifier.runtime for s in task.steps)]
    for runtime in runtimes:
        if runtime is None:
            continue
        if isinstance(runtime.place, EnvServer):
            return _refuse("environment-server", "runtime")
        if any(isinstance(tool, Function) for tool in runtime.tools or ()):
            return _refuse("functions", "runtime")
    return None


def _is_in_files(rule: Reward | None) -> bool:
    """Whether files of the task grade an answer that is in files."""
    if isinstance(rule, Scored):
        return rule.submission is Submission.FILE
    return isinstance(rule, Script)


def _who_grades(task: Task, rule: Reward | None) -> str:
    """Who does, and what its reader says of that."""
    if not isinstance(rule, Hosted):
        return ""
    native = task.native.get(rule.framework)
    remarks = () if native is None else native.remarks
    said = [each.detail for each in remarks if each.field == "reward" and each.detail]
    return f": {rule.component} grades it" + "".join(f"; {each}" for each in said)


def reward_names(rule: Reward | None) -> tuple[str, ...] | None:
    """The named rewards that a rule in a folder writes, as far as they are known.

    None of them: one number without a name.
    """
    match rule:
        case Script(keys=keys):
            return keys
        case Scored():
            return KEYS
        case _:
            return None


def row_remarks(task: Task) -> tuple[Note, ...]:
    """What was noticed about the row that a task was: the folder says what the row means."""
    return tuple(
        Note(field=each.field, fate=Fate.TRANSLATED, reason=each.reason, detail=each.detail)
        for native in task.native.values()
        if native.rows and not native.tree
        for each in native.remarks
    )


def _refuse(reason: str, field: str, more: str = "") -> Refusal:
    return Refusal(reason=reason, problem=REFUSALS[reason] + more, field=field)


def git_links(task: Task, fate: Fate) -> tuple[Note, ...]:
    """A note when links lead to nothing: Harbor 0.26.0 takes no such task from a Git repository."""
    native = task.native.get(FORMAT)
    loose = [] if native is None else sorted(links_to_nothing(native.tree))
    if not loose:
        return ()
    reason = "links that lead to nothing; Harbor loads the task from a folder, not through Git"
    return (Note(field="files", fate=fate, reason=reason, detail=", ".join(loose)),)


def own_extras(task: Task, fate: Fate) -> tuple[Note, ...]:
    """A note when `task.toml` has keys that Harbor ignores: they stay, and are likely mistakes."""
    keys = sorted(task.extras.get(FORMAT, ()))
    if not keys:
        return ()
    reason = "keys of task.toml that Harbor ignores; they stay in the file"
    return (Note(field="extras", fate=fate, reason=reason, detail=", ".join(keys)),)


def foreign_extras(task: Task, *own: str) -> tuple[Note, ...]:
    """A note when keys of other frameworks than `own` stay behind."""
    keys = sorted(key for name in task.extras if name not in own for key in task.extras[name])
    if not keys:
        return ()
    return (
        Note(
            field="extras",
            fate=Fate.DROPPED,
            reason="keys that only another framework knows",
            detail=", ".join(keys),
        ),
    )
