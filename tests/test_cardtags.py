"""Tags of cards: edited in place, every other byte and every other value kept, or refused."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import yaml
from huggingface_hub.repocard import REGEX_YAML_BLOCK
from hypothesis import given
from hypothesis import strategies as st

from rlconvert.errors import Malformed
from rlconvert.tags.edit import tags_of, with_tags

NEW = ("rl-environment", "harbor")

OTHERS = (
    "license: mit",
    "license: mit   # ours",
    "# a comment",
    "",
    "language: [no, 'en', \"de\"]",
    "version: 1.10",
    "pretty_name: 'It''s: tags'",
    'title: "tags: [a]"',
    "extra_gated_prompt: |\n  tags:\n  - none\n",
    "note: >-\n  folded\n  text",
    "kept: |+\n  text\n\n",
    "last: |\n  text without an end",
    "configs:\n- config_name: a\n  tags:\n  - nested\n  data_files: '*'",
    "inner:\n  tags: [x]",
    "shared: &it\n  a: 1",
    "again: *it",
    "size_categories:\n  - n<1K",
    "train-eval-index:",
    "emoji: \U0001f600 é",
    "? odd\n: value",
    "twice: 1\ntwice: 2",
)
LISTS = (
    "tags:\n- a\n- b",
    "tags:\n  - a   # why\n  # and\n  - 'b'\n",
    'tags: # mine\n- "a"\n# after\n\n',
    "tags:\n-   a\n-\n- b",
    "'tags':\n- a\n",
    '"tags" :\n    - a',
    "tags: [a, b]",
    "tags: [ 'a', b, ]   # mine",
    "tags: [\n  a,  # why\n  b\n]",
    "tags: [\n  a,\n  b,\n]\n",
    "tags: []",
    "tags: [ ]  # none",
)
SINGLES = ("tags: a", "tags: 'a, b' # one", "tags: a, b", "tags: several words\n  on two lines")
NULLS = ("tags:", "tags:   # none", "tags: null", "tags: ~ # none", "tags:\n\n# none\n")
BODIES = ("", "# Title\n\ntags:\n- a\n", "---\ntags: [a]\n---\n", "text\n\n---\n\ntext", "\ufeff")


@dataclass(frozen=True)
class Made:
    """A card in its parts: what stands around the tags, and the tags as they are written."""

    before: str
    tags: str
    after: str

    @property
    def card(self) -> bytes:
        return (self.before + self.tags + self.after).encode()


@st.composite
def cards(draw: st.DrawFn, tags: tuple[str, ...]) -> Made:
    above = draw(st.lists(st.sampled_from(OTHERS[:-1]), max_size=3, unique=True))
    below = draw(st.lists(st.sampled_from(OTHERS[:-1]), max_size=3))
    below = [each for each in dict.fromkeys(below) if each not in above]
    if any("*it" in each for each in above + below):
        above = ["shared: &it\n  a: 1", *(each for each in above if "&it" not in each)]
        below = [each for each in below if "&it" not in each]
    line_end = draw(st.sampled_from(("\n", "\r\n")))
    start = draw(st.sampled_from(("", "\ufeff", "\n\n", "\ufeff \n"))) + "---\n"
    end = "\n---" + draw(st.sampled_from(("", " ", "\t "))) + "\n" + draw(st.sampled_from(BODIES))
    before = start + "".join(f"{each}\n" for each in above)
    middle = draw(st.sampled_from(tags)) if tags else ""
    between = "\n" if middle and below else ""
    after = between + "\n".join(below) + end
    parts = (before, middle, after)
    return Made(*(each.replace("\n", line_end) for each in parts))


def header(card: bytes) -> dict[str, object]:
    """The header as the Hub's own client finds and reads it."""
    match = REGEX_YAML_BLOCK.search(card.decode("utf-8-sig"))
    assert match
    found = yaml.safe_load(match[2])
    assert found is None or isinstance(found, dict)
    return found or {}


def body(card: bytes) -> str:
    text = card.decode("utf-8-sig")
    match = REGEX_YAML_BLOCK.search(text)
    assert match
    return text[match.end() :]


def listed(card: bytes) -> list[str]:
    tags = header(card).get("tags")
    if isinstance(tags, list):
        return [str(tag) for tag in tags if tag is not None]
    return [] if tags is None else [str(tags)]


def but_tags(card: bytes) -> dict[str, object]:
    return {key: value for key, value in header(card).items() if key != "tags"}


def assert_added(card: bytes, new: bytes) -> None:
    assert listed(new) == [*listed(card), *NEW]
    assert list(tags_of(new)) == listed(new)
    assert isinstance(header(new)["tags"], list)
    assert but_tags(new) == but_tags(card)
    assert body(new) == body(card)
    assert with_tags(new, add=NEW) == new


