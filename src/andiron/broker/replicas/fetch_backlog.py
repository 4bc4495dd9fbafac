"""What a follower has fetched and not yet taken in: some of it in each step, so that others are served in between.

    an answer of 10 MB ─▶ put ─▶ │ piece │ piece │ piece │ ─▶ take(), within a budget ─▶ the log
                                                    └──── the rest waits for the next step

A batch costs a follower a few microseconds whatever its size, and a byte next to nothing: so a budget is of both. It is
spent to the last whole batch, and gives at least one.

A frame is good only until its step is over: what is left then is copied, once.

Read next: replica_fetcher.py, which owns one of these.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from andiron.wire.messages.fetch import PartitionData

BATCHES_AT_ONCE = 500
BASE_OFFSET_BYTES, LENGTH_BYTES = 8, 4  # with which every batch begins

Key = tuple[bytes, int]  # a partition: its topic's id, its number


class Piece(NamedTuple):
    """What a leader has said of one partition in answer to a fetch, or a part of it."""

    key: Key
    number: int  # of the fetch
    said: PartitionData
    records: bytes | memoryview  # or a part of them
    goes_on: bool = False  # from where the piece before it ended


class FetchBacklog:
    """Pieces of Fetch answers that a follower has not appended yet, in the order in which they came."""

    def __init__(self) -> None:
        self._pieces: deque[Piece] = deque()
        self._bytes = self._batches = 0  # that may still be taken in this step
        self._are_own = True  # their records, which are not of a frame

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def put(self, piece: Piece) -> None:
        """One more has come."""
        self._pieces.append(piece)
        self._are_own = False

    def begin(self, bytes_max: int) -> None:
        """A step begins, in which so much may be taken."""
        self._bytes, self._batches = bytes_max, BATCHES_AT_ONCE

    def take(self) -> Piece | None:
        """The next piece, or as much of it as this step has room for; None if it has none, or there is nothing."""
        if not self._pieces or self._bytes <= 0 or self._batches <= 0:
            return None
        piece = self._pieces.popleft()
        records = piece.records
        size, count = _whole_batches(records, self._bytes, self._batches)
        self._bytes, self._batches = self._bytes - size, self._batches - count
        if size and _length(records, size):
            view = memoryview(records)
            self._pieces.appendleft(piece._replace(records=view[size:], goes_on=True))
            return piece._replace(records=view[:size])
        return piece

    def drop_rest(self) -> None:
        """The piece that was taken last is not wanted: nor is what goes on from it."""
        if self._pieces and self._pieces[0].goes_on:
            self._pieces.popleft()

    def end(self) -> None:
        """The step ends, and with it the frame."""
        if not self._are_own:
            self._pieces = deque(piece._replace(records=bytes(piece.records)) for piece in self._pieces)
            self._are_own = True


def _whole_batches(records: bytes | memoryview, bytes_max: int, batches_max: int) -> tuple[int, int]:
    """How many bytes the first whole batches have, and how many these are, within both bounds; one at least."""
    size = count = 0
    while count < batches_max and (length := _length(records, size)):
        if count and size + length > bytes_max:
            break
        size, count = size + length, count + 1
    return size, count


def _length(records: bytes | memoryview, position: int) -> int:
    """The size of the batch that begins there; 0 if it is not there whole."""
    head = position + BASE_OFFSET_BYTES
    body = head + LENGTH_BYTES
    length = body - position + int.from_bytes(records[head:body], "big", signed=True)
    return length if body <= len(records) and body - position < length <= len(records) - position else 0
