"""What a repo of the Hub shall hold after a publish, by what is there and what one may do to it.

Nothing here asks the Hub or sends anything: the same folder and the same repo give the same goal.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice

from rlconvert.card import PROOF, REPO, Card, in_text, licence_of, render, with_proof
from rlconvert.errors import HubConflict, Malformed, TooBig, UsageError
from rlconvert.files import Blob, Entry, File, check_clashes, make_tree, parents, printable
from rlconvert.hub.write import Dataset, RemoteFile
from rlconvert.proof.published import ATTRIBUTES, OUTSIDE
from rlconvert.sidecar import PROVENANCE
from rlconvert.sink import OURS
from rlconvert.tags.earned import ENVIRONMENT, Earned, deserved
from rlconvert.tags.edit import tags_of, with_tags
from rlconvert.tags.header import CARD, find_header

from .outgoing import OutFile, Outgoing

MAX_ENTRIES = 10_000
"""Files and folders in one folder of a repo: more the Hub refuses."""

MANY_FILES = 100_000
"""Files in a repo: more the Hub advises against."""

_ANY = File(Blob(b""))
_KEPT = frozenset({ATTRIBUTES, *OUTSIDE} - {CARD})
"""Files at the root that are the Hub's or for its pages: never deleted."""


class Terms(Enum):
    """What a publish may do to what stands in the repo."""

    OURS = "it becomes what the folder is"
    """A conversion of ours, or empty."""
    MIXED = "files are added and changed, none is deleted, and the card keeps its text"
    """A conversion of ours under a card of somebody's own."""
    THEIRS = "files are added, none is changed, and the card keeps its text"
    """No conversion of ours, or not the account's."""


@dataclass(frozen=True, slots=True)
class Remote:
    """What the Hub has at one commit; nothing, where there is no repo.

    `branch` is the one that it was asked for, if that is there: None is ``main``.
    """

    dataset: Dataset | None = None
    files: Mapping[str, RemoteFile] = field(default_factory=dict)
    card: bytes | None = None
    branch: str | None = None

    def terms(self, *, owned: bool, replace: bool) -> Terms:
        """What may be done to it by somebody to whom it belongs, or not.

        `replace`: the owner wants it to be what the folder is.
        """
        if not owned:
            return Terms.THEIRS
        if replace or not self.files.keys() - {ATTRIBUTES}:
            return Terms.OURS
        if PROVENANCE not in self.files:
            return Terms.THEIRS
        return Terms.OURS if self.card is None or PROOF in self.card else Terms.MIXED


@dataclass(frozen=True, slots=True, kw_only=True)
class TagPlan:
    """The tags of frameworks: what the card gets, loses and has, and why it does not get others."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    withheld: Mapping[str, str] = field(default_factory=dict)
    evidence: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What the repo shall hold: the files that go there, and those that stay as they are."""

    terms: Terms
    files: Mapping[str, OutFile]
    left: Mapping[str, RemoteFile]
    tags: TagPlan
    licence: str | None
    card_before: bytes = b""
    """The card that is edited: the repo's, where it has one that is kept or replaced."""

    def card_edit(self) -> Iterator[str]:
        """What changes in that card, as lines of a diff."""
        file = self.files.get(CARD)
        after = b"" if file is None else file.blob.read()
        old, new = (text.splitlines() for text in (self.card_before, after))
        lines = difflib.diff_bytes(difflib.unified_diff, old, new, n=0, lineterm=b"")
        yield from (line.decode(errors="backslashreplace") for line in islice(lines, 2, None))

    def is_reached(self, files: Mapping[str, RemoteFile]) -> bool:
        """Whether a tree of the Hub is just that, by paths and digests."""
        return (
            files.keys() == self.files.keys() | self.left.keys()
            and all(file.is_at(files[path]) for path, file in self.files.items())
            and all(files[path] == file for path, file in self.left.items())
        )

    def missing(self, files: Mapping[str, RemoteFile]) -> list[str]:
        """The paths that are to be sent where a tree of the Hub is this."""
        return [path for path, file in self.files.items() if not file.is_at(files.get(path))]

    def surplus(self, files: Mapping[str, RemoteFile]) -> list[str]:
        """The paths that are to be deleted there."""
        return [path for path in files if path not in self.files and path not in self.left]


def goal_of(
    local: Outgoing,
    remote: Remote,
    earned: Mapping[str, Earned],
    terms: Terms,
    *,
    repo: str,
    licence: str | None,
    licence_unknown: bool,
) -> Goal:
    """What `repo` shall hold. Commands in a card of ours name it.

    `earned` are the tags of the folder's files, by their digest. `HubConflict` for files of others
    that would have to change, `TooBig` and `UnsafePath` for a tree that the Hub or other systems
    would not take, `UsageError` when nobody says what the licence is.
    """
    files = dict(local.files)
    own = files.pop(CARD, None)
    kept = {path: file for path, file in remote.files.items() if path != CARD}
    if terms is Terms.OURS:
        kept = {path: file for path, file in kept.items() if path in _KEPT}
    elif terms is Terms.THEIRS:
        _refuse_changes(files, remote.files)
    left = {path: file for path, file in kept.items() if path not in files}
    spliced = terms is not Terms.OURS and remote.card is not None
    mine = _new_card(repo, earned) if own is None else own.blob.read()
    card = (remote.card or b"") if spliced else mine
    before = card if remote.card is None else remote.card
    if not spliced:
        card = _licensed(card, licence, unknown=licence_unknown)
        card = card.replace(REPO.encode(), repo.encode()) if PROOF in card else card
    elif licence not in (None, _stated(card)):
        raise UsageError(
            "the card on the Hub states its licence itself: only its tags are edited",
            reason="licence-of-others",
            remedy="Leave --license out",
        )
    card, tags = _tagged(card, earned, left, remove=terms is not Terms.THEIRS)
    if card:
        files[CARD] = OutFile.of(Blob(card))
    _check_tree([*files, *left])
    return Goal(
        terms=terms,
        files={path: files[path] for path in sorted(files)},
        left=left,
        tags=tags,
        licence=_stated(card),
        card_before=before,
    )


