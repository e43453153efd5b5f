"""Lay out `.typing/rlconvert`: the installed package tree as links, for the type checkers.

The sources of `rlconvert` live in two folders, `convert/` and `formats/`. mypy and pyright find
packages by their folders' names, so they get one folder named `rlconvert` with a link for each
entry of `convert/` and one for `formats/`. Run it again when an entry of `convert/` comes or goes.

    python scripts/link_typing.py && mypy && pyright -p .typing
"""

import json
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def lay_out(root: Path) -> None:
    """Replace `root/.typing` by a fresh one."""
    typing = root / ".typing"
    shutil.rmtree(typing, ignore_errors=True)
    package = typing / "rlconvert"
    package.mkdir(parents=True)
    entries = [path for path in (root / "convert").iterdir() if path.name != "__pycache__"]
    entries.append(root / "formats")
    for entry in entries:
        (package / entry.name).symlink_to(Path("../..") / entry.relative_to(root))
    # pyright skips whatever lies below a folder whose name starts with a dot, so `.typing` has to
    # be its root; and it enters a linked folder only when `include` names it.
    folders = sorted(f"rlconvert/{entry.name}" for entry in entries if entry.is_dir())
    settings = {
        "extends": "../pyproject.toml",
        "extraPaths": [".", "../tests"],
        "include": ["rlconvert", *folders, "../tests", "../scripts"],
    }
    text = json.dumps(settings, indent=2) + "\n"
    (typing / "pyrightconfig.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    lay_out(ROOT)
