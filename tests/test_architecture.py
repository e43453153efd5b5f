"""The shape of the code: who may import whom, who may speak, what stays small and quick."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CARRIERS = {"taskfolder", "scorers"}
FRAMEWORKS = {"harbor", "nemo", "openenv", "verifiers"} | {
    path.name
    for path in (ROOT / "formats").iterdir()
    if (path / "__init__.py").exists() and path.name not in CARRIERS
}


@dataclass(frozen=True)
class Module:
    """One Python file of the package."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def name(self) -> str:
        """The name it is imported by."""
        parts = ["rlconvert", *self.path.relative_to(ROOT).with_suffix("").parts]
        if parts[1] == "convert":
            del parts[1]
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def imports(self) -> Iterator[tuple[int, str]]:
        """Line and absolute name of everything imported, inside functions too.

        `from a.b import c` gives `a.b.c`, be `c` a module or not.
        """
        package = self.name if self.path.stem == "__init__" else self.name.rpartition(".")[0]
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield node.lineno, alias.name
            elif isinstance(node, ast.ImportFrom):
                origin = node.module or ""
                if node.level:
                    above = package.split(".")[: len(package.split(".")) - node.level + 1]
                    origin = ".".join([*above, *([node.module] if node.module else [])])
                for alias in node.names:
                    yield node.lineno, f"{origin}.{alias.name}"


