"""Structures with some of the key paths, in every notation, bare or between marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from scorers.changing import changed
from scorers.generated.nemo_structured_outputs import noted
from scorers.generating import Case, Row, damaged, noise, one_of, spoiled_row

FIELDS = ("task_id", "task_name", "input_type", "output_type", "raw_output_metric")
PATHS = (
    ("a.b", "a.c[0].d", "x"),
    ("a.`b.c`", "a.@id", "[1]"),
    ("a.c.*.d", "a.c[x]", "a.c[-1]", "", "."),
    ("csv::a", "csv::b", "csv_rows[0].a"),
    ("a[",),
    (),
)
VALUES = (
    {"a": {"b": 1, "c": [{"d": 2}, {"d": 3}], "b.c": 5, "id": 7}},
    [{"a": 1, "b": "é"}, {"a": 2, "b": "\\x"}],
    {"csv_headers": 5},
    {"csv_headers": "abc"},
    [1, 2],
    0,
)
FENCE = "```"


def marked(random: Random, text: str, kind: str) -> str:
    """The text as code, or nearly."""
    begin, end = one_of(random, ("<|BEGIN_CODE|>", "<|END_CODE|>"), ("<|begin_code|>\n", ""))
    return one_of(
        random,
        text,
        f"{FENCE}{kind}\n{text}\n{FENCE}",
        f"So:\n{FENCE}\n{text}\n{FENCE}\n{FENCE}x\n1\n{FENCE}",
        f"{FENCE}{kind} {text} {FENCE}",
        f"{FENCE}\n{text}",
        f"{begin}{text}{end}",
        f"{begin}\n{FENCE}\n{text}\n{FENCE}\n{end}",
        f"{begin}{end}{FENCE}\n{text}\n{FENCE}",
        f"{FENCE}\n{text}\n{FENCE}{begin}{end}",
        text.replace("<", "&lt;").replace(">", "&gt;"),
        f"<think>\n\n</think>\n\n{text}\n",
        noise(random),
    )


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row = {**random.choice(rows)}
        if random.random() < 0.6:
            row["raw_output_metric"] = list(random.choice(PATHS))
            row["output_type"] = one_of(random, "json", "YAML", "toml", "Xml", "csv", "html")
        kind = row["output_type"].lower() if isinstance(row["output_type"], str) else "json"
        value = changed(random, random.choice(VALUES))
        if isinstance(row["raw_output_metric"], list) and random.random() < 0.5:
            some = [str(path).split(".") for path in row["raw_output_metric"]]
            value = {path[0]: {path[-1]: [1]} for path in some if random.random() < 0.8}
        text = noted(random, value, kind)
        text = marked(random, one_of(random, text, text, damaged(random, text)), kind)
        if random.random() < 0.06:
            row = {**spoiled_row(random, row, FIELDS)}
        yield Case({}, row, text)
