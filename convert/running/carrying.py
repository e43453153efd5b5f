"""Having a runner carry out an order, and leaving nothing behind.

The runner is a subprocess with a private HOME and no variable of the user's but those that find the
engine and those that are named for it. Whatever it starts is ended with it: a keeper, a process of
its own, cleans up when this one is done with it, and also when this one dies.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from rlconvert.errors import VerifyFailed
from rlconvert.proof.answers import answer

from .engines import ENGINES, engine_settings
from .runner import Head, Order, Trial

MARK = "RLCONVERT_RUN"
"""The variable by which the keeper knows what belongs to a run."""

_KEEPER = str(Path(__file__).with_name("keeper.py"))
_POLL_SECONDS = 0.2
_MEASURE_SECONDS = 5
_CLEAN_SECONDS = 180
_MAX_LINE = 1 << 20
_LAST_WORDS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a run may use: seconds without a finished trial, and bytes of files in all."""

    stall: float
    disk: int = 8 << 30


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a runner works. `sandbox` is the engine, or something else that needs none."""

    work: str
    sandbox: str
    path: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)

    def carry_out(
        self, command: Sequence[str], order: Order, bounds: Bounds, more: Mapping[str, str]
    ) -> Generator[Head | Trial]:
        """What the runner says, as it says it.

        `VerifyFailed` when it stalls, fills the disk, or says what is no trial; then and whenever
        the iterator is closed it is ended, with all it started.
        """
        Path(order.work).mkdir()
        place = tempfile.mkdtemp(prefix="order-", dir=self.work)
        asked, trials, log = (Path(place, name) for name in ("order.json", "trials", "log"))
        asked.write_text(order.model_dump_json(), encoding="utf-8")
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*command, str(asked), str(trials)],
                env=self._environment(more),
                cwd=order.work,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            yield from _read(process, trials, log, order.work, bounds)
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        home, scratch = Path(self.work, "home"), Path(self.work, "scratch")
        for folder in (home, scratch):
            folder.mkdir(exist_ok=True)
        path = os.pathsep.join([*self.path, os.environ.get("PATH", os.defpath)])
        return {
            "PATH": path,
            "LANG": "C.UTF-8",
            "HOME": str(home),
            "TMPDIR": str(scratch),
            "GIT_TERMINAL_PROMPT": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            **engine_settings(self.sandbox),
            **more,
            MARK: self.work,
        }


@contextmanager
def stage(sandbox: str, path: Sequence[str] = ()) -> Iterator[Stage]:
    """A folder for runs, which is gone afterwards with everything that mentions it.

    Also when this process is killed: then the keeper alone sees to it.
    """
    engines = [program for name in ENGINES if name == sandbox and (program := shutil.which(name))]
    work = os.path.realpath(tempfile.mkdtemp(prefix="rlconvert-run-"))
    try:
        keeper = subprocess.Popen(
            [sys.executable, "-I", _KEEPER, work, f"{MARK}={work}", *engines],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    try:
        yield Stage(work, sandbox, tuple(path))
    finally:
        _dismiss(keeper)


def _dismiss(keeper: subprocess.Popen[bytes]) -> None:
    if keeper.stdin is not None:  # it is a pipe
        keeper.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        keeper.wait(_CLEAN_SECONDS)


def _read(
    process: subprocess.Popen[bytes], trials: Path, log: Path, work: str, bounds: Bounds
) -> Iterator[Head | Trial]:
    """The lines of the file as they come, until the process is over."""
    last = measure = time.monotonic()
    with closing(_Lines(trials)) as reader:
        while True:
            over = process.poll() is not None
            for line in reader:
                yield answer(Trial, line) if reader.count > 1 else answer(Head, line)
                last = time.monotonic()
            if over:
                break
            if time.monotonic() - last > bounds.stall:
                raise _failed("stalled", f"no trial ended for {bounds.stall:g} s: {_end(log)}")
            if time.monotonic() >= measure:
                measure = time.monotonic() + _MEASURE_SECONDS
                if _too_big(work, bounds.disk):
                    raise _failed("too-much-output", f"its files outgrew {bounds.disk >> 20} MiB")
            time.sleep(_POLL_SECONDS)
        if not reader.count:
            raise _failed("no-verdict", f"the runner said nothing; its last words: {_end(log)}")


class _Lines:
    """Whole lines of a file that grows; it may not be there yet."""

    def __init__(self, path: Path) -> None:
        self.count = 0
        self._path = path
        self._file: IO[bytes] | None = None
        self._begun = b""

    def __iter__(self) -> Iterator[bytes]:
        if self._file is None:
            with suppress(FileNotFoundError):
                self._file = self._path.open("rb")
        if self._file is None:
            return
        while chunk := self._file.readline(_MAX_LINE):
            self._begun += chunk
            if len(self._begun) >= _MAX_LINE:
                raise _failed("garbled-verdict", "a line of the runner's verdict is too long")
            if not self._begun.endswith(b"\n"):
                return
            line, self._begun = self._begun, b""
            self.count += 1
            yield line

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()


def _too_big(folder: str, most: int) -> bool:
    """Whether the files below a folder take more room than `most`, holes not counted."""
    total = 0
    for above, _, names in os.walk(folder):  # noqa: TID251 - only sizes are looked at
        for name in names:
            with suppress(OSError):
                total += Path(above, name).lstat().st_blocks * 512
                if total > most:
                    return True
    return False


def _failed(reason: str, problem: str) -> VerifyFailed:
    return VerifyFailed(problem, reason=reason)


def _end(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _LAST_WORDS))
        return " ".join(file.read().decode("utf-8", "replace").split()) or "none"
