"""What the instructions of `verifif` count and what holds for them, in English.

The other languages are classes below this one, which say where theirs differs.
"""

from __future__ import annotations

import json
import re
import string
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from .reading import (
    HEADED,
    SIGNS,
    TITLE,
    alternates,
    digits,
    phrase,
    ratio,
    related,
    spans,
    tables,
    without,
    without_tables,
)


class English:
    """What is counted and what holds, by the name of the instruction; all of English."""

    cased = True
    vowels = "aeiouAEIOU"
    any_letter = False  # every letter that is no vowel is a consonant
    wordless = False  # without words their average length is 0, and no fault
    other_case = False  # `last_letter` of a case that there is not holds
    missing = ""  # instructions that are never met, though the language is said to take them
    listed, times = re.compile(r"\d+\.\s"), 1
    numbered = re.compile(r"\d+\.")
    opening = lead = re.compile(r"[-*+]\s+|\d+\.\s+|#+\s+")
    bullet = re.compile(r"[*+-][ \t]+.*")
    nested: tuple[re.Pattern[str], ...] = (bullet, re.compile(r"\d+\.[ \t]+.*"))
    stops = marks = re.compile("[.!?]+")
    row = re.compile(r"\|.*\|.*\n")
    rule = re.compile(r"([*_-])\s*\1\s*\1+")
    heading = re.compile(r"#+\s+.*")
    asking, commas, periods = "?!", ",", "."
    trimmed, loose, quote = SIGNS, "", ('"', '"')
    around = "A-Za-z0-9"
    bare = last_bare = "()[]{}\"'"
    last_stops = ".!?"
    word = re.compile(r"\b(?:[a-zA-Z0-9'-]+(?:\.[a-zA-Z0-9'-]+)?)\b")

    def prepared(self, text: str) -> str:
        return text

    def words(self, text: str) -> list[str]:
        return self.word.findall(self.unlisted(text).lower())

    def unlisted(self, text: str) -> str:
        for _ in range(self.times):
            text = without(text, self.listed)
        return text

    def in_sentence(self, sentence: str) -> list[str]:
        return sentence.split()

    def same(self, word: str) -> str:
        """What is compared where different words are counted."""
        return word

    def repeated(self, word: str) -> str:
        """What is compared where the same words are counted."""
        return word

    def relation(self, kind: str, said: Any) -> Any:
        return said

    def found(self, keyword: str, text: str) -> int:
        for token in keyword.strip().split():
            if not re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9'-]*[A-Za-z0-9])?", token):
                raise ValueError(token)
        return len(re.findall(phrase(keyword, r"\w'\-"), text, re.IGNORECASE))

    def pieces(self, line: str) -> list[str]:
        """The sentences of a line."""
        return self.stops.split(line)

    def sentences(self, text: str) -> list[str]:
        made = []
        for line in without(without_tables(text, self.row), self.rule, True).split("\n"):
            whole = line.lstrip()
            mark = self.lead.match(whole)
            said = whole[mark.end() :] if mark else whole
            made += self.pieces(said) if said else []
        return [piece.strip() for piece in made if piece.strip()]

    def plain(self, text: str) -> str:
        """Less titles, tables, headings and rules."""
        text = without_tables(without(text, TITLE, True), self.row)
        return without(without(text, self.heading), self.rule, True)

    def paragraphs(self, text: str) -> list[str]:
        parts = re.split(r"\n\s*\n", self.plain(text).strip())
        return [part.strip() for part in parts if part.strip()]

    def ending(self, text: str) -> list[str]:
        """The runs of signs that may end a sentence."""
        return self.marks.findall(without(text, self.lead))

    # what is counted

    def count_capital_word_frequency(self, text: str, args: Any) -> int:
        return sum(word.isupper() for word in self.doubled(text).split())

    def doubled(self, text: str) -> str:
        return text

    def count_lowercase_word_frequency(self, text: str, args: Any) -> int:
        return sum(word.islower() for word in text.split())

    def count_number_placeholders(self, text: str, args: Any) -> int:
        lines = (line[: line.rfind("]") + 1] for line in text.split("\n"))
        return sum(len(re.findall(r"\[[^\]]*\]", line)) for line in lines)

    def count_numeric_inclusion(self, text: str, args: Any) -> int:
        return sum(map(str.isdigit, text))

    def count_multiple_sections(self, text: str, args: Any) -> int:
        name = (args["section_splitter"] or "").strip()
        if not name or re.search("[#*]", name):
            raise ValueError(name)
        for gap in (r"\s+", ""):
            mark = r"#{1,6}" + gap + re.escape(name) + r"\s+\d+\b"
            count = sum(1 for _ in spans(text, re.compile(mark, re.IGNORECASE)))
            if count and not gap:
                raise ValueError(name)
            if count:
                return count
        return 0

    def count_numbered_list(self, text: str, args: Any) -> int:
        return sum(1 for _ in spans(text, self.numbered))

    def count_number_bullet_lists(self, text: str, args: Any) -> int:
        return len(re.findall(r"^[*-]\s", text, re.MULTILINE))

    def count_number_paragraphs(self, text: str, args: Any) -> int:
        return len(self.paragraphs(text))

    def count_sentence_count(self, text: str, args: Any) -> int:
        return len(self.sentences(text))

    def count_frequency(self, text: str, args: Any) -> int:
        return self.found(args["keyword"].strip().lower(), text)

    def count_letter_frequency(self, text: str, args: Any) -> int:
        return text.lower().count(args["letter"].lower())

    def count_alliteration(self, text: str, args: Any) -> int:
        return sum(word.startswith(args["target_letter"]) for word in self.words(text))

    def count_vowel_count(self, text: str, args: Any) -> int:
        return sum(c in self.vowels for c in text)

    def count_consonant_count(self, text: str, args: Any) -> int:
        if self.any_letter:
            return sum(c.isalpha() and c not in self.vowels for c in text)
        return sum(c in string.ascii_letters and c not in self.vowels for c in text)

    def count_number_characters(self, text: str, args: Any) -> int:
        return len(text)

    def count_number_words(self, text: str, args: Any) -> int:
        return sum(bool(re.search("[A-Za-z0-9]", word)) for word in text.split())

    def count_unique_words(self, text: str, args: Any) -> int:
        return len(set(map(self.same, self.words(text))))

    def count_question_exclaim(self, text: str, args: Any) -> int:
        return sum(text.count(sign) for sign in self.asking)

    # what holds

    def holds_all_caps(self, text: str, args: Any) -> bool:
        return self.doubled(text).isupper()

    def holds_lowercase(self, text: str, args: Any) -> bool:
        return text.islower()

    def holds_alternating(self, text: str, args: Any) -> bool:
        return all(alternates(word) for word in text.split() if word.isalpha())

    def holds_first_letter_cap(self, text: str, args: Any) -> bool:
        return all(map(self.capital, text.split()))

    def capital(self, word: str) -> bool:
        if word[0].isdigit():
            return all(not c.isalpha() or c.islower() for c in word[1:])
        letters = [c for c in word if c.isalpha()]
        return not letters or (letters[0].isupper() and all(c.islower() for c in letters[1:]))

    def holds_first_letter_sentence(self, text: str, args: Any) -> bool:
        return all(one.strip(self.bare)[0].isupper() for one in self.sentences(text))

    def holds_last_letter(self, text: str, args: Any) -> bool:
        last = text.rstrip(self.last_stops).split()[-1].strip(self.last_bare)[-1]
        cases = (("uppercase", last.isupper()), ("lowercase", last.islower()),
                 ("digit", last.isdigit()), ("special", not last.isalnum()))  # fmt: skip
        return next((holds for name, holds in cases if name == args["case"]), self.other_case)

    def holds_case_ratio(self, text: str, args: Any) -> bool:
        return self.within(sum(map(str.islower, text)), sum(map(str.isupper, text)), args)

    def holds_vowel_consonant_balance(self, text: str, args: Any) -> bool:
        vowels = sum(c.isalpha() and c in self.vowels for c in text)
        return self.within(vowels, sum(map(str.isalpha, text)) - vowels, args)

    def within(self, part: int, other: int, args: Any) -> bool:
        low, high = ratio(args["min_fraction"]), ratio(args["max_fraction"])
        if low > high or not (part or other):
            return False
        float(low), float(high)  # a number that is too large for it fails
        return bool(low <= (Fraction(part, other) if other else float("inf")) <= high)

    def target(self, text: str) -> str:
        return phrase(text, self.around)

    def targets(self, text: str, args: Any) -> list[str]:
        found = re.findall(self.target(args["target_string"].strip()), text, re.IGNORECASE)
        if not found:
            raise ValueError("not there")
        return [one.strip('"').strip("'") for one in found]

    def holds_all_caps_target(self, text: str, args: Any) -> bool:
        return all(self.doubled(one).isupper() for one in self.targets(text, args))

    def holds_lowercase_target(self, text: str, args: Any) -> bool:
        return all(map(str.islower, self.targets(text, args)))

    def holds_alternating_target(self, text: str, args: Any) -> bool:
        return all(map(alternates, self.targets(text, args)))

    def holds_first_letter_cap_target(self, text: str, args: Any) -> bool:
        return all(map(str.istitle, self.targets(text, args)))

    def holds_postscript(self, text: str, args: Any) -> bool:
        marker = args["postscript_marker"].strip()
        last = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
        return last.startswith(marker) and len(last) > len(marker)

    def holds_json_format(self, text: str, args: Any) -> bool:
        json.loads(text[text.find("{") : text.rfind("}") + 1], parse_int=digits)
        return True

    def holds_title(self, text: str, args: Any) -> bool:
        first = text.splitlines()[0].strip()
        return first.startswith("<<") and first.endswith(">>")

    def holds_existence(self, text: str, args: Any) -> bool:
        return 0 not in {self.found(word, text) for word in args["keywords"]}

    def holds_forbidden_words(self, text: str, args: Any) -> bool:
        return set() == {self.found(word, text) for word in args["forbidden_words"]} - {0}

    def holds_palindrome_word(self, text: str, args: Any) -> bool:
        least = args["min_length"]
        return any(word == word[::-1] and len(word) >= least for word in self.words(text))

    def holds_positioning(self, text: str, args: Any) -> bool:
        return bool(self.words(text)[args["position"]] == args["keyword"])

    def holds_no_comma(self, text: str, args: Any) -> bool:
        return not any(sign in text for sign in self.commas)

    def holds_no_period(self, text: str, args: Any) -> bool:
        return not any(sign in text for sign in self.periods)

    def holds_end_rule(self, text: str, args: Any) -> bool:
        return all(signs in args["allowed"] for signs in set(self.ending(text)))

    def holds_sentence_endings(self, text: str, args: Any) -> bool:
        return not len(self.kinds(text)) < args["min_variants"]

    def kinds(self, text: str) -> set[str]:
        return set(self.ending(text))

    def holds_start_checker(self, text: str, args: Any) -> bool:
        return text.lstrip(self.trimmed + " ").lower().startswith(args["start_phrase"].lower())

    def holds_end_checker(self, text: str, args: Any) -> bool:
        required, signs = args["end_phrase"].strip(), self.trimmed
        words = text.lstrip(signs + self.loose).strip().split()
        if required and required[-1] in signs:
            last = " ".join(words[-len(required.split()) :])
        else:
            last = " ".join(words).rstrip(signs + " ")[-len(required) :]
        return bool(words) and last.lower() == required.lower()

    def holds_wrap_checker(self, text: str, args: Any) -> bool:
        return text.startswith(args["wrap_phrase"]) and text.endswith(args["wrap_phrase"])

    def holds_quotation(self, text: str, args: Any) -> bool:
        return text.startswith(self.quote[0]) and text.endswith(self.quote[1])

    def holds_max_paragraph_length(self, text: str, args: Any) -> bool:
        for part in self.paragraphs(text):
            mark = self.opening.match(part)
            if len(part[mark.end() if mark else 0 :].strip()) > args["max_chars"]:
                return False
        return True

    def holds_sentences_per_paragraph(self, text: str, args: Any) -> bool:
        counts = (len(self.sentences(part)) or 1 for part in self.paragraphs(text))
        return all(related(n, args["relation"], args["num_sentences"]) for n in counts)

    def holds_paragraph_length(self, text: str, args: Any) -> bool:
        counts = (len(self.words(part)) for part in self.paragraphs(text))
        return all(related(n, args["relation"], args["words_per_paragraph"]) for n in counts)

    def holds_sentence_length(self, text: str, args: Any) -> bool:
        most = args["max_words"]
        return not any(len(self.in_sentence(one)) > most for one in self.sentences(text))

    def holds_word_repetition(self, text: str, args: Any) -> bool:
        counts = Counter(map(self.repeated, self.words(text)))
        return not any(count > args["max_repeats"] for count in counts.values())

    def holds_word_length(self, text: str, args: Any) -> bool:
        low, high = args["min_length"], args["max_length"]
        if low > high:
            return False
        lengths = set(map(len, self.words(text)))
        return not lengths or (not min(lengths) < low and not max(lengths) > high)

    def holds_avg_word_length(self, text: str, args: Any) -> bool:
        low, high = args["min_ratio"], args["max_ratio"]
        if low > high:
            return False
        lengths = list(map(len, self.words(text)))
        if not lengths:
            return bool(self.wordless and low == 0)
        return bool(low <= sum(lengths) / len(lengths) <= high)

    def holds_nested_list(self, text: str, args: Any) -> bool:
        lists = [one for mark in self.nested for one in self.lists(text, mark)]
        return any(d == args["min_depth"] and n >= args["num_subitems"] for d, n in lists)

    def lists(self, text: str, mark: re.Pattern[str]) -> Iterator[tuple[int, int]]:
        """The lists of these items: how deep each is nested, and how many items it has."""
        open_: list[list[int]] = []
        for start, at, _ in spans(text, mark):
            indent = self.indent(text[start:at])
            while open_ and indent < open_[-1][0]:
                yield len(open_), open_.pop()[1]
            if open_ and indent == open_[-1][0]:
                open_[-1][1] += 1
            else:
                open_.append([indent, 1])
        yield from ((depth, items) for depth, (_, items) in enumerate(open_, 1))

    def indent(self, blank: str) -> int:
        return len(blank.strip("\n"))

    def holds_table(self, text: str, args: Any) -> bool:
        return any(n >= args["min_rows"] and m >= args["min_cols"] for n, m in tables(text))

    def holds_heading_depth(self, text: str, args: Any) -> bool:
        headings = (text[at:end] for _, at, end in spans(text, HEADED))
        depths = {len(one) - len(one.lstrip("#")) for one in headings}
        return bool(args["levels"]) and all(
            level in depths for level in self.levels(args["levels"])
        )

    def levels(self, levels: Any) -> Any:
        return levels
