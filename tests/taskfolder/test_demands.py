"""What Harbor demands of a task folder, and where we demand more."""

from __future__ import annotations

import pytest

from rlconvert.errors import RlconvertError
from rlconvert.files import Blob, Entry, File, FileTree, Link, make_tree
from rlconvert.formats.taskfolder.demands import (
    bundles_tests,
    check_folder,
    find_script,
    is_ignored,
    is_separate,
    read_instruction,
    script_name,
    verifier_os,
)
from rlconvert.formats.taskfolder.tables import TaskOs, TaskTable
from rlconvert.formats.taskfolder.toml_schema import decode_task_toml

WHOLE = ("environment/Dockerfile", "instruction.md", "tests/test.sh")
SEPARATE = "[verifier]\nenvironment_mode = 'separate'\n"
STEPS = "[[steps]]\nname = 'one'\n[[steps]]\nname = 'two'\n"
TWO_STEPS = (
    "environment/Dockerfile",
    "steps/one/instruction.md",
    "steps/two/instruction.md",
    "tests/test.sh",
)


def folder(*paths: str, empty: tuple[str, ...] = (), **more: str | bytes) -> FileTree:
    """A tree of files; more of them as `tests__x="text"`, links as `tests__x="-> target"`."""
    entries: dict[str, Entry] = {path: File(Blob(b"x\n")) for path in paths}
    for name, text in more.items():
        path = name.replace("__", "/").replace("_dot_", ".")
        if isinstance(text, str) and text.startswith("-> "):
            entries[path] = Link(text.removeprefix("-> "))
        else:
            entries[path] = File(Blob(text.encode() if isinstance(text, str) else text))
    return make_tree(entries, empty)


def config(toml: str = "") -> TaskTable:
    return decode_task_toml(toml.encode()).config


def verdict(tree: FileTree, toml: str = "") -> tuple[str, str | None] | None:
    """The reason and the file of the refusal, or None."""
    try:
        check_folder(tree, config(toml))
    except RlconvertError as error:
        return (error.reason, error.file) if error.remedy else ("no remedy", None)
    return None


def without(path: str) -> tuple[str, ...]:
    return tuple(each for each in WHOLE if each != path)


@pytest.mark.parametrize(
    ("tree", "toml"),
    [
        (folder(*WHOLE), ""),
        (folder(*without("environment/Dockerfile"), empty=("environment",)), ""),
        (folder(*without("environment/Dockerfile")), "[environment]\ndocker_image = 'x'\n"),
        (folder(*without("tests/test.sh"), "tests/test.bat"), "[environment]\nos = 'windows'\n"),
        (folder(*without("tests/test.sh"), "tests/Dockerfile"), SEPARATE),
        (folder(*without("tests/test.sh"), "tests/docker-compose.yaml"), SEPARATE),
        (folder(*without("tests/test.sh")), "[verifier.environment]\ndocker_image = 'x'\n"),
        (folder(*without("tests/test.sh"), "tests/x.sh", tests__test_dot_sh="-> x.sh"), ""),
        (folder(*TWO_STEPS), STEPS),
        (
            folder(*TWO_STEPS[:3], "steps/one/tests/test.sh", "steps/two/tests/test.sh"),
            STEPS,
        ),
        (folder(*WHOLE, tests___dot_harborignore="*.txt\n"), ""),
        (folder(*WHOLE, _dot_harborignore="*\n"), ""),
        (folder(*WHOLE, tests___dot_harborignore="*\n!test.sh\n"), ""),
    ],
)
def test_folders_that_are_whole(tree: FileTree, toml: str) -> None:
    assert verdict(tree, toml) is None


@pytest.mark.parametrize(
    ("tree", "toml", "reason", "file"),
    [
        (folder(*without("environment/Dockerfile")), "", "file-missing", "environment"),
        (folder(*without("instruction.md")), "", "file-missing", "instruction.md"),
        (
            folder(*without("instruction.md"), "instruction.md/x"),
            "",
            "file-missing",
            "instruction.md",
        ),
        (folder(*without("tests/test.sh")), "", "file-missing", "tests/test.sh"),
        (folder(*WHOLE), "[environment]\nos = 'windows'\n", "file-missing", "tests/test.bat"),
        (
            folder(*without("tests/test.sh"), "tests/Dockerfile"),
            "",
            "file-missing",
            "tests/test.sh",
        ),
        (folder(*without("tests/test.sh")), SEPARATE, "file-missing", "tests/test.sh"),
        (folder(*TWO_STEPS[:2], "tests/test.sh"), STEPS, "file-missing", "steps/two"),
        (
            folder(*TWO_STEPS[:2], "steps/two/x", "tests/test.sh"),
            STEPS,
            "file-missing",
            "steps/two/instruction.md",
        ),
        (
            folder(*TWO_STEPS[:3], "steps/one/tests/test.sh"),
            STEPS,
            "file-missing",
            "steps/two/tests/test.sh",
        ),
        (folder(*WHOLE, tests___dot_harborignore="*.sh\n"), "", "script-ignored", "tests/test.sh"),
        # demanded by us alone
        (
            folder(*without("tests/test.sh"), "tests/test.sh/x"),
            "",
            "script-not-a-file",
            "tests/test.sh",
        ),
        (
            folder(*without("tests/test.sh"), tests__test_dot_sh="-> gone"),
            "",
            "file-missing",
            "tests/test.sh",
        ),
        (
            folder(*without("instruction.md"), instruction_dot_md="-> tests/test.sh"),
            "",
            "instruction-is-a-link",
            "instruction.md",
        ),
        (
            folder(*without("instruction.md"), instruction_dot_md=b"\xff"),
            "",
            "instruction-not-utf8",
            "instruction.md",
        ),
        (
            folder("instruction.md", "x/test.sh", "environment/Dockerfile", tests="-> x"),
            "",
            "folder-is-a-link",
            "tests",
        ),
        (
            folder("instruction.md", "tests/test.sh", "x/Dockerfile", environment="-> x"),
            "",
            "folder-is-a-link",
            "environment",
        ),
        (folder(*WHOLE, solution="-> tests"), "", "folder-is-a-link", "solution"),
        (
            folder(*TWO_STEPS[:2], "tests/test.sh", steps__two="-> one"),
            STEPS,
            "folder-is-a-link",
            "steps/two",
        ),
        (
            folder(*TWO_STEPS, steps__one__tests="-> ../../tests"),
            STEPS,
            "folder-is-a-link",
            "steps/one/tests",
        ),
    ],
)
def test_folders_that_are_not(tree: FileTree, toml: str, reason: str, file: str) -> None:
    assert verdict(tree, toml) == (reason, file)


