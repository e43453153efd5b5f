"""Repositories of NeMo Gym rows for task folders, as people write them and no writer of ours."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from rlconvert.files import Entry, FileTree, make_tree
from strategies.files import text_file
from strategies.folders import folders
from strategies.words import coin, plain_names

Draw = st.DrawFn

CONFIG = """\
# by hand
{name}_agent:
  responses_api_agents:
    harbor_agent_general:
      entrypoint: app.py
      harbor_dataset: {{path: tasks}}
      harbor_agent: {{name: opencode, model_name: "${{policy_model_name}}"}}
      datasets:
      - {{name: {name}, type: train, jsonl_fpath: data/{name}.jsonl, license: MIT}}
"""

_VALUES: list[object] = [None, 1, 1e5, "e\u0301", {"a": [1, 2]}, []]
_MORE: st.SearchStrategy[dict[str, object]] = st.dictionaries(
    st.sampled_from(["verifier_metadata", "agent_ref", "_ng_task_index", "note"]),
    st.sampled_from(_VALUES),
    max_size=2,
)
_inputs: st.SearchStrategy[list[str] | str | None] = st.sampled_from([[], "", None])
_separators = st.sampled_from([None, (",", ":"), (" ,  ", "\t:")])
_ends = st.sampled_from(["\n", "\r\n"])
_called = st.lists(plain_names, min_size=1, max_size=2, unique=True)
_environments = st.sampled_from([["words"], ["words", "counts"]])


@st.composite
def _rows(draw: Draw, names: list[str]) -> str:
    lines = []
    for name in names:
        row: dict[str, object] = {
            "task_name": name,
            "responses_create_params": {"input": draw(_inputs)},
            **draw(_MORE),
        }
        shuffled = dict(draw(st.permutations(list(row.items()))))
        separators = draw(_separators)
        lines.append(json.dumps(shuffled, ensure_ascii=draw(coin), separators=separators))
    end = draw(_ends)
    return end.join(lines) + draw(st.sampled_from(["", end]))


@st.composite
def row_repos(draw: Draw) -> FileTree:
    """One or two environments, which may share task folders, in one order."""
    places = draw(_called)
    entries: dict[str, Entry] = {"README.md": text_file("---\nlicense: mit\n---\n")}
    empty: list[str] = []
    for name in places:
        tree = draw(folders(f"org/{name}", plain=True)).moved(f"tasks/{name}")
        entries |= tree.entries
        empty += tree.empty_folders
    for name in draw(_environments):
        chosen = places if name == "words" else places[: draw(st.integers(1, len(places)))]
        entries[f"environments/{name}/config.yaml"] = text_file(CONFIG.format(name=name))
        entries[f"data/{name}.jsonl"] = text_file(draw(_rows(chosen)))
    return make_tree(entries, empty)
