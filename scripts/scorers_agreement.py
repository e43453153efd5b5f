"""Compare every scorer with the servers whose rule it keeps, submission by submission.

    RLCONVERT_NEMO_PYTHON=... scripts/scorers [--most N] [--seed N] [--write] [SCORER ...]

The real `verify()` of each server grades the gold submission, an empty one and a strange one for
every example row that the framework ships, the cases written down in the scorer's folder, and N
generated submissions (default 2500). The scorer agrees when it gives the same number, and none
where the original fails. Shown are disagreements, and then the table.

`--write` puts what was counted into `formats/scorers/agreement.json` and the table of it into the
README there and that of the project, beside what was counted before for other scorers. A scorer
without an entry there is unproven, and the table says so. The exit status is 1 when there is any
disagreement.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from rlconvert.card import table
from rlconvert.formats.scorers import Scorer, scorers
from scorers.generating import Case, Row, generated, lacking, sound_rows, written

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "formats" / "scorers"
JUDGE = ROOT / "formats" / "nemo" / "judge" / "nemo_verify.py"
READMES = (ROOT / "README.md", HOME / "README.md")
BEGIN, END = "<!-- agreement -->\n", "<!-- end of agreement -->\n"
STRANGE = "Final answer: \\boxed{42}\n"
SHOWN = 5


@dataclass(frozen=True)
class Agreement:
    """What was counted for one server.

    `rows` were shipped with the framework; `rewarded` submissions earned more than 0, and on
    `refused` ones the original fails.
    """

    server: str
    scorer: str
    rows: int
    submissions: int
    agreed: int
    rewarded: int
    refused: int


def shipped(root: Path, server: str) -> list[Row]:
    """The example rows of a server."""
    rows: list[Row] = []
    for path in sorted(Path(root, "resources_servers", server, "data").glob("*example*.jsonl")):
        if not re.search(r"rollouts|outputs?\.jsonl|prepare", path.name):
            lines = path.read_text(encoding="utf-8").splitlines()
            rows += [json.loads(line) for line in lines if line.strip()]
    return rows


def cases_for(scorer: Scorer, rows: Sequence[Row], most: int, seed: int) -> list[Case]:
    """What is asked: every row three times, the cases by hand, and generated ones."""
    found: list[Case] = []
    for row in rows:
        params = scorer.params({}, row)
        gold = scorer.rule().gold(params)
        if gold is not None:
            found.append(Case(params["config"], row, gold["text"], gold["calls"]))
        found += [Case(params["config"], row), Case(params["config"], row, STRANGE)]
    by_hand = [case for case, _, _ in written(scorer)]
    known = [scorer.params({}, row)["row"] for row in rows] + sound_rows(scorer)
    return [*found, *by_hand, *generated(scorer, known, most, seed)]


def ask(questions: Iterable[str]) -> tuple[Mapping[str, str], list[Mapping[str, Any]]]:
    """Which release answers, and its answers."""
    python = os.environ.get("RLCONVERT_NEMO_PYTHON")
    if not python:
        sys.exit('RLCONVERT_NEMO_PYTHON is not set: eval "$(scripts/frameworks DIR)"')
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder, "asked")
        asked.write_text("".join(line + "\n" for line in questions), encoding="ascii")
        with asked.open("rb") as lines:
            run = subprocess.run(
                [python, JUDGE], stdin=lines, stdout=subprocess.PIPE, check=True, cwd=folder
            )
    release, *answers = [json.loads(line) for line in run.stdout.splitlines()]
    return release, answers


def compared(
    scorer: Scorer, server: str, rows: int, heard: Iterable[tuple[Case, Mapping[str, Any]]]
) -> Agreement:
    """Count, and show the first disagreements."""
    theirs: list[float | None] = []
    agreed = shown = 0
    for case, answer in heard:
        grade = scorer.rule().score(scorer.params(case.config, case.row), case.answer)
        theirs.append(answer.get("reward"))
        if grade["reward"] == theirs[-1]:
            agreed += 1
        elif (shown := shown + 1) <= SHOWN:
            print(f"{server}: {case}\n    ours   {grade}\n    theirs {answer}", file=sys.stderr)
    return Agreement(
        server=server,
        scorer=scorer.id,
        rows=rows,
        submissions=len(theirs),
        agreed=agreed,
        rewarded=sum(bool(reward) for reward in theirs),
        refused=theirs.count(None),
    )


def compare(chosen: Sequence[Scorer], most: int, seed: int) -> tuple[str, list[Agreement]]:
    """All that the chosen scorers and their servers say, asked in one go."""
    release, _ = ask([])
    tried: list[tuple[Scorer, str, int, list[Case]]] = []
    for scorer in chosen:
        for server in scorer.servers:
            rows = shipped(Path(release["root"]), server)
            tried.append((scorer, server, len(rows), cases_for(scorer, rows, most, seed)))
    _, answers = ask(case.asked(server) for _, server, _, cases in tried for case in cases)
    rest = iter(answers)
    return release["nemo-gym"], [
        compared(scorer, server, rows, zip(cases, islice(rest, len(cases)), strict=True))
        for scorer, server, rows, cases in tried
    ]


def page(counted: Mapping[str, Mapping[str, Any]]) -> str:
    """The table of all scorers, with what was counted for them."""
    lines = []
    for scorer in scorers():
        for server in scorer.servers:
            one = counted.get(f"{server} {scorer.id}")
            numbers: tuple[str, ...] = ("-", "-", "unproven")
            if one is not None:
                whole = one["agreed"] == one["submissions"]
                verdict = "all" if whole else f"{one['agreed']} of {one['submissions']}"
                numbers = (str(one["rows"]), str(one["submissions"]), verdict)
            lines.append((f"`{server}`", f"`{scorer.id}`", *numbers))
    head = ("server", "scorer", "rows tried", "submissions compared", "agreed")
    return table(head, lines) + "\n"


def write(release: str, agreements: Iterable[Agreement]) -> None:
    """Keep what was counted, for the servers that were asked, and make the table again."""
    kept = HOME / "agreement.json"
    counted = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    for one in agreements:
        counted[f"{one.server} {one.scorer}"] = {"nemo-gym": release, **asdict(one)}
    known = {f"{server} {scorer.id}" for scorer in scorers() for server in scorer.servers}
    counted = {key: counted[key] for key in sorted(counted) if key in known}
    kept.write_text(json.dumps(counted, indent=2) + "\n", encoding="utf-8")
    for readme in READMES:
        before, _, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        readme.write_text(before + BEGIN + page(counted) + END + after, encoding="utf-8")


def main() -> int:
    """Compare, show, and write if asked."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--most", type=int, default=2500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("scorer", nargs="*")
    options = parser.parse_args()
    chosen = [each for each in scorers() if not options.scorer or each.name in options.scorer]
    for each in chosen:
        if lacking(each):
            print(f"{each.id} is not asked: it needs {lacking(each)}", file=sys.stderr)
    chosen = [each for each in chosen if not lacking(each)]
    release, agreements = compare(chosen, options.most, options.seed)
    if options.write:
        write(release, agreements)
    for one in agreements:
        print(one)
    return int(any(one.agreed != one.submissions for one in agreements))


if __name__ == "__main__":
    sys.exit(main())
