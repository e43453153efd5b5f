"""What the tags of a card say, held against what the files of its repo have earned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from .earned import ENVIRONMENT, FORMER, Earned, deserved


class Standing(StrEnum):
    """How a tag stands in a card.

    `UNPROVED`: carried, and no record that counts says anything. `UNTRUE`: carried, and the
    framework was asked about these files and does not load them.
    """

    TRUE = "true"
    MISSING = "missing"
    UNPROVED = "unproved"
    UNTRUE = "untrue"
    NOT_EARNED = "not earned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A tag, how it stands, and why."""

    tag: str
    standing: Standing
    evidence: str
    warnings: tuple[str, ...] = ()

    def facts(self) -> dict[str, object]:
        """The finding for ``--json``."""
        return {
            "standing": self.standing.value,
            "evidence": self.evidence,
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class Review:
    """Every tag that the card could carry for a framework, led by `ENVIRONMENT`."""

    tags: tuple[Judged, ...]
    former: bool
    """Whether the card carries the name that `ENVIRONMENT` had before."""

    def having(self, *standings: Standing) -> tuple[str, ...]:
        """The tags that stand so."""
        return tuple(each.tag for each in self.tags if each.standing in standings)


def review(carried: Sequence[str], found: Mapping[str, Earned]) -> Review:
    """How the tags of a card stand, by what its repo has earned."""
    judged = [_judged(each, carried) for each in found.values()]
    return Review((_environment(carried, found, judged), *judged), FORMER in carried)


def _judged(each: Earned, carried: Sequence[str]) -> Judged:
    if each.lack is None:
        standing = Standing.TRUE if each.tag in carried else Standing.MISSING
    elif each.tag not in carried:
        standing = Standing.NOT_EARNED
    else:
        standing = Standing.UNTRUE if each.lack.disproves else Standing.UNPROVED
    return Judged(tag=each.tag, standing=standing, evidence=each.evidence, warnings=each.warnings)


def _environment(
    carried: Sequence[str], found: Mapping[str, Earned], judged: Sequence[Judged]
) -> Judged:
    """It is as true as the best of the tags that it goes with."""
    beside = {each.standing for each in judged if each.tag in carried}
    evidence = "it goes with the tags of frameworks"
    if deserved(found):
        standing = Standing.TRUE if ENVIRONMENT in carried else Standing.MISSING
    elif ENVIRONMENT not in carried:
        standing = Standing.NOT_EARNED
    elif beside == {Standing.UNTRUE}:
        standing = Standing.UNTRUE
    else:
        standing = Standing.UNPROVED
        evidence = evidence if beside else "it is there without the tag of a framework"
    return Judged(tag=ENVIRONMENT, standing=standing, evidence=evidence)
