"""A change too large for one batch of the metadata log (KIP-868): all of it counts at its end, or none of it.

    Begin ── record ── record ── ··· ── End      they count now, in their order
    Begin ── record ── record ── ··· ── Abort    they never happened
    Begin ── record ──┤ the log ends             they wait; a controller that takes over aborts them

Kafka writes the first records of a cluster so. Here nobody begins one: a decision is one batch. But a log that Kafka
wrote is read here, and may end inside of one. Until that is decided nobody sees what is in it: no client, no broker,
no snapshot, which is cut before or after and never within.

Read next: image.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from andiron.controller.records import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    MetadataRecord,
)
from andiron.model.errors import ErrorCode
from andiron.model.ids import Offset


class MetadataTransaction:
    """The one that is under way in a log, if one is."""

    def __init__(self) -> None:
        self.waiting: list[tuple[MetadataRecord, Offset]] = []  # its beginning first

    @property
    def is_open(self) -> bool:
        return bool(self.waiting)

    def take(self, record: MetadataRecord, offset: Offset) -> Sequence[MetadataRecord]:
        """The record at `offset` has come; returns those that count now: it, none, or all that it brings to an end."""
        if isinstance(record, BeginTransactionRecord):
            if self.waiting:
                raise ErrorCode.INVALID_RECORD.error(
                    f"a metadata transaction begins at {offset}, within the one of {self.waiting[0][1]}"
                )
        elif isinstance(record, EndTransactionRecord | AbortTransactionRecord):
            if not self.waiting:
                raise ErrorCode.INVALID_RECORD.error(
                    f"a metadata transaction ends at {offset}, and none began"
                )
            _, *held = self.waiting
            self.waiting = []
            return [each for each, _ in held] if isinstance(record, EndTransactionRecord) else ()
        elif not self.waiting:
            return (record,)
        self.waiting.append((record, offset))
        return ()

    def forget(self) -> None:
        """A snapshot has come that stands for more: whatever was decided is in it."""
        self.waiting = []
