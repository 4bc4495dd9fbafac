"""Producer ids, out of a block that the controller set aside for this broker.

The controller hands out blocks of a thousand, each once for ever (a record in the metadata
log), and the broker gives the ids away one by one without asking again. A restart forgets
the rest of a block; there are 2^63 of them.
"""

from __future__ import annotations


class ProducerIds:
    """What is left of this broker's block."""

    __slots__ = ("_end", "_next")

    def __init__(self) -> None:
        self._next = self._end = 0

    def take(self) -> int | None:
        """An id that nobody had before, or None when the block is used up."""
        if self._next == self._end:
            return None
        self._next += 1
        return self._next - 1

    def take_from(self, start: int, count: int) -> int:
        """The first id of a new block; its rest is kept, unless another block came in meanwhile."""
        if self._next == self._end:
            self._next, self._end = start + 1, start + count
        return start
