"""What is noticed while a row is read: deviations that NeMo Gym 0.7.0 refuses or takes in wrongly.

A fault ends the reading of a row. A remark does not: the model holds what the row means, and the
remark says what NeMo Gym makes of the bytes.
"""

from __future__ import annotations

from rlconvert.errors import Malformed
from rlconvert.model import Remark

REFUSED = "NeMo Gym refuses the row as it is"
LOST = "NeMo Gym accepts the row and loses a part of it"
UNHEARD = "keys of a message that NeMo Gym drops, and a rewritten row too"
ODD = "likely a mistake in the row"


class Notices:
    """The remarks on one row, each once, in the order in which they were made.

    `harmful` counts how often something was refused or lost, whether told already or not.
    """

    def __init__(self) -> None:
        self.remarks: list[Remark] = []
        self.harmful = 0

    def refused(self, field: str, detail: str) -> None:
        """NeMo Gym's request model refuses this."""
        self.harmful += 1
        self._add(Remark(field, REFUSED, detail, harm=True))

    def lost(self, field: str, detail: str) -> None:
        """NeMo Gym takes this in without a word, and not all of it."""
        self.harmful += 1
        self._add(Remark(field, LOST, detail, harm=True))

    def unheard(self, field: str, detail: str) -> None:
        """NeMo Gym takes this in without these keys, and so does the model."""
        self._add(Remark(field, UNHEARD, detail, harm=True))

    def odd(self, field: str, detail: str) -> None:
        """Taken as it is, by NeMo Gym and by us."""
        self._add(Remark(field, ODD, detail))

    def _add(self, remark: Remark) -> None:
        if remark not in self.remarks:
            self.remarks.append(remark)


def bad(reason: str, problem: str, remedy: str | None = None) -> Malformed:
    """A row that cannot be read; the reader adds file and line."""
    return Malformed(problem, reason=reason, remedy=remedy)
