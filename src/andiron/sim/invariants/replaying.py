"""The state of a coordinator is the replay of its log: a machine made anew from it would be the same.

Compared is what is hard: transactions and what they owe, offsets that count and offsets that are pending, groups as
far as they are written down. A classic group is so when it is stable or empty; what its members do in between is
soft. The log is read from the disk, compacted as it may be, and decoded here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from andiron.broker.replicas.partition import Partition
from andiron.groups.classic.group import ClassicGroup
from andiron.groups.classic.states import ClassicState
from andiron.groups.consumer.group import ConsumerGroup
from andiron.groups.records import NO_PRODUCER, TransactionEnded
from andiron.groups.records import decode_record as decode_group_record
from andiron.groups.shard import GroupShard
from andiron.groups.topics import Topic
from andiron.model.chance import Chance
from andiron.model.ids import LeaderEpoch, Offset
from andiron.records.control import end_marker_of
from andiron.sim.host import Host
from andiron.sim.mirror import scan
from andiron.sim.watcher import Violation, Watcher
from andiron.transactions.records import decode_record
from andiron.transactions.shard import TransactionShard

REPLAYED = "a coordinator's state is the replay of its log"


class LogsAreTheState(Watcher):
    """Makes each machine anew, and compares."""

    def leaves(self, host: Host) -> None:
        """The last moment of the coordinators: they go with what is led here."""
        if not host.disk.is_bad:
            self.rested(host)

    def rested(self, host: Host) -> None:
        assert host.node is not None
        broker = host.node.broker
        for groups in broker.groups.shards:
            other = GroupShard(host.settings.groups, _NoTopics(), Chance(0), lambda _: {})
            for offset, record in _group_records(host, groups.partition):
                other.replay(record, offset)
            _compare(groups.partition, _offsets(groups.machine), _offsets(other))
            _compare(groups.partition, *_groups(groups.machine, other))
        for transactions in broker.transactions.shards:
            anew = TransactionShard(host.settings.transactions, LeaderEpoch(0), lambda topic, index: True)
            for batch, records in scan(host, transactions.partition):
                for record in () if batch.is_control else records or ():
                    decoded = decode_record(record.key, record.value)
                    if decoded is not None:
                        anew.replay(decoded, Offset(record.offset))
            _compare(transactions.partition, transactions.machine.transactions, anew.transactions)


def _compare(partition: Partition, there: dict[Any, Any], replayed: dict[Any, Any]) -> None:
    for key in (*there, *replayed):
        if there.get(key) != replayed.get(key):
            what = f"{partition.name}: {key} is {there.get(key)}, and replayed {replayed.get(key)}"
            raise Violation(REPLAYED, what)


# ── groups ───────────────────────────────────────────────────────────────────────────


class _NoTopics:
    """Replaying asks for none."""

    version = 0

    def named(self, name: str) -> Topic | None:
        return None

    def identified(self, id: bytes) -> Topic | None:
        return None

    def names(self) -> Iterable[str]:
        return ()


def _group_records(host: Host, partition: Partition) -> Iterator[tuple[Offset, Any]]:
    for batch, records in scan(host, partition):
        if batch.is_control:
            marker = end_marker_of(batch) if batch.count else None
            if marker is not None:
                yield Offset(batch.base_offset), TransactionEnded(batch.producer_id, marker.committed)
            continue
        producer_id = batch.producer_id if batch.is_transactional else NO_PRODUCER
        for record in records or ():
            decoded = decode_group_record(record.key, record.value, producer_id)
            if decoded is not None:
                yield Offset(record.offset), decoded


def _offsets(machine: GroupShard) -> dict[Any, Any]:
    """Every offset that counts, and where producers have others pending."""
    found: dict[Any, Any] = {}
    for group in machine.offsets:
        offsets = machine.offsets.of(group)
        assert offsets is not None
        for place in offsets.partitions():
            found[group, place] = offsets.get(*place), sorted(offsets.open.get(place, ()))
    return found


def _groups(live: GroupShard, replayed: GroupShard) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """What is written down of the groups that are written down as they are."""
    settled = [
        name
        for name, group in live.groups.items()
        if isinstance(group, ConsumerGroup)
        or (
            isinstance(group, ClassicGroup)
            and group.state in (ClassicState.STABLE, ClassicState.EMPTY)
            and group.generation
        )
    ]
    return (
        {name: _written(live.groups[name]) for name in settled},
        {name: _written(replayed.groups[name]) for name in settled if name in replayed.groups},
    )


def _written(group: Any) -> Any:
    if isinstance(group, ClassicGroup):
        members = {
            member.id: (member.instance_id, member.assignment, member.metadata(group.protocol))
            for member in group.members.values()
        }
        return group.state, group.generation, group.protocol_type, group.protocol, group.leader, members
    assert isinstance(group, ConsumerGroup)
    return (
        group.epoch, group.metadata_hash, group.assignment_epoch, group.members, group.targets,
        group.patterns, group.owners,
    )  # fmt: skip
