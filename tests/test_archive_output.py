"""Outputs whose tasks are in archives: unpacked, they are the outputs that have folders."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from archiving import table
from laws.running import folder, laid, room, run
from laws.sources import FEW, NAMES, convertible, toy
from rlconvert import api, workers
from rlconvert.archives import packing, tarred
from rlconvert.archives.packing import Layout
from rlconvert.archives.reading import tree_of_archive
from rlconvert.archives.tarred import tar_of
from rlconvert.archives.view import ArchiveSource, unpacked
from rlconvert.card import front_matter
from rlconvert.errors import UsageError
from rlconvert.files import Blob, File, FileTree, Link
from rlconvert.format import get_format
from rlconvert.pipe import Settings, convert, convert_shard, merge
from rlconvert.source import BOOKKEEPING, FolderSource, Source
from strategies.files import lay, text_file, trees, with_links
from test_archives import task
from trees import assert_same_tree

__all__ = ["toy"]

ARCHIVE = Settings(jobs=1, layout=Layout.ARCHIVE)
OUTSIDE = BOOKKEEPING | {"README.md"}


def packed(source: Path | Source, read_as: str, to: list[str], out: Path, **more: object) -> Path:
    """Convert with the tasks in archives."""
    where = folder(source) if isinstance(source, Path) else source
    chosen = replace(ARCHIVE, **more)  # type: ignore[arg-type]
    run = convert(unpacked(where), get_format(read_as), to, str(out), chosen)
    if run.error is not None:
        raise run.error
    return out


def opened(out: Path) -> ArchiveSource:
    found = unpacked(folder(out))
    assert isinstance(found, ArchiveSource)
    return found


def task_set(root: Path, count: int, *, links: bool = True) -> Path:
    for number in range(count):
        name = f"task-{number:03}"
        lay(root / "tasks" / name, task(name) if links else task(name).without("environment/to"))
    return root


def row_groups(path: Path) -> list[int]:
    from pyarrow.parquet import ParquetFile

    with path.open("rb") as file:
        meta = ParquetFile(file).metadata
        return [meta.row_group(number).num_rows for number in range(meta.num_row_groups)]


# --- the laws ------------------------------------------------------------------------------------


@settings(max_examples=FEW)
@pytest.mark.parametrize("other", NAMES)
@pytest.mark.parametrize("one", NAMES)
@given(st.data())
def test_unpacked_it_is_the_other_layout(one: str, other: str, data: st.DataObject) -> None:
    """And it goes home as that does: bytes, modes, links, empty folders, files of no task."""
    tree = data.draw(convertible(one))
    assume(not {"task.toml", "toy.json"} & tree.entries.keys())
    with room() as place:
        source = laid(place, tree)
        plain = run(source, one, other, place / "plain")
        if plain.empty:
            return
        out = packed(source, one, [other], place / "packed")
        assert not list(out.glob("**/task.toml"))
        found = unpacked(folder(out))
        assert found.tree("", skip=OUTSIDE) == folder(plain.out).tree("", skip=OUTSIDE)
        back = run(found, other, one, place / "back")
        expected = run(plain.out, other, one, place / "expected")
        assert_same_tree(back.out, expected.out, ignore=[".rlconvert"])


@given(st.data())
def test_a_tree_comes_back_from_its_archive(data: st.DataObject) -> None:
    tree = data.draw(trees())
    tree = data.draw(with_links(tree, [""])).union(FileTree({"task.toml": text_file("")}))
    packed = tar_of(tree)
    assert tree_of_archive(packed) == tree
    assert tar_of(FileTree(dict([*tree.entries.items()][::-1]), tree.empty_folders[::-1])) == packed


def test_what_is_squeezed_much_comes_back() -> None:
    """It is not taken for a bomb."""
    tree = FileTree({"task.toml": text_file(""), "zeros": File(Blob(bytes(70 << 20)))})
    assert tree_of_archive(tar_of(tree)) == tree


# --- the files -----------------------------------------------------------------------------------


def test_the_same_bytes_whoever_writes_them(tmp_path: Path) -> None:
    """In one process or two, in any order of the files, with any hash seed and umask."""
    one = packed(task_set(tmp_path / "one", 5), "harbor", ["harbor"], tmp_path / "first")
    script = (
        "import os, sys; os.umask(0o077)\n"
        "from rlconvert import api; from rlconvert.pipe import Settings\n"
        "from rlconvert.archives.packing import Layout\n"
        "if __name__ == '__main__':\n"
        "    settings = Settings(jobs=2, layout=Layout.ARCHIVE)\n"
        "    api.convert(sys.argv[1], sys.argv[2], to=['harbor'], settings=settings)\n"
    )
    (tmp_path / "script.py").write_text(script)
    second = tmp_path / "second"
    subprocess.run(
        [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "one"), str(second)],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"},
    )
    name = Path("data/train-00000-of-00001.parquet")
    assert (one / name).read_bytes() == (second / name).read_bytes()


def test_row_groups_and_files_are_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task_set(tmp_path / "set", 230)
    out = packed(tmp_path / "set", "harbor", ["harbor"], tmp_path / "out")
    assert row_groups(out / "data" / "train-00000-of-00001.parquet") == [100, 100, 30]
    size = len(tar_of(task("task-000")))
    monkeypatch.setattr(packing, "_FILE_BYTES", size * 101)
    monkeypatch.setattr(packing, "_GROUP_BYTES", size * 60)
    out = packed(tmp_path / "set", "harbor", ["harbor"], tmp_path / "more")
    files = sorted((out / "data").iterdir())
    assert [path.name for path in files][::2] == [
        "train-00000-of-00003.parquet",
        "train-00002-of-00003.parquet",
    ]
    groups = [row_groups(path) for path in files]
    assert sum(map(sum, groups)) == 230
    assert all(rows <= 61 for group in groups for rows in group)
    assert all(path.stat().st_size < size * 101 + 100_000 for path in files)
    back = run(opened(out), "harbor", "harbor", tmp_path / "back")
    assert_same_tree(back.out, tmp_path / "set", ignore=[".rlconvert"])


def test_the_card_names_the_rows(tmp_path: Path) -> None:
    out = packed(
        task_set(tmp_path / "set", 2, links=False), "harbor", ["openenv"], tmp_path / "out"
    )
    card = (out / "README.md").read_bytes()
    files = [{"split": "train", "path": "data/train-*-of-00001.parquet"}]
    assert front_matter(card)["configs"] == [{"config_name": "tasks", "data_files": files}]
    text = card.decode()
    assert text.index("The tasks are in archives") < text.index("Use with OpenEnv")
    assert "--from openenv --to openenv" in text
    assert "tags" not in front_matter(card)


def test_rows_of_another_kind_are_not_in_the_card(tmp_path: Path) -> None:
    """`load_dataset` takes one kind of file for all configs of a repo."""
    out = packed(task_set(tmp_path / "set", 2), "harbor", ["nemo"], tmp_path / "out")
    assert list(out.glob("data/**/*.jsonl"))
    assert len(front_matter((out / "README.md").read_bytes())["configs"]) == 1  # type: ignore[arg-type]


def test_a_card_that_is_there_stays(tmp_path: Path) -> None:
    card = b"---\nlicense: mit\n---\r\n# mine\n"
    task_set(tmp_path / "set", 2)
    (tmp_path / "set" / "README.md").write_bytes(card)
    out = packed(tmp_path / "set", "harbor", ["harbor"], tmp_path / "out")
    assert (out / "README.md").read_bytes() == card


def test_rows_without_folders_are_as_ever(tmp_path: Path) -> None:
    fixture = Path(__file__).parents[1] / "fixtures" / "nemo" / "items"
    plain = run(fixture, "nemo", "nemo", tmp_path / "plain").out
    assert_same_tree(packed(fixture, "nemo", ["nemo"], tmp_path / "out"), plain)


def test_several_targets(tmp_path: Path) -> None:
    """Folders that targets share are there once."""
    to = ["harbor", "openenv", "nemo"]
    source = task_set(tmp_path / "set", 3, links=False)
    out = packed(source, "harbor", to, tmp_path / "out")
    plain = convert(folder(source), get_format("harbor"), to, str(tmp_path / "plain"), Settings())
    wanted = FolderSource(plain.out).tree("", skip=OUTSIDE)
    assert opened(out).tree("", skip=OUTSIDE) == wanted


def test_a_file_that_is_called_like_ours_gives_way(tmp_path: Path) -> None:
    """A source may have an index, or a copy of its tasks, where the archive goes."""
    source = task_set(tmp_path / "set", 2)
    name = "data/train-00000-of-00001.parquet"
    other = table(source / name, [("task-000", tar_of(task("other")))])
    table(source / "more" / "copy.parquet", [("task-000", tar_of(task("other")))])
    whole = other.read_bytes()
    out = packed(source, "harbor", ["harbor"], tmp_path / "out")
    assert (out / name).read_bytes() != whole
    assert opened(out).found.unread == ("more/copy.parquet",)
    back = run(opened(out), "harbor", "harbor", tmp_path / "back")
    assert_same_tree(back.out, source, ignore=[".rlconvert"])


def test_archives_go_on_as_archives(tmp_path: Path) -> None:
    """In the order of their rows, whatever their names."""
    names = ["b", "a", "c"]
    table(tmp_path / "in" / "x.parquet", [(name, tar_of(task(name))) for name in names])
    out = packed(tmp_path / "in", "harbor", ["harbor"], tmp_path / "out")
    assert [item.name for item in opened(out).items("tasks")] == names
    again = packed(out, "harbor", ["harbor"], tmp_path / "again")
    file = Path("data/train-00000-of-00001.parquet")
    assert (again / file).read_bytes() == (out / file).read_bytes()


def test_one_task_at_the_root_is_a_row_and_goes_home(tmp_path: Path) -> None:
    """By way of another format, too; without the records it stays in a folder."""
    lay(tmp_path / "one", task("one"))
    first = packed(tmp_path / "one", "harbor", ["harbor"], tmp_path / "first")
    assert [item.name for item in opened(first).items("tasks")] == ["source"]
    assert_same_tree(
        run(opened(first), "harbor", "harbor", tmp_path / "home").out,
        tmp_path / "one",
        ignore=[".rlconvert"],
    )
    rows = run(tmp_path / "one", "harbor", "nemo", tmp_path / "rows").out
    again = packed(rows, "nemo", ["harbor"], tmp_path / "again")
    assert [item.name for item in opened(again).items("tasks")] == ["source"]
    plain = run(rows, "nemo", "harbor", tmp_path / "plain").out
    assert_same_tree(
        run(opened(again), "harbor", "nemo", tmp_path / "back").out,
        run(plain, "harbor", "nemo", tmp_path / "expected").out,
        ignore=[".rlconvert"],
    )
    alone = packed(tmp_path / "one", "harbor", ["harbor"], tmp_path / "alone", provenance=False)
    made = run(opened(alone), "harbor", "harbor", tmp_path / "made").out
    assert_same_tree(made / "tasks" / "source", tmp_path / "one")


# --- long runs -----------------------------------------------------------------------------------


def interrupt_at(task_name: str, patch: pytest.MonkeyPatch) -> None:
    """The next run ends when it comes to this task."""
    real = tarred.tar_of

    def stopping(tree: FileTree) -> bytes:
        if task_name.encode() in tree.entries["instruction.md"].blob.read():  # type: ignore[union-attr]
            raise KeyboardInterrupt
        return real(tree)

    patch.setattr(workers, "tar_of", stopping)


def test_a_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = task_set(tmp_path / "set", 5)
    whole = packed(source, "harbor", ["harbor"], tmp_path / "whole")
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        interrupt_at("task-003", patch)
        with pytest.raises(KeyboardInterrupt):
            packed(source, "harbor", ["harbor"], out, resume=True)
    assert not out.exists()
    with pytest.raises(UsageError, match="another conversion"):
        packed(source, "harbor", ["harbor"], out, resume=True, layout=Layout.FOLDERS)
    packed(source, "harbor", ["harbor"], out, resume=True)
    assert_same_tree(out, whole)


def test_shards_make_the_same(tmp_path: Path) -> None:
    source = task_set(tmp_path / "set", 5, links=False)
    whole = packed(source, "harbor", ["openenv"], tmp_path / "whole")
    shards = [str(tmp_path / f"shard-{number}") for number in (1, 2)]
    for number, shard in enumerate(shards, 1):
        convert_shard(
            folder(source), get_format("harbor"), ["openenv"], shard, ARCHIVE, (number, 2)
        )
    for out in ("merged", "again"):  # the shards stay as they are
        merge(folder(source), get_format("harbor"), str(tmp_path / out), shards, Settings())
        assert_same_tree(tmp_path / out, whole)


# --- what an edit does ---------------------------------------------------------------------------


def test_an_archive_made_by_others_is_an_edit(tmp_path: Path) -> None:
    """The sidecar speaks of what was there; a task that was changed is taken as it is now."""
    source = task_set(tmp_path / "set", 2, links=False)
    out = packed(source, "harbor", ["openenv"], tmp_path / "out")
    name = out / "data" / "train-00000-of-00001.parquet"
    changed = (
        task("task-000")
        .without("environment/to")
        .union(FileTree({"instruction.md": text_file("New.\n")}))
    )
    rows = [("tasks/task-000", tar_of(changed)), ("tasks/task-001", tar_of(task("task-001")))]
    table(name, [(path.removeprefix("tasks/"), cell) for path, cell in rows])
    back = api.convert(str(out), str(tmp_path / "back"), to=["harbor"], read_as="openenv")
    assert back.error is None
    said = (tmp_path / "back" / "tasks" / "task-000" / "instruction.md").read_text()
    assert said == "New.\n"


def test_links_stay_links(tmp_path: Path) -> None:
    out = packed(task_set(tmp_path / "set", 1), "harbor", ["harbor"], tmp_path / "out")
    assert opened(out).tree("tasks/task-000").entries["environment/to"] == Link("run")
