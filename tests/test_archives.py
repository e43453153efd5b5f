"""Tasks in archives, in every shape that was published: read as the folders they were made of."""

from __future__ import annotations

import errno
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from copy import copy
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiving import Piece, Row, pieces_of, table, tar, tar_gz, zipped
from laws.running import room, tasks_in
from rlconvert import api
from rlconvert.archives import laying
from rlconvert.archives.view import ArchiveSource, open_tasks, unpacked
from rlconvert.errors import Malformed, RlconvertError
from rlconvert.files import File, FileTree, Link
from rlconvert.format import Reader, get_format
from rlconvert.memory import MemorySource
from rlconvert.model import Origin
from rlconvert.pipe import Settings
from rlconvert.source import FolderSource, Kind, Source
from strategies.files import lay, text_file
from strategies.folders import folders
from trees import assert_same_tree

NAMES = ("alpha", "beta", "gamma")
WRAPPINGS: dict[str, Callable[[list[Piece]], bytes]] = {
    "tar": tar,
    "tar.gz": tar_gz,
    "zip": zipped,
}


def task(name: str) -> FileTree:
    """A task with everything that archives keep: modes, links, empty folders."""
    return FileTree(
        {
            "environment/Dockerfile": text_file("FROM python:3.12-slim\n"),
            "environment/run": text_file("#!/bin/sh\n", executable=True),
            "environment/to": Link("run"),
            "instruction.md": text_file(f"Say {name}.\n"),
            "solution/solve.sh": text_file("#!/bin/sh\n"),
            "task.toml": text_file(""),
            "tests/test.sh": text_file("echo 1 > /logs/verifier/reward.txt\n", executable=True),
        },
        ("environment/empty",),
    )


def rows(ending: str = "", top: str = "") -> list[Row]:
    return [(name + ending, tar_gz(pieces_of(task(name), top))) for name in NAMES]


def folder_set(root: Path) -> Path:
    for name in NAMES:
        lay(root / "tasks" / name, task(name))
    return root


def source(root: Path) -> Source:
    return unpacked(FolderSource(str(root), name="source"))


def reader(root: Path, name: str = "harbor") -> Reader:
    return get_format(name).reader(source(root), {})


def failures(reader: Reader) -> dict[str, str]:
    """Why tasks cannot be read, by their ids."""
    found = {}
    for ref in reader.refs():
        try:
            reader.load(ref)
        except RlconvertError as error:
            found[ref.id] = str(error)
    return found


# --- every layout --------------------------------------------------------------------------------


def one_file(root: Path) -> None:
    table(root / "tasks.parquet", rows())


def shards(root: Path) -> None:
    for number, row in enumerate(rows()):
        table(root / "data" / f"train-{number:05}-of-00003.parquet", [row])


def named_as_archives(root: Path) -> None:
    table(root / "data" / "train-00000-of-00001.parquet", rows(".tar.gz"))


def top_folders(root: Path) -> None:
    table(root / "x.parquet", rows(top="some-folder/"))


def dots(root: Path) -> None:
    table(root / "x.parquet", [(f"./{name}/", cell) for name, cell in rows(top="./")])


def plain_tars(root: Path) -> None:
    table(root / "x.parquet", [(name, tar(pieces_of(task(name)))) for name in NAMES])


def zips_in_rows(root: Path) -> None:
    table(root / "x.parquet", [(name, zipped(pieces_of(task(name)))) for name in NAMES])


def other_columns(root: Path) -> None:
    table(root / "x.parquet", rows(), others=["language", "source"])


def beside_an_index(root: Path) -> None:
    table(root / "data" / "train-00000-of-00001.parquet", rows())
    table(root / "manifest.parquet", rows(), columns=("path", "size"))
    (root / "data" / "tasks.jsonl").write_text('{"task": "alpha", "path": "tasks/alpha"}\n')


