"""Write down the answer that a scorer knows for a rule. Runs alone, beside a `score.py`.

    python3 gold.py RULE.json ANSWER

RULE.json is that of `grade.py`; ANSWER gets what `grade.py` takes as its submission. Exit status 1:
the scorer knows no answer, and nothing is written.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path


def main(rule_file: str, answer_file: str) -> int:
    """Ask the scorer, write, and say by the exit status whether there was an answer."""
    spec = importlib.util.spec_from_file_location("score", Path(__file__).with_name("score.py"))
    if spec is None or spec.loader is None:
        raise ImportError("score.py")
    scorer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scorer)
    rule = json.loads(Path(rule_file).read_text(encoding="utf-8"))
    gold = scorer.gold(rule["params"])
    if gold is None:
        sys.stderr.write("no answer is known\n")
        return 1
    called = rule["submission"] == "tool calls"
    text = json.dumps(gold["calls"], indent=2) + "\n" if called else gold["text"]
    Path(answer_file).write_bytes(text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
