"""From what a person types to a source: a folder, a file that stands for one, or a Hub address."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .address import BY_GIT, HubAddress, parse_hub_address
from .archives.finding import TABLE, is_archive, stem_of
from .errors import UsageError
from .model import Origin
from .repair import repair_folder
from .source import FolderSource

_WHOLE = frozenset({"task.toml", "registry.json", "dataset.toml", "config.yaml", "README.md"})
"""Files that stand for the folder they are in."""


@contextmanager
def open_source(address: str) -> Iterator[FolderSource]:
    """The source at `address`; a Hub repo is downloaded for as long as the context lasts.

    A folder that exists wins over a Hub id. ``git+`` before an address of the Hub has git fetch it
    (`hub/git.py`). `UsageError` when it is neither, `HubError` when the Hub does not give it.
    """
    bare = address.removeprefix(BY_GIT)
    by_git = bare != address
    path = Path(address)
    if path.is_dir():
        yield FolderSource(address)
        return
    if path.is_file():
        yield FolderSource(_folder_of(path))
        return
    place = parse_hub_address(bare)
    if place is None or _is_local_path(bare):
        raise UsageError(
            f"there is no folder {address!r}, and it is no address of a dataset on the Hub",
            reason="no-such-source",
            remedy="Give a folder, org/name[@revision], hf://datasets/org/name or a Hub URL",
        )
    with tempfile.TemporaryDirectory(prefix="rlconvert-") as folder:
        yield _fetched(place, Path(folder) / "repo", by_git=by_git)


def _infer_modes(folder: Path) -> None:
    """Make the files that begin with ``#!`` executable: the Hub's HTTP side keeps no modes."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if file.read(2) == b"#!":
                    path.chmod(path.stat().st_mode | 0o111)


def _folder_of(file: Path) -> str:
    if file.name in _WHOLE:
        return str(file.parent)
    raise UsageError(
        f"{str(file)!r} is a file that no format can read by itself",
        reason="not-a-folder",
        remedy="Give the folder it belongs to",
    )


def _is_local_path(address: str) -> bool:
    return address.startswith((".", "/", "~"))


def _fetched(place: HubAddress, folder: Path, *, by_git: bool) -> FolderSource:
    from .hub.git import clone_dataset
    from .hub.snapshots import fetch_dataset

    snapshot = clone_dataset(place, dest=folder) if by_git else fetch_dataset(place, dest=folder)
    if not snapshot.has_modes:
        _infer_modes(snapshot.folder)
        repair_folder(FolderSource(str(snapshot.folder)))
    origin = Origin(
        label=f"{snapshot.repo_id}@{snapshot.commit[:12]}",
        repo=snapshot.repo_id,
        commit=snapshot.commit,
        url=f"https://huggingface.co/datasets/{snapshot.repo_id}",
        date=snapshot.date,
        modes_inferred=not snapshot.has_modes,
    )
    root = snapshot.folder / place.path
    name = root.name if place.path else snapshot.repo_id.rpartition("/")[2]
    if root.is_file() and is_archive(root.name):
        root, name = root.parent, stem_of(root.name).removesuffix(TABLE)
    elif root.is_file():
        root = Path(_folder_of(root))
        name = root.name
    return FolderSource(str(root), name=name, origin=origin)
