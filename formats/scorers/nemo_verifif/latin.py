"""The languages of `verifif` that are written as English is: where each differs from it."""

# ruff: noqa: RUF001  the signs of these languages

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from .english import English
from .reading import SIGNS, alternates, folded, kept, phrase, spans, without


class French(English):
    vowels = "aàâäeéèêëiîïoôöuùûüAEÉÈÊËÀÂÄÎÏÔÖÙÛÜ"
    times = 2
    word = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
    around = "A-Za-zÀÂÄÇÉÈÊËÎÏÔÖÙÛÜŸàâäçéèêëîïôöùûüÿ"
    quote, other_case = ("« ", " »"), True

    def words(self, text: str) -> list[str]:
        return self.word.findall(self.unlisted(text))

    def found(self, keyword: str, text: str) -> int:
        return len(re.findall(phrase(folded(keyword.strip()), r"\w"), folded(text)))

    def count_vowel_count(self, text: str, args: Any) -> int:
        return sum(c in English.vowels for c in text)

    def capital(self, word: str) -> bool:
        if word[0].isdigit():
            return super().capital(word)
        seen, before = False, ""
        for c in word:
            after = seen and before in ("'", "’") and c.isupper()
            if c.isalpha() and not after and not (c.islower() if seen else c.isupper()):
                return False
            seen, before = seen or c.isalpha(), c
        return True


class German(English):
    vowels = "aeiouAEIOUäöüÄÖÜ"
    other_case = True

    def doubled(self, text: str) -> str:
        return text.replace("ß", "SS").replace("ẞ", "SS")

    def target(self, text: str) -> str:
        return rf"\b{re.escape(text.lower())}\b"


class Abbreviated(English):
    """Abbreviations, whose points end no sentence."""

    short: re.Pattern[str]

    def ends(self, line: str) -> Iterator[tuple[int, int]]:
        """Where sentences end."""
        return (found.span() for found in self.stops.finditer(line))

    def pieces(self, line: str) -> list[str]:
        return kept(line, self.ends(self.short.sub(lambda found: "_" * len(found.group()), line)))


class Spanish(Abbreviated):
    vowels, any_letter, wordless = "aáeéiíoóuúüAÁEÉIÍOÓUÚÜ", True, True
    accents: ClassVar = {
        "a": "aáAÁ",
        "e": "eéEÉ",
        "i": "iíIÍ",
        "o": "oóOÓ",
        "u": "uúüUÚÜ",
        "n": "nñNÑ",
    }
    around = "A-Za-zÁÉÍÓÚÜáéíóúüÑñ0-9"
    after = r"[.)\-º°]*"  # what may follow the number of an item
    abbreviations = (
        "Sr. Sra. Srta. Dr. Dra. Ing. Lic. Arq. Prof. Ud. Uds. pág. págs. aprox. etc. e.g. p.ej. "
        "p.m. a.m. Nº. núm. núms. No. S.A. S.L. S.L.U. S.A.U."
    )
    any_case = 0
    stops = marks = re.compile("[.!?…]+")
    asking, loose = "?!¡¿", " "
    trimmed = SIGNS + "¿¡«»“”„\"'—–…"
    bare, last_bare, last_stops = "()[]{}\"'“”‘’«»¿¡", "()[]{}\"'«»“”", ".!?…"

    def __init__(self) -> None:
        self.word = re.compile(rf"[{self.around}]+(?:['’´\-.][{self.around}]+)*")
        self.listed = self.numbered = re.compile(rf"\d+{self.after}\s+")
        self.opening = self.lead = re.compile(rf"[-*+]\s+|\d+{self.after}\s+|#+\s+")
        self.nested = (self.bullet, re.compile(rf"\d+{self.after}[ \t]+.*"))
        names = map(re.escape, sorted(self.abbreviations.split(), key=len, reverse=True))
        self.short = re.compile(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)", self.any_case)

    def words(self, text: str) -> list[str]:
        return [word.casefold() for word in self.word.findall(self.unlisted(text))]

    def in_sentence(self, sentence: str) -> list[str]:
        return self.words(sentence)

    def found(self, keyword: str, text: str) -> int:
        keyword = keyword.strip()
        return len(re.findall(phrase(keyword, self.around), text, re.IGNORECASE)) if keyword else 0

    def count_frequency(self, text: str, args: Any) -> int:
        return self.found(args["keyword"].strip(), text)

    def count_letter_frequency(self, text: str, args: Any) -> int:
        letter = args["letter"].casefold()
        if letter in self.accents:
            return sum(map(text.count, self.accents[letter]))
        return text.lower().count(letter)

    def count_alliteration(self, text: str, args: Any) -> int:
        letter = args["target_letter"].casefold()
        return sum(word.startswith(letter) for word in self.words(text))

    def holds_alternating(self, text: str, args: Any) -> bool:
        return all(map(alternates, text.split()))

    def holds_first_letter_sentence(self, text: str, args: Any) -> bool:
        firsts = (
            next(filter(str.isalpha, one.strip(self.bare)), "A") for one in self.sentences(text)
        )
        return all(map(str.isupper, firsts))

    def holds_positioning(self, text: str, args: Any) -> bool:
        at, words = args["position"], self.words(text)
        return bool(0 <= at < len(words) and words[at] == args["keyword"].casefold())

    def kinds(self, text: str) -> set[str]:
        return set("".join(self.ending(text)))


