"""Law 3: the same input gives the same bytes, and converting again changes nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.checks import check_again
from laws.sources import FEW, NAMES, convertible, toy
from trees import assert_same_tree

__all__ = ["toy"]

HERE = Path(__file__).parent
SOURCES = [
    HERE.parent / "fixtures" / path
    for path in ("harbor/features", "harbor/registry", "nemo/agents", "nemo/items", "nemo/misread")
]

CONVERT = """
import sys
from rlconvert import formats, workers
from rlconvert.format import get_format
from rlconvert.pipe import Settings, convert, convert_shard, merge
from rlconvert.source import FolderSource

tests, jobs, shards, out, *sources = sys.argv[1:]
sys.path.append(tests)
formats.FORMATS["toy"] = "toy"
workers._CHUNK = 5  # several chunks, for several processes
settings = Settings(jobs=int(jobs))
for source in sources:
    where, read_as = FolderSource(source), get_format(source.split("/")[-2])
    for targets in (*([name] for name in formats.FORMATS), ["harbor", "nemo"]):
        place = f"{out}/{where.name}-{'-'.join(targets)}"
        if shards == "1":
            convert(where, read_as, targets, place, settings)
            continue
        parts = [f"{out}-parts/{number}-of-{place.split('/')[-1]}" for number in range(int(shards))]
        for number, part in enumerate(parts, 1):
            convert_shard(where, read_as, targets, part, settings, (number, int(shards)))
        merge(where, read_as, place, parts, settings)
"""


@dataclass(frozen=True)
class Surroundings:
    """Where and how a run happens; nothing of it may show in the output."""

    env: Mapping[str, str] = field(default_factory=dict)
    umask: int = 0o022
    jobs: int = 1
    shards: int = 1
    elsewhere: bool = False
    backwards: bool = False


def converted(place: Path, how: Surroundings) -> Path:
    """The outputs of one run in surroundings of its own."""
    sources = []
    for source in SOURCES:
        copy = place / "sources" / source.parent.name / source.name
        copied(source, copy, backwards=how.backwards)
        sources.append(copy)
    start = place if how.elsewhere else Path("/")
    out = place / "out"
    paths = [path.relative_to(start) if how.elsewhere else path for path in (out, *sources)]
    env = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    env |= {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    subprocess.run(
        [
            sys.executable,
            "-c",
            CONVERT,
            str(HERE),
            str(how.jobs),
            str(how.shards),
            *map(str, paths),
        ],
        check=True,
        cwd=start,
        env={**env, **how.env},
        umask=how.umask,
    )
    return out


def copied(source: Path, copy: Path, *, backwards: bool) -> None:
    """A copy whose folders were filled in their order, or in the other one."""
    copy.mkdir(parents=True)
    for item in sorted(source.iterdir(), reverse=backwards):
        if item.is_dir() and not item.is_symlink():
            copied(item, copy / item.name, backwards=backwards)
        else:
            shutil.copy2(item, copy / item.name, follow_symlinks=False)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The outputs of a plain run."""
    return converted(tmp_path_factory.mktemp("usual"), Surroundings())


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(Surroundings(env={"PYTHONHASHSEED": "4711"}), id="hash seed"),
        pytest.param(Surroundings(env={"LC_ALL": "C"}), id="locale"),
        pytest.param(Surroundings(env={"TZ": "Asia/Kolkata"}), id="time zone"),
        pytest.param(Surroundings(umask=0o077), id="umask"),
        pytest.param(Surroundings(elsewhere=True), id="current folder"),
        pytest.param(Surroundings(jobs=2), id="jobs"),
        pytest.param(Surroundings(shards=3), id="shards"),
        pytest.param(Surroundings(backwards=True), id="order of creation"),
    ],
)
def test_surroundings_do_not_show(usual: Path, how: Surroundings, tmp_path: Path) -> None:
    """Sidecar and reports included."""
    assert_same_tree(converted(tmp_path, how), usual)


@settings(max_examples=FEW)
@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize("name", NAMES)
@given(st.data())
def test_again(name: str, target: str, data: st.DataObject) -> None:
    check_again(data.draw(convertible(name)), name, target)
