"""The dataset card: reading the header of one that exists, and writing a new one.

A card we write carries no framework tag: tags are earned by a check, not by a conversion.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .data import Data
from .format import CardRows, CardSection, FieldFate
from .model import Repo
from .report import Report, Tally

HEADER = re.compile(r"^(\s*---(?:\r\n|\r|\n))([\S\s]*?)((?:\r\n|\r|\n)---[ \t]*(\r\n|\n|$))")
"""As the Hub's client finds it; the header is the second group."""

MAX_HEADER = 1 << 18
MAX_DEPTH = 50

PROOF, PROOF_END = b"<!-- rlconvert:proof -->", b"<!-- /rlconvert:proof -->"
"""What stands between them is made from records, and made again by every check."""

REPO = "ORG/NAME"
"""What commands call the repo while nobody has said where it will be."""

UNPROVED = "Nothing yet: `rlconvert check` asks the frameworks themselves."


def front_matter(card: bytes) -> Mapping[str, Data]:
    """The YAML header of a card; empty when there is none or it is not a plain mapping.

    Anchors are refused, so that no header can grow when it is read.
    """
    import yaml

    class PlainLoader(yaml.SafeLoader):
        depth = 0

        def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise yaml.YAMLError
            node: yaml.Node | None = super().compose_node(parent, index)
            self.depth -= 1
            return node

    try:
        match = HEADER.match(card[:MAX_HEADER].decode("utf-8-sig", "ignore"))
        found = yaml.load(match.group(2), PlainLoader) if match else None  # noqa: S506 - a SafeLoader
    except (yaml.YAMLError, ValueError, OverflowError):
        return {}
    return found if isinstance(found, dict) else {}


def licence_of(card: bytes) -> str | None:
    """The licence a card states, as it states it: ``apache-2.0``; several joined by commas."""
    header = front_matter(card)
    match header.get("license"):
        case "other":
            name = header.get("license_name")
            return name if isinstance(name, str) else "other"
        case str(licence) if licence:
            return licence
        case [*licences] if licences:
            return ", ".join(str(licence) for licence in licences)
        case _:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What a new card says."""

    name: str
    licence: str | None
    intro: str
    sections: tuple[CardSection, ...]
    rows: tuple[CardRows, ...]


def render(card: Card) -> bytes:
    """The card as Markdown with a YAML header; the same bytes for the same card."""
    import yaml

    header: dict[str, object] = {}
    if card.licence:
        licences = card.licence.split(", ")
        header["license"] = licences[0] if len(licences) == 1 else licences
    header["pretty_name"] = card.name
    configs: dict[str, list[dict[str, str]]] = {}
    for rows in card.rows:
        configs.setdefault(rows.config, []).append({"split": rows.split, "path": rows.path})
    if configs:
        header["configs"] = [
            {"config_name": name, "data_files": files} for name, files in configs.items()
        ]
    block = yaml.safe_dump(header, sort_keys=False, allow_unicode=True, width=10_000)
    proof = CardSection("What was proved", f"{PROOF.decode()}\n{UNPROVED}\n{PROOF_END.decode()}")
    sections = (*card.sections, proof)
    body = "\n\n".join(f"## {section.title}\n\n{section.text}" for section in sections)
    return f"---\n{block}---\n\n# {in_text(card.name)}\n\n{card.intro}\n\n{body}\n".encode()


def with_proof(card: bytes, text: str) -> bytes | None:
    """The card with `text` between the marks, every other byte kept.

    None when the marks do not stand there once, in order: then the card is not one we wrote.
    """
    before, begin, rest = card.partition(PROOF)
    old, end, after = rest.partition(PROOF_END)
    again = any(mark in part for mark in (PROOF, PROOF_END) for part in (before, old, after))
    if not begin or not end or again:
        return None
    return b"".join([before, PROOF, b"\n", text.encode(), b"\n", PROOF_END, after])


def origin_section(repo: Repo) -> CardSection:
    """Whose work it is: the repo, its revision, and the licence it is under."""
    origin = repo.origin
    where = f"a folder called {in_code(origin.label)}"
    if origin.url and origin.commit:
        where = f"<{origin.url}>, revision {in_code(origin.commit)}"
    text = f"""\
The tasks are those of {where}.
They are the work of its authors, to whom they are to be credited; those that a task names stand in
its own files. Licence, as the source states it: {in_code(repo.licence or "none is stated")}."""
    return CardSection("Where it comes from", text)


def fates_section(
    report: Report, ways: Mapping[str, Mapping[str, Mapping[str, FieldFate]]]
) -> CardSection:
    """How many tasks went to each target, what became of their fields, and what was left out."""
    rows: list[tuple[str, ...]] = [
        (target, of, in_text(fields), kind.value, in_text(reason))
        for target, of, fields, kind, reason in report.fates(ways, exact=True)
    ]
    out = sorted(report.refused.items(), key=lambda item: (item[0].target, -item[1].count))
    for key, tally in [*report.unreadable.items(), *out]:
        because = f"{in_text(tally.detail)}; among them {', '.join(map(in_code, tally.examples))}"
        fate = "refused" if key.target else "unreadable"
        rows.append((key.target, f"{tally.count:,}", "all", fate, because))
    counts = ", ".join(f"{name} {report.converted(name):,}" for name in report.targets)
    said = f"Of {report.read:,} tasks, those that went to each target: {counts}."
    head = ("target", "tasks", "fields", "fate", "because")
    return CardSection(
        "What became of the tasks",
        f"{said} *Exact* is unchanged, *translated* means the same in another form, *delegated* is "
        f"read from the source's own files, *dropped* is lost.\n\n{table(head, rows)}",
    )


def grading_section(weaknesses: Mapping[str, Tally]) -> CardSection:
    """What reading the files of the tasks tells about how they are graded."""
    ordered = sorted(weaknesses.items(), key=lambda item: (-item[1].count, item[0]))
    rows = (
        (
            f"{tally.count:,}",
            in_text(tally.detail),
            ", ".join(in_code(each) for each in tally.examples),
        )
        for _, tally in ordered
    )
    said = "Told by reading the files of the tasks; nothing was run for it."
    return CardSection(
        "How the tasks are graded", f"{said}\n\n{table(('tasks', 'because', 'among them'), rows)}"
    )


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table; cells are escaped by whoever makes them."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def in_text(text: str) -> str:
    """Foreign text as one line of Markdown that cannot end a cell or start markup."""
    flat = " ".join(text.split())
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", flat)


def in_code(text: str) -> str:
    """Foreign text as inline code."""
    flat = " ".join(text.split()).replace("|", "\\|")
    ticks = "`" * (1 + max((len(run) for run in re.findall(r"`+", flat)), default=0))
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}"
