"""Repositories of Harbor tasks in every layout, with files that belong to no task."""

from __future__ import annotations

import json
import re
from functools import cache

from hypothesis import strategies as st

from rlconvert.files import Entry, FileTree, folded, make_tree
from strategies.files import small_trees, text_file, with_links
from strategies.folders import folders
from strategies.words import coin, names, plain_names, texts

Draw = st.DrawFn

CARDS = (
    "---\nlicense: apache-2.0\n---\n# Tasks\n",
    "---\r\nlicense: other\r\nlicense_name: mine\r\n---\r\n",
    "---\nlicense: [mit, cc-by-4.0]\ntags: [harbor]\n---\n",
    "No header at all.\n",
    "",
)

SHARED = (
    "LICENSE",
    "scripts/run.sh",
    "data/rows.jsonl",
    "data/tasks/harbor_agent_general-train.jsonl",
    "environments/tasks/config.yaml",
    "tasks/README.md",
    "tasks.md",
    ".gitattributes",
    "pyproject.toml",
    "space/e\u0301 {x}.txt",
)
"""Files of no task, some where another framework's own files would go."""

_shared_paths = st.lists(st.sampled_from(SHARED), max_size=3, unique=True)
_cards = st.sampled_from(CARDS)
_own_name = st.none() | st.just("org/source")
_any_name = st.sampled_from([None, "org/alpha"])
_KINDS = ("one task", "root", "tasks", "deeper", "manifest", "registry")
_kinds = st.sampled_from(_KINDS)
_other_kinds = st.sampled_from(_KINDS[:-1])

_PACKAGE = re.compile("[a-zA-Z0-9][a-zA-Z0-9_-]*(?:[.][a-zA-Z0-9_-]+)*")
_DATASET_NAMES = ("words", "numbers", "w o r d s", "\u00e9")
_VERSIONS = ("1.0", "2.0", "head")


@cache
@st.composite
def _shared(draw: Draw) -> FileTree:
    entries: dict[str, Entry] = {}
    for path in draw(_shared_paths):
        entries[path] = text_file(draw(texts), executable=draw(coin))
    if draw(coin):
        entries["README.md"] = text_file(draw(_cards))
    extra = draw(small_trees).moved("shared") if draw(coin) else FileTree()
    return make_tree(entries | dict(extra.entries), extra.empty_folders)


@cache
@st.composite
def repos(draw: Draw, plain: bool = False, registries: bool = True) -> FileTree:
    """A repository. `plain`: of tasks with names and rewards that other frameworks take."""
    kind = draw(_kinds if registries else _other_kinds)
    if kind == "one task":
        return draw(folders(draw(_own_name), plain))
    places = draw(_places(kind, plain))
    shared = draw(_shared())
    entries, empty = dict(shared.entries), list(shared.empty_folders)
    for place in places:
        name = place.rpartition("/")[2]
        declared = f"org/{name}" if _PACKAGE.fullmatch(name) and draw(coin) else None
        tree = draw(folders(declared or draw(_any_name), plain))
        entries |= tree.moved(place).entries
        empty += tree.moved(place).empty_folders
    if kind == "manifest":
        entries["dataset.toml"] = text_file(draw(_manifests))
    if kind == "registry":
        entries["registry.json"] = text_file(draw(_registries(places)))
    tree = make_tree(entries, empty)
    return draw(with_links(tree, ["", "shared"])) if "shared/a" in tree else tree


_MANIFESTS = (
    '[dataset]\nname = "org/set"\n',
    '# set\r\n[dataset]\r\nname = "org/set"\r\nversion = "3"\r\nowner = "me"\r\n',
    'schema_version = "1.0"\n[dataset]\nname = "org/set"\ndescription = "d"\n[metadata]\na = 1e5\n',
)
_manifests = st.sampled_from(_MANIFESTS)


@cache
@st.composite
def _places(draw: Draw, kind: str, plain: bool) -> list[str]:
    parents = {
        "root": [""],
        "tasks": ["tasks/"],
        "manifest": ["", "tasks/"],
        "deeper": ["sets/x/", "sets/y/", "tasks/"],
        "registry": ["", "tasks/", "sets/x/", "sets/y/"],
    }[kind]
    called = plain_names if plain or draw(coin) else names
    place = st.builds(str.__add__, st.sampled_from(parents), called)
    return draw(st.lists(place, min_size=1, max_size=2 + draw(coin), unique_by=folded))


@st.composite
def _registries(draw: Draw, places: list[str]) -> str:
    """Datasets that share tasks, in several versions, with keys that Harbor does not know."""
    keys = draw(
        st.lists(
            st.tuples(st.sampled_from(_DATASET_NAMES), st.sampled_from(_VERSIONS)),
            min_size=1,
            max_size=3,
            unique=True,
        )
    )
    sets = []
    for number, (name, version) in enumerate(keys):
        chosen = places if number == 0 else draw(st.lists(st.sampled_from(places), unique=True))
        entries = [
            {"name": f"t{index}", "path": draw(st.sampled_from(["", "./"])) + place}
            | draw(st.sampled_from([{}, {"git_url": None}, {"stars": 5}]))
            for index, place in enumerate(draw(st.permutations(chosen)))
        ]
        sets.append(
            {"name": name, "version": version, "description": draw(texts), "tasks": entries}
            | draw(st.sampled_from([{}, {"metrics": [{"type": "mean"}]}, {"homepage": "x"}]))
        )
    indent = draw(st.sampled_from([None, 2, 4]))
    return json.dumps(sets, indent=indent, ensure_ascii=draw(coin))
