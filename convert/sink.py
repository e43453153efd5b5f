"""The staged output: written beside its final place and renamed there last.

Until `Sink.commit` nothing stands at the final place; a run that fails or is interrupted leaves
nothing behind.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, Literal

from .errors import OutputExists, UsageError, WriteError
from .files import Blob, FileTree, Link, parents

_MAX_OPEN = 64
"""Row files kept open at once; a source may have thousands of tasksets."""

OURS = ".rlconvert"
"""The folder of an output that holds provenance, reports and records; no layout reads it."""


class Sink:
    """An output folder in the making.

    `stage` is its place until `commit`. Nothing is written through a link: the stage is ours.
    """

    def __init__(self, out: str, *, force: bool = False) -> None:
        self.out = os.path.abspath(out)
        with writing(self.out):
            self._refuse_existing(force)
        self._folders = {""}
        self._open: OrderedDict[str, BinaryIO] = OrderedDict()
        self._started: set[str] = set()
        self._above: list[str] = []
        self.stage = ""
        try:
            with writing(self.out):
                above = self._make_above()
                name = f".{os.path.basename(self.out)}.partial-"
                self.stage = tempfile.mkdtemp(prefix=name, dir=above)
                self.work = tempfile.mkdtemp(prefix=".work-", dir=self.stage)
        except BaseException:
            self.abort()
            raise

    def _make_above(self) -> str:
        """Make the folders above the output, and remember which: `abort` removes them."""
        above = os.path.dirname(self.out)
        missing = []
        while not os.path.lexists(above):
            missing.append(above)
            above = os.path.dirname(above)
        for folder in reversed(missing):
            os.mkdir(folder)
            self._above.append(folder)
        return os.path.dirname(self.out)

    def _refuse_existing(self, force: bool) -> None:
        if not os.path.lexists(self.out):
            return
        if os.path.islink(self.out) or not os.path.isdir(self.out):
            what = "a link" if os.path.islink(self.out) else "not a folder"
            raise OutputExists(
                f"{self.out} is there already and is {what}",
                reason="output-exists",
                remedy="Choose another output",
            )
        if not os.listdir(self.out):
            return
        ours = os.path.isdir(os.path.join(self.out, OURS))
        if not force:
            remedy = "Choose another, or replace it with --force"
        elif not ours:
            remedy = "It was not written by rlconvert, so --force does not touch it; choose another"
        else:
            return
        raise OutputExists(
            f"the output folder {self.out} is there already", reason="output-exists", remedy=remedy
        )

    def adopt(self, made: str, path: str) -> None:
        """Move a tree made under `work` to its place in the output."""
        with writing(path):
            self._make_parents(path)
            os.rename(made, f"{self.stage}/{path}" if path else self.stage)

    def merge(self, made: str) -> None:
        """Move what is in a tree made under `work` to the root of the output."""
        with writing(made):
            for name in sorted(os.listdir(made)):
                os.rename(f"{made}/{name}", f"{self.stage}/{name}")
            os.rmdir(made)

    def put(self, path: str, blob: Blob, *, executable: bool = False) -> None:
        """Write one file."""
        with writing(path):
            self._make_parents(path)
            write_file(f"{self.stage}/{path}", blob, executable=executable)

    def put_link(self, path: str, target: str) -> None:
        """Make one link."""
        with writing(path):
            self._make_parents(path)
            os.symlink(target, f"{self.stage}/{path}")

    def put_folder(self, path: str) -> None:
        """Make one folder."""
        with writing(path):
            self._make_parents(f"{path}/.")

    def append(self, path: str, data: bytes) -> None:
        """Add bytes to a file that grows."""
        with writing(path):
            stream = self._open.get(path)
            if stream is None:
                stream = self._reopen(path)
            self._open.move_to_end(path)
            stream.write(data)

    def _reopen(self, path: str) -> BinaryIO:
        """A stream at the end of the file. The one not used for longest makes room for it."""
        if len(self._open) >= _MAX_OPEN:
            self._open.popitem(last=False)[1].close()
        self._make_parents(path)
        mode: Literal["ab", "xb"] = "ab" if path in self._started else "xb"
        stream = open(f"{self.stage}/{path}", mode)  # noqa: SIM115 - closed by commit or abort
        self._started.add(path)
        self._open[path] = stream
        return stream

    def _make_parents(self, path: str) -> None:
        for folder in parents(path):
            if folder not in self._folders:
                self._folders.add(folder)
                os.makedirs(f"{self.stage}/{folder}", exist_ok=True)

    def commit(self) -> None:
        """Put the finished output in its place; an older one of ours is replaced."""
        with writing(self.out):
            self._close()
            shutil.rmtree(self.work)
            os.chmod(self.stage, 0o777 & ~_umask())  # mkdtemp made it private
            self._move_into_place()
            self._above.clear()

    def _move_into_place(self) -> None:
        if not os.path.lexists(self.out):
            os.rename(self.stage, self.out)
            return
        name = f".{os.path.basename(self.out)}.old-"
        old = tempfile.mkdtemp(prefix=name, dir=os.path.dirname(self.out))
        os.rename(self.out, f"{old}/out")
        try:
            os.rename(self.stage, self.out)
        except BaseException:
            os.rename(f"{old}/out", self.out)
            os.rmdir(old)
            raise
        shutil.rmtree(old, ignore_errors=True)

    def abort(self) -> None:
        """Remove everything that was staged, and the folders above it that were made for it."""
        for stream in self._open.values():
            with suppress(OSError):  # what is buffered may not fit on a full disk
                stream.close()
        self._open.clear()
        if self.stage:
            shutil.rmtree(self.stage, ignore_errors=True)
        for folder in reversed(self._above):
            with suppress(OSError):
                os.rmdir(folder)

    def _close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()


def write_tree(root: str, tree: FileTree) -> None:
    """Write `tree` as the new folder `root`. Links come last: nothing is written through one."""
    os.mkdir(root)
    made = {""}
    links: list[tuple[str, str]] = []
    for path, entry in tree.entries.items():
        folder = path.rpartition("/")[0]
        if folder not in made:
            _make_folders(root, folder, made)
        if isinstance(entry, Link):
            links.append((path, entry.target))
        else:
            write_file(f"{root}/{path}", entry.blob, executable=entry.executable)
    for path in tree.empty_folders:
        _make_folders(root, path, made)
    for path, target in links:
        os.symlink(target, f"{root}/{path}")


def _make_folders(root: str, folder: str, made: set[str]) -> None:
    for each in (*parents(folder), folder):
        if each not in made:
            made.add(each)
            os.mkdir(f"{root}/{each}")


def write_file(path: str, blob: Blob, *, executable: bool) -> None:
    """Write a new file; the caller's umask applies to its mode as it does to any other file."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o777 if executable else 0o666)
    try:
        for chunk in blob.chunks():
            left = memoryview(chunk)
            while left:
                left = left[os.write(descriptor, left) :]
    finally:
        os.close(descriptor)


