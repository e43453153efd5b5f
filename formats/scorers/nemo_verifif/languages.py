"""The languages of `verifif` without upper case, and all by their names."""

# ruff: noqa: RUF001  the signs of these languages

from __future__ import annotations

import re
import unicodedata
from typing import Any, ClassVar

from .english import English
from .latin import French, German, Italian, Portuguese, Spanish
from .reading import SIGNS, folded, phrase, related, spans, without


class Uncased(English):
    """What Korean and Chinese share."""

    cased, wordless = False, True

    def in_sentence(self, sentence: str) -> list[str]:
        return self.words(sentence)

    def count_number_words(self, text: str, args: Any) -> int:
        return len(self.words(text))

    def count_frequency(self, text: str, args: Any) -> int:
        return self.found(args["keyword"], text)

    def holds_positioning(self, text: str, args: Any) -> bool:
        at, words = args["position"], self.words(text)
        return bool(folded(words[at]) == folded(args["keyword"]))


class Korean(Uncased):
    stops, marks = re.compile("[?!？.]+"), re.compile("[?!？.。！]+")
    trimmed_end = SIGNS + "。！？"

    def words(self, text: str) -> list[str]:
        return self.unlisted(text).split()

    def found(self, keyword: str, text: str) -> int:
        return folded(text).count(folded(keyword.strip()))

    def holds_start_checker(self, text: str, args: Any) -> bool:
        return folded(text.lstrip(SIGNS + " ")).startswith(folded(args["start_phrase"]))

    def holds_end_checker(self, text: str, args: Any) -> bool:
        signs = self.trimmed_end
        required: str = args["end_phrase"].strip()
        needed, words = len(required.split()), text.split()
        if not needed or len(words) < needed:
            return False
        last = " ".join(words[-needed:])
        if required[-1] in signs:
            return last == required
        return folded(last.rstrip(signs + " \n\t")) == folded(required)

    def holds_end_rule(self, text: str, args: Any) -> bool:
        allowed = set(map(str, args["allowed"]))
        if allowed & {".", "。"}:
            allowed |= {".", "。"}
        return all(signs in allowed or signs in args["allowed"] for signs in self.ending(text))

    def holds_word_length(self, text: str, args: Any) -> bool:
        keys = ("min_length", "max_length")
        whole = {key: args[key] if isinstance(args[key], int) else int(args[key]) for key in keys}
        return super().holds_word_length(text, whole)

    def holds_avg_word_length(self, text: str, args: Any) -> bool:
        keys = ("min_ratio", "max_ratio")
        made = {k: args[k] if isinstance(args[k], (int, float)) else float(args[k]) for k in keys}
        return super().holds_avg_word_length(text, made)

    def levels(self, levels: Any) -> Any:
        return list(map(int, levels if isinstance(levels, list) else [levels]))


class Chinese(Uncased):
    stops = marks = re.compile("[。！？.!?]+")
    commas, periods, asking = ",，、", ".。．", "?？!！"
    signs: ClassVar = {"==": "equal to", ">=": "at least", "<": "less than"}
    signed = ("number_placeholders", "number_bullet_lists", "frequency", "question_exclaim")
    quotes = ('""', "“”", "「」", "『』", "《》", "〈〉")
    wraps = ("《》", "〈〉", "「」", "『』", "【】", "[]", "()", "（）", "{}", "<>")

    def words(self, text: str) -> list[str]:
        text = unicodedata.normalize("NFKC", self.unlisted(text))
        return [sign for sign in text if not sign.isspace()]

    def same(self, word: str) -> str:
        return folded(word)

    def repeated(self, word: str) -> str:
        return folded(word)

    def relation(self, kind: str, said: Any) -> Any:
        return self.signs.get(said, said) if kind in self.signed else said

    def found(self, keyword: str, text: str) -> int:
        keyword = (keyword or "").strip()
        return folded(text).count(folded(keyword)) if keyword else 0

    def ending(self, text: str) -> list[str]:
        return super().ending(without(text, self.lead))

    def count_number_placeholders(self, text: str, args: Any) -> int:
        return len(re.findall(r"\{[^{}]+\}", text)) + len(re.findall(r"\[[^\[\]]+\]", text))

    def count_number_bullet_lists(self, text: str, args: Any) -> int:
        marks = (r"^[ \t]*[*\-+]\s+", r"^[ \t]*\d+[.)]\s+")
        return sum(len(re.findall(mark, text, re.MULTILINE)) for mark in marks)

    def count_multiple_sections(self, text: str, args: Any) -> int:
        name = (args["section_splitter"] or "").strip()
        if not name:
            raise ValueError("no name")
        marks = [(rf"(?:#+\s*)?{re.escape(name)}\s+\d+\b", False)]
        if name == "---":
            marks.append((r"---+", True))
        if name.startswith("<<") and name.endswith(">>"):
            marks.append((r"<<[^>]+>>", True))
        for mark, to_end in marks:
            if count := sum(1 for _ in spans(text, re.compile(mark), to_end)):
                return count
        parts = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
        return len(parts) if len(parts) > 1 and any(name in part for part in parts) else 0

    def holds_title(self, text: str, args: Any) -> bool:
        first = text.splitlines()[0].strip()
        return bool(
            (first.startswith("<<") and first.endswith(">>"))
            or first.startswith("#")
            or (first and len(text.splitlines()) <= 2)
        )

    def holds_end_rule(self, text: str, args: Any) -> bool:
        last = text.rstrip()[-1]
        return last in "。．.!?！？；;：:，," and last in args["allowed"]

    def holds_wrap_checker(self, text: str, args: Any) -> bool:
        wrap = args["wrap_phrase"]
        if len(wrap) == 1:
            return text.startswith(wrap) and text.endswith(wrap)
        pairs = (wrap, *self.wraps) if len(wrap) == 2 else self.wraps
        return any(text.startswith(pair[0]) and text.endswith(pair[1]) for pair in pairs)

    def holds_quotation(self, text: str, args: Any) -> bool:
        return any(text.startswith(pair[0]) and text.endswith(pair[1]) for pair in self.quotes)

    def holds_end_checker(self, text: str, args: Any) -> bool:
        required, text = args["end_phrase"].strip(), text.rstrip()
        stripped = text[: len(text) - len(ENDED.match(text[::-1]).group())]  # type: ignore[union-attr]
        return bool(required) and (text.endswith(required) or stripped.endswith(required))

    def holds_sentence_length(self, text: str, args: Any) -> bool:
        sentences = (one.split() for one in re.split("[。．.!?！？]+", text))
        return not any(sum(map(len, one)) > args["max_words"] for one in sentences if one)


