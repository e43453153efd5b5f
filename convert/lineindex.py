"""Where the lines of a file are that are looked up by a name: 16 bytes for each, however many."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from hashlib import blake2b

_SIZE_BITS = 28
_SIZE_MASK = (1 << _SIZE_BITS) - 1


class LineIndex:
    """Lines by name. It can be pickled, and every worker has one: so it is small.

    Of a name 64 bits of a digest are kept: whoever reads a line sees whether it is the right one.
    """

    def __init__(self, lines: Iterable[tuple[str, int, int]]) -> None:
        """`lines` are names, each with where its line begins and how many bytes it has."""
        digests, places = array("Q"), array("Q")
        for name, start, size in lines:
            digests.append(_digest(name))
            places.append(start << _SIZE_BITS | size)
        order = sorted(range(len(digests)), key=digests.__getitem__)
        self._digests = array("Q", (digests[each] for each in order))
        self._places = array("Q", (places[each] for each in order))

    def find(self, name: str) -> Iterator[tuple[int, int]]:
        """Where the lines of a name may be, the last one first: their begin and their size."""
        digest = _digest(name)
        first, end = bisect_left(self._digests, digest), bisect_right(self._digests, digest)
        for place in reversed(self._places[first:end]):
            yield place >> _SIZE_BITS, place & _SIZE_MASK


def _digest(name: str) -> int:
    data = name.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")