def unchecked(left: Mapping[str, RemoteFile]) -> list[str]:
    """Of the files that stay, those that a layout could hold: no check has seen them."""
    return [path for path in left if path not in _KEPT and not path.startswith(f"{OURS}/")]


def _refuse_changes(files: Mapping[str, OutFile], there: Mapping[str, RemoteFile]) -> None:
    other = [path for path in files if path in there and not files[path].is_at(there[path])]
    if other:
        raise HubConflict(
            f"of the files on the Hub {len(other)} have other bytes, and are not ours to change",
            reason="other-bytes",
            file=", ".join(map(printable, other[:5])),
            remedy="Convert its newest revision again, or publish elsewhere; a dataset of your own "
            "becomes what the folder is with --replace",
        )


def _new_card(repo: str, earned: Mapping[str, Earned]) -> bytes:
    """A card for a folder that has none: what it is, and what was proved of it."""
    intro = "Tasks of an RL environment, as they are. Published with rlconvert."
    card = Card(name=repo.partition("/")[2], licence=None, intro=intro, sections=(), rows=())
    proved = [f"- {each.title}: {in_text(each.evidence)}" for each in earned.values()]
    return with_proof(render(card), "\n".join(proved)) or b""


def _tagged(
    card: bytes, earned: Mapping[str, Earned], left: Mapping[str, RemoteFile], *, remove: bool
) -> tuple[bytes, TagPlan]:
    """The card with the tags that are true, and what that changes."""
    strangers = unchecked(left)
    if strangers:
        why = (
            f"the repo on the Hub holds files that the folder does not ({len(strangers):,}), "
            f"such as {printable(strangers[0])}: what it is with them was not checked. "
            "`rlconvert tag` asks when it is there"
        )
        withheld = dict.fromkeys(earned, why)
        true: tuple[str, ...] = ()
    else:
        withheld = {tag: each.evidence for tag, each in earned.items() if each.lack is not None}
        true = deserved(earned)
    there = tags_of(card)
    known = (ENVIRONMENT, *earned)
    removed = tuple(tag for tag in known if tag in there and tag not in true) if remove else ()
    added = tuple(tag for tag in true if tag not in there)
    plan = TagPlan(
        added=added,
        removed=removed,
        kept=tuple(tag for tag in known if tag in there and tag not in removed),
        withheld=withheld,
        evidence={tag: earned[tag].evidence for tag in true if tag in earned},
    )
    return with_tags(card, add=added, remove=removed), plan


def _stated(card: bytes) -> str | None:
    licence = licence_of(card)
    return None if licence == "unknown" else licence


def _licensed(card: bytes, licence: str | None, *, unknown: bool) -> bytes:
    """The card with a licence, or as it is when nobody knows one; it is never guessed."""
    stated = _stated(card)
    if stated is not None:
        if licence not in (None, stated):
            raise UsageError(
                f"the card states the licence {printable(stated)}, not {licence}",
                reason="other-licence",
                file=CARD,
                remedy="Leave --license out, or correct the card",
            )
        return card
    if licence is None:
        if unknown:
            return card
        raise UsageError(
            "the card states no licence",
            reason="licence-unknown",
            file=CARD,
            remedy="Say --license ID if you know it, --licence-unknown if nobody does",
        )
    try:
        header = find_header(card.decode())
    except UnicodeDecodeError:
        header = None
    if header is not None:
        at = header.lines.start if header.keys is None else header.keys
        line = f"{' ' * header.column}license: {licence}{header.line_end}"
        if not header.present:
            line = f"---{header.line_end}{line}---{header.line_end}"
        made = (header.text[:at] + line + header.text[at:]).encode()
        if licence_of(made) == licence and tags_of(made) == header.names:
            return made
    raise Malformed(
        "the licence cannot be added to its header",
        reason="card-licence",
        file=CARD,
        remedy=f"Write `license: {licence}` into it by hand",
    )


def _check_tree(paths: list[str]) -> None:
    entries: dict[str, Entry] = dict.fromkeys(paths, _ANY)
    check_clashes(make_tree(entries))
    every = {*paths, *(folder for path in paths for folder in parents(path))}
    inside = Counter(path.rpartition("/")[0] for path in every)
    for folder, count in inside.items():
        if count > MAX_ENTRIES:
            raise TooBig(
                f"{count:,} files and folders in one folder are more than the {MAX_ENTRIES:,} "
                "that the Hub takes",
                reason="too-many-entries",
                file=printable(folder) or "the root",
                remedy="Convert again with --layout archive, which puts tasks into few files, "
                "or lay the source out in several folders whose tasks a registry.json names",
            )