def replace_file(path: str, blob: Blob) -> None:
    """Write a file whole or not at all; what stood there is replaced, a link as a link."""
    with writing(path):
        folder, name = os.path.split(path)
        work = tempfile.mkdtemp(prefix=f".{name}-", dir=folder)
        try:
            write_file(f"{work}/{name}", blob, executable=False)
            os.replace(f"{work}/{name}", path)
        finally:
            shutil.rmtree(work, ignore_errors=True)


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Turn what the operating system refuses into a `WriteError` that names `path`."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise WriteError(
            f"cannot be written: {error.strerror or error}",
            reason="disk-full" if full else "cannot-write",
            file=path,
            remedy="Make room and convert again"
            if full
            else "Choose an output where you may write",
        ) from error


def check_apart(source: str, out: str) -> None:
    """`UsageError` when one of two folders lies in the other: the run would read what it writes."""
    inner, outer = os.path.realpath(out), os.path.realpath(source)
    common = os.path.commonpath([inner, outer])
    if inner == outer:
        problem = "the output is the source"
    elif common == outer:
        problem = "the output lies inside the source"
    elif common == inner:
        problem = "the source lies inside the output"
    else:
        return
    raise UsageError(problem, reason="output-and-source", remedy="Choose an output elsewhere")


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
