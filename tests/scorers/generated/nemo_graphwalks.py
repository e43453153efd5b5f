"""Sets of nodes: all, some, others, none; lines that are last and that are not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random

from scorers.generating import Case, Row, damaged, noise, one_of, spoiled_row

FIELDS = ("expected_answer", "problem_type", "n_tokens", "prompt_chars")
EXPECTED = ("[]", "", "{}", '"abc"', "[1, 2]", "[1, true, 1.0]", "[[1]]", "null", "3", "[\"a\"",
            '{"a": 1, "b": 2}', "[null]", "NaN", "[NaN]", '["a", ["b"]]', '["\\ud800"]',
            '["a", "a"]', '["a,b", "c"]', '[" a "]', '["]"]', "9" * 5000,
            '["é", "ｂ"]')  # fmt: skip


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    names = ("a", "b", "c", "node_1", "a b", "é", "[x]", "")
    while True:
        row = {**random.choice(rows)}
        if random.random() < 0.3:
            row["expected_answer"] = random.choice(EXPECTED)
        elif random.random() < 0.5:
            row["expected_answer"] = json.dumps(random.sample(names, random.randint(0, 5)))
        try:
            wanted = [str(name) for name in json.loads(row["expected_answer"])]
        except (ValueError, TypeError):
            wanted = ["a", "b"]
        some = [name for name in wanted if random.random() < 0.8]
        some += random.sample(names, random.choice((0, 0, 0, 1, 2)))
        random.shuffle(some)
        nodes = one_of(random, ", ", ",", " , ", ",,").join(some)
        line = one_of(
            random,
            f"Final Answer: [{nodes}]",
            f"Final Answer: [{nodes}]",
            f"**Final Answer:  [{nodes}].**",
            f"Final Answer: [x] Final Answer: [{nodes}]",
            f"Final Answer: {nodes}",
            f"final answer: [{nodes}]",
            f"Final Answer:\n[{nodes}]",
            damaged(random, f"Final Answer: [{nodes}]"),
        )
        text = one_of(random, line, f"So\n{line}\n\n", f"{line}\n{noise(random)}", noise(random))
        if random.random() < 0.06:
            row = {**spoiled_row(random, row, FIELDS)}
        yield Case({}, row, text)
