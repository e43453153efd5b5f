"""Faults in the files of a task: missing, misplaced, linked, special, badly named, too big."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

from .making import (
    EITHER,
    LFS_POINTER,
    MALFORMED,
    OK,
    READ_ERROR,
    UNSAFE_INPUT,
    UNSAFE_PATH,
    CannotMake,
    link,
    special,
    task_fault,
)


def name_fault(name: str, file_name: str | bytes, expected: str = UNSAFE_PATH) -> None:
    """Register a task with a file of this name in ``environment/``."""

    def spoil(task: Path) -> None:
        try:
            (task / "environment" / os.fsdecode(file_name)).write_bytes(b"x\n")
        except OSError as error:
            raise CannotMake(f"this file system has no file named {file_name!r}") from error

    spoil.__name__ = name
    task_fault(expected)(spoil)


@task_fault(UNSAFE_PATH)
def toml_is_a_link(task: Path) -> None:
    """``task.toml`` is a link to another file of the task."""
    (task / "task.toml").rename(task / "own.toml")
    link(task / "task.toml", "own.toml")


@task_fault(MALFORMED)
def toml_is_folder(task: Path) -> None:
    """Where ``task.toml`` should be there is a folder."""
    (task / "task.toml").unlink()
    (task / "task.toml").mkdir()


# ------------------------------------------------------------------ missing and misplaced parts


@task_fault(MALFORMED)
def instruction_missing(task: Path) -> None:
    """A single-step task without a prompt."""
    (task / "instruction.md").unlink()


@task_fault(MALFORMED)
def instruction_is_folder(task: Path) -> None:
    """Harbor's `is_valid_dir` says True to this one, and then its constructor fails."""
    (task / "instruction.md").unlink()
    (task / "instruction.md").mkdir()


@task_fault(MALFORMED)
def instruction_not_utf8(task: Path) -> None:
    """A prompt in Latin-1."""
    (task / "instruction.md").write_bytes("Öffne die Tür.\n".encode("latin-1"))


@task_fault(MALFORMED)
def tests_missing(task: Path) -> None:
    """Nothing that could give a reward."""
    (task / "tests" / "test.sh").unlink()
    (task / "tests").rmdir()


@task_fault(MALFORMED)
def test_script_missing(task: Path) -> None:
    """Test files, but no entry point that Harbor knows."""
    (task / "tests" / "test.sh").rename(task / "tests" / "run-tests.sh")


@task_fault(MALFORMED)
def test_script_is_folder(task: Path) -> None:
    """Where the test script should be there is a folder."""
    (task / "tests" / "test.sh").unlink()
    (task / "tests" / "test.sh").mkdir()


@task_fault(MALFORMED)
def test_script_ignored(task: Path) -> None:
    """The task's own ``.harborignore`` hides the test script."""
    (task / "tests" / ".harborignore").write_text("*.sh\n", encoding="utf-8")


@task_fault(MALFORMED)
def environment_missing(task: Path) -> None:
    """Neither an image name nor a folder to build one from."""
    (task / "environment" / "Dockerfile").unlink()
    (task / "environment").rmdir()


@task_fault(READ_ERROR)
def instruction_is_lfs_pointer(task: Path) -> None:
    """Git left a pointer where the prompt should be."""
    (task / "instruction.md").write_text(LFS_POINTER, encoding="utf-8")


@task_fault(READ_ERROR)
def data_is_lfs_pointer(task: Path) -> None:
    """Git left a pointer where a data file should be."""
    (task / "environment" / "data.bin").write_text(LFS_POINTER, encoding="utf-8")


@task_fault(READ_ERROR)
def file_unreadable(task: Path) -> None:
    """A file that this user may not read. Root may."""
    path = task / "environment" / "private.txt"
    path.write_text("x\n", encoding="utf-8")
    path.chmod(0)
    if os.access(path, os.R_OK):
        path.chmod(0o644)
        raise CannotMake("this user reads every file")


# ------------------------------------------------------------------ links


@task_fault(UNSAFE_PATH)
def instruction_links_outside(task: Path) -> None:
    """Harbor reads whatever the link points at, and shows it to the agent."""
    link(task / "instruction.md", "../../outside/secret.txt")


@task_fault(UNSAFE_PATH)
def config_links_outside(task: Path) -> None:
    """``task.toml`` is a link to a file outside."""
    (task.parent.parent / "outside" / "task.toml").write_text("", encoding="utf-8")
    link(task / "task.toml", "../../outside/task.toml")


@task_fault(UNSAFE_PATH)
def link_relative_escape(task: Path) -> None:
    """A relative link out of the task."""
    link(task / "tests" / "data.txt", "../../../outside/secret.txt")


@task_fault(UNSAFE_PATH)
def link_absolute(task: Path) -> None:
    """An absolute link, to a file that every machine has."""
    link(task / "environment" / "passwd", "/etc/passwd")


@task_fault(UNSAFE_PATH)
def link_absolute_inside(task: Path) -> None:
    """An absolute link to a file of the same task: broken as soon as the task moves."""
    link(task / "environment" / "again", task / "environment" / "Dockerfile")


@task_fault(UNSAFE_PATH)
def link_escape_and_back(task: Path) -> None:
    """A link that leaves the task and comes back by the folder's name."""
    link(task / "tests" / "back", "../../bad/instruction.md")


