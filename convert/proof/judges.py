"""The Pythons in which frameworks judge: found, made once, and kept.

Each framework has a virtual environment of its own, under a name that holds a digest of what was
asked for. It is made aside and only a finished one gets the name, so there is never half of one.
A framework that cannot be had is a `JudgeMissing`, never a pass.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rlconvert.errors import JudgeMissing
from rlconvert.judge import Judge, Verdict

_SECRET = re.compile(r"(?i)token|secret|passw|credential|api_?key")
_INSTALLERS = ("PIP_", "UV_")
"""What these programs are told may hold the key to a private index; nothing else may."""

_INSTALL_SECONDS = 3600
_PROOF_SECONDS = 300
_WORKS = """
import ensurepip, sys, venv
sys.exit("%d.%d" % sys.version_info[:2] != sys.argv[1])
"""


def cache_folder() -> Path:
    """Where the environments are kept: ``${XDG_CACHE_HOME:-~/.cache}/rlconvert/judges``."""
    above = os.environ.get("XDG_CACHE_HOME")
    return (Path(above) if above else Path.home() / ".cache") / "rlconvert" / "judges"


def judge_python(name: str, judge: Judge, root: Path | None = None) -> str:
    """The Python that has the framework `name`, made on first use. `JudgeMissing`."""
    root = root or cache_folder()
    final = root / f"{name}-{_digest(judge)}"
    try:
        root.mkdir(parents=True, exist_ok=True)
        with _locked(root / f".{name}.lock"):
            if not _runs(final / "bin" / "python"):
                _make(name, judge, root, final)
    except OSError as error:
        raise _missing(name, f"its environment cannot be made: {error}") from error
    return str(final / "bin" / "python")


def tool_folder(requirement: str, root: Path | None = None) -> str:
    """The folder of a program named like its package, installed on first use. `JudgeMissing`."""
    name = re.split(r"[<>=~!; \[]", requirement, maxsplit=1)[0]
    tool = Judge(
        requirements=(requirement,),
        pythons=("3.13", "3.12", "3.11"),
        proof=f"from importlib.metadata import version; version({name!r})",
        scripts="",
        hear=lambda _: Verdict(),
    )
    return str(Path(judge_python(name, tool, root)).parent)


def own_python(name: str, judge: Judge, python: str) -> str:
    """The user's own Python for a framework; `JudgeMissing` when the framework is not in it."""
    found = shutil.which(os.path.expanduser(python))  # noqa: PTH111 - a Path would lose the "./"
    if found is None:
        raise _missing(name, f"{python} is no program", "Name the Python of a virtual environment")
    found = os.path.abspath(found)  # noqa: PTH100 - not resolved: a venv's Python is a link
    if (said := _proof(found, judge)) is not None:
        raise _missing(name, f"it cannot be used from {python}: {said}", "Install it there")
    return found


def _digest(judge: Judge) -> str:
    asked = "\n".join([*judge.requirements, *judge.pip_flags, *judge.pythons])
    return hashlib.sha256(asked.encode()).hexdigest()[:12]


def _missing(name: str, problem: str, remedy: str | None = None) -> JudgeMissing:
    return JudgeMissing(
        f"the judge {name} is not available: {problem}",
        reason="judge-missing",
        remedy=remedy or f"Install it yourself and name its Python: --using {name}=PYTHON",
    )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One at a time: the second to come finds what the first has made."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make(name: str, judge: Judge, root: Path, final: Path) -> None:
    interpreter = next(_interpreters(judge.pythons), None)
    if interpreter is None:
        wanted = " or ".join(judge.pythons)
        raise _missing(name, f"no working Python {wanted} was found on PATH, under pyenv or by uv")
    # The name is a link: programs in an environment know its real place, which must not change.
    made = Path(tempfile.mkdtemp(prefix=f"{final.name}.", dir=root))
    try:
        _install(name, judge, interpreter, made)
        if (said := _proof(str(made / "bin" / "python"), judge)) is not None:
            raise _missing(name, f"it was installed, but does not work: {said}")
        _rename_link(made, final)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _rename_link(made: Path, final: Path) -> None:
    before = final.resolve() if final.is_symlink() else None
    fresh = final.with_name(f"{made.name}.link")
    with suppress(FileNotFoundError):
        fresh.unlink()
    fresh.symlink_to(made.name)
    fresh.replace(final)
    if before is not None and before.parent == final.parent.resolve() and before != made.resolve():
        shutil.rmtree(before, ignore_errors=True)