@given(cards(LISTS))
def test_lists(made: Made) -> None:
    new = with_tags(made.card, add=NEW)
    assert_added(made.card, new)
    text = new.decode()
    assert text.startswith(made.before)
    assert text.endswith(made.after)
    assert with_tags(new, remove=NEW) == made.card


@given(cards((*SINGLES, *NULLS)))
def test_what_is_no_list_becomes_one(made: Made) -> None:
    new = with_tags(made.card, add=NEW)
    assert_added(made.card, new)
    text = new.decode()
    assert text.startswith(made.before)
    assert text.endswith(made.after)
    removed = with_tags(new, remove=NEW)
    assert listed(removed) == listed(made.card)
    assert but_tags(removed) == but_tags(made.card)


@given(cards(()))
def test_no_tags_yet(made: Made) -> None:
    new = with_tags(made.card, add=NEW)
    assert_added(made.card, new)
    line_end = "\r\n" if "\r\n" in made.before else "\n"
    added = line_end.join(["tags:", *(f"- {tag}" for tag in NEW)])
    first, found, last = new.decode().partition(added)
    assert found
    rest = last.removeprefix(line_end)
    assert made.card.decode() in (first + last, first + rest, first.removesuffix(line_end) + last)


@given(cards((*LISTS, *SINGLES, *NULLS)))
def test_all_removed(made: Made) -> None:
    had = tags_of(made.card)
    new = with_tags(made.card, remove=had)
    assert not tags_of(new)
    assert but_tags(new) == but_tags(made.card)
    assert body(new) == body(made.card)
    text = new.decode()
    assert text.startswith(made.before)
    assert text.endswith(made.after)
    if had:
        assert header(new)["tags"] in ([], [None])
    else:
        assert new == made.card


def edited(card: bytes) -> bytes | None:
    """The card with the new tags; None where that is refused as it should be."""
    try:
        return with_tags(card, add=NEW)
    except Malformed as error:
        facts = error.facts()
    assert facts["file"] == "README.md"
    assert str(facts["reason"]).startswith("card-")
    assert str(facts["where"]).startswith("line ")
    return None


@given(st.text("# -\n\r:a[]'\"&*|>\ttags", max_size=40), st.sampled_from(("\n", "\r\n")))
def test_any_header_is_edited_or_refused(text: str, line_end: str) -> None:
    card = f"---{line_end}{text}{line_end}---{line_end}body".encode()
    new = edited(card)
    if new is None:
        return
    assert set(NEW) <= set(tags_of(new))
    assert but_tags(new) == but_tags(card)
    assert body(new) == body(card)


@given(st.binary(max_size=60))
def test_any_bytes_are_edited_or_refused(card: bytes) -> None:
    new = edited(card)
    if new is None:
        return
    assert tags_of(new)[-2:] == NEW
    bom = b"\xef\xbb\xbf" * card.startswith(b"\xef\xbb\xbf")
    if not card.removeprefix(bom).strip().startswith(b"---"):
        assert new.startswith(bom + b"---")
        assert new.endswith(b"---\n" + card.removeprefix(bom)) or b"\r" in card


@pytest.mark.parametrize(
    ("card", "new"),
    [
        ("", "---\ntags:\n- harbor\n---\n"),
        ("# Title\r\n", "---\r\ntags:\r\n- harbor\r\n---\r\n# Title\r\n"),
        ("\ufeff# Title", "\ufeff---\ntags:\n- harbor\n---\n# Title"),
        ("---\n---\nbody", "---\ntags:\n- harbor\n---\nbody"),
        ("---\n\n---\nbody", "---\ntags:\n- harbor\n---\nbody"),
        ("---\n# only\n---\n", "---\n# only\ntags:\n- harbor\n---\n"),
        ("---\n  a: 1\n---\n", "---\n  a: 1\n  tags:\n  - harbor\n---\n"),
        ("---\na: |\n  b\n---\n", "---\ntags:\n- harbor\na: |\n  b\n---\n"),
        (
            "---\ntags:\n  - a # b\n\nc: 1\n---\n",
            "---\ntags:\n  - a # b\n  - harbor\n\nc: 1\n---\n",
        ),
        ("---\ntags: [a, ]\n---", "---\ntags: [a, harbor, ]\n---"),
        ("---\ntags: a # b\n---\n", "---\ntags: \n- a\n- harbor # b\n---\n"),
    ],
)
def test_where_a_tag_goes(card: str, new: str) -> None:
    assert with_tags(card.encode(), add=["harbor"]).decode() == new
    assert listed(new.encode())[-1] == "harbor"


