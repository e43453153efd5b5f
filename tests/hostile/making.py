"""What the generators share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Generator = Callable[[Path], str]

OK = "ok"
EITHER = "either"
MALFORMED = "Malformed"
READ_ERROR = "ReadError"
UNSAFE_INPUT = "UnsafeInput"
UNSAFE_PATH = "UnsafePath"
TOO_BIG = "TooBig"

LFS_POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
    "size 12345\n"
)
SECRET = "a secret outside of the task\n"

TASK_FAULTS: dict[str, Generator] = {}
REPO_FAULTS: dict[str, Generator] = {}


class CannotMake(Exception):
    """This machine or user cannot have the fault; a test skips."""


def write_task(folder: Path, config: str | bytes = "", *, answer: str = "fine") -> Path:
    """A small, correct Harbor task at `folder`, with `config` as its ``task.toml``."""
    files: dict[str, str | bytes] = {
        "task.toml": config,
        "instruction.md": f"Put the word `{answer}` into `/app/answer.txt`.\n",
        "environment/Dockerfile": "FROM python:3.12-slim\nWORKDIR /app\n",
        "tests/test.sh": (
            f'#!/bin/bash\n[ "$(cat /app/answer.txt)" = "{answer}" ] && r=1 || r=0\n'
            "echo $r > /logs/verifier/reward.txt\n"
        ),
        "solution/solve.sh": f"#!/bin/bash\necho {answer} > /app/answer.txt\n",
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(0o755 if path.suffix == ".sh" else 0o644)
    return folder


def task_fault(expected: str) -> Callable[[Callable[[Path], None]], Generator]:
    """Register a function that spoils the task folder it is given."""

    def register(spoil: Callable[[Path], None]) -> Generator:
        def generate(root: Path) -> str:
            write_task(root / "tasks" / "good")
            # Outside of every task, inside the repository: what an escaping link would reach.
            (root / "outside").mkdir()
            (root / "outside" / "secret.txt").write_text(SECRET, encoding="utf-8")
            spoil(write_task(root / "tasks" / "bad"))
            return expected

        generate.__name__ = spoil.__name__
        generate.__doc__ = spoil.__doc__
        TASK_FAULTS[spoil.__name__] = generate
        return generate

    return register


def link(path: Path, target: str | Path) -> None:
    """Put a symbolic link to `target` at `path`, whatever is there now."""
    if path.is_symlink() or path.exists():
        path.unlink()
    try:
        path.symlink_to(target)
    except OSError as error:
        raise CannotMake("no symbolic links here") from error


def special(make: Callable[[Path], None], path: Path) -> None:
    """Make something at `path` that not every machine or user can make."""
    try:
        make(path)
    except (OSError, AttributeError) as error:
        raise CannotMake(f"cannot make {path.name} here") from error
