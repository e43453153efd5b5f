"""A reader and a writer of next to nothing, for tests of what stands between the two.

In a module of their own, so that worker processes can import them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rlconvert.files import Blob, File, FileTree
from rlconvert.format import AppendRow, Outcome, PutFile, PutTree, Refusal, RepoPart, Written
from rlconvert.model import Native, Origin, Repo, Step, Task, TaskRef
from rlconvert.prompt import Messages

REPO = Repo(format="toy", name="toy", origin=Origin(label="toy"), tasksets=())


def tree(text: str) -> FileTree:
    return FileTree({"f": File(Blob(text.encode()))})


@dataclass(frozen=True)
class Reads:
    """A reader of tasks that are nothing but their ids; some cannot be read."""

    faults: dict[str, Exception] = field(default_factory=dict)

    def repo(self) -> Repo:
        return REPO

    def refs(self) -> Iterator[TaskRef]:
        yield from ()

    def load(self, ref: TaskRef) -> Task:
        if ref.id in self.faults:
            raise self.faults[ref.id]
        prompt = Messages.user(ref.id)
        return Task(id=ref.id, steps=(Step(name="", prompt=prompt),))


@dataclass(frozen=True)
class Writes:
    """A writer of one folder with this text at this place (the id when empty)."""

    text: str = "same"
    place: str = ""
    files: tuple[PutFile, ...] = ()
    refuses: tuple[str, ...] = ()

    def task(self, task: Task, tasksets: tuple[str, ...]) -> Written | Refusal:
        if task.id in self.refuses:
            return Refusal(reason="no", problem="it does not want it", field="steps")
        path = self.place or f"tasks/{task.id}"
        made = tree(self.text)
        row = AppendRow(f"rows-{self.text}.jsonl", f"{task.id}\n".encode())
        return Written(
            way="way", id=task.id, native=Native(path, made), parts=(PutTree(path, made), row)
        )

    def close(self, outcome: Outcome) -> Iterator[RepoPart]:
        yield from self.files

    def owns(self, path: str, outcome: Outcome) -> bool:
        return False


def ref(task: str) -> TaskRef:
    return TaskRef(id=task, path=task, tasksets=())
