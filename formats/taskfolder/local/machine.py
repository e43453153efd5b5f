"""One machine: an overlay over a root file system, with bubblewrap around it. No security boundary.

All mounts are in a mount namespace of the machine's own, so that the kernel takes them away with
its last process, however that ends; and its first process ends when whoever started it does.
"""

from __future__ import annotations

import io
import json
import os
import selectors
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Self

from rlconvert.errors import CheckFailed
from rlconvert.files import File, FileTree, Link, parents

from .dockerfile import PATH

_ENTER = str(Path(__file__).with_name("enter.py"))
_TAIL = 16_000
_PIPE = 1 << 16
"""So many bytes may wait in a pipe when whoever wrote them has ended."""

_MOUNT = 'mount -t overlay overlay -o "$1" root && shift && exec "$@"'
_FIRST = "echo ready; read _"
"""What the first process does: it waits for the end of a pipe that only we can write to."""

_START_SECONDS = 30.0
_ROOT_ENV = {"PATH": PATH}

Fill = Callable[[IO[bytes]], None]


class MachineFault(CheckFailed):
    """The machine did not start, or a command could not be started in it."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem, reason="machine")


class OutOfTime(Exception):
    """A phase took longer than it may; everything that ran in the machine was killed."""


@dataclass(frozen=True, slots=True)
class Done:
    """A command that ended, and the end of what it said."""

    status: int
    output: str


def missing_tools() -> list[str]:
    """The programs that a machine needs and that are not on PATH."""
    return [name for name in ("bwrap", "unshare", "mount") if shutil.which(name) is None]


def _space() -> tuple[str, ...]:
    """The command that leads another into a mount namespace in which it may mount."""
    user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    return ("unshare", *user, "--mount", "--propagation", "private", "--")


def remove(folder: Path) -> None:
    """Remove a folder of a machine that has ended, whatever a task left there."""
    command = [*_space(), "rm", "-rf", "--", str(folder)]
    subprocess.run(command, capture_output=True, check=False)


class Machine:
    """A machine that stands while it is a context. `layers` are its lower folders, topmost first.

    `folder` is a new folder of its own; what changes is in `upper` below it. `mounts` are folders
    of the host by their place in the machine; `network`: it has the host's.
    """

    def __init__(
        self,
        folder: Path,
        layers: Sequence[Path],
        *,
        network: bool,
        mounts: Mapping[str, Path] | None = None,
    ) -> None:
        self.folder = folder
        self.upper = folder / "upper"
        self._layers = layers
        self._network = network
        self._mounts = mounts or {}

    def __enter__(self) -> Self:
        lower = self._lay_out()
        user = "" if os.geteuid() == 0 else "userxattr,"
        options = f"{user}lowerdir={lower},upperdir=upper,workdir=work"
        info, info_out = os.pipe()
        with os.fdopen(info, "rb") as said:
            try:
                self._first = subprocess.Popen(
                    [*_space(), "sh", "-c", _MOUNT, "sh", options, *self._bubble(info_out)],
                    cwd=self.folder,
                    env={"PATH": os.environ.get("PATH", os.defpath)},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    pass_fds=(info_out,),
                    start_new_session=True,
                )
            finally:
                os.close(info_out)
            words = self._first_words()
            if not words.endswith("ready\n"):
                self._end()
                raise MachineFault(f"the machine does not start: {words.strip() or 'no reason'}")
            self._process = str(json.loads(said.read())["child-pid"])
        # Nobody may look into it, so that only root could remove it.
        (self.folder / "work/work").chmod(0o700)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def _end(self) -> None:
        """End the first process, and with it all others and all mounts."""
        for stream in (self._first.stdin, self._first.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        try:
            self._first.wait(5)
        except subprocess.TimeoutExpired:
            self._first.kill()
            self._first.wait()

    def _lay_out(self) -> str:
        """Make the folders of the overlay; its lower ones, by names that need no quotes."""
        self.folder.mkdir(parents=True)
        for name in ("upper", "work", "root"):
            (self.folder / name).mkdir()
        (self.folder / "upper").chmod(0o755)
        names = [f"lower{number}" for number in range(len(self._layers))]
        for name, layer in zip(names, self._layers, strict=True):
            (self.folder / name).symlink_to(layer.absolute())
        for place in self._mounts:
            above = self.upper
            for part in place.strip("/").split("/"):
                above /= part
                above.mkdir(mode=0o755, exist_ok=True)  # bubblewrap's own would be root's alone
                above.chmod(0o755)
        return ":".join(names)

    def _bubble(self, info: int) -> list[str]:
        mounts = [word for place, at in self._mounts.items() for word in ("--bind", str(at), place)]
        network = [] if self._network else ["--unshare-net"]
        # Root of the host may write these without any capability.
        proc = [f"/proc/{name}" for name in ("sys", "sysrq-trigger", "fs")]
        closed = [word for path in proc for word in ("--ro-bind-try", path, path)]
        apart = [f"--unshare-{name}" for name in ("pid", "ipc", "uts")]
        fate = ["--as-pid-1", "--die-with-parent", "--new-session"]
        bare = ["--hostname", "main", "--clearenv", "--setenv", "PATH", PATH, "--cap-drop", "ALL"]
        return [
            *("bwrap", "--bind", "root", "/", "--dev", "/dev", "--proc", "/proc"),
            *(*closed, *mounts, *apart, *network, *fate, *bare, "--info-fd", str(info)),
            *("--", "/bin/sh", "-c", _FIRST),
        ]

    def _first_words(self) -> str:
        """All that is said until the machine is ready, or until it ends."""
        assert self._first.stdout is not None  # noqa: S101 - a pipe was asked for
        output = self._first.stdout.fileno()
        words, end = b"", time.monotonic() + _START_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            while not words.endswith(b"ready\n") and selector.select(end - time.monotonic()):
                piece = os.read(output, 4096)
                if not piece:
                    break
                words += piece
        return words[-_TAIL:].decode("utf-8", "replace")

    def run(
        self,
        command: Sequence[str],
        *,
        until: float,
        env: Mapping[str, str] = _ROOT_ENV,
        workdir: str = "/",
        user: str | int | None = None,
        fill: Fill | None = None,
        alone: bool = False,
    ) -> Done:
        """Run a command to its end, with what `fill` writes as its input.

        `user` None is root, `until` a time of the monotonic clock. What the command leaves running
        runs on, unless it is `alone`. `OutOfTime` when it takes too long, `MachineFault` when it
        cannot be started.
        """
        request = {"command": list(command), "env": dict(env), "workdir": workdir, "user": user}
        try:
            return self._enter({**request, "kill": alone}, until, fill)
        except OutOfTime:
            self.kill_all()
            raise

    def kill_all(self) -> None:
        """Kill whatever runs in the machine."""
        try:
            self._enter({"command": [], "kill": True}, time.monotonic() + _START_SECONDS, None)
        except OutOfTime:
            raise MachineFault("the machine does not answer") from None

    def _enter(self, request: Mapping[str, object], until: float, fill: Fill | None) -> Done:
        report, report_out = os.pipe()
        with TemporaryFile(dir=self.folder) as given, os.fdopen(report, "rb") as reports:
            given.write(json.dumps(request).encode() + b"\n")
            if fill is not None:
                fill(given)
            given.seek(0)
            with subprocess.Popen(
                [sys.executable, "-IS", _ENTER, self._process, str(report_out)],
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env={},
                pass_fds=(report_out,),
                start_new_session=True,
            ) as process:
                os.close(report_out)
                output = _output(process, until)
                if output is None:
                    process.kill()
                    raise OutOfTime
            facts = [json.loads(line) for line in reports]
        if not facts or "fault" in facts[0]:
            problem = facts[0]["fault"] if facts else f"it ended early: {output.strip()}"
            raise MachineFault(f"a command cannot be started: {problem}")
        return Done(facts[-1]["status"], output)

    def put(
        self,
        tree: FileTree,
        folder: str,
        *,
        until: float,
        owner: tuple[int, int] = (0, 0),
        mode: int | None = None,
    ) -> None:
        """Lay `tree` into `folder` of the machine, as root there: no link of it leads out."""
        made = '[ -d "$1" ] || { mkdir -p -- "$1" && chown "$2" "$1"; }'
        script = f'{{ {made}; }} && exec tar -xf - -C "$1"'
        done = self.run(
            ["/bin/sh", "-c", script, "sh", folder, f"{owner[0]}:{owner[1]}"],
            until=until,
            fill=lambda file: _pack(tree, file, owner, mode),
        )
        if done.status:
            raise MachineFault(f"cannot put files into {folder}: {done.output.strip()}")


def _output(process: subprocess.Popen[bytes], until: float) -> str | None:
    """The end of what a process says until it ends, or None when it does not in time.

    What it leaves running may hold its output open, and is not waited for.
    """
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    output, tail = process.stdout.fileno(), b""
    os.set_blocking(output, False)
    ended = os.pidfd_open(process.pid)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(ended, selectors.EVENT_READ)
            selector.register(output, selectors.EVENT_READ)
            while (left := until - time.monotonic()) > 0:
                ready = {key.fd for key, _ in selector.select(left)}
                piece = b""
                with suppress(BlockingIOError):
                    piece = os.read(output, _PIPE)
                    if not piece and ended not in ready:
                        selector.unregister(output)
                tail = (tail + piece)[-_TAIL:]
                if ended in ready:
                    return tail.decode("utf-8", "replace")
        return None
    finally:
        os.close(ended)


def _pack(tree: FileTree, file: IO[bytes], owner: tuple[int, int], mode: int | None) -> None:
    """Write `tree` as a tar archive; its folders are members where they have an owner."""
    now = int(time.time())

    def member(path: str, kind: bytes, bits: int) -> tarfile.TarInfo:
        made = tarfile.TarInfo(path)
        made.type, made.mode, made.mtime = kind, bits, now
        made.uid, made.gid = owner
        return made

    owned = {folder for path, _ in tree for folder in parents(path)} if any(owner) else set()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted({*tree.empty_folders, *owned}):
            tar.addfile(member(path, tarfile.DIRTYPE, 0o755))
        for path, entry in tree:
            match entry:
                case Link(target):
                    link = member(path, tarfile.SYMTYPE, 0o777)
                    link.linkname = target
                    tar.addfile(link)
                case File(blob, executable):
                    bits = mode if mode is not None else 0o755 if executable else 0o644
                    regular = member(path, tarfile.REGTYPE, bits)
                    regular.size = blob.size
                    tar.addfile(regular, io.BytesIO(blob.read()))