@task_fault(UNSAFE_PATH)
def link_through_link(task: Path) -> None:
    """A link that stays inside by its text, but goes through another one that does not."""
    link(task / "tests" / "door", "../../../outside")
    link(task / "tests" / "data.txt", "door/secret.txt")


@task_fault(UNSAFE_PATH)
def link_folder_outside(task: Path) -> None:
    """``solution/`` is a link to a folder outside."""
    (task / "solution" / "solve.sh").unlink()
    (task / "solution").rmdir()
    link(task / "solution", "../../outside")


@task_fault(UNSAFE_PATH)
def link_cycle_folder(task: Path) -> None:
    """A link to the folder that holds it."""
    (task / "tests" / "loop").mkdir()
    link(task / "tests" / "loop" / "again", "..")


@task_fault(UNSAFE_PATH)
def link_cycle_self(task: Path) -> None:
    """Two links that point at each other."""
    link(task / "tests" / "a", "b")
    link(task / "tests" / "b", "a")


@task_fault(OK)
def link_dangling(task: Path) -> None:
    """A link inside the task to nothing; Harbor and Git tolerate it."""
    link(task / "environment" / "later.txt", "made-by-the-build.txt")


@task_fault(UNSAFE_PATH)
def link_dangling_outside(task: Path) -> None:
    """A link out of the task to nothing: it may be something on the next machine."""
    link(task / "environment" / "later.txt", "../../../no-such-file")


@task_fault(EITHER)
def hard_link(task: Path) -> None:
    """A file with two names, one of them outside of the task."""
    path = task / "environment" / "shared.txt"
    special(lambda p: p.hardlink_to(task.parent.parent / "outside" / "secret.txt"), path)


# ------------------------------------------------------------------ things that are no files


@task_fault(UNSAFE_INPUT)
def fifo(task: Path) -> None:
    """Reading it would wait for ever."""
    special(os.mkfifo, task / "environment" / "pipe")


@task_fault(UNSAFE_INPUT)
def fifo_as_instruction(task: Path) -> None:
    """The same where the prompt should be."""
    (task / "instruction.md").unlink()
    special(os.mkfifo, task / "instruction.md")


@task_fault(UNSAFE_INPUT)
def device(task: Path) -> None:
    """A character device that never ends (``/dev/zero``)."""
    special(lambda path: os.mknod(path, 0o20644, os.makedev(1, 5)), task / "environment" / "zero")


# ------------------------------------------------------------------ names

name_fault("name_backslash", "a\\b.txt")
name_fault("name_newline", "a\nb.txt")
name_fault("name_escape", "a\x1b[31m.txt")
name_fault("name_trailing_dot", "file.")
name_fault("name_trailing_space", "file ")
name_fault("name_device", "aux.txt")
name_fault("name_device_upper", "NUL")
name_fault("name_drive", "c:file.txt")
name_fault("name_not_utf8", b"caf\xe9.txt")
name_fault("name_longest", "n" * 255, OK)
name_fault("name_leading_dash", "--help", OK)
name_fault("name_wide", "名" * 85, OK)


@task_fault(UNSAFE_PATH)
def names_clash_by_case(task: Path) -> None:
    """Two names that are one on macOS and Windows."""
    for name in ("A.txt", "a.txt"):
        (task / "environment" / name).write_text(name, encoding="utf-8")
    if (task / "environment" / "A.txt").read_text(encoding="utf-8") != "A.txt":
        raise CannotMake("this file system folds case")


@task_fault(UNSAFE_PATH)
def folders_clash_by_case(task: Path) -> None:
    """Two folders that are one on macOS and Windows, without a common file name."""
    for folder, name in (("Data", "one.txt"), ("data", "two.txt")):
        (task / "environment" / folder).mkdir(exist_ok=True)
        (task / "environment" / folder / name).write_text("x\n", encoding="utf-8")
    if (task / "environment" / "Data" / "two.txt").exists():
        raise CannotMake("this file system folds case")


@task_fault(UNSAFE_PATH)
def names_clash_by_normal_form(task: Path) -> None:
    """The same letter composed and decomposed: one file on macOS."""
    for form in ("NFC", "NFD"):
        name = unicodedata.normalize(form, "é.txt")
        (task / "environment" / name).write_text(form, encoding="utf-8")
    if len(list((task / "environment").glob("*.txt"))) != 2:
        raise CannotMake("this file system folds normal form")


# ------------------------------------------------------------------ size and depth


@task_fault(EITHER)
def nesting_deep(task: Path) -> None:
    """400 folders in each other; the path still fits."""
    folder = task / "environment" / "/".join("d" * 400)
    folder.mkdir(parents=True)
    (folder / "bottom.txt").write_text("deep\n", encoding="utf-8")


@task_fault(EITHER)
def path_longer_than_the_system_takes(task: Path) -> None:
    """A path of more than 4096 bytes, made step by step: opening it by its full name fails."""
    here = os.open(task / "environment", os.O_RDONLY)
    for _ in range(20):
        os.mkdir("n" * 250, dir_fd=here)
        below = os.open("n" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("bottom.txt", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=here))
    os.close(here)


@task_fault(EITHER)
def file_sparse_huge(task: Path) -> None:
    """A file that claims a terabyte and takes no room."""
    with (task / "environment" / "huge.bin").open("wb") as file:
        try:
            file.truncate(1 << 40)
        except OSError as error:
            raise CannotMake("no such large files here") from error
