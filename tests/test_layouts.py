"""Where tasks stand and which tasksets they form: on the fixtures, and on small trees."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rlconvert.errors import Malformed, ReadError
from rlconvert.files import Blob, Entry, File, Link, make_tree
from rlconvert.formats.taskfolder.layouts import find_layout, has_tasks, repo_of, shared_files
from rlconvert.memory import MemorySource
from rlconvert.source import FolderSource, Item

FIXTURES = Path(__file__).parents[1] / "fixtures" / "harbor"


def memory(*paths: str, registry: object = None, **links: str) -> MemorySource:
    """A source of empty files, with this `registry.json`."""
    entries: dict[str, Entry] = {path: File(Blob(b"")) for path in paths}
    entries |= {path.replace("__", "/"): Link(target) for path, target in links.items()}
    if registry is not None:
        entries["registry.json"] = File(Blob(json.dumps(registry).encode()))
    return MemorySource(make_tree(entries), name="set")


def task_folders(*folders: str) -> list[str]:
    return [f"{folder}/task.toml" for folder in folders]


def entries(*paths: str, name: str = "s", version: str = "1") -> dict[str, object]:
    tasks = [{"name": f"n{at}", "path": path} for at, path in enumerate(paths)]
    return {"name": name, "version": version, "description": "d", "tasks": tasks}


def fixture(name: str) -> FolderSource:
    return FolderSource(str(FIXTURES / name))


# ------------------------------------------------------------------ fixtures


def test_registry() -> None:
    source = fixture("registry")
    layout = find_layout(source)
    assert (layout.kind, layout.explicit, layout.faults) == ("registry.json", True, ())
    assert has_tasks(source) == "registry.json at its root"
    assert [(t.key, t.name, t.version, t.order) for t in layout.tasksets] == [
        ("easy@1.0", "easy", "1.0", ("add",)),
        ("easy@1.10", "easy", "1.10", ("add", "sub", "warm-up")),
        ("hard@2.0.0", "hard", "2.0.0", ("mul", "warm-up")),
    ]
    assert [(ref.id, ref.path, ref.tasksets) for ref in layout.refs] == [
        ("add", "datasets/easy/add", ("easy@1.0", "easy@1.10")),
        ("sub", "datasets/easy/sub", ("easy@1.10",)),
        ("warm-up", "datasets/shared/warm-up", ("easy@1.10", "hard@2.0.0")),
        ("mul", "datasets/hard/mul", ("hard@2.0.0",)),
    ]
    shared, faults = shared_files(source, layout)
    assert (list(shared.entries), faults) == (["README.md", "registry.json"], ())


def test_foreign_entries_are_faults_of_their_own() -> None:
    layout = find_layout(fixture("registry-foreign"))
    assert [ref.id for ref in layout.refs] == ["here"]
    assert [(ref.id, error.reason, error.where) for ref, error in layout.faults] == [
        ("mixed@1.0/far", "foreign-git-url", "[0].tasks[1]"),
        ("mixed@1.0/head", "foreign-git-url", "[0].tasks[2]"),
    ]
    assert layout.tasksets[0].order == ("here",)


@pytest.mark.parametrize(
    ("name", "kind", "because", "refs", "shared"),
    [
        ("hello", "one task", "task.toml at its root", [("hello", "")], []),
        (
            "root-level",
            "folders in its root",
            "alpha/task.toml",
            [("alpha", "alpha"), ("beta", "beta")],
            ["README.md"],
        ),
        (
            "dataset-toml",
            "folders in benchmarks/words",
            "benchmarks/words/count/task.toml",
            [("count", "benchmarks/words/count"), ("sort", "benchmarks/words/sort")],
            ["benchmarks/words/dataset.toml", "benchmarks/words/metric.py"],
        ),
        (
            "same-names",
            "registry.json",
            "registry.json at its root",
            [
                ("north__river", "datasets/north/river"),
                ("south__river", "datasets/south/river"),
            ],
            ["registry.json"],
        ),
    ],
)
def test_other_fixtures(
    name: str, kind: str, because: str, refs: list[tuple[str, str]], shared: list[str]
) -> None:
    source = fixture(name)
    layout = find_layout(source)
    assert (layout.kind, has_tasks(source)) == (kind, because)
    assert [(ref.id, ref.path) for ref in layout.refs] == refs
    assert list(shared_files(source, layout)[0].entries) == shared
    assert not layout.faults
    assert repo_of(source, layout).explicit is (kind == "registry.json")


def test_a_dataset_toml_at_the_root_names_the_taskset() -> None:
    source = FolderSource(str(FIXTURES / "dataset-toml" / "benchmarks" / "words"))
    layout = find_layout(source)
    (taskset,) = layout.tasksets
    assert (taskset.key, taskset.name) != ("words", "words")
    assert all(ref.tasksets == (taskset.key,) for ref in layout.refs)


# ------------------------------------------------------------------ found by their task.toml


def test_tasks_are_found_where_they_stand() -> None:
    deep = "/".join("abcdefgh")
    source = memory(
        *task_folders("b", "x/a", "x/y/c", deep, f"{deep}/i"),
        *task_folders("x/a/environment/inner", ".git/z", ".cache/z", ".rlconvert/z"),
        "tasks/README.md",
    )
    layout = find_layout(source)
    assert [ref.path for ref in layout.refs] == [deep, "b", "x/a", "x/y/c"]
    assert layout.kind == "deeper folders"


def test_no_tasks() -> None:
    assert has_tasks(memory("a/instruction.md")) is None
    assert list(find_layout(memory("a/instruction.md")).refs) == []


def test_a_config_that_is_no_file_still_marks_a_task() -> None:
    for source in (memory("other", **{"task.toml": "other"}), memory("task.toml/x")):
        assert has_tasks(source) == "task.toml at its root"
        (ref,) = find_layout(source).refs
        assert (ref.id, ref.path) == ("set", "")
    assert [ref.path for ref in find_layout(memory("a/task.toml/x")).refs] == ["a"]


def test_a_linked_folder_is_not_looked_into() -> None:
    source = memory(*task_folders("real"), again="real")
    assert [ref.path for ref in find_layout(source).refs] == ["real"]
    assert "again" in shared_files(source, find_layout(source))[0].entries


def test_names_that_are_no_names_and_names_that_clash_are_faults() -> None:
    source = memory(*task_folders("t/a", "t/A", "aux/b", "t/c\\d", "t/e\n", "T/f"))
    layout = find_layout(source)
    assert [ref.path for ref in layout.refs] == ["T/f"]
    assert {(ref.path, error.reason) for ref, error in layout.faults} == {
        ("aux/b", "unsafe-name"),
        ("t/A", "names-clash"),
        ("t/a", "names-clash"),
        ("t/c\\d", "unsafe-name"),
        ("t/e\n", "unsafe-name"),
    }
    for ref, error in layout.faults:
        assert error.task == ref.id
        assert ref.id.isprintable()
        assert error.remedy
    shared, _ = shared_files(source, layout)
    assert not shared


@given(
    st.lists(
        st.lists(st.sampled_from(["a", "b", "a__b", "x"]), min_size=1, max_size=3).map("/".join),
        min_size=1,
        max_size=6,
        unique=True,
    )
)
@example(["a/b", "a__b", "b"])
@example(["x/a__b", "x__a/b", "a__b", "b"])
def test_ids_are_unique_and_do_not_depend_on_the_order(folders: list[str]) -> None:
    found: list[dict[str, str]] = []
    for order in itertools.islice(itertools.permutations(folders), 6):
        layout = find_layout(memory(*task_folders(*order), registry=[entries(*order)]))
        ids = {ref.path: ref.id for ref in layout.refs}
        assert len({each.lower() for each in ids.values()}) == len(ids)
        found.append(ids)
    assert all(ids == found[0] for ids in found)


# ------------------------------------------------------------------ registry.json


def test_an_entry_is_read_in_its_normal_spelling() -> None:
    registry = [entries("./tasks/a/", "tasks//a", "tasks/x/../a", "tasks/a")]
    layout = find_layout(memory(*task_folders("tasks/a"), registry=registry))
    assert [(ref.path, ref.tasksets) for ref in layout.refs] == [("tasks/a", ("s@1",))]
    assert not layout.faults


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("..", "path-escapes"),
        ("../tasks/a", "path-escapes"),
        ("tasks/../../tasks/a", "path-escapes"),
        ("/tasks/a", "path-escapes"),
        ("//tasks/a", "path-escapes"),
        ("tasks\\a", "unsafe-name"),
        ("C:\\tasks", "unsafe-name"),
        ("tasks/a\0", "unsafe-name"),
        ("tasks/\ud800", "unsafe-name"),
        ("tasks/gone", "task-missing"),
        ("tasks", "task-missing"),
        ("", "task-missing"),
        ("door/a", "place-behind-link"),
        ("...", "unsafe-name"),
        ("..a", "task-missing"),
    ],
)
def test_an_entry_that_leads_to_no_task(path: str, reason: str) -> None:
    source = memory(
        *task_folders("tasks/a", "tasks/b"), registry=[entries("tasks/b", path)], door="tasks"
    )
    layout = find_layout(source)
    assert [ref.path for ref in layout.refs] == ["tasks/b"]
    ((ref, error),) = layout.faults
    assert (error.reason, error.file, error.where) == (reason, "registry.json", "[0].tasks[1]")
    assert (error.task, ref.id) == ("s@1/n1", "s@1/n1")
    assert error.remedy
    assert str(error).isprintable()


def test_a_task_inside_another_belongs_to_the_outer_whatever_the_order() -> None:
    for order in itertools.permutations(["t/o", "t/o/environment/i", "t/z"]):
        source = memory(*task_folders(*order), registry=[entries(*order)])
        layout = find_layout(source)
        assert {ref.path for ref in layout.refs} == {"t/o", "t/z"}
        assert [error.reason for _, error in layout.faults] == ["task-inside-task"]
        assert set(layout.tasksets[0].order or ()) == {"o", "z"}


def test_a_dataset_may_not_be_there_twice() -> None:
    registry = [entries("a"), entries("a", version="2"), entries("a")]
    with pytest.raises(Malformed) as caught:
        find_layout(memory(*task_folders("a"), registry=registry))
    assert (caught.value.reason, caught.value.where) == ("duplicate-dataset", "[2]")


def test_an_empty_registry() -> None:
    layout = find_layout(memory(*task_folders("a"), registry=[]))
    assert (list(layout.refs), layout.tasksets, layout.explicit) == ([], (), True)


def test_folders_that_no_entry_names_are_files_of_no_task() -> None:
    source = memory(*task_folders("a", "b"), "b/x", registry=[entries("a")])
    shared, _ = shared_files(source, find_layout(source))
    assert list(shared.entries) == ["b/task.toml", "b/x", "registry.json"]


def test_a_folder_that_cannot_be_listed_is_passed_over() -> None:
    class Closed(MemorySource):
        def items(self, folder: str) -> list[Item]:
            if folder == closed:
                raise ReadError("no", reason="unreadable")
            return super().items(folder)

    tree = memory(*task_folders("tasks/a", "tasks/closed/b")).tree("")
    closed = "tasks/closed"
    assert [ref.path for ref in find_layout(Closed(tree)).refs] == ["tasks/a"]
    closed = ""
    with pytest.raises(ReadError):
        find_layout(Closed(tree))


def test_many_entries_take_no_time() -> None:
    paths = [f"tasks/{at:05}" for at in range(5_000)]
    source = memory("x", registry=[entries(*paths)])
    started = time.monotonic()
    assert len(find_layout(source).faults) == 5_000
    assert time.monotonic() - started < 10
