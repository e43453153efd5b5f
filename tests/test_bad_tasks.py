"""Bad input, through the whole pipe: a typed error for the bad task, nothing lost of the others."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from converting import ONE_JOB, below, convert_folder, left_out, loss_lines, snapshot
from hostile import EITHER, OK, REPO_FAULTS, TASK_FAULTS, CannotMake, Generator, write_task
from rlconvert import errors
from rlconvert.errors import ExitCode, RlconvertError
from rlconvert.files import FileTree
from rlconvert.format import get_format
from rlconvert.formats.taskfolder.folder import task_from_folder
from rlconvert.memory import MemorySource
from rlconvert.model import Task
from rlconvert.pipe import convert
from rlconvert.source import FolderSource
from trees import assert_same_tree

CONFIG = "task.toml"

# The reason and the file of each error. What is not here is accepted.
TASKS: dict[str, tuple[str, str]] = {
    "toml_broken": ("bad-toml", CONFIG),
    "toml_unescaped_backslash": ("bad-toml", CONFIG),
    "toml_bom": ("byte-order-mark", CONFIG),
    "toml_not_utf8": ("not-utf8", CONFIG),
    "toml_utf16": ("not-utf8", CONFIG),
    "toml_nul": ("nul-character", CONFIG),
    "toml_duplicate_key": ("bad-toml", CONFIG),
    "toml_huge_integer": ("bad-toml", CONFIG),
    "toml_impossible_date": ("bad-toml", CONFIG),
    "toml_1_1_only": ("bad-toml", CONFIG),
    "toml_nested_arrays": ("too-deep", CONFIG),
    "toml_nested_tables": ("too-deep", CONFIG),
    "toml_deep_dotted_key": ("too-deep", CONFIG),
    "toml_huge": ("too-big", CONFIG),
    "schema_version_number": ("wrong-type", CONFIG),
    "task_without_name": ("missing-key", CONFIG),
    "task_name_without_slash": ("package-name", CONFIG),
    "task_name_with_newline": ("control-character", CONFIG),
    "task_name_with_dots": ("package-name", CONFIG),
    "task_name_not_ascii": ("package-name", CONFIG),
    "task_version_number": ("wrong-type", CONFIG),
    "authors_are_strings": ("wrong-type", CONFIG),
    "timeout_with_unit": ("wrong-type", CONFIG),
    "cpus_nan": ("bad-value", CONFIG),
    "memory_unit_unknown": ("legacy-size", CONFIG),
    "memory_twice_unequal": ("legacy-conflict", CONFIG),
    "env_value_number": ("wrong-type", CONFIG),
    "env_is_list": ("wrong-type", CONFIG),
    "environment_is_list": ("wrong-type", CONFIG),
    "network_mode_unknown": ("bad-value", CONFIG),
    "hosts_without_allowlist": ("network-policy", CONFIG),
    "host_is_url": ("network-host", CONFIG),
    "tpu_topology": ("tpu-topology", CONFIG),
    "mcp_without_url": ("mcp-transport", CONFIG),
    "mcp_literal_credential": ("mcp-credential", CONFIG),
    "shared_verifier_with_environment": ("verifier-environment", CONFIG),
    "artifact_destination_escapes": ("artifact-path", CONFIG),
    "step_without_folder": ("file-missing", "steps/missing"),
    "step_name_escapes": ("step-name", CONFIG),
    "step_name_is_device": ("step-name", CONFIG),
    "step_names_clash": ("step-name-taken", CONFIG),
    "strategy_unknown": ("bad-value", CONFIG),
    "toml_is_folder": ("file-missing", CONFIG),
    "toml_is_a_link": ("config-is-a-link", CONFIG),
    "instruction_missing": ("file-missing", "instruction.md"),
    "instruction_is_folder": ("file-missing", "instruction.md"),
    "instruction_not_utf8": ("instruction-not-utf8", "instruction.md"),
    "tests_missing": ("file-missing", "tests/test.sh"),
    "test_script_missing": ("file-missing", "tests/test.sh"),
    "test_script_is_folder": ("script-not-a-file", "tests/test.sh"),
    "test_script_ignored": ("script-ignored", "tests/test.sh"),
    "environment_missing": ("file-missing", "environment"),
    "instruction_is_lfs_pointer": ("lfs-pointer", "instruction.md"),
    "data_is_lfs_pointer": ("lfs-pointer", "environment/data.bin"),
    "file_unreadable": ("unreadable", "environment/private.txt"),
    "instruction_links_outside": ("link-escapes", "instruction.md"),
    "config_links_outside": ("link-escapes", CONFIG),
    "link_relative_escape": ("link-escapes", "tests/data.txt"),
    "link_absolute": ("link-escapes", "environment/passwd"),
    "link_absolute_inside": ("link-escapes", "environment/again"),
    "link_escape_and_back": ("link-escapes", "tests/back"),
    "link_through_link": ("link-escapes", "tests/data.txt"),
    "link_folder_outside": ("link-escapes", "solution"),
    "link_cycle_folder": ("link-cycle", "tests/loop/again"),
    "link_cycle_self": ("link-cycle", "tests/a"),
    "link_dangling_outside": ("link-escapes", "environment/later.txt"),
    "fifo": ("not-a-file", "environment/pipe"),
    "fifo_as_instruction": ("not-a-file", "instruction.md"),
    "device": ("not-a-file", "environment/zero"),
    "name_backslash": ("unsafe-name", "environment/a\\b.txt"),
    "name_newline": ("unsafe-name", "environment/a\\nb.txt"),
    "name_escape": ("unsafe-name", "environment/a\\x1b[31m.txt"),
    "name_trailing_dot": ("unsafe-name", "environment/file."),
    "name_trailing_space": ("unsafe-name", "environment/file "),
    "name_device": ("unsafe-name", "environment/aux.txt"),
    "name_device_upper": ("unsafe-name", "environment/NUL"),
    "name_drive": ("unsafe-name", "environment/c:file.txt"),
    "name_not_utf8": ("unsafe-name", "environment/caf\\udce9.txt"),
    "names_clash_by_case": ("names-clash", "environment/a.txt"),
    "folders_clash_by_case": ("names-clash", "environment/data"),
    "names_clash_by_normal_form": ("names-clash", "environment/\u00e9.txt"),
    "nesting_deep": ("too-deep", "environment/" + "/".join("d" * 64)),
    "path_longer_than_the_system_takes": ("unreadable", "environment/nnn"),
    "file_sparse_huge": ("too-big", "environment/huge.bin"),
}

# What the whole source is refused for, and the file that is to blame.
REPOS: dict[str, tuple[str, str]] = {
    "registry_broken": ("bad-json", "registry.json"),
    "registry_is_object": ("wrong-type", "registry.json"),
    "registry_other_schema": ("wrong-type", "registry.json"),
    "registry_bom": ("byte-order-mark", "registry.json"),
    "registry_version_number": ("wrong-type", "registry.json"),
    "registry_description_null": ("wrong-type", "registry.json"),
    "registry_without_tasks": ("missing-key", "registry.json"),
    "registry_path_escapes": ("path-escapes", "registry.json"),
    "registry_path_absolute": ("path-escapes", "registry.json"),
    "registry_path_backslash": ("unsafe-name", "registry.json"),
    "registry_path_drive": ("unsafe-name", "registry.json"),
    "registry_path_nul": ("unsafe-name", "registry.json"),
    "registry_path_too_long": ("unsafe-name", "registry.json"),
    "registry_path_surrogate": ("unsafe-name", "registry.json"),
    "registry_nested": ("too-deep", "registry.json"),
    "nothing_there": ("unknown-format", ""),
}

# What is left out of the output, and what is in it, by the name of the folder.
PARTLY: dict[str, tuple[dict[str, object], list[str]]] = {
    "registry_task_missing": ({"unreadable": "task-missing", "file": "registry.json"}, ["alpha"]),
    "registry_one_path_escapes": (
        {"unreadable": "path-escapes", "file": "registry.json"},
        ["alpha"],
    ),
    "registry_path_twice": ({}, ["alpha"]),
    "registry_path_dots_inside": ({}, ["alpha"]),
    "registry_path_through_link": (
        {"unreadable": "place-behind-link", "file": "registry.json"},
        ["alpha"],
    ),
    "registry_duplicate_ids": ({}, ["river", "river"]),
    "task_names_twice": ({}, ["alpha", "beta"]),
    "task_folders_clash_by_case": (
        {"unreadable": "names-clash", "task": "tasks/alpha"},
        ["Alpha"],
    ),
    "task_folder_is_link": ({"unreadable": "link-escapes", "file": "tasks/bad"}, ["task", "good"]),
    "task_inside_task": ({}, ["outer"]),
}


def make(generate: Generator, root: Path) -> str:
    root.mkdir()
    try:
        return generate(root)
    except CannotMake as error:
        pytest.skip(str(error))


def error_class(reason: str, source: Path) -> type[RlconvertError]:
    """The class of the error that a bad task gives when it is read alone."""
    harbor = get_format("harbor")
    reader = harbor.reader(FolderSource(str(source)), {})
    with pytest.raises(RlconvertError) as caught:
        reader.load(next(iter(reader.refs())))
    assert caught.value.reason == reason
    return type(caught.value)


@pytest.mark.parametrize("target", ["nemo", "harbor"])
@pytest.mark.parametrize("name", TASK_FAULTS)
def test_the_bad_task_is_named_and_the_good_one_converted(
    name: str, target: str, tmp_path: Path
) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    expected = make(TASK_FAULTS[name], source)
    before = snapshot(tmp_path)
    conversion = convert_folder(source, out, target)
    assert conversion.error is None
    assert_same_tree(out / "tasks" / "good", source / "tasks" / "good")
    after = {key: value for key, value in snapshot(tmp_path).items() if key.split("/")[0] != "out"}
    assert after == before, "nothing but the output was touched, and nothing was left beside it"
    about_bad = [line for line in left_out(out) if line.get("task") == "bad"]
    if name not in TASKS:
        assert expected in (OK, EITHER)
        assert not about_bad
        assert conversion.exit_code() is ExitCode.DONE
        assert_same_tree(out / "tasks" / "bad", source / "tasks" / "bad")
        return
    assert expected != OK
    assert conversion.exit_code() is ExitCode.REFUSED
    assert conversion.exit_code(allow_refused=True) is ExitCode.DONE
    assert not (out / "tasks" / "bad").exists()
    (line,) = about_bad
    reason, file = TASKS[name]
    assert line["unreadable"] == reason
    assert str(line["file"]).startswith(file)
    assert line["problem"]
    assert line["remedy"]
    bad = [tally for key, tally in conversion.report.unreadable.items() if key.what == reason]
    assert "bad" in bad[0].examples


@pytest.mark.parametrize("name", TASKS)
def test_a_bad_task_alone_is_the_error_itself(name: str, tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    expected = make(TASK_FAULTS[name], source)
    bad = source / "tasks" / "bad"
    reason, file = TASKS[name]
    kind = error_class(reason, bad)
    if expected != EITHER:
        assert issubclass(kind, getattr(errors, expected))
    before = snapshot(tmp_path)
    conversion = convert_folder(bad, out, "nemo")
    error = conversion.error
    assert error is not None
    assert (type(error), error.reason, error.task) == (kind, reason, "bad")
    assert (error.file or "").startswith(file)
    assert conversion.exit_code() is kind.code
    assert "bad" in str(error)
    assert str(error).isprintable()
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("target", ["nemo", "harbor"])
@pytest.mark.parametrize("name", REPOS)
def test_a_bad_repository_is_refused_as_a_whole(name: str, target: str, tmp_path: Path) -> None:
    source = tmp_path / "source"
    expected = make(REPO_FAULTS[name], source)
    before = snapshot(tmp_path)
    error: RlconvertError | None
    try:
        error = convert_folder(source, tmp_path / "out", target).error
    except RlconvertError as raised:
        error = raised
    assert error is not None
    assert (error.reason, error.file or "") == REPOS[name]
    assert error.remedy
    if expected != EITHER:
        assert isinstance(error, getattr(errors, expected))
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("target", ["nemo", "harbor"])
@pytest.mark.parametrize("name", PARTLY)
def test_the_rest_of_a_repository_is_converted(name: str, target: str, tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    expected = make(REPO_FAULTS[name], source)
    wanted, tasks = PARTLY[name]
    before = snapshot(source)
    conversion = convert_folder(source, out, target)
    assert snapshot(source) == before
    assert conversion.error is None
    lines = left_out(out)
    if name == "task_names_twice" and target == "nemo":
        assert [(line["task"], line["refused"]) for line in lines] == [("beta", "folder-taken")]
        assert (out / "tasks" / "same" / "instruction.md").read_bytes() == (
            source / "tasks" / "alpha" / "instruction.md"
        ).read_bytes()
        return
    assert conversion.exit_code() is (ExitCode.REFUSED if wanted else ExitCode.DONE)
    if wanted:
        first = lines[0]
        assert wanted.items() <= first.items()
        assert first["remedy"]
        if expected != EITHER:
            tally = conversion.report.first_fault
            assert isinstance(tally, getattr(errors, expected))
    else:
        assert not lines
    assert conversion.report.converted(target) == len(tasks)
    found = [path.parent.name for path in out.rglob("task.toml")]
    if target == "harbor" and name.startswith("task_folder"):
        assert sorted(found) == sorted(tasks)


def test_every_fault_has_a_verdict() -> None:
    assert TASKS.keys() <= TASK_FAULTS.keys()
    assert REPOS.keys() | PARTLY.keys() == REPO_FAULTS.keys()
    assert not REPOS.keys() & PARTLY.keys()


# ------------------------------------------------------------------ beside the generators


@pytest.mark.parametrize(
    "name", ["aux", "a\\b", "new\nline", "dot.", "c:drive", b"caf\xe9", "blank "], ids=ascii
)
@pytest.mark.parametrize("where", ["tasks/{}", "{}/deep"])
def test_task_folders_with_names_that_are_not_names_everywhere(
    name: str | bytes, where: str, tmp_path: Path
) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    write_task(source / "tasks" / "good")
    text = name if isinstance(name, str) else name.decode("utf-8", "surrogateescape")
    write_task(source / where.format(text))
    conversion = convert_folder(source, out, "nemo", "harbor")
    assert conversion.exit_code() is ExitCode.REFUSED
    assert conversion.report.converted("nemo") == conversion.report.converted("harbor") == 1
    reasons = {line["unreadable"] for line in left_out(out)}
    assert reasons == {"unsafe-name"}
    assert not [path for path in below(out) if "\\" in path or "\n" in path or "caf" in path]


def test_a_registry_that_names_a_task_inside_another(tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    write_task(source / "tasks" / "outer")
    write_task(source / "tasks" / "outer" / "environment" / "inner")
    entries = [{"name": "i", "path": "tasks/outer/environment/inner"}]
    entries += [{"name": "o", "path": "tasks/outer"}]
    for order in (entries, entries[::-1]):
        registry = [{"name": "s", "version": "1", "description": "", "tasks": order}]
        (source / "registry.json").write_text(json.dumps(registry), encoding="utf-8")
        conversion = convert_folder(source, out / order[0]["name"], "nemo", "harbor")
        assert conversion.exit_code() is ExitCode.REFUSED
        assert [line["unreadable"] for line in left_out(Path(conversion.out))] == [
            "task-inside-task"
        ]
        assert_same_tree(Path(conversion.out) / "tasks" / "outer", source / "tasks" / "outer")


def test_a_refused_task_is_not_among_the_files_of_no_task(tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    write_task(source / "Data" / "one")
    write_task(source / "data" / "two")
    (source / "notes.txt").write_text("kept\n", encoding="utf-8")
    conversion = convert_folder(source, out, "harbor")
    assert conversion.exit_code() is ExitCode.REFUSED
    assert not (out / "data").exists()
    assert (out / "notes.txt").read_bytes() == b"kept\n"


def test_thousands_of_faulty_files_of_no_task(tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    write_task(source / "tasks" / "good")
    (source / "media").mkdir()
    pointer = b"version https://git-lfs.github.com/spec/v1\n" + b"x" * 80
    for number in range(1500):
        (source / "media" / f"{number}.bin").write_bytes(pointer)
    conversion = convert_folder(source, out, "nemo")
    assert conversion.exit_code() is ExitCode.REFUSED
    assert len(left_out(out)) == 1500
    assert conversion.report.converted("nemo") == 1


def test_fail_fast_stops_at_the_first_fault(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    TASK_FAULTS["instruction_missing"](source)
    before = snapshot(tmp_path)
    with pytest.raises(errors.Malformed, match=r"instruction"):
        convert_folder(source, tmp_path / "out", "nemo", settings=replace(ONE_JOB, fail_fast=True))
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("blow", [RecursionError, OSError, errors.Malformed])
def test_whatever_a_reader_meets_is_the_fault_of_one_task(
    blow: Callable[..., Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    for name in ("bad", "good"):
        write_task(source / "tasks" / name)

    def loads(task: str, path: str, tree: FileTree) -> Task:
        if task == "bad":
            raise blow("no", reason="r") if blow is errors.Malformed else blow("no")
        return task_from_folder(task, path, tree)

    monkeypatch.setattr("rlconvert.formats.harbor.reader.task_from_folder", loads)
    conversion = convert_folder(source, out, "nemo")
    assert conversion.exit_code() is ExitCode.REFUSED
    (line,) = left_out(out)
    assert line["task"] == "bad"


def test_the_report_says_the_same_as_the_loss_file(tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    TASK_FAULTS["link_absolute"](source)
    conversion = convert_folder(source, out, "nemo")
    (line,) = left_out(out)
    unreadable = conversion.report.facts()["unreadable"]
    assert isinstance(unreadable, dict)
    (tally,) = unreadable.values()
    assert list(unreadable) == [line["unreadable"]] == ["link-escapes"]
    assert (tally["tasks"], tally["examples"]) == (1, ["bad"])
    assert (tally["problem"], tally["remedy"]) == (line["problem"], line["remedy"])
    assert loss_lines(out)[0]["targets"] == ["nemo"]


def test_a_source_in_memory_is_held_to_the_same_rules(tmp_path: Path) -> None:
    source = tmp_path / "source"
    write_task(source / "tasks" / "good")
    tree = FolderSource(str(source)).tree("")
    hostile = tree.union(tree.below("tasks").moved("a\\b"))
    harbor = get_format("harbor")
    conversion = convert(MemorySource(hostile), harbor, ["nemo"], str(tmp_path / "out"), ONE_JOB)
    assert conversion.exit_code() is ExitCode.REFUSED
    assert conversion.report.converted("nemo") == 1