def _install(name: str, judge: Judge, interpreter: str, folder: Path) -> None:
    python = str(folder / "bin" / "python")
    said = _said_by([interpreter, "-m", "venv", str(folder)])
    if said is None and not judge.pip_flags and (uv := _uv()) is not None:
        install = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", python]
        if _said_by([*install, *judge.requirements]) is None:
            return
    if said is None:
        pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
        said = _said_by([*pip, "--quiet", *judge.pip_flags, *judge.requirements])
    if said is not None:
        raise _missing(name, f"the installation failed: {said}")


def _said_by(command: list[str]) -> str | None:
    """None when a command does well, else its last words."""
    try:
        done = subprocess.run(
            command,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_INSTALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {_INSTALL_SECONDS} s"
    if done.returncode == 0:
        return None
    lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or [f"it ended with {done.returncode}"])[-1].strip()


def _environment() -> dict[str, str]:
    """The user's settings for indexes and proxies, but no key to anything else."""
    return {
        key: value
        for key, value in os.environ.items()
        if key.startswith(_INSTALLERS) or not _SECRET.search(key)
    } | {"UV_PYTHON_DOWNLOADS": "never"}


def _proof(python: str, judge: Judge) -> str | None:
    """None when the framework can be imported, else why not."""
    with tempfile.TemporaryDirectory(prefix="rlconvert-") as home:
        try:
            done = subprocess.run(
                [python, "-c", judge.proof],
                env={"PATH": os.environ.get("PATH", os.defpath), "HOME": home, "LANG": "C.UTF-8"},
                cwd=home,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_PROOF_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    last = done.stderr.strip().splitlines()[-1:]
    return None if done.returncode == 0 else "".join(last) or f"it ended with {done.returncode}"


def _runs(python: Path) -> bool:
    """Whether an environment is there, and the Python it was made from still is."""
    if not python.exists():
        return False
    with suppress(OSError):
        return subprocess.run([str(python), "-S", "-c", ""], check=False).returncode == 0
    return False


def _interpreters(versions: tuple[str, ...]) -> Iterator[str]:
    """Pythons that really work and can make environments.

    A pyenv shim may exist and only say that no such version is chosen.
    """
    for version in versions:
        for candidate in _candidates(version):
            with suppress(OSError, subprocess.TimeoutExpired):
                probe = [candidate, "-c", _WORKS, version]
                if subprocess.run(probe, capture_output=True, timeout=60, check=False).returncode:
                    continue
                yield candidate


def _candidates(version: str) -> Iterator[str]:
    for folder in os.get_exec_path():
        for name in (f"python{version}", "python3"):
            if (Path(folder) / name).is_file():
                yield str(Path(folder) / name)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    versions = (pyenv / "versions").glob(f"{version}*/bin/python")
    yield from sorted(map(str, versions), key=_by_number, reverse=True)
    if (uv := _uv()) is not None:
        found = subprocess.run(
            [uv, "python", "find", version],
            env=_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        if found.returncode == 0:
            yield found.stdout.strip()


def _by_number(path: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path)]


def _uv() -> str | None:
    """The program uv, where there is one that works."""
    path = shutil.which("uv")
    if path is None:
        return None
    done = subprocess.run([path, "--version"], capture_output=True, check=False)
    return path if done.returncode == 0 else None
