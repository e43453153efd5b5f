"""The table of all pairs of formats, made from the code and from what the frameworks say.

    scripts/pairs                 print the table
    scripts/pairs --write         put it into PAIRS.md
    scripts/pairs --check FROM    and ask the real frameworks about what is made from it (minutes)

Every format has a sample: the task folders of `fixtures/harbor/features` converted to it, and for
rows with a server of their own `fixtures/nemo/agents`. Each sample is converted to each format.
Shown are how many tasks went over, the ways they went (what becomes of each field by a way is in
`rlconvert formats --matrix`), why others did not, and, as far as it was asked, how many of them the
target's real framework loads. What was asked is kept in PAIRS.md until it is asked again.

FROM is the title of a sample (`harbor`, `nemo rows`, ...), or `four`: the repo for all four.

A framework is asked in the Python that RLCONVERT_<FORMAT>_PYTHON names (`scripts/frameworks`), or
in the one that `rlconvert check` makes.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rlconvert import check, convert
from rlconvert.card import table
from rlconvert.errors import RlconvertError
from rlconvert.format import format_names, get_format
from rlconvert.pipe import Settings
from rlconvert.selection import Selection
from rlconvert.sidecar import MANIFEST, TaskRecord, parse
from rlconvert.source import FolderSource

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "PAIRS.md"
FOLDERS = ROOT / "fixtures" / "harbor" / "features"
ROWS = ROOT / "fixtures" / "nemo" / "agents"
NOT_THROUGH_GIT = Selection(exclude=("links",))
"""Its dangling link is no matter in a folder; Harbor's Git loader refuses it."""
FOUR = "four"
FOR_ALL = Selection(exclude=("links", "rewards-without-reward"))
"""OpenEnv counts every folder, and it would count the second for what it is not."""
NOT_ASKED = "not asked"
_BY = " loaded by "
_PROOF = re.compile(r"<!-- proof (\S+) (.*) -->")


@dataclass(frozen=True, slots=True)
class Pair:
    """What became of one sample in one target."""

    source: str
    target: str
    read: int
    converted: int
    ways: tuple[str, ...]
    refused: Mapping[str, int]

    @property
    def name(self) -> str:
        """What a kept proof is found by."""
        return f"{self.source.replace(' ', '-')}-to-{self.target}"


def samples(work: Path) -> Iterator[tuple[str, str, Path]]:
    """Title, format and place of each sample."""
    settings = Settings(jobs=1, selection=NOT_THROUGH_GIT)
    for name in format_names():
        place = work / f"sample-{name}"
        run = convert(str(FOLDERS), str(place), to=[name], read_as="harbor", settings=settings)
        if run.error is None:
            yield name, name, place
    yield "nemo rows", "nemo", ROWS


def pairs(
    work: Path, kept: Mapping[str, str], *, ask: Collection[str]
) -> Iterator[tuple[Pair, str]]:
    """Every sample in every target, and what its framework says."""
    for title, read_as, place in samples(work):
        for target in format_names():
            out = work / f"{title.replace(' ', '-')}-{target}"
            run = convert(str(place), str(out), to=[target], read_as=read_as)
            report = run.report
            pair = Pair(
                source=title,
                target=target,
                read=report.read,
                converted=report.converted(target),
                ways=tuple(sorted(report.ways[target])),
                refused={key.what: tally.count for key, tally in report.refused.items()},
            )
            if run.error is not None:
                yield pair, "nothing to ask about"
            elif title in ask:
                yield pair, asked(out, target)
            else:
                yield pair, kept.get(pair.name, NOT_ASKED)


def asked(out: Path, target: str) -> str:
    """What the target's own framework says of an output."""
    python = os.environ.get(f"RLCONVERT_{target.upper()}_PYTHON")
    try:
        run = check(str(out), frameworks=[target], using={target: python} if python else {})
    except RlconvertError as error:
        return f"could not be asked: {error.reason}"
    (result,) = run.results
    if result.missing is not None:
        sys.exit(f"pairs: {result.missing}")
    said = result.verdict
    versions = ", ".join(f"{name} {version}" for name, version in sorted(said.versions.items()))
    verdict = "" if result.passed else "**red**, "
    return f"{verdict}{said.loaded} of {len(said.tasks)}{_BY}{versions}"


def in_one_repo(
    work: Path, kept: Mapping[str, str], *, ask: Collection[str]
) -> Iterator[tuple[str, int, str]]:
    """For each framework: how many tasks of the one repo its record says, and what it says."""
    out = work / FOUR
    convert(
        str(FOLDERS),
        str(out),
        to=format_names(),
        read_as="harbor",
        settings=Settings(jobs=1, selection=FOR_ALL),
    )
    lines = FolderSource(str(out)).lines(MANIFEST)
    records = [parse(TaskRecord, line, MANIFEST) for line in lines]
    for name in format_names():
        claimed = sum(name in record.targets for record in records)
        said = asked(out, name) if FOUR in ask else kept.get(f"{FOUR}-{name}", NOT_ASKED)
        yield name, claimed, said


def page(found: list[tuple[Pair, str]], four: list[tuple[str, int, str]]) -> str:
    """PAIRS.md."""
    rows = (
        (
            pair.source,
            pair.target,
            f"{pair.converted} of {pair.read}",
            ", ".join(pair.ways) or "none",
            ", ".join(f"{reason} {count}" for reason, count in sorted(pair.refused.items())),
            proof,
        )
        for pair, proof in found
    )
    pins = ((name, get_format(name).title, get_format(name).version) for name in format_names())
    ways = (
        (
            f"{name}: {way}",
            ", ".join(
                f"{fate} {sum(each.fate.value == fate for each in fates.values())}"
                for fate in ("exact", "translated", "delegated", "dropped")
                if any(each.fate.value == fate for each in fates.values())
            ),
        )
        for name in format_names()
        for way, fates in get_format(name).ways.items()
    )
    loaded = (
        (get_format(name).title, said.partition(_BY)[2], str(claimed), said.partition(_BY)[0])
        for name, claimed, said in four
    )
    kept = [(pair.name, said) for pair, said in found]
    kept += [(f"{FOUR}-{name}", said) for name, _, said in four]
    proofs = "\n".join(f"<!-- proof {name} {said} -->" for name, said in kept)
    text = (__doc__ or "").split("\n\n")[2].replace("\n", " ")
    return f"""# Pairs

Written by `scripts/pairs --write`; the last column by `scripts/pairs --check FROM --write`.

{text}

{table(("from", "to", "tasks", "way", "left out", "proved"), rows)}

## One repo for all four

`fixtures/harbor/features` without {" and ".join(f"`{each}`" for each in FOR_ALL.exclude)},
converted by one run to one repo. Each framework is to load the tasks that the record of the
conversion has for it, and no other.

{table(("framework", "version", "tasks by its record", "tasks it loads"), loaded)}

## Ways

{table(("way", "fields by fate"), ways)}

## Formats

{table(("format", "framework", "checked with"), pins)}

{proofs}
"""


def main() -> None:
    """Print or write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--write", action="store_true", help="put the table into PAIRS.md")
    parser.add_argument(
        "--check", action="append", default=[], metavar="FROM", help="ask the frameworks about it"
    )
    options = parser.parse_args()
    kept = dict(_PROOF.findall(PAGE.read_text(encoding="utf-8"))) if PAGE.exists() else {}
    with tempfile.TemporaryDirectory(prefix="pairs-") as folder:
        work = Path(folder)
        found = list(pairs(work, kept, ask=options.check))
        text = page(found, list(in_one_repo(work, kept, ask=options.check)))
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