@pytest.mark.parametrize(
    ("card", "new"),
    [
        ("tags:\n- a\n- x # it\n- b", "tags:\n- a\n- b"),
        ("tags:\n- x\n- a\n- x", "tags:\n- a"),
        ("tags: # mine\n# all\n- x # it\nb: 1", "tags: [] # mine\n# all\nb: 1"),
        ("tags: [x, a]", "tags: [a]"),
        ("tags: [a, x]", "tags: [a]"),
        ("tags: [a, x, ]", "tags: [a, ]"),
        ("tags: [x, ]", "tags: [ ]"),
        ("tags: [\n  a, # a\n  x,\n]", "tags: [\n  a, # a\n  \n]"),
        ("tags: [\n  x, # x\n  a\n]", "tags: [\n  a\n]"),
        ("tags: x # it", "tags: [] # it"),
        ("tags: [a]", "tags: [a]"),
    ],
)
def test_how_a_tag_goes(card: str, new: str) -> None:
    assert with_tags(f"---\n{card}\n---\n".encode(), remove=["x"]) == f"---\n{new}\n---\n".encode()


@pytest.mark.parametrize(
    ("card", "reason", "line"),
    [
        (b"---\na: \xe9\n---\n", "card-not-utf8", 2),
        (b"---\nlicense: mit\n...\nbody", "card-header-open", 1),
        (b"---\rtags:\r- a\r---\r# Title", "card-header-open", 1),
        (b"---\n- a\n---\n", "card-no-keys", 2),
        (b"---\n{tags: [a]}\n---\n", "card-no-keys", 2),
        (b"---\njust text\n---\n", "card-no-keys", 2),
        (b"---\na: 1\ntags:\n- a\ntags:\n- b\n---\n", "card-tags-twice", 5),
        (b"---\na: &x [b]\ntags: *x\n---\n", "card-tags-alias", 3),
        (b"---\na: &x b\ntags:\n- c\n- *x\n---\n", "card-tags-alias", 5),
        (b"---\ntags: &x\n- a\n---\n", "card-tags-anchor", 2),
        (b"---\ntags: !!seq\n- a\n---\n", "card-tags-type", 2),
        (b"---\ntags:\n- !!str a\n---\n", "card-tags-type", 3),
        (b"---\ntags: {a: b}\n---\n", "card-tags-odd", 2),
        (b"---\ntags:\n- a: b\n---\n", "card-tags-odd", 3),
        (b"---\ntags: |\n  a\n---\n", "card-tags-odd", 2),
        (b"---\na: 1\n\tb: 2\n---\n", "card-yaml", 3),
        (b"---\r\na: 1\r\nb: [\r\n---\r\n", "card-yaml", 3),
        (b"---\na: \x01\n---\n", "card-yaml", 2),
        (b'---\na: "\\UFFFFFFFF"\n---\n', "card-yaml", 2),
        (b"---\na: " + b"[" * 100 + b"]" * 100 + b"\n---\n", "card-yaml", 2),
        (b"---\nb: &x {tags: [a]}\n<<: *x\n---\n", "card-odd-key", 3),
        (b"---\n[a]: b\n---\n", "card-odd-key", 2),
        (b"---\na: 1\n...\n# b\n---\n", "card-documents", 3),
        (b"---\na: " + b"x" * (1 << 18) + b"\n---\n", "card-header-long", 1),
    ],
)
def test_refused(card: bytes, reason: str, line: int) -> None:
    for edit in (lambda: with_tags(card, add=NEW), lambda: tags_of(card)):
        with pytest.raises(Malformed) as caught:
            edit()
        assert caught.value.reason == reason
        assert caught.value.where == f"line {line}"


def test_only_the_edit_is_refused_where_reading_is_safe() -> None:
    card = b"---\ntags:\n-\n  a\n- b\n---\n"
    assert tags_of(card) == ("a", "b")
    with pytest.raises(Malformed, match="line of its dash"):
        with_tags(card, remove=["a"])


@pytest.mark.parametrize("header", ["tags:\u2028b:", "tags:\n- x\u2028b: 1", "tags:\u2028- a"])
def test_an_edit_that_would_mean_something_else_is_refused(header: str) -> None:
    """YAML has line breaks that nobody sees: what looks like one line is two."""
    card = f"---\n{header}\n---\n".encode()
    with pytest.raises(Malformed, match="cannot be edited where they stand"):
        with_tags(card, add=["harbor"], remove=["x"])


def test_a_header_that_would_grow_is_not_expanded() -> None:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
    card = "---\n{}\ntags:\n- b\n---\n".format("\n".join(lines)).encode()
    assert tags_of(with_tags(card, add=["c"])) == ("b", "c")


def test_only_words_are_added() -> None:
    with pytest.raises(ValueError, match="not one word"):
        with_tags(b"", add=["a: b"])
