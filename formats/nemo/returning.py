"""Folders that were made from a row, on their way back to it.

The row stands in the folder's tests. It is the task's own as long as making the folder from it
again gives the very same folder; after any edit the folder is a task of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from rlconvert.errors import RlconvertError
from rlconvert.files import FileTree
from rlconvert.format import Fate, Note, Refusal
from rlconvert.formats.taskfolder.folder import CONFIG, task_from_folder
from rlconvert.formats.taskfolder.saying import Folder, folder_of
from rlconvert.formats.taskfolder.scored import BASE_IMAGE, ROW, base_image_of
from rlconvert.model import Native, Task, differing_fields
from rlconvert.reward import Scored, Submission
from rlconvert.runtime import Build, Image

from .rowfiles import RowSource
from .rows import Place, task_from_row

_HOME = f"tests/{ROW}"


def task_of_row(task: Task) -> Task | None:
    """The task that a folder was made from; None when it was not, or has been edited since."""
    rule, row = task.reward, task.tests.file(ROW)
    if not isinstance(rule, Scored) or rule.submission is not Submission.FILE or row is None:
        return None
    match rule.params:
        case {"server": str(server), "config": Mapping() as config, **_more}:
            file = RowSource(
                path=_HOME,
                component=server,
                rule=config,
                because="",
                tasksets=(),
                declared=True,
            )
        case _:
            return None
    try:
        before = task_from_row(task.id, row.blob.read(), Place(file, 1))
    except RlconvertError:
        return None
    again, own = folder_of(before, base_image_of(task)), folder_of(task)
    if isinstance(again, Refusal) or isinstance(own, Refusal):
        return None
    return before if _files(again.tree) == _files(own.tree) and _says(again, task) else None


def _files(tree: FileTree) -> str:
    """The digest of all files but the config, which a program may have written anew."""
    return Native("", tree.without(CONFIG)).digest


def _says(again: Folder, task: Task) -> bool:
    """Whether a config says of a task what ours says; that an image is named is told as lost."""
    place = task.runtime.place
    if isinstance(place, Image):
        task = replace(task, runtime=replace(task.runtime, place=Build(place.context)))
    return not differing_fields(task, task_from_folder(task.id, "", again.tree))


def lost_on_return(task: Task) -> Iterator[Note]:
    """What a folder has that its row does not say: an image of somebody's choice."""
    place, base = task.runtime.place, base_image_of(task)
    named = [place.reference] if isinstance(place, Image) else []
    if images := named + [base] * (base != BASE_IMAGE):
        yield Note(
            field="runtime",
            fate=Fate.DROPPED,
            reason="a row names no image: the folder is made again from the usual one",
            detail=", ".join(images),
        )
