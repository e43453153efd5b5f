"""Documents in eleven languages, and instructions that they may follow."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from rlconvert.formats.scorers import scorer
from scorers.generating import Case, Row, damaged, noise, one_of, spoiled, wrapped

RULE = vars(scorer("nemo.verifif@1").rule())
WORDS = {
    "en": "The cat noon level don't can't co-op v2.5 42 I a Dr. e.g. Anna civic mail x-ray's K",
    "fre": "L'été « déjà » aujourd'hui École ici radar Noël œuf chou-fleur l’Ami 3 ÎLE où Ça",
    "es": "¿Qué Sr. año niño etc. reconocer Él pingüino S.A. d'Or 2.º árbol núm. oso aún ¡Sí Nº.",
    "it": "L'amico perché Sig. città GEN. anna È chiesa cena casa gente gatto ghiro 3. Prof. osso",
    "de": "Straße STRASSE Äpfel über größe ẞ Otto nur Elite Kontakt-Text Ö weiß e.V. 7",
    "pt-BR": "Você ção R. av. n.º nº d'água V.Exa. ovo arara pág. Órgão 1ª S.A. três ex.",
    "ja": "日本語 ひらがな カタカナー 三つ 十 １２ ２．五 しんぶんし ABC 零 ー ・点 、 十二",
    "zh": "你好 世界 中文，测试、上海自来水来自海上 ABC １ ｘ 《书》 12 ﬁ 、 —",
    "ko": "한국어 안녕 하세요 토마토 기러기 ABC abc 3개 ＡＢ 은/는 '가' 다",
    "hi": "नमस्ते दुनिया १२ कक हिन्दी नयन ABC 3 क़ जल। नहीं, यह",
    "ar": "مرحبا العالم ١٢ توت abc هذا، كتاب؛ لُغَة 3 ۴) بَاب لا",
}
"""Some words of each language, with what its rules look at."""

ENDS = {
    **dict.fromkeys(WORDS, (".", ".", "!", "?", "", "...", "?!", "…", ",")),
    "ja": ("。", "！", "？", "。。", "", "!", "．", "⁉", "、"),
    "zh": ("。", "！", "？", "!?", "", ".", "．", "…", "，"),
    "ko": (".", "?", "!", "？", "。", "", "！", "..", ","),
    "hi": ("।", "॥", "?", "!", "।।", "", ".", ","),
    "ar": (".", "؟", "!", "؛", "۔", "", "?!", "،"),
}
RELATIONS = ("at least", "at least", "equal to", "less than", "==", "<", ">=", "more than", None)
TABLES = ("| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |\n", "a|b\n-|-\n1|2\n", "| a |\n\n | b |\n")
BLOCKS = (
    "---", "* * *", "- - -\n\n", "---x", "-- -", "__ _", "ーーー", "＊ ＊＊", "<<T>>",
    "<< a b >> ", "<<x", "# H", "## Part 1", "###Part 2", "####### Part 3", "#\n\nx", "＃ H",
    "[a]", "[b] [c", "[]", "{x} [y]", '{"a": 1}', "PS: x", "P.S.", "1. 2. x", "1.\n2. y",
    "3) z", "4.- w", "٤. ع", "５． x", "Part 4", "<think>a</think>", "<think>", "</thinking> b",
    "・ c", "2.º d", "5 e", '"q"', "« q »", "a. f", "\t- g", "  * h", "    1. i", "+ j",
    "-\n  - k", "x  \n \n y", "“q”", "「q」", "(1)",
)  # fmt: skip


def sentence(random: Random, language: str) -> str:
    words = WORDS[language].split()
    gap = one_of(
        random, " ", " ", " ", "  ", "\t", "\u00a0", "" if language in ("ja", "zh") else " "
    )
    said = gap.join(random.choice(words) for _ in range(random.randint(1, 6)))
    return said + random.choice(ENDS[language])


def document(random: Random, language: str) -> str:
    """Sentences, lists, tables, headings and titles."""
    pieces = []
    for _ in range(random.choice((0, 1, 1, 2, 3, 5))):
        kind = random.random()
        if kind < 0.6:
            said = " ".join(sentence(random, language) for _ in range(random.randint(1, 3)))
            mark = one_of(random, "", "", "", "- ", "* ", "1. ", "2) ", "  - ", "# ", "> ", "\t* ")
            pieces.append(mark + said)
        else:
            pieces.append(random.choice(TABLES if kind < 0.68 else BLOCKS))
    text = one_of(random, "\n", "\n\n", "\n \n", " ", "\r\n", "\n\n\n").join(pieces)
    change = random.random()
    if change < 0.25:
        text = random.choice((text.upper(), text.lower(), text.title(), text.swapcase()))
    elif change < 0.35:
        text = damaged(random, text)
    elif change < 0.42:
        text = one_of(random, f'"{text}"', f"« {text} »", f"《{text}》", wrapped(random, text))
    return noise(random) if random.random() < 0.02 else text


def argument(random: Random, language: str, need: str, text: str) -> Any:  # noqa: ANN401  JSON
    """A value for an argument, that the text may fit."""
    words = [*text.split(), *WORDS[language].split()]
    if "relation" in need:
        return random.choice(RELATIONS)
    if need in ("keywords", "forbidden_words"):
        return [part(random, words) for _ in range(random.choice((0, 1, 1, 2)))]
    if need == "allowed":
        some = random.sample(ENDS[language], random.randint(1, 5))
        return one_of(random, some, some, "".join(some))
    if need == "levels":
        return one_of(random, [1], [1, 2], [], 1, "12", ["1"], [7], [1.0])
    if "fraction" in need:
        numbers = ("0", "1/2", "1 / 3", "0.5", "2", "5", "inf", "1e1", "1_0", "1/0", "x", 1, 0.25)
        return random.choice(numbers)
    if need == "case":
        return one_of(random, "uppercase", "lowercase", "digit", "special", "title")
    if need == "wrap_phrase":
        return one_of(random, '"', "*", "**", "《》", "「」", "«", text[:1], text[-1:], "abc")
    if need == "section_splitter":
        return one_of(random, "Part", "part", "H", "---", "<<T>>", "#", "", random.choice(words))
    if need == "postscript_marker":
        return one_of(random, "PS:", "P.S.", "P.", "", random.choice(words))
    if need in ("letter", "target_letter"):
        return one_of(random, *"aeiouncgßKİABé", "", "ch", random.choice(words)[:1])
    if need.endswith(("phrase", "_string", "keyword")):
        some = text.split()
        at = random.choice((0, random.randint(0, len(some)), -1, -2))
        near = " ".join(
            some[at:] if need == "end_phrase" else some[max(at, 0) :][: random.randint(1, 3)]
        )
        return one_of(
            random, near, near, near.lower(), near.rstrip(".!?。"), part(random, words), ""
        )
    return random.choice((0, 0, 1, 1, 2, 3, 4, 5, 8, 20, 1.5, -1, True))


def part(random: Random, words: Sequence[str]) -> str:
    word = random.choice(words)
    return one_of(
        random, word, word, word.strip(".,!?"), word.lower(), f"{word} {random.choice(words)}"
    )


def counted(random: Random, language: str, name: str, made: dict[str, Any], text: str) -> int:
    """What the text has of it, or nearly; how right that is, is for the comparison to say."""
    own = RULE["LANGUAGES"][language]
    count = getattr(own, f"count_{name.partition(':')[2]}", None)
    try:
        found = count(own.prepared(text.strip()), made) if count else random.randint(0, 9)
    except Exception:  # noqa: BLE001  an instruction that cannot be followed
        found = 0
    return found + random.choice((0, 0, 0, 1, -1))


def instruction(random: Random, language: str, text: str, uid: int) -> dict[str, Any]:
    needs: dict[str, list[str]] = RULE["NEEDS"]
    graded = [
        name for name in needs if not name.startswith(("stylistic", "linguistic", "situation"))
    ]
    name = random.choice(graded)
    if random.random() < 0.003:
        name = random.choice(list(needs))
    made = {need: argument(random, language, need, text) for need in needs[name]}
    if made and random.random() < 0.7 and isinstance(made[needs[name][-1]], int):
        made[needs[name][-1]] = counted(random, language, name, made, text)
    words = RULE["LANGUAGES"][language].words(text)
    if name == "keywords:positioning" and words:
        made["position"] = random.randrange(-1, len(words))
        made["keyword"] = words[made["position"]]
    if made and random.random() < 0.05:
        changed = random.choice(list(made))
        made[changed] = spoiled(random, made[changed])
    source = one_of(random, "system", "system", "user")
    return {
        "instruction_id": name,
        "uid": uid,
        "source": source,
        "is_misalignment_check": random.random() < 0.25,
        **made,
    }


def broken(random: Random, row: dict[str, Any]) -> dict[str, Any]:
    """The row with a fault outside of the arguments."""
    asked = row["instructions"]
    if asked and random.random() < 0.6:
        each = random.choice(asked)
        key = random.choice(list(each))
        if random.random() < 0.3:
            del each[key]
        else:
            each[key] = one_of(
                random, None, "x", 1, 2, [], {}, [1], True, "detectable_format:balance"
            )
    else:
        key = one_of(random, "instructions", "language", "llm_judge")
        row[key] = one_of(random, None, "x", [], {}, [[]], [{}], 1, "fr", "ko")
        if row.get("llm_judge") == [{}]:
            row["llm_judge"] = "x"
    return row


def cases(random: Random, rows: Sequence[Row]) -> Iterator[Case]:
    common = ("en", "en", "en", "fre", "es", "it", "de", "pt-BR")
    while True:
        language = random.choice((*common, *WORDS))
        text = document(random, language)
        many = random.choice((0, 1, 1, 1, 1, 2, 3)) if random.random() < 0.9 else 0
        row: dict[str, Any] = {
            "instructions": [instruction(random, language, text, uid) for uid in range(many or 1)],
            "language": language,
        }
        if random.random() < 0.2:
            shown = random.choice(rows)
            language = str(shown.get("language", "en"))
            row = {**shown, "llm_judge": []}
            asked = shown.get("instructions", [])
            said = [str(value) for each in asked for value in each.values()] if asked else [""]
            filler = " ".join(sentence(random, "en") for _ in range(random.choice((1, 30))))
            text = f"{said[0]} {random.choice(said)} {filler} {random.choice(said)}"
        row = json.loads(json.dumps(row))
        if random.random() < 0.05:
            row = broken(random, row)
        if "\\ud800" in json.dumps(row):
            continue
        if row.get("language") == "it":  # of these two the original protects either, by chance
            text = re.sub(r"(sig|dott|prof|avv|pag|fig|tab|ecc|gen)\.", r"\1,", text)
        mode = one_of(random, "all", "all", "any", "mean", "mean", "min", "max")
        yield Case({"aggregation_mode": mode}, row, text)
