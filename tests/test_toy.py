"""A third format, which holds part of a task: what the sidecar gives back, and when not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from laws.comparing import differing
from laws.running import folder, laid, run, tasks_in
from laws.sources import toy
from rlconvert.errors import ExitCode
from rlconvert.files import Entry, FileTree, Link, make_tree
from rlconvert.format import choose_format, format_names, get_format, sniff
from rlconvert.prompt import Messages
from strategies.files import text_file
from trees import assert_same_tree

__all__ = ["toy"]

CONFIG = """\
# A comment that no model holds.
schema_version = "1.4"
[task]
name = "org/words"
[metadata]
difficulty = "hard"
[agent]
timeout_sec = 60
[environment]
docker_image = "ghcr.io/x/y"
surprise = 1
"""
SCRIPT = "#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n"


def repo(*, steps: tuple[str, ...] = ()) -> FileTree:
    """Two tasks away from where a writer would put them, and files of no task."""
    files: dict[str, Entry] = {
        "task.toml": text_file(CONFIG + "".join(f'[[steps]]\nname = "{one}"\n' for one in steps)),
        "environment/seed.sh": text_file("#!/bin/sh\n", executable=True),
        "environment/link": Link("seed.sh"),
        "tests/test.sh": text_file(SCRIPT, executable=True),
        "solution/solve.sh": text_file("true\n"),
    }
    for one in steps or ("",):
        path = f"steps/{one}/instruction.md" if one else "instruction.md"
        files[path] = text_file("Count\r\nthe words.\n")
    task = make_tree(files, ["solution/empty"])
    other = task.union(FileTree({"solution/solve.sh": text_file("another\n")}))
    shared = FileTree({"README.md": text_file("---\nlicense: mit\n---\n")})
    return shared.union(task.moved("sets/a/words"), other.moved("sets/b/words"))


def edit(out: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change one of the toys."""
    path = out / "toys" / "a__words" / "toy.json"
    held = json.loads(path.read_bytes())
    change(held)
    path.write_text(json.dumps(held), encoding="utf-8")


def test_registered_by_one_line(tmp_path: Path) -> None:
    there = run(laid(tmp_path, repo()), "harbor", "toy", tmp_path / "there")
    assert "toy" in format_names()
    assert choose_format(folder(there.out), None) is get_format("toy")
    assert [found.layout for found in sniff(folder(there.out))] == ["toys"]


def test_untouched_comes_back_byte_for_byte(tmp_path: Path) -> None:
    source = laid(tmp_path, repo())
    there = run(source, "harbor", "toy", tmp_path / "there")
    back = run(there.out, "toy", "harbor", tmp_path / "back")
    assert_same_tree(back.out, source, ignore=[".rlconvert"])


def test_an_edit_is_translated_and_the_rest_supplied(tmp_path: Path) -> None:
    source = laid(tmp_path, repo())
    there = run(source, "harbor", "toy", tmp_path / "there")
    edit(there.out, lambda held: held["steps"][0].update(prompt="Count the letters.\n"))
    edit(there.out, lambda held: held["metadata"].update(difficulty="easy"))
    back = run(there.out, "toy", "harbor", tmp_path / "back")
    old, new = tasks_in(source, "harbor"), tasks_in(back.out, "harbor")
    edited = next(task for task in new.values() if task.metadata == {"difficulty": "easy"})
    assert edited.steps[0].prompt == Messages.user("Count the letters.\n")
    assert differing(old["a__words"], edited) == {"steps.prompt", "metadata"}
    untouched = next(task for task in new.values() if task is not edited)
    assert not differing(old["b__words"], untouched)
    assert (back.out / "sets/b/words/task.toml").read_bytes() == CONFIG.encode()


def test_an_edited_task_goes_back_to_its_place(tmp_path: Path) -> None:
    source = laid(tmp_path, repo())
    there = run(source, "harbor", "toy", tmp_path / "there")
    edit(there.out, lambda held: held["metadata"].update(difficulty="easy"))
    back = run(there.out, "toy", "harbor", tmp_path / "back")
    assert set(tasks_in(back.out, "harbor")) == {"a__words", "b__words"}


def test_an_edit_that_contradicts_the_sidecar_is_stale(tmp_path: Path) -> None:
    there = run(laid(tmp_path, repo(steps=("one", "two"))), "harbor", "toy", tmp_path / "there")
    edit(there.out, lambda held: held["steps"].pop())
    back = run(there.out, "toy", "harbor", tmp_path / "back")
    unreadable = back.conversion.report.unreadable
    assert [key.what for key in unreadable] == ["stale-provenance"]
    assert next(iter(unreadable.values())).examples == ["a__words"]
    assert not list(back.out.glob("sets/a/*"))
    assert list(back.out.glob("sets/b/words/task.toml"))


def test_stale_alone_ends_with_its_code(tmp_path: Path) -> None:
    tree = repo(steps=("one", "two")).below("sets/a/words")
    there = run(laid(tmp_path, tree), "harbor", "toy", tmp_path / "there")
    path = there.out / "toys" / "source" / "toy.json"
    held = json.loads(path.read_bytes())
    held["steps"].pop()
    path.write_text(json.dumps(held), encoding="utf-8")
    back = run(there.out, "toy", "harbor", tmp_path / "back")
    assert back.conversion.exit_code() is ExitCode.STALE_PROVENANCE


def test_without_sidecar_what_was_dropped_is_gone(tmp_path: Path) -> None:
    source = laid(tmp_path, repo())
    there = run(source, "harbor", "toy", tmp_path / "there")
    back = run(there.forgetful(), "toy", "harbor", tmp_path / "back")
    old, new = tasks_in(source, "harbor"), tasks_in(back.out, "harbor")
    assert differing(old["a__words"], new["a__words"]) == {
        "identity",
        "runtime",
        "seed",
        "oracle",
        "agent",
        "schema",
        "extras",
    }


def test_what_a_way_drops_is_a_loss(tmp_path: Path) -> None:
    there = run(laid(tmp_path, repo()), "harbor", "toy", tmp_path / "there")
    assert there.conversion.exit_code() is ExitCode.DONE
    assert there.conversion.exit_code(strict=True) is ExitCode.LOSS