def modules(*tops: str) -> list[Module]:
    found: list[Module] = []
    for top in tops:
        for path in sorted((ROOT / top).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            found.append(Module(path, text, ast.parse(text, filename=str(path))))
    assert found, f"no modules below {tops}"
    return found


def is_data(path: Path) -> bool:
    """A scorer runs alone in a container, a judge in a framework's Python: not in the package."""
    inner = path.relative_to(ROOT)
    alone = ("formats/scorers/grade.py", "formats/scorers/gold.py")
    data = ("formats/scorers/*/*.py", *alone, "formats/*/judge/*.py")
    return any(inner.match(pattern) for pattern in data)


def where(module: Module, line: int) -> str:
    return f"{module.path.relative_to(ROOT)}:{line}"


def layer(name: str) -> str:
    """`core`, `registry` (the table in `formats/__init__.py`), or a folder in `formats/`."""
    parts = name.split(".")
    if parts[:2] != ["rlconvert", "formats"]:
        return "core"
    return parts[2] if len(parts) > 2 and (ROOT / "formats" / parts[2]).is_dir() else "registry"


def allowed(here: str) -> set[str]:
    """The layers that a layer may import, besides itself.

    The core imports none: it finds a format by its name in the table, when it is asked for.
    """
    if here in {"core", "registry"}:
        return set()
    if here == "scorers":
        return {"core"}
    return {"core", "scorers"} if here == "taskfolder" else {"core", *CARRIERS}


def test_layers() -> None:
    faults: list[str] = []
    for module in modules("convert", "formats"):
        here = layer(module.name)
        for line, name in module.imports():
            if name.split(".")[0] == "rlconvert" and layer(name) not in {here, *allowed(here)}:
                faults.append(f"{where(module, line)}: {here} imports {name}")
    assert not faults, "\n".join(faults)


def test_formats_table_imports_nothing() -> None:
    (table,) = [m for m in modules("formats") if m.name == "rlconvert.formats"]
    assert not list(table.imports())


def test_core_names_no_framework() -> None:
    """In code, strings and comments: what only one framework has is said in its own folder."""
    # Not after a lower-case letter, nor before one: `mnemonic` is fine, `HarborTask` is not.
    pattern = re.compile(rf"(?<![a-z])(?i:{'|'.join(sorted(FRAMEWORKS))})(?![a-z])")
    faults: list[str] = []
    for path in sorted((ROOT / "convert").rglob("*")):
        if not path.is_file() or "__pycache__" in path.parts:
            continue
        assert not pattern.search(path.name), path
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if found := pattern.search(line):
                faults.append(f"{path.relative_to(ROOT)}:{number}: {found[0]}: {line.strip()}")
    assert not faults, "\n".join(faults)


def test_model_needs_only_the_standard_library() -> None:
    """And so does every module that it imports."""
    by_name = {module.name: module for module in modules("convert")}
    todo, seen = ["rlconvert.model"], set[str]()
    while todo:
        name = todo.pop()
        if name in seen or name not in by_name:
            continue
        seen.add(name)
        for line, target in by_name[name].imports():
            top = target.split(".")[0]
            if top == "rlconvert":
                todo += [target, target.rpartition(".")[0]]
            else:
                assert top in sys.stdlib_module_names, f"{where(by_name[name], line)}: {target}"
    assert "rlconvert.model" in seen


# What the folders of `convert/` may import of each other; modules beside them are the floor.
ABOVE_CORE = {
    "archives": set[str](),
    "hub": set[str](),
    "proof": set[str](),
    "running": {"archives", "proof"},
    "tags": {"hub", "proof"},
    "publishing": {"archives", "hub", "proof", "tags"},
}


def test_folders_of_the_core_stand_on_each_other() -> None:
    faults: list[str] = []
    for module in modules("convert"):
        here = module.path.relative_to(ROOT / "convert").parts[0]
        for line, name in module.imports():
            there = [*name.split("."), ""][1]
            if here in ABOVE_CORE and there in ABOVE_CORE.keys() - {here, *ABOVE_CORE[here]}:
                faults.append(f"{where(module, line)}: {here} imports {name}")
    assert not faults, "\n".join(faults)


def test_one_folder_imports_the_hub_library() -> None:
    for module in modules("convert", "formats"):
        for line, name in module.imports():
            if name.split(".")[0] == "huggingface_hub":
                assert module.path.parent == ROOT / "convert" / "hub", where(module, line)


SPEAKING = {"sys.exit", "sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__", "os._exit"}


def test_only_the_command_line_speaks_and_exits() -> None:
    """Everything else returns values and raises the errors of `errors.py`."""
    faults: list[str] = []
    for module in modules("convert", "formats"):
        if re.match(r"rlconvert\.(cli|__main__)\b", module.name) or is_data(module.path):
            continue
        faults += [f"{where(module, line)}: {what}" for line, what in spoken(module)]
    assert not faults, "\n".join(faults)


def spoken(module: Module) -> Iterator[tuple[int, str]]:
    for line, name in module.imports():
        if name.split(".")[0] in {"typer", "rich"} or name in SPEAKING:
            yield line, f"imports {name}"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if (name := f"{node.value.id}.{node.attr}") in SPEAKING:
                yield node.lineno, name
        elif isinstance(node, ast.Name) and node.id in {"print", "exit", "quit", "SystemExit"}:
            yield node.lineno, node.id


def test_modules_are_short() -> None:
    long = {
        str(module.path.relative_to(ROOT)): lines
        for module in modules("convert", "formats", "scripts")
        if (lines := len(module.text.splitlines())) > 400
    }
    assert not long


def test_modules_have_names_that_say_something() -> None:
    vague = {"base", "common", "helper", "helpers", "manager", "misc", "util", "utils"}
    for module in modules("convert", "formats", "scripts", "tests"):
        assert not vague & {module.path.stem.strip("_"), module.path.parent.name}, module.path


HEAVY = ["datasets", "huggingface_hub", "httpx2", "pyarrow", "pydantic", "rich", "yaml"]
PROBE = f"""
import sys
from rlconvert.cli import main
sys.argv = ["rlconvert", "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("loaded:", *[name for name in {HEAVY!r} if name in sys.modules])
"""


def test_help_is_quick() -> None:
    """`rlconvert --help` loads none of the heavy libraries."""
    run = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "loaded:"


@pytest.mark.parametrize("name", ["rlconvert", "rlconvert.model", "rlconvert.formats"])
def test_library_is_quick_to_import(name: str) -> None:
    code = f"import sys, {name}; print(*[n for n in {HEAVY!r} if n in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
