"""What the tests of whole conversions share."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from hostile import write_task
from rlconvert.files import EAGER_BYTES
from rlconvert.format import choose_format
from rlconvert.pipe import Conversion, Settings, convert
from rlconvert.source import FolderSource

ONE_JOB = Settings(jobs=1)


def convert_folder(
    source: Path, out: Path, *targets: str, settings: Settings = ONE_JOB
) -> Conversion:
    """Convert a folder as the command line does."""
    root = FolderSource(str(source))
    return convert(root, choose_format(root, None), targets, str(out), settings)


def loss_lines(out: Path) -> list[dict[str, object]]:
    """The records of an output's `loss.jsonl`."""
    text = (out / ".rlconvert" / "loss.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def left_out(out: Path) -> list[dict[str, object]]:
    """The records for what was not converted."""
    return [line for line in loss_lines(out) if "unreadable" in line or "refused" in line]


def snapshot(folder: Path) -> dict[str, object]:
    """Everything below a folder that a run could change: kinds, bytes, link targets, modes."""
    return dict(_walk(folder, ""))


def _walk(folder: Path, prefix: str) -> Iterator[tuple[str, object]]:
    with os.scandir(folder) as scan:
        items = sorted(scan, key=lambda item: item.name)
    for item in items:
        name = prefix + item.name
        status = item.stat(follow_symlinks=False)
        if item.is_symlink():
            yield name, ("link", os.readlink(item.path))  # noqa: PTH115 - a Path tidies it
        elif item.is_dir():
            yield name, ("folder", status.st_mode)
            if len(name) < 2000:
                yield from _walk(Path(item.path), name + "/")
        elif item.is_file() and status.st_size < 1 << 24 and os.access(item.path, os.R_OK):
            yield name, (status.st_mode, Path(item.path).read_bytes())
        else:
            yield name, (status.st_mode, status.st_size)


def below(root: Path) -> set[str]:
    """The files and links below a folder, by relative path."""
    return {
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }


LARGE = b"L" * (EAGER_BYTES + 1)
"""More than is read when a source is listed."""


def tasks(root: Path, count: int, *, large: tuple[int, ...] = ()) -> Path:
    """A repository of task folders; those in `large` hold a file that is read late."""
    for number in range(count):
        task = write_task(root / "tasks" / f"task-{number:04}", answer=str(number))
        if number in large:
            (task / "environment" / "large.bin").write_bytes(LARGE)
    return root


def beside(out: Path) -> list[str]:
    """What stands beside the output, the source aside."""
    return sorted(path.name for path in out.parent.iterdir() if path.name != "source")
