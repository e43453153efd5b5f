"""Repositories of toys, spelled in ways a writer would not choose."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from rlconvert.files import Entry, FileTree, folded, make_tree
from strategies.files import small_trees, text_file
from strategies.words import coin, names, one_in, plain_names, texts

Draw = st.DrawFn

_json = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from([0.5, 1e300, -0.0]) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
_metadata = st.dictionaries(texts, _json, max_size=2)
_called = st.lists(plain_names | names, min_size=1, max_size=2, unique_by=folded)


@st.composite
def _toys(draw: Draw, name: str) -> str:
    steps = draw(st.sampled_from([[""], ["one"], ["one", "two"]]))
    keys = draw(st.sampled_from([[], ["reward"], ["a", "b"], None]))
    toy = {
        "id": name,
        "steps": [{"name": step, "prompt": draw(texts)} for step in steps],
        "metadata": draw(_metadata),
        "tests": {"test.sh": {"text": draw(texts), "executable": draw(coin)}},
        "reward": {"command": "test.sh", "keys": keys},
    }
    shuffled = dict(draw(st.permutations(list(toy.items()))))
    return json.dumps(shuffled, indent=draw(st.sampled_from([None, 3])))


@st.composite
def toy_repos(draw: Draw) -> FileTree:
    """A repository of toys: one at its root, or some in `toys/` with other files about."""
    if draw(one_in(4)):
        return FileTree({"toy.json": text_file(draw(_toys("source")))})
    entries: dict[str, Entry] = {}
    empty: list[str] = []
    called = draw(_called)
    for name in called:
        extra = draw(small_trees).moved(f"toys/{name}/more")
        entries |= extra.entries
        empty += extra.empty_folders
        executable = draw(coin)
        entries[f"toys/{name}/toy.json"] = text_file(draw(_toys(name)), executable=executable)
    if draw(coin):
        shared = draw(small_trees)
        entries |= shared.moved("shared").entries
        empty += shared.moved("shared").empty_folders
        entries["tasks/README.md"] = text_file("of no task")
    return make_tree(entries, empty)
