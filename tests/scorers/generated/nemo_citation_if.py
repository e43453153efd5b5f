"""Words with citations of every grammar, some of them as asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from scorers.generating import Case, Row, noise, one_of, spoiled, spoiled_row

SHAPES = {
    "cite_xml": "<cite>ID</cite>",
    "ascii_brackets": "[ID]",
    "claim_wrap_xml": '<{} index="ID">cited</cite>'.format("cite"),
    "fullwidth_brackets": "【ID】",
    "ref_colon": "[ref:ID]",
    "double_angle": "<<ID>>",
    "web_brackets": "[web:ID]",
    "paren_part": "(ID)",
    "markdown_footnote": "[^ID]",
    "curly_double": "{{ID}}",
    "angle_pipe": "<ref|ID>",
}
ODD = ("<cite>", "</cite>", "</CITE >", "citation_", "Sources: citation_1", "[citation_1](u)")
IDS = ("citation_1", "citation_2", "citation_ab12", "citation_1:snippet_1", "Citation_9", "x", "")


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    while True:
        row = {**random.choice(rows)}
        verifier = {**row["verifier"]}
        if random.random() < 0.4:
            verifier["grammar"] = random.choice(list(SHAPES))
        if random.random() < 0.1:
            verifier["mode"] = "no_cite"
        if random.random() < 0.15:
            name = random.choice([*verifier, "min_valid_citations", "expected_slack", "id_kind"])
            verifier[name] = spoiled(random, verifier.get(name))
        row["verifier"] = verifier
        known = verifier.get("valid_id_set")
        ids = [one for one in known if isinstance(one, str)] if isinstance(known, list) else []
        shape = SHAPES.get(str(verifier.get("grammar")), "[ID]")
        text = one_of(random, "Answer ", "", "Größe ")
        for _ in range(random.randint(0, 4)):
            some = random.choice(ids or IDS) if random.random() < 0.7 else random.choice(IDS)
            other = random.choice(list(SHAPES.values())).replace("ID", some)
            cited = shape.replace("ID", one_of(random, some, some, f"{some},{some}"))
            text += one_of(random, cited, cited, cited, other, random.choice(ODD), noise(random))
        if random.random() < 0.03:
            row = {**spoiled_row(random, row, ["verifier"])}
        calls = [{"name": "f", "arguments": "{}"}] if random.random() < 0.03 else []
        yield Case({}, row, text, calls)  # type: ignore[arg-type]
