"""What gets installed, and what it is pinned to."""

import importlib.util
import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import rlconvert
from rlconvert.format import get_format
from rlconvert.formats import FORMATS

ROOT = Path(__file__).parents[1]
CONFIG: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES: list[str] = CONFIG["tool"]["setuptools"]["packages"]
PINS = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")


def test_packages_list_equals_disk() -> None:
    """A folder that is not listed would work here and be missing from the wheel."""
    tops = {"convert": "rlconvert", "formats": "rlconvert.formats"}
    folders = [path.parent.relative_to(ROOT) for top in tops for path in init_files(top)]
    assert sorted(PACKAGES) == sorted(".".join([tops[f.parts[0]], *f.parts[1:]]) for f in folders)


def init_files(top: str) -> list[Path]:
    return list((ROOT / top).rglob("__init__.py"))


def test_every_folder_with_code_is_a_package() -> None:
    """The exceptions are data: what scores, which is a single file, and what a framework's own
    Python runs."""
    for top in ("convert", "formats"):
        for path in (ROOT / top).rglob("*.py"):
            inner = path.relative_to(ROOT)
            is_data = inner.match("formats/scorers/*/*.py") or inner.match("formats/*/judge/*.py")
            assert is_data or path.with_name("__init__.py").exists(), path


def test_judges_are_installed() -> None:
    """The scripts of every judge are package data of their format, and they are there; so are those
    that several judges share."""
    data: dict[str, list[str]] = CONFIG["tool"]["setuptools"]["package-data"]
    for folder in (ROOT / "formats").glob("*/judge"):
        assert "judge/*.py" in data[f"rlconvert.formats.{folder.parent.name}"]
    for name in FORMATS:
        judge = get_format(name).judge
        if judge is not None:
            assert "judge/*.py" in data[f"rlconvert.formats.{name}"]
            assert list(Path(judge.scripts).glob("*.py"))


def test_formats_are_packages() -> None:
    assert set(FORMATS.values()) <= set(PACKAGES)
    assert set(FORMATS.values()) == {f"rlconvert.formats.{name}" for name in FORMATS}


@pytest.mark.parametrize("name", ["convert", "formats"])
def test_no_foreign_top_level_name(name: str) -> None:
    """The source folders are not importable by their own names (run `pytest`, which is the
    installed script; `python -m pytest` would put the root on the path)."""
    assert importlib.util.find_spec(name) is None


def test_typed() -> None:
    assert rlconvert.__file__
    assert Path(rlconvert.__file__).with_name("py.typed").exists()


def test_one_version() -> None:
    assert rlconvert.__version__ == CONFIG["project"]["version"] == metadata.version("rlconvert")
    assert f"## [{rlconvert.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_entry_point() -> None:
    (script,) = metadata.entry_points(group="console_scripts", name="rlconvert")
    assert callable(script.load())


def group(name: str) -> list[Requirement]:
    """A dependency group, with the groups it includes."""
    found: list[Requirement] = []
    for item in CONFIG["dependency-groups"][name]:
        found += [Requirement(item)] if isinstance(item, str) else group(item["include-group"])
    return found


def test_pins_fit_pyproject() -> None:
    """Each direct dependency is pinned within its range; if not, run `scripts/pin`."""
    pins = dict(re.findall(r"^([a-z0-9-]+)==([^ ;]+)", PINS, flags=re.MULTILINE))
    direct = [Requirement(text) for text in CONFIG["project"]["dependencies"]] + group("dev")
    for requirement in direct:
        if requirement.marker is not None and not requirement.marker.evaluate():
            continue  # for a Python that is not supported, where a scorer may run
        version = pins.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement.name} is not pinned"
        assert requirement.specifier.contains(version), f"{requirement} is pinned to {version}"


def test_pins_have_hashes_and_no_address() -> None:
    entries = re.split(r"\n(?=\S)", PINS.strip())
    entries = [entry for entry in entries if not entry.startswith("#")]
    assert entries
    for entry in entries:
        first, *rest = entry.split(" \\\n")
        requirement = Requirement(first)
        assert len(requirement.specifier) == 1
        assert requirement.url is None
        assert rest, f"no hash: {first}"
        assert all(re.fullmatch(r" +--hash=sha256:[0-9a-f]{64}", line) for line in rest), first


def test_frameworks_are_no_dependencies() -> None:
    """They are judges in venvs of their own; they do not even agree with each other."""
    direct = [Requirement(text).name for text in CONFIG["project"]["dependencies"]]
    pinned = re.findall(r"^([a-z0-9-]+)==", PINS, flags=re.MULTILINE)
    names = {canonicalize_name(name) for name in direct} | set(pinned)
    assert not names & {"harbor", "nemo-gym", "openenv", "openenv-core", "verifiers"}
