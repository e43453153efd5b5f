"""The same tasks run by the four frameworks' own runners, as a table of what they earn.

    eval "$(scripts/frameworks DIR)"; eval "$(scripts/sandbox DIR)"
    scripts/four_frameworks [COLUMN...]             print the table (many minutes)
    scripts/four_frameworks [COLUMN...] --write     and put it into fixtures/verify/four.json
    scripts/four_frameworks [COLUMN...] --check     and fail when it is not what stands there

Rows are the sound tasks of `fixtures/verify`, as they are. Verifiers builds no Dockerfile, so it
has a second column, `verifiers with images`: the images are built first, and it runs what
`rlconvert` writes for it when it is told their names. A cell says what the oracle and nop earn, or
why the framework does not run the task. What stands in the file holds for the sandbox that it was
measured in: `RLCONVERT_SANDBOX`.

A framework runs in the Python that RLCONVERT_<FORMAT>_PYTHON names (`scripts/frameworks`), or in
the one that `rlconvert verify` makes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rlconvert import convert, verify
from rlconvert.card import table
from rlconvert.errors import RlconvertError
from rlconvert.format import format_names
from rlconvert.pipe import Settings
from rlconvert.running.sandboxes import Question
from rlconvert.running.verdicts import Earned, TaskRun

ROOT = Path(__file__).resolve().parent.parent
VERIFY = ROOT / "fixtures" / "verify"
SOUND = VERIFY / "sound"
KEPT = VERIFY / "four.json"
SANDBOX = "RLCONVERT_SANDBOX"

WITH_IMAGES = "verifiers with images"
COLUMNS = (*sorted(format_names()), WITH_IMAGES)
TEMPLATE = "docker.io/rlconvert/verify-{task}:1"
_WORDS = 160

Cells = dict[str, str]
"""What is said of each task, by its name."""


def images_named() -> Settings:
    """How tasks are converted when their images are there."""
    return Settings(options={"image-template": TEMPLATE}, jobs=1)


def measured(column: str, sandbox: str, jobs: int = 1) -> Cells:
    """What a framework makes of every task."""
    framework = column.partition(" ")[0]
    python = os.environ.get(f"RLCONVERT_{framework.upper()}_PYTHON")
    variables = json.loads((VERIFY / "expected.json").read_bytes())["variables"]
    os.environ.update(variables)
    with ExitStack() as stack:
        folder = SOUND
        if column == WITH_IMAGES:
            folder = stack.enter_context(_converted(framework))
            stack.enter_context(_images(sandbox))
        run = verify(
            str(folder),
            read_as="harbor",
            frameworks=[framework],
            using={framework: python} if python else {},
            question=Question(sandbox=sandbox, jobs=jobs, variables=tuple(variables)),
            record=False,
            on_run=lambda _, task: print(f"{column}: {task.task}: {cell(task)}", file=sys.stderr),
        )
    (result,) = run.results
    if result.missing is not None:
        raise result.missing
    return {task.task: cell(task) for task in result.runs}


@contextmanager
def _converted(target: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="rlconvert-") as work:
        out = Path(work, "out")
        convert(str(SOUND), str(out), to=[target], read_as="harbor", settings=images_named())
        yield out


@contextmanager
def _images(engine: str) -> Iterator[None]:
    """The image of each task that has a Dockerfile, under the name that `TEMPLATE` gives it."""
    folders = {
        path.parent.parent.name: path.parent for path in SOUND.glob("*/environment/Dockerfile")
    }
    names = {TEMPLATE.format(task=task): folder for task, folder in folders.items()}
    try:
        for name, folder in names.items():
            build = [engine, "build", "--quiet", "--network=host", "--tag", name, str(folder)]
            done = subprocess.run(build, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"four_frameworks: {name} is not built: {done.stderr.strip()}")
        yield
    finally:
        remove = [engine, "rmi", "--force", *names]
        subprocess.run(remove, capture_output=True, check=False)


def cell(run: TaskRun) -> str:
    """What is said of one task."""
    if run.oracle is None or run.nop is None or run.reason == "refused":
        return f"{run.reason}: {run.problem}"[:_WORDS]
    return f"{_said(run.oracle)} / {_said(run.nop)}"


def _said(earned: Earned) -> str:
    """All of it: the number, the named rewards, those of each step, and the error."""
    text = str(earned)
    for name, rewards in earned.steps:
        named = ", ".join(f"{key} {value:g}" for key, value in rewards or ())
        text += f"; {name}: {named or 'nothing'}"
    if earned.error is not None and earned.error.value not in text:
        text += f"; {earned.error.value}"
    return text


def kept() -> dict[str, dict[str, Cells]]:
    """What was measured: by the sandbox and the column."""
    if not KEPT.is_file():
        return {}
    found: dict[str, dict[str, Cells]] = json.loads(KEPT.read_bytes())
    return found


def keep(sandbox: str, columns: Mapping[str, Cells]) -> None:
    """Put what was measured in place of what was before."""
    known = kept()
    here = {**known.get(sandbox, {}), **columns}
    known[sandbox] = dict(sorted(here.items()))
    text = json.dumps(dict(sorted(known.items())), indent=2, ensure_ascii=False)
    KEPT.write_text(f"{text}\n", encoding="utf-8")


def shown(columns: Mapping[str, Cells]) -> str:
    """The table: a row for each task."""
    tasks = sorted({task for cells in columns.values() for task in cells})
    said = [[cells.get(task, "") for cells in columns.values()] for task in tasks]
    return table(("task", *columns), ((task, *row) for task, row in zip(tasks, said, strict=True)))


def differences(sandbox: str, columns: Mapping[str, Cells]) -> Iterator[str]:
    """What is not as it is kept."""
    known = kept().get(sandbox, {})
    for column, cells in columns.items():
        before = known.get(column, {})
        for task in sorted({*cells, *before}):
            was, now = before.get(task, "not there"), cells.get(task, "not there")
            if was != now:
                yield f"{column}, {task}: {was} -> {now}"


def main() -> None:
    """Measure, print, and keep or compare."""
    parser = argparse.ArgumentParser(
        prog="four_frameworks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("columns", nargs="*", metavar="COLUMN", help=", ".join(COLUMNS))
    parser.add_argument("--jobs", type=int, default=1, help="trials at a time")
    then = parser.add_mutually_exclusive_group()
    then.add_argument("--write", action="store_true")
    then.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if unknown := set(options.columns) - set(COLUMNS):
        parser.error(f"no such column: {', '.join(sorted(unknown))}")
    sandbox = os.environ.get(SANDBOX)
    if sandbox is None:
        parser.error(f"{SANDBOX} is not set: scripts/sandbox says what to export")
    chosen = options.columns or COLUMNS
    columns: dict[str, Cells] = {}
    for column in chosen:
        try:
            columns[column] = measured(column, sandbox, options.jobs)
        except RlconvertError as error:
            sys.exit(f"four_frameworks: {column}: {error}")
        if options.write:
            keep(sandbox, columns)
    print(shown(columns))
    if options.check and (found := list(differences(sandbox, columns))):
        sys.exit("\n".join(("not as in fixtures/verify/four.json:", *found)))


if __name__ == "__main__":
    main()
