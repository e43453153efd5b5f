"""What the Hub does to a repo: modes and empty folders are gone, links are text files."""

from __future__ import annotations

import os
from pathlib import Path


def publish(root: Path) -> Path:
    """Do that to a folder, in place."""
    for path in sorted(root.rglob("*"), reverse=True):
        if path.is_symlink():
            target = os.readlink(path)  # noqa: PTH115 - a Path would tidy the target
            path.unlink()
            path.write_text(target, encoding="utf-8")
        elif path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        else:
            path.chmod(0o644)
    return root