def test_instructions_are_read_as_harbor_reads_them() -> None:
    tree = folder(a="one\r\ntwo\rthree\n", b=b"\xef\xbb\xbfbom")
    assert read_instruction(tree, "a") == "one\ntwo\nthree\n"
    assert read_instruction(tree, "b") == "\ufeffbom"


def test_the_place_of_a_bad_byte_is_named() -> None:
    with pytest.raises(RlconvertError) as caught:
        read_instruction(folder(a=b"ok \xff"), "a")
    assert caught.value.where == "byte 3"


def test_names_of_scripts() -> None:
    assert script_name(TaskOs.LINUX, "test") == "test.sh"
    assert script_name(TaskOs.WINDOWS, "solve") == "solve.bat"


def test_a_steps_own_script_comes_first() -> None:
    table = config(STEPS)
    assert table.steps is not None
    one, two = table.steps
    tree = folder(*TWO_STEPS, "steps/one/tests/test.sh")
    assert find_script(tree, "test.sh", one) == "steps/one/tests/test.sh"
    assert find_script(tree, "test.sh", two) == "tests/test.sh"
    assert find_script(tree, "test.sh", None) == "tests/test.sh"
    assert find_script(tree, "test.bat", None) is None


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        ("", (False, False)),
        (SEPARATE, (True, True)),
        ("[verifier.environment]\ncpus = 1\n", (True, True)),
        ("[verifier]\nenvironment_mode = 'shared'\n", (False, False)),
        ("{step}[steps.verifier]\nenvironment_mode = 'separate'\n", (False, True)),
        (SEPARATE + "{step}[steps.verifier]\nenvironment_mode = 'shared'\n", (True, False)),
        ("{step}[steps.verifier.environment]\ncpus = 1\n", (False, True)),
    ],
)
def test_where_the_verifier_runs(toml: str, expected: tuple[bool, bool]) -> None:
    step = "[[steps]]\nname = 'one'\n"
    text = toml.replace("{step}", step) if "{step}" in toml else toml + step
    table = config(text)
    assert table.steps is not None
    assert (is_separate(table, None), is_separate(table, table.steps[0])) == expected


@pytest.mark.parametrize(
    ("toml", "system"),
    [
        ("", TaskOs.LINUX),
        ("[environment]\nos = 'windows'\n", TaskOs.WINDOWS),
        ("[environment]\nos = 'windows'\n[verifier.environment]\nos = 'linux'\n", TaskOs.LINUX),
        ("[environment]\nos = 'windows'\n[verifier.environment]\ncpus = 1\n", TaskOs.WINDOWS),
        ("[environment]\nos = 'windows'\n" + SEPARATE, TaskOs.WINDOWS),
    ],
)
def test_the_system_of_the_verifier(toml: str, system: TaskOs) -> None:
    assert verifier_os(config(toml), None) is system


def test_a_bundle_counts_for_a_separate_verifier_alone() -> None:
    tree = folder(*WHOLE, "tests/Dockerfile")
    assert bundles_tests(tree, config(SEPARATE), None)
    assert not bundles_tests(tree, config(), None)
    assert not bundles_tests(folder(*WHOLE), config(SEPARATE), None)


@pytest.mark.parametrize(
    ("path", "ignored"),
    [
        ("tests/a.log", True),
        ("tests/keep.log", False),
        ("tests/sub/a.log", True),
        ("tests/deep/keep.log", True),
        ("tests/out/x", True),
        ("tests/a.txt", False),
        ("solution/a.log", False),
        ("environment/a.tmp", False),
        ("steps/one/tests/b.tmp", True),
        ("steps/one/workdir/b.tmp", False),
    ],
)
def test_what_a_harborignore_excludes(path: str, ignored: bool) -> None:
    tree = folder(
        path,
        tests___dot_harborignore="*.log\n!keep.log\nout/\n",
        tests__deep___dot_harborignore="*\n",
        environment___dot_harborignore="*\n",
        steps__one__tests___dot_harborignore="*.tmp\n",
        steps__one__workdir___dot_harborignore="*.tmp\n",
    )
    assert is_ignored(tree, path) is ignored