class Portuguese(Spanish):
    vowels = "aáàãâeéêiíoóõôuúüAÁÀÃÂEÉÊIÍOÓÕÔUÚÜ"
    accents: ClassVar = {
        "a": "aáàãâAÁÀÃÂ", "c": "cçCÇ", "e": "eéêEÉÊ", "i": "iíIÍ", "o": "oóõôOÓÕÔ", "u": "uúüUÚÜ",
        "n": "nN",
    }  # fmt: skip
    around = "A-Za-zÁÉÍÓÚÜáéíóúüÀàÃãÕõÂâÊêÔôÇç0-9"
    after = r"[.)\-º°ª]*"
    abbreviations = (
        "Sr. Sra. Srta. Dr. Dra. Eng. Prof. Profa. Gen. Cel. Cap. Ten. pág. págs. aprox. etc. ex. "
        "p.ex. obs. tel. av. r. V.Exa. V.Sa. V.M. Nº. n.º nº núm. Ltda. S.A. Cia."
    )
    any_case = re.IGNORECASE
    asking = "?!"
    trimmed = SIGNS + "«»“”„—–…"
    bare = "()[]{}\"'“”‘’«»"

    def count_number_words(self, text: str, args: Any) -> int:
        return len(self.word.findall(text))


class Italian(Abbreviated):
    vowels, any_letter, missing = "aàeèéiìoòuùAÀEÈÉIÌOÒUÙ", True, "word_repetition"
    accents: ClassVar = {"a": "aàAÀ", "e": "eèéEÈÉ", "i": "iìIÌ", "o": "oòOÒ", "u": "uùUÙ"}
    around = "A-Za-zÀÈÉÌÒÙàèéìòù"
    names = "sig dott prof avv pag fig tab ecc gen"
    short = re.compile(rf"(?:{'|'.join(f'{names} {names.title()} {names.upper()}'.split())})\.")
    stop = re.compile(r"([.!?]+)(\s*)")
    nested = (re.compile(r"(?:[*+-]|\d+\.|[a-z]\.)[ \t]+.*"),)
    inner = SIGNS.replace("'", "")

    def words(self, text: str) -> list[str]:
        return self.tokens(without(text, self.listed))

    def tokens(self, text: str) -> list[str]:
        tokens = re.split(r"[\s']+", without(text, self.listed))
        return [token for token in tokens if re.search("[a-zA-ZÀ-ÿ]", token)]

    def in_sentence(self, sentence: str) -> list[str]:
        return self.words(sentence)

    def same(self, word: str) -> str:
        return folded(word)

    def found(self, keyword: str, text: str) -> int:
        keyword = folded(keyword.strip())
        return sum(folded(word.strip(self.inner)) == keyword for word in self.tokens(folded(text)))

    def ends(self, line: str) -> Iterator[tuple[int, int]]:
        for found in self.stop.finditer(line):
            after = line[found.end() : found.end() + 1]
            if not after or re.match("[A-ZÀÈÉÌÒÙ]", after):
                yield found.span()

    def pieces(self, line: str) -> list[str]:
        pieces = super().pieces(line)
        return pieces if any(map(str.strip, pieces)) else [line]

    def count_number_bullet_lists(self, text: str, args: Any) -> int:
        return sum(1 for _ in spans(text, re.compile(r"[*-]\s+")))

    def count_letter_frequency(self, text: str, args: Any) -> int:
        letter = args["letter"].lower()
        if letter in self.accents:
            return sum(map(text.count, self.accents[letter]))
        return len(re.findall(re.escape(letter), text, re.IGNORECASE))

    def count_alliteration(self, text: str, args: Any) -> int:
        letter = args["target_letter"].lower()
        words = [word.lower() for word in self.words(text)]
        sounds = [self.sound(word) for word in words if word.startswith(letter)]
        return len(sounds) if len(set(sounds)) == 1 else 0

    def sound(self, word: str) -> str:
        if word[0] == "c":
            return "ch" if re.match("ch?[ei]", word) else "k"
        return "gi" if re.match("g[ei]", word) else word[0]

    def holds_all_caps(self, text: str, args: Any) -> bool:
        letters = list(filter(str.isalpha, text))
        return bool(letters) and all(map(str.isupper, letters))

    def holds_first_letter_cap(self, text: str, args: Any) -> bool:
        return all(map(self.capital, self.words(text)))

    def holds_title(self, text: str, args: Any) -> bool:
        first = text.splitlines()[0].strip()
        return super().holds_title(text, args) or (first.startswith("#") and len(first) > 1)

    def holds_first_letter_sentence(self, text: str, args: Any) -> bool:
        for sentence in self.sentences(text):
            words = self.words(sentence.strip(self.bare))
            first = next(filter(str.isalpha, words[0]), "A") if words else "A"
            if not first.isupper():
                return False
        return True

    def holds_end_rule(self, text: str, args: Any) -> bool:
        allowed = (
            args["allowed"] if isinstance(args["allowed"], list) else list(args["allowed"] or ())
        )
        tails = (one[len(one.rstrip(SIGNS)) :] for one in self.sentences(text))
        return all(sign in allowed for tail in tails for sign in tail)

    def holds_palindrome_word(self, text: str, args: Any) -> bool:
        words = [word.strip(self.inner) for word in self.words(text)]
        long = [folded(word) for word in words if not len(word) < args["min_length"]]
        return any(word == word[::-1] for word in long)

    def kinds(self, text: str) -> set[str]:
        runs = ((found, text[found.end() : found.end() + 1]) for found in self.marks.finditer(text))
        return {sign for run, after in runs if not after.strip() for sign in run.group()}

    def indent(self, blank: str) -> int:
        return blank.count(" ") + 4 * blank.count("\t")