ENDED = re.compile(r"[。．.?!！？…\s]*")


class Hindi(English):
    cased, missing = False, "no_period"
    stops = marks = re.compile("[!?।॥]+")
    word = re.compile("[\u0900-\u0963\u0966-\u097f]+")

    def prepared(self, text: str) -> str:
        return text.translate(str.maketrans("०१२३४५६७८९", "0123456789"))

    def words(self, text: str) -> list[str]:
        return self.word.findall(self.unlisted(text))

    def found(self, keyword: str, text: str) -> int:
        return len(re.findall(phrase(keyword, r"\w'\-\\"), text, re.IGNORECASE))

    def count_number_words(self, text: str, args: Any) -> int:
        return len(self.words(text))


class Arabic(English):
    cased, wordless = False, True
    digits = "0-9\u0660-\u0669\u06f0-\u06f9"
    around = "A-Za-z\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufeff" + digits
    listed = re.compile(r"\d+[.)،]\s+")
    numbered = re.compile(rf"[{digits}]+[.)،]\s+")
    opening = lead = re.compile(r"[-*+]\s+|\d+[.)،]\s+|#+\s+")
    nested = (English.bullet, re.compile(rf"[{digits}]+[.)،][ \t]+.*"))
    stops = marks = re.compile("[.!?؟؛۔]+")
    word = re.compile(rf"[{around}]+(?:['’\-.][{around}]+)*")
    asking, commas, periods, trimmed = "?!؟", ",،", ".۔", SIGNS + "،؛؟۔"

    def prepared(self, text: str) -> str:
        return re.sub("[A-Za-z]", "", text)

    def words(self, text: str) -> list[str]:
        return [word.lower() for word in self.word.findall(self.unlisted(text))]

    def in_sentence(self, sentence: str) -> list[str]:
        return self.word.findall(sentence)

    def found(self, keyword: str, text: str) -> int:
        keyword = keyword.strip()
        return len(re.findall(phrase(keyword, self.around), text, re.IGNORECASE)) if keyword else 0

    def count_number_words(self, text: str, args: Any) -> int:
        return len(self.word.findall(text))

    def holds_positioning(self, text: str, args: Any) -> bool:
        return bool(args["position"] >= 0) and super().holds_positioning(text, args)

    def holds_sentences_per_paragraph(self, text: str, args: Any) -> bool:
        counts = (len(self.sentences(part)) or 1 for part in self.paragraphs(text)[:1])
        return all(related(n, args["relation"], args["num_sentences"]) for n in counts)


class Japanese(English):
    cased = False
    missing = (
        "existence frequency forbidden_words number_words quotation sentence_length "
        "word_repetition unique_words positioning word_length avg_word_length paragraph_length "
        "sentence_endings"
    )
    numerals = str.maketrans(
        "０１２３４５６７８９零〇一壱二弐三参四肆五伍六陸七漆八捌九玖",
        "012345678900112233445566778899",
    )
    row = re.compile(r"[|｜].*[|｜].*\n")
    rule = re.compile(r"([*_\-＊＿ー])\s*\1\s*\1+")
    heading = re.compile(r"[#＃]+\s+.*")
    lead = re.compile(r"[-*+・]\s+|\d+[.．]\s+|[#＃]+\s+")
    item = re.compile(r"[-*+・]\s+|\d+[.．]\s+")
    stops = marks = re.compile("[.!?。！？‼⁉⁈⁇]+")
    word = re.compile("[一-龯]+|[ぁ-ん]+|[ァ-ンー]+")
    asking, commas, periods = "!?！？‼⁉⁈⁇", "、,", "。．"

    def prepared(self, text: str) -> str:
        return unicodedata.normalize("NFC", text).translate(self.numerals)

    def plain(self, text: str) -> str:
        return without(super().plain(text), self.item)

    def paragraphs(self, text: str) -> list[str]:
        some = re.compile(r"[\w\u3040-\u309F\u30A0-\u30FF\u4E00-\u9FAF]")
        return [part for part in super().paragraphs(text) if some.search(part)]

    def count_numeric_inclusion(self, text: str, args: Any) -> int:
        return sum(sign.isdigit() or sign in "十拾百陌千阡万萬億兆" for sign in text)


LANGUAGES: dict[str, English] = {
    "en": English(),
    "fre": French(),
    "es": Spanish(),
    "it": Italian(),
    "de": German(),
    "pt-BR": Portuguese(),
    "ja": Japanese(),
    "zh": Chinese(),
    "ko": Korean(),
    "hi": Hindi(),
    "ar": Arabic(),
}
