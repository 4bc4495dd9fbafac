"""The target's side of a copy: batches written each at its offset, by an identity that outlives the process.

The sequence number of a record is its offset on the target. Whoever goes on with a copy does so under the same producer
id, so a batch that an earlier process had sent, and of which nobody heard, is known to the broker when it comes again:
it is acknowledged and not written. Batches cut otherwise are refused (OUT_OF_ORDER_SEQUENCE_NUMBER), and then the copy
looks anew where the target ends. Nothing is written twice, and no transaction is needed, whose markers would take
offsets of their own.

A broker that has forgotten the producer (producer.id.expiration.ms, a day) takes any sequence for its first.

Read next: ../client/blocking/sender.py, which delivers.
"""

from __future__ import annotations

from andiron.client.blocking.client import Client
from andiron.client.blocking.sender import Sender
from andiron.client.core.outbox import ClosedBatch, ProducerIdentity
from andiron.client.settings import ProducerSettings
from andiron.copying.chunks import signed
from andiron.copying.errors import CopyError
from andiron.model.ids import TopicPartition
from andiron.model.settings import MIB

SEQUENCES = 1 << 31
COPY_SETTINGS = ProducerSettings(max_request_size=8 * MIB)


class CopyProducer(Sender):
    """Writes sealed batches to where they belong."""

    def __init__(self, client: Client, identity: ProducerIdentity | None = None) -> None:
        self._given = identity
        super().__init__(client, COPY_SETTINGS)

    @property
    def identity(self) -> ProducerIdentity:
        """The producer id and epoch under which it writes."""
        return self._outbox.identity

    def begin(self, partition: TopicPartition, offset: int) -> None:
        """The next batch of a partition goes to this offset of the target."""
        self._outbox.continue_at(partition, offset % SEQUENCES)

    def put(self, partition: TopicPartition, data: bytearray, records: int) -> None:
        """Have a batch written behind those that were put before; `flush` awaits it."""
        outbox = self._outbox
        outbox.put(partition, signed(data, outbox.identity, outbox.sequence(partition)), records)

    def _first_identity(self) -> ProducerIdentity:
        return self._given or super()._first_identity()

    def _note(self, batch: ClosedBatch, offset: int) -> None:
        if offset >= 0 and offset % SEQUENCES != batch.base_sequence:
            raise CopyError(
                f"{batch.partition}: a batch came to lie at offset {offset} of the target, not where the copy ended: "
                "somebody else writes to it. Stop that, delete the topic on the target and copy it anew"
            )
        super()._note(batch, offset)
