"""Producer ids, out of a block that the controller set aside for this broker.

The controller hands out blocks of a thousand, each once for ever (a record in the metadata
log), and the broker gives the ids away one by one without asking again. A restart forgets
the rest of a block; there are 2^63 of them.
"""

from __future__ import annotations

from andiron.model.errors import ErrorCode
from andiron.wire.messages.allocate_producer_ids import AllocateProducerIdsResponse


class ProducerIdManager:
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

    def first_of(self, block: AllocateProducerIdsResponse) -> int:
        """The first id of the block that the controller has answered with."""
        if block.error_code:
            raise ErrorCode.of(block.error_code).error("the controller gives no producer ids")
        return self.take_from(block.producer_id_start, block.producer_id_len)