def packed_set(root: Path, wrap: Callable[[list[Piece]], bytes], name: str) -> None:
    pieces = [each for task_name in NAMES for each in pieces_of(task(task_name), f"{task_name}/")]
    (root / name).write_bytes(wrap([Piece("README.md", b"# hello\n"), *pieces]))


LAYOUTS: dict[str, Callable[[Path], None]] = {
    each.__name__: each
    for each in (
        one_file,
        shards,
        named_as_archives,
        top_folders,
        dots,
        plain_tars,
        zips_in_rows,
        other_columns,
        beside_an_index,
    )
} | {
    "zipped set": lambda root: packed_set(root, zipped, "tasks.zip"),
    "tarred set": lambda root: packed_set(root, tar, "tasks.tar"),
    "gzipped set": lambda root: packed_set(root, tar_gz, "tasks.tar.gz"),
}


@pytest.mark.parametrize("read_as", ["harbor", "openenv", "verifiers"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_read_as_folders(layout: str, read_as: str, tmp_path: Path) -> None:
    (tmp_path / "packed").mkdir()
    LAYOUTS[layout](tmp_path / "packed")
    wanted = tasks_in(FolderSource(str(folder_set(tmp_path / "plain"))), read_as)
    assert tasks_in(source(tmp_path / "packed"), read_as) == wanted
    assert sorted(wanted) == list(NAMES)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_comes_out_is_the_folders(layout: str, tmp_path: Path) -> None:
    """Modes, links and empty folders too; with as many processes as there may be."""
    (tmp_path / "packed").mkdir()
    LAYOUTS[layout](tmp_path / "packed")
    out = tmp_path / "out"
    run = api.convert(str(tmp_path / "packed"), str(out), to=["harbor"], settings=Settings(jobs=2))
    assert run.error is None
    plain = folder_set(tmp_path / "plain")
    assert_same_tree(out / "tasks", plain / "tasks", ignore=["README.md"] * ("set" in layout))
    assert not list(out.rglob("*.zip")) + list(out.rglob("*.tar*")) + list(out.rglob("train*"))


def test_the_report_tells_of_the_archives(tmp_path: Path) -> None:
    other_columns(tmp_path)
    run = api.convert(str(tmp_path), str(tmp_path.with_name(tmp_path.name + "-out")), to=["harbor"])
    found = unpacked(FolderSource(str(tmp_path)))
    assert isinstance(found, ArchiveSource)
    said = {note.detail for note in found.notes}
    assert said == {"x.parquet", "x.parquet: language, source"}
    assert run.report.any_loss


def plain_zip(files: FileTree, above: str = "") -> bytes:
    """A zip file as `zipfile` makes it of names and texts: without modes."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, entry in files:
            if isinstance(entry, File):
                archive.writestr(above + path, entry.blob.read())
    return out.getvalue()


@pytest.mark.parametrize("name", ["set.zip", "x.parquet"])
def test_the_report_tells_of_zip_files_without_modes(name: str, tmp_path: Path) -> None:
    """Their scripts are told by their first line; of those with modes nothing is said."""
    (tmp_path / "in").mkdir()
    if name == "set.zip":
        (tmp_path / "in" / name).write_bytes(plain_zip(task("alpha"), "alpha/"))
    else:
        table(tmp_path / "in" / name, [("alpha", plain_zip(task("alpha")))])
    out = tmp_path / "out"
    run = api.convert(str(tmp_path / "in"), str(out), to=["harbor"])
    assert any("keep no executable bit" in reason for _, _, _, reason in run.report.notes)
    modes = {path.name: path.stat().st_mode & 0o100 for path in out.rglob("*") if path.is_file()}
    assert (modes["run"], modes["test.sh"], modes["instruction.md"]) == (0o100, 0, 0)
    for layout in ("zipped set", "zips_in_rows", "tarred set", "shards"):
        (tmp_path / layout).mkdir()
        LAYOUTS[layout](tmp_path / layout)
        found = unpacked(FolderSource(str(tmp_path / layout)))
        assert isinstance(found, ArchiveSource)
        assert not [note for note in found.notes if "executable bit" in note.reason]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_files_of_no_task(layout: str, tmp_path: Path) -> None:
    """None of the archives, nor the folders that only tasks are in."""
    (tmp_path / "packed" / "more" / "nothing").mkdir(parents=True)
    LAYOUTS[layout](tmp_path / "packed")
    shared = reader(tmp_path / "packed").repo().shared
    of_set = ["tasks/README.md"] if "set" in layout else []
    index = ["data/tasks.jsonl", "manifest.parquet"] if layout == "beside_an_index" else []
    assert sorted(shared.entries) == sorted([*of_set, *index])
    assert shared.empty_folders == ("more/nothing",)


@pytest.mark.parametrize("layout", ["shards", "zipped set"])
def test_there_and_back(layout: str, tmp_path: Path) -> None:
    LAYOUTS[layout](tmp_path)
    trip = api.roundtrip(str(tmp_path), via="nemo")
    assert (trip.same_bytes, trip.same_meaning, trip.differences) == (3, 3, [])


def test_rows_keep_their_order(tmp_path: Path) -> None:
    """It is the set's own, and reading in another one would unpack row groups again and again."""
    names = ["b", "a", "C", "d", "aa"]
    table(tmp_path / "x.parquet", [(name, tar(pieces_of(task(name)))) for name in names])
    assert [ref.id for ref in reader(tmp_path).refs()] == names


def test_rows_are_found_in_any_order(tmp_path: Path) -> None:
    names = [f"t{number}" for number in range(30)]
    for shard in range(3):
        part = [(name, tar(pieces_of(task(name)))) for name in names[shard * 10 : shard * 10 + 10]]
        table(tmp_path / f"train-{shard:05}-of-00003.parquet", part, group=4)
    found = source(tmp_path)
    for name in [*names[::-1], *names[::7], *names]:
        assert found.read(f"tasks/{name}/instruction.md", 99) == f"Say {name}.\n".encode()


def test_several_sets_stand_apart(tmp_path: Path) -> None:
    """With the same names, as the sets of one big collection have."""
    for each in ("org__one", "org__two"):
        table(tmp_path / each / "tasks.parquet", rows())
    table(tmp_path / "data" / "test-00000-of-00001.parquet", rows())
    ids = {ref.id: ref.path for ref in reader(tmp_path).refs()}
    assert len(ids) == 9
    assert ids["org__one__alpha"] == "tasks/org__one/alpha"
    assert ids["test__beta"] == "tasks/test/beta"


def test_folders_come_first(tmp_path: Path) -> None:
    """An archive beside task folders is not read, is told of, and goes along as it is."""
    folder_set(tmp_path / "repo")
    packed_set(tmp_path / "repo", zipped, "all.zip")
    table(tmp_path / "repo" / "data" / "train-00000-of-00001.parquet", rows())
    found = api.inspect(str(tmp_path / "repo"))
    assert found.tasks == 3
    assert found.archives.unread == ("data/train-00000-of-00001.parquet", "all.zip")
    out = tmp_path / "out"
    run = api.convert(str(tmp_path / "repo"), str(out), to=["harbor"])
    assert_same_tree(out, tmp_path / "repo", ignore=[".rlconvert"])
    assert any("were not read" in reason for _, _, _, reason in run.report.notes)


@pytest.mark.parametrize("name", ["all.zip", "data/train-00000-of-00001.parquet"])
def test_a_named_archive_is_read_alone(name: str, tmp_path: Path) -> None:
    lay(tmp_path / "tasks" / "other", task("other"))
    packed_set(tmp_path, zipped, "all.zip")
    table(tmp_path / "data" / "train-00000-of-00001.parquet", rows())
    with open_tasks(str(tmp_path / name)) as found:
        assert sorted(tasks_in(found, "harbor")) == list(NAMES)


def test_a_named_zip_is_the_repo(tmp_path: Path) -> None:
    """Its registry counts, when it is not inside of another folder."""
    entry = {"name": "set", "version": "2", "tasks": [{"name": "b", "path": "deep/beta"}]}
    registry = Piece("registry.json", json.dumps([entry | {"description": ""}]).encode())
    (tmp_path / "set.zip").write_bytes(zipped([registry, *pieces_of(task("beta"), "deep/beta/")]))
    with open_tasks(str(tmp_path / "set.zip")) as found:
        repo = get_format("harbor").reader(found, {}).repo()
    assert [(each.name, each.version) for each in repo.tasksets] == [("set", "2")]


def test_what_is_no_archive_of_tasks_stays_a_file(tmp_path: Path) -> None:
    """Archives inside of tasks are theirs; a zip of pictures and an index hold no tasks."""
    lay(tmp_path / "tasks" / "alpha", task("alpha"))
    inner = zipped(pieces_of(task("beta"), "beta/"))
    (tmp_path / "tasks" / "alpha" / "environment" / "data.zip").write_bytes(inner)
    (tmp_path / "pictures.zip").write_bytes(zipped([Piece("a.png", b"x")]))
    (tmp_path / "broken.tar.gz").write_bytes(b"\x1f\x8bnothing")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 or not")
    table(tmp_path / "manifest.parquet", rows(), columns=("path", "size"))
    assert isinstance(source(tmp_path), FolderSource)
    assert list(tasks_in(source(tmp_path), "harbor")) == ["alpha"]


def test_an_archive_in_a_task_of_an_archive_is_a_file(tmp_path: Path) -> None:
    inner = tar_gz(pieces_of(task("beta"), "beta/"))
    pieces = [*pieces_of(task("alpha")), Piece("environment/more.tar.gz", inner)]
    table(tmp_path / "x.parquet", [("alpha", tar_gz(pieces))])
    found = source(tmp_path)
    assert found.read("tasks/alpha/environment/more.tar.gz", 1 << 20) == inner
    assert list(tasks_in(found, "harbor")) == ["alpha"]


def test_a_registry_may_name_what_is_in_archives(tmp_path: Path) -> None:
    one_file(tmp_path)
    named = [{"name": name, "path": f"tasks/{name}"} for name in ("beta", "alpha")]
    entry = {"name": "set", "version": "1", "description": "", "tasks": named}
    (tmp_path / "registry.json").write_text(json.dumps([entry]))
    assert [ref.id for ref in reader(tmp_path).refs()] == ["beta", "alpha"]


# --- one bad row ---------------------------------------------------------------------------------

BAD_ROWS: dict[str, tuple[Row, str]] = {
    "no path": ((None, tar(pieces_of(task("x")))), "x.parquet, row 1: its path is empty"),
    "empty path": (("", tar(pieces_of(task("x")))), "x.parquet, row 1: its path is empty"),
    "no archive": (("bad", None), "x.parquet, row 1: it has no archive"),
    "empty archive": (("bad", b""), "row 1: it has no archive"),
    "same path": (("alpha", tar(pieces_of(task("x")))), "another row has the path"),
    "same path, other case": (("ALPHA", tar(pieces_of(task("x")))), "where case or normal form"),
    "same path, other form": (("g\u00e9", tar(pieces_of(task("x")))), "where case or normal form"),
    "inside another": (("alpha/inner", tar(pieces_of(task("x")))), "inside of another"),
    "leads out": (("../bad", tar(pieces_of(task("x")))), "leads out of its folder"),
    "absolute": (("/bad", tar(pieces_of(task("x")))), "is absolute"),
    "a device name": (("con", tar(pieces_of(task("x")))), "is a Windows device name"),
    "no tar": (("bad", b"hello"), "neither a tar file"),
    "no task.toml": (("bad", tar([Piece("instruction.md", b"x")])), "task.toml is not a regular"),
    "cut gzip": (("bad", tar_gz(pieces_of(task("x")))[:-20]), "row 1: the gzip data are cut short"),
    "damaged gzip": (("bad", b"\x1f\x8b\x08" + bytes(99)), "the gzip data are damaged"),
    "cut tar": (("bad", tar(pieces_of(task("x")))[:2048]), "row 1: the tar file is cut short"),
    "nothing in it": (("bad", tar([])), "the archive is empty"),
}


@pytest.mark.parametrize("fault", BAD_ROWS)
def test_a_bad_row_is_named_and_stops_no_other(fault: str, tmp_path: Path) -> None:
    bad, said = BAD_ROWS[fault]
    good = ("alpha", "ge\u0301") if "form" in fault else ("alpha", "beta")
    cells = [(name, tar(pieces_of(task(name)))) for name in good]
    table(tmp_path / "x.parquet", [cells[0], bad, cells[1]] if "form" not in fault else
          [cells[1], bad, cells[0]])  # fmt: skip
    found = failures(reader(tmp_path))
    assert len(found) == 1
    assert said in next(iter(found.values()))
    run = api.convert(str(tmp_path), str(tmp_path.with_name(tmp_path.name + "-out")), to=["harbor"])
    assert run.report.converted("harbor") == 2
    assert sum(each.count for each in run.report.unreadable.values()) == 1


def test_a_broken_shard_stops_no_other(tmp_path: Path) -> None:
    shards(tmp_path)
    broken = tmp_path / "data" / "train-00001-of-00003.parquet"
    broken.write_bytes(broken.read_bytes()[:-100])
    found = failures(reader(tmp_path))
    assert list(found) == ["train-00001-of-00003"]
    assert (
        "data/train-00001-of-00003.parquet: the parquet file cannot be read" in found.popitem()[1]
    )


def test_damage_inside_of_a_shard_is_told_of_its_rows(tmp_path: Path) -> None:
    shards(tmp_path)
    broken = tmp_path / "data" / "train-00001-of-00003.parquet"
    data = bytearray(broken.read_bytes())
    data[40:400] = bytes(360)
    broken.write_bytes(data)
    found = failures(reader(tmp_path))
    assert len(found) == 1
    assert "data/train-00001-of-00003.parquet" in found.popitem()[1]


def test_a_missing_shard_is_told_of(tmp_path: Path) -> None:
    shards(tmp_path)
    (tmp_path / "data" / "train-00001-of-00003.parquet").unlink()
    found = failures(reader(tmp_path))
    assert len(found) == 1
    assert "1 of its files are not here" in found.popitem()[1]


def test_a_shard_with_other_columns_is_told_of(tmp_path: Path) -> None:
    shards(tmp_path)
    other = tmp_path / "data" / "train-00002-of-00003.parquet"
    table(other, rows(), columns=("name", "task_binary"))
    assert "no columns path and task_binary" in failures(reader(tmp_path)).popitem()[1]


def test_a_cut_set_gives_no_half_tasks(tmp_path: Path) -> None:
    """In which tasks files are missing nobody knows."""
    packed_set(tmp_path, tar_gz, "all.tar.gz")
    whole = (tmp_path / "all.tar.gz").read_bytes()
    packed_set(tmp_path, tar, "more.tar")
    (tmp_path / "all.tar.gz").write_bytes(whole[:-10])
    found = failures(reader(tmp_path))
    assert list(found) == ["damaged"]
    assert "all.tar.gz: the gzip data are cut short" in found["damaged"]
    assert sorted(set(tasks_in_good(tmp_path))) == list(NAMES)


def test_a_task_may_stand_where_bad_rows_would(tmp_path: Path) -> None:
    """They are told of elsewhere then."""
    good = (("tasks", tar(pieces_of(task("a")))), (None, b""))
    table(tmp_path / "x.parquet", good, rooted=True)
    assert sorted(failures(reader(tmp_path))) == ["tasks-x-row-1-2"]


def test_a_cut_tar_file_gives_no_half_tasks(tmp_path: Path) -> None:
    """Its members were met one by one before the end was missed."""
    packed_set(tmp_path, tar, "all.tar")
    whole = (tmp_path / "all.tar").read_bytes()
    (tmp_path / "all.tar").write_bytes(whole[: len(whole) // 2])
    found = reader(tmp_path)
    assert [ref.id for ref in found.refs()] == ["damaged"]
    assert "all.tar: the tar file is cut short" in failures(found)["damaged"]
    assert not found.repo().shared


def tasks_in_good(root: Path) -> Iterator[str]:
    found = reader(root)
    bad = failures(found)
    yield from (ref.id for ref in found.refs() if ref.id not in bad)


@pytest.mark.parametrize("piece", [
    Piece("beta/environment/up", kind=b"2", target="../../../etc/passwd"),
    Piece("beta/environment/hard", kind=b"1", target="beta/task.toml"),
    Piece("beta/environment/pipe", kind=b"6"),
    Piece("beta/task.toml", b"again = 1"),
    Piece("beta/TASK.toml", b""),
    Piece("beta/nul", b""),
])  # fmt: skip
def test_a_bad_member_spoils_its_task_alone(piece: Piece, tmp_path: Path) -> None:
    pieces = [each for name in NAMES for each in pieces_of(task(name), f"{name}/")]
    (tmp_path / "all.tar").write_bytes(tar([*pieces, piece]))
    assert list(failures(reader(tmp_path))) == ["beta"]


@pytest.mark.parametrize("name", ["../x", "/etc/x", "beta/../../x", "a\\b"])
def test_a_bad_name_of_no_task_is_told_of_the_repo(name: str, tmp_path: Path) -> None:
    pieces = [each for task_name in NAMES for each in pieces_of(task(task_name), f"{task_name}/")]
    (tmp_path / "all.zip").write_bytes(zipped([*pieces, Piece(name, b"x")]))
    found = reader(tmp_path)
    assert len(found.repo().faults) + len(failures(found)) == 1


# --- the source itself ---------------------------------------------------------------------------


@given(st.data())
def test_an_archive_shows_its_folder(data: st.DataObject) -> None:
    """Whatever task it is, wrapped in any way: every question has the answer of the folder."""
    tree = data.draw(folders())
    wrap = WRAPPINGS[data.draw(st.sampled_from(sorted(WRAPPINGS)))]
    top = data.draw(st.sampled_from(["", "./", "top/"]))
    with room() as place:
        table(place / "packed" / "x.parquet", [("t", wrap(pieces_of(tree, top)))])
        lay(place / "plain" / "tasks" / "t", tree)
        plain, packed = FolderSource(str(place / "plain")), source(place / "packed")
        assert packed.tree("tasks/t") == plain.tree("tasks/t") == tree
        assert packed.tree("") == plain.tree("")
        assert_same_answers(packed, plain, tree)


def assert_same_answers(packed: Source, plain: Source, tree: FileTree) -> None:
    folders = {path.rpartition("/")[0] for path in tree.entries} | {"", *tree.empty_folders}
    for folder in folders:
        path = f"tasks/t/{folder}".rstrip("/")
        if folder:
            assert packed.items(path) == plain.items(path)
        assert packed.kind(path) is plain.kind(path) is Kind.FOLDER
    for path, entry in tree:
        where = f"tasks/t/{path}"
        assert packed.kind(where) == plain.kind(where)
        if isinstance(entry, File):
            size = entry.blob.size
            assert packed.read(where, size) == plain.read(where, size)
            assert (
                packed.read_at(where, 1, size - 1) == plain.read_at(where, 1, size - 1)
                if size
                else True
            )
            assert list(packed.lines(where)) == list(plain.lines(where))
            with packed.open(where) as file:
                assert file.read() == entry.blob.read()
    assert packed.kind("tasks/t/gone") is packed.kind("x.parquet") is None
    with pytest.raises(Exception, match="no regular file"):
        packed.read("x.parquet", 99)


def test_a_source_in_memory_may_hold_archives(tmp_path: Path) -> None:
    data = table(tmp_path / "x.parquet", rows()).read_bytes()
    tree = FileTree({"x.parquet": File(text_file("").blob.__class__(data))})
    assert sorted(tasks_in(unpacked(MemorySource(tree)), "harbor")) == list(NAMES)


def test_the_output_may_not_be_in_the_source(tmp_path: Path) -> None:
    one_file(tmp_path)
    with pytest.raises(Exception, match="the output lies inside the source"):
        api.convert(str(tmp_path), str(tmp_path / "out"), to=["harbor"])


def test_an_archive_without_tasks_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(zipped([Piece("a", b"")]))
    table(tmp_path / "y.parquet", rows(), columns=("a", "b"))
    for name in ("x.zip", "y.parquet"):
        with pytest.raises(Malformed, match=name), open_tasks(str(tmp_path / name)):
            pass


def test_tasks_in_archives_have_modes(tmp_path: Path) -> None:
    """So the note that the Hub has none would be wrong."""
    one_file(tmp_path)
    hub = FolderSource(str(tmp_path), origin=Origin(label="x", modes_inferred=True))
    assert not unpacked(hub).origin.modes_inferred


# --- for other processes -------------------------------------------------------------------------


def test_rows_are_laid_out_for_another_process(tmp_path: Path) -> None:
    """It does not open the parquet file then, for which a large library would be loaded."""
    shards(tmp_path)
    found = source(tmp_path)
    assert isinstance(found, ArchiveSource)
    found.lay_out([f"tasks/{name}" for name in NAMES] + ["tasks", "no-such-place"])
    other: ArchiveSource = copy(found)  # as a worker gets it
    for path in (tmp_path / "data").iterdir():
        path.unlink()
    for name in NAMES:
        assert other.tree(f"tasks/{name}") == task(name)
    with pytest.raises(RlconvertError):  # what was taken is gone
        other.tree(f"tasks/{NAMES[0]}")


@pytest.mark.parametrize("fault", ["no path", "no archive", "no tar", "cut gzip"])
def test_a_bad_row_is_told_by_the_other_process(fault: str, tmp_path: Path) -> None:
    bad, said = BAD_ROWS[fault]
    table(tmp_path / "x.parquet", [("alpha", tar(pieces_of(task("alpha")))), bad])
    here = reader(tmp_path)
    refs = list(here.refs())
    found = source(tmp_path)
    assert isinstance(found, ArchiveSource)
    found.lay_out(ref.path for ref in refs)
    other: ArchiveSource = copy(found)  # as a worker gets it
    assert other.tree("tasks/alpha") == task("alpha")
    with pytest.raises(RlconvertError, match=re.escape(said)):
        other.tree(next(ref.path for ref in refs if ref.path != "tasks/alpha"))


def test_what_cannot_be_laid_out_is_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards(tmp_path)
    found = source(tmp_path)
    assert isinstance(found, ArchiveSource)
    other = copy(found)
    monkeypatch.setattr(laying, "_HEAD", FullDisk())
    found.lay_out(f"tasks/{name}" for name in NAMES)
    for name in NAMES:
        assert other.tree(f"tasks/{name}") == task(name)


class FullDisk:
    def pack(self, *_: int) -> bytes:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_damage_inside_of_a_shard_stops_no_other_row(tmp_path: Path) -> None:
    from pyarrow.parquet import ParquetFile

    shards(tmp_path)
    broken = tmp_path / "data" / "train-00001-of-00003.parquet"
    archives = ParquetFile(broken).metadata.row_group(0).column(1)
    start = archives.dictionary_page_offset or archives.data_page_offset
    data = bytearray(broken.read_bytes())
    data[start : start + 20] = bytes(20)
    broken.write_bytes(data)
    found = source(tmp_path)
    assert isinstance(found, ArchiveSource)
    found.lay_out(f"tasks/{name}" for name in NAMES)
    other = copy(found)
    assert other.tree(f"tasks/{NAMES[0]}") == task(NAMES[0])
    with pytest.raises(RlconvertError, match=broken.name):
        other.tree(f"tasks/{NAMES[1]}")
    assert other.tree(f"tasks/{NAMES[2]}") == task(NAMES[2])
