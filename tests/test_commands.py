"""The manual in `tests/commands/` is a test: every command in it is run, its output compared.

In a page, an indented block is a session in a new, empty folder that has `fixtures/` in it. A line
that starts with ``% `` is a command; what it prints follows, lines of stderr led by ``2> ``, and
``=> 4`` says that it ends with another code than 0. ``pytest --update-golden`` writes what the
commands print now; read the diff.

The pages in `WITH_HUB` have a Hub of their own, empty at first, and Alice's token; it is shown as
the real one, and the ids of its commits as COMMIT. The others can reach none.
"""

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from hubserver import HubServer

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "tests" / "commands").glob("*.md"))
WITH_HUB = {"publish"}
PROMPT, INDENT = "% ", "    "
ENVIRONMENT = {
    "PATH": os.pathsep.join([sysconfig.get_path("scripts"), *os.defpath.split(os.pathsep)]),
    "LC_ALL": "C.UTF-8",
    "COLUMNS": "100",
    "HF_ENDPOINT": "http://127.0.0.1:9",  # nobody listens there: no test may reach the Hub
}


@dataclass(frozen=True)
class Example:
    """A command of a page, and what it prints."""

    line: int
    command: str
    output: str


def sessions(text: str) -> list[list[Example]]:
    """The sessions of a page; a line that is not indented ends one."""
    found: list[list[Example]] = []
    fresh = True
    for number, line in enumerate(text.splitlines(), start=1):
        if line and not line.startswith(INDENT):
            fresh = True
        elif line.startswith(INDENT + PROMPT):
            if fresh:
                found.append([])
            fresh = False
            found[-1].append(Example(number, line.removeprefix(INDENT + PROMPT), ""))
        elif not fresh:
            last = found[-1][-1]
            printed = last.output + line.removeprefix(INDENT) + "\n"
            found[-1][-1] = Example(last.line, last.command, printed)
    return [[Example(e.line, e.command, e.output.rstrip("\n")) for e in each] for each in found]


@contextmanager
def hub_of(page: Path, folder: Path) -> Iterator[dict[str, str]]:
    """The environment by which the commands of a page reach its Hub, where it has one."""
    if page.stem not in WITH_HUB:
        yield {}
        return
    with HubServer(folder, tokens={"hf_alice": "alice", "hf_bob": "bob"}) as server:
        yield {"HF_ENDPOINT": server.url, "HF_TOKEN": "hf_alice", "HF_HUB_DISABLE_XET": "1"}


def run(command: str, folder: Path, hub: Mapping[str, str]) -> str:
    """What a command prints, as a page shows it."""
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**ENVIRONMENT, **hub, "HOME": str(home), "HF_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    lines = [*done.stdout.splitlines(), *(f"2> {line}" for line in done.stderr.splitlines())]
    if done.returncode:
        lines.append(f"=> {done.returncode}")
    shown = "\n".join(line.rstrip() for line in lines)
    if hub:
        shown = shown.replace(hub["HF_ENDPOINT"], "https://huggingface.co")
        shown = re.sub(r"\b[0-9a-f]{40}\b|(?<= at )[0-9a-f]{12}\b", "COMMIT", shown)
    return re.sub(re.escape(str(folder)), "HERE", shown).rstrip("\n")


@pytest.mark.skipif(sys.platform == "win32", reason="the manual is written for POSIX shells")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_manual(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    text = page.read_text(encoding="utf-8")
    said = sessions(text)
    assert said, "a page without a command tests nothing"
    wrong: list[str] = []
    fresh: dict[int, str] = {}
    with hub_of(page, tmp_path / "hub") as hub:
        for number, session in enumerate(said):
            folder = tmp_path / str(number) / "here"
            folder.mkdir(parents=True)
            (folder / "fixtures").symlink_to(ROOT / "fixtures")
            for example in session:
                printed = run(example.command, folder, hub)
                fresh[example.line] = printed
                if printed != example.output:
                    wrong.append(f"{page.name}:{example.line}: % {example.command}\n{printed}")
    if request.config.getoption("update_golden"):
        page.write_text(rewritten(text, fresh), encoding="utf-8")
        return
    assert not wrong, "\n\n".join(wrong)


def rewritten(text: str, fresh: dict[int, str]) -> str:
    """The page with what its commands print now."""
    lines: list[str] = []
    skipping = False
    for number, line in enumerate(text.splitlines(), start=1):
        if number in fresh:
            lines.append(line)
            lines += [(INDENT + each).rstrip() for each in fresh[number].splitlines()]
            skipping = True
        elif line.startswith(INDENT + PROMPT) or (line and not line.startswith(INDENT)):
            if skipping and not line.startswith(INDENT):
                lines.append("")
            skipping = False
            lines.append(line)
        elif not skipping:
            lines.append(line)
    return "\n".join(lines).rstrip("\n") + "\n"


def test_pages_are_read_as_written() -> None:
    text = "Text.\n\n    % echo a\n    a\n\n    % false\n    => 1\n\nMore.\n\n    % echo b\n    b\n"
    assert sessions(text) == [
        [Example(3, "echo a", "a"), Example(6, "false", "=> 1")],
        [Example(11, "echo b", "b")],
    ]
