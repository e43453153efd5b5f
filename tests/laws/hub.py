"""What the Hub does to a repo: modes and empty folders are gone, and so are links.

Pushed by git, a link comes out as a text file; `rlconvert publish` puts a copy in its place.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

HELLO = Path(__file__).parents[2] / "fixtures" / "harbor" / "hello"


def lay_fragile(source: Path) -> Path:
    """A source whose one task holds all that: two links, an executable program, an empty folder."""
    task = Path(shutil.copytree(HELLO, source / "hello"))
    (task / "tests" / "again.sh").symlink_to("test.sh")
    (task / "more").symlink_to("tests")
    (task / "solution" / "tool").write_bytes(b"\x7fELF\0")
    (task / "solution" / "tool").chmod(0o755)
    (task / "environment" / "empty").mkdir()
    return source


def pushed(root: Path) -> Path:
    """Do to a folder, in place, what a push by git does."""
    for path in sorted(root.rglob("*"), reverse=True):
        if path.is_symlink():
            target = os.readlink(path)  # noqa: PTH115 - a Path would tidy the target
            path.unlink()
            path.write_text(target, encoding="utf-8")
    return _plain(root)


def published(root: Path, copy: Path) -> Path | None:
    """A copy of a folder as it is after `rlconvert publish`; None when it would not take it."""
    links = [path for path in root.rglob("*") if path.is_symlink()]
    if any(_holds_nothing(link) for link in links):
        return None
    return _plain(Path(shutil.copytree(root, copy)))


def _holds_nothing(link: Path) -> bool:
    return not link.is_file() and not any(path.is_file() for path in link.rglob("*"))


def _plain(root: Path) -> Path:
    for path in sorted(root.rglob("*"), reverse=True):
        if path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        else:
            path.chmod(0o644)
    return root
