"""The ISR of partitions led here: the leader finds out who is in sync, and asks the controller to say so (KIP-497).

    a follower has caught up          ─┐
    one has been behind for too long  ─┴▶ propose ─▶ AlterPartition ─▶ controller ─▶ the metadata log
                                                         └── the answer: how the partition stands now

A proposal counts for the watermark from the moment it is made (replication/leader.py), so whichever way the controller
decides, nothing committed is missing from a member. All proposals that come up while one request is under way go out
in the next: a thousand partitions of a broker that is gone cost two requests.

The law easy to break: a proposal is withdrawn only if the controller says that it has not taken it. One that was not
answered may have been taken, and so may one that names a partition epoch that has passed: it can be the same one, asked
again. Were it withdrawn, the watermark would move without a replica that may be elected. It stands, is asked again, and
ends with what the metadata says.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from andiron.broker.metadata.broker_lifecycle import BrokerLifecycle
from andiron.broker.metadata.controller_channel import ControllerChannel
from andiron.broker.metadata.metadata_loader import MetadataLoader
from andiron.broker.node.patience import ALTER_PARTITION_MS, ALTER_PARTITION_RETRY_MS
from andiron.broker.node.step import Step
from andiron.broker.replicas.partition import Partition
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NEVER, Millis, NodeId
from andiron.model.line import Line
from andiron.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartition,
    AlterPartitionRequestTopic,
    AlterPartitionResponse,
    AlterPartitionResponsePartition,
    BrokerState,
)

# What the controller has looked at, and not done.
NOT_TAKEN = {ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED, ErrorCode.INVALID_REQUEST}

log = logging.getLogger(__name__)


class AlterPartitionManager:
    """Asks the controller by AlterPartition to shrink and expand the ISRs of the partitions that are led here."""

    def __init__(
        self, metadata: MetadataLoader, lifecycle: BrokerLifecycle, channel: ControllerChannel, step: Step
    ) -> None:
        self._metadata, self._lifecycle, self._channel, self._step = metadata, lifecycle, channel, step
        self._me = lifecycle.me
        self._proposals: dict[Partition, frozenset[NodeId]] = {}
        self._again: dict[Partition, None] = {}  # those whose proposals were not answered
        self._asking = False
        self._check_at = NEVER
        self.shrinks = self.expands = 0

    def fetched(self, partition: Partition, replica: NodeId, now: Millis) -> None:
        """A follower has fetched from here: it may have caught up."""
        if partition.leader().has_caught_up(replica):
            self._propose(partition, now)

    def next_deadline(self) -> Millis:
        return self._check_at

    def check_soon(self, now: Millis) -> None:
        """Brokers have come or gone: who could not join may be able to now."""
        self._check_at = min(self._check_at, Millis(now + ALTER_PARTITION_RETRY_MS))

    def check(self, partitions: Iterable[Partition], lag_ms_max: int, now: Millis) -> None:
        """Look for followers that have been behind for too long, and come back before another could be."""
        again, self._again = self._again, {}
        for partition in again:
            if partition.leads and partition.leader().proposed != partition.leader().isr:
                self._proposals[partition] = partition.leader().proposed
        self._send(now)
        for partition in partitions:
            if partition.leads:
                self._propose(partition, now)
        self._check_at = Millis(now + max(1, lag_ms_max // 2))

    def _propose(self, partition: Partition, now: Millis) -> None:
        wanted = partition.leader().propose(now, self._metadata.is_live)
        if wanted is not None:
            self._proposals[partition] = wanted
            self._send(now)

    # ── asking the controller ────────────────────────────────────────────────────────

    def _send(self, now: Millis) -> None:
        if self._asking or not self._proposals:
            return
        proposals, self._proposals = self._proposals, {}
        asked = {p: isr for p, isr in proposals.items() if p.leads and p.leader().proposed == isr}
        if not asked:
            return
        topics: dict[bytes, AlterPartitionRequestTopic] = {}
        for partition, isr in asked.items():
            topic = topics.setdefault(partition.topic_id, AlterPartitionRequestTopic(partition.topic_id))
            topic.partitions.append(self._change(partition, isr))
        self._asking = True
        request = AlterPartitionRequest(self._me, self._lifecycle.epoch, list(topics.values()))
        epochs = {partition: partition.epoch for partition in asked}

        def answered(response: AlterPartitionResponse | None) -> None:
            self._asking = False
            self._take(response, {p: epoch for p, epoch in epochs.items() if p.leads and p.epoch == epoch})
            self._send(self._step.now)

        def refused(error: ProtocolError) -> None:
            log.warning(Line(
                "ISR changes cannot be told to the controller; tried again",
                count=len(asked), error=error.detail,
            ))  # fmt: skip

        self._step.later(self._channel.decide(request, now, ALTER_PARTITION_MS).or_else(refused), answered)

    def _change(self, partition: Partition, isr: frozenset[NodeId]) -> AlterPartitionRequestPartition:
        progress = partition.leader().progress()
        members = [
            BrokerState(node, self._lifecycle.epoch if node == self._me else progress[node].broker_epoch)
            for node in sorted(isr)
        ]
        return AlterPartitionRequestPartition(
            partition.name.partition,
            partition.epoch,
            new_isr_with_epochs=members,
            partition_epoch=partition.partition_epoch,
        )

    def _take(self, response: AlterPartitionResponse | None, asked: dict[Partition, int]) -> None:
        said: dict[tuple[bytes, int], AlterPartitionResponsePartition] = {}
        if response is not None and not response.error_code:
            said = {(t.topic_id, p.partition_index): p for t in response.topics for p in t.partitions}
        for partition in asked:
            answer = said.get((partition.topic_id, partition.name.partition))
            if answer is None:
                self._again[partition] = None
                self._check_at = min(self._check_at, Millis(self._step.now + ALTER_PARTITION_RETRY_MS))
            elif answer.error_code:
                self._refused(partition, ErrorCode.of(answer.error_code))
            elif answer.partition_epoch > partition.partition_epoch:
                self._settled(partition, answer)

    def _refused(self, partition: Partition, code: ErrorCode) -> None:
        log.info(Line(
            "ISR proposed for partition {partition} is refused by the controller",
            partition=partition.name, leader_epoch=partition.epoch, error=code.name,
        ))  # fmt: skip
        if code in NOT_TAKEN:
            partition.leader().withdraw()
            self._check_at = min(self._check_at, Millis(self._step.now + ALTER_PARTITION_RETRY_MS))

    def _settled(self, partition: Partition, answer: AlterPartitionResponsePartition) -> None:
        isr = frozenset(map(NodeId, answer.isr))
        if answer.leader_epoch != partition.epoch:
            return  # the metadata will say more
        self.count(partition, partition.confirm(answer.partition_epoch, isr), isr)
        self._step.moved(partition)

    def count(self, partition: Partition, before: frozenset[NodeId], after: frozenset[NodeId]) -> None:
        """The ISR of a partition that is led here has changed, whether it was this leader who asked for that or not."""
        self.shrinks += bool(before - after)
        self.expands += bool(after - before)
        if before != after:
            log.info(Line(
                "ISR of partition {partition} is changed", partition=partition.name, isr=sorted(after),
                before=sorted(before), leader_epoch=partition.epoch, high_watermark=partition.watermark,
            ))  # fmt: skip
