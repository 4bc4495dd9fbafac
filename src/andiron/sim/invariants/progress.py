"""Committed offsets do not go back by themselves, nor get lost; and groups come to rest.

Everyone in these worlds begins where its group has come to, and only goes on (clients/member.py, transactor.py).
So an offset that is less than one that was committed before has been lost, or was committed by somebody who had no
right to: a member of a former generation, a zombie, a transaction that did not count. What is committed is
looked at when the whole log of the coordinator is, and held against what it says ever after, restarts and other
coordinators included; one that was deposed does not count.

When all members have gone, in good order or silently, their groups are empty: everybody's time runs out.
"""

from __future__ import annotations

from typing import Any

from andiron.groups.classic.group import ClassicGroup
from andiron.groups.consumer.group import ConsumerGroup
from andiron.groups.shard import GroupShard
from andiron.sim.exchange import Exchange
from andiron.sim.host import Host
from andiron.sim.invariants.atomicity import committed_offset
from andiron.sim.invariants.excuse import Excuse
from andiron.sim.watcher import End, Violation, Watcher
from andiron.wire.apis import ApiKey

FORWARD = "committed offsets do not go back"
EMPTY = "a group without anybody in it is empty"

Place = tuple[str, str, int]


class OffsetsGoForward(Watcher):
    """Compares the offsets of groups with what they were."""

    def __init__(self, excuse: Excuse) -> None:
        self._excuse = excuse
        self._known: dict[int, dict[Place, tuple[int, int]]] = {}  # where its record stands, and the offset
        self._epochs: dict[int, int] = {}  # in which that was known
        self._seen: dict[
            tuple[int, int], tuple[int, int, int]
        ] = {}  # epoch, end and watermark when last looked at

    def went_down(self, host: Host, end: End) -> None:
        self._seen = {key: seen for key, seen in self._seen.items() if key[0] != host.number}

    def stepped(self, host: Host) -> None:
        assert host.node is not None
        if self._excuse.is_given:
            return
        for shard in host.node.broker.groups.shards:
            partition, index = shard.partition, shard.partition.name.partition
            now = partition.epoch, partition.log.end, partition.watermark
            is_deposed = partition.epoch < self._epochs.get(index, -1)
            if self._seen.get((host.number, index)) != now and partition.failure is None and not is_deposed:
                self._seen[host.number, index] = now
                self._epochs[index] = partition.epoch
                self._look(index, shard.machine, is_committed=now[1] == now[2])

    def said(self, host: Host, exchange: Exchange) -> None:
        if exchange.key != ApiKey.OFFSET_COMMIT or self._excuse.is_given:
            return
        group = exchange.body.group_id
        for asked, answered in zip(exchange.body.topics, exchange.response.topics, strict=True):
            for wanted, answer in zip(asked.partitions, answered.partitions, strict=True):
                found = committed_offset(host.world, group, asked.name, wanted.partition_index)
                if answer.error_code == 0 and (found is None or found < wanted.committed_offset):
                    what = f"{group}: {wanted.committed_offset} is acknowledged, and {found} is there"
                    raise Violation(FORWARD, what)

    def _look(self, index: int, machine: GroupShard, *, is_committed: bool) -> None:
        found = _committed(machine)
        known = self._known.setdefault(index, {})
        for place, (record, offset) in known.items():
            now = found.get(place)
            if now is None:
                raise Violation(FORWARD, f"{place} had {offset}, and has none")
            if now[0] < record or now[1] < offset:
                raise Violation(FORWARD, f"{place} had {offset} at {record}, and has {now[1]} at {now[0]}")
        if is_committed:
            known |= found

    def is_restless(self, host: Host) -> bool:
        return self._inhabited(host) is not None

    def rested(self, host: Host) -> None:
        inhabited = self._inhabited(host)
        if inhabited is not None:
            raise Violation(EMPTY, inhabited)

    def _inhabited(self, host: Host) -> str | None:
        if host.node is None or host.node.broker.groups.shards.loading:
            return "the coordinator is not there"
        for shard in host.node.broker.groups.shards:
            for name, group in shard.machine.groups.items():
                members: dict[str, Any] = {}
                if isinstance(group, ClassicGroup):
                    members = group.members | group.pending
                elif isinstance(group, ConsumerGroup):
                    members = group.members
                if members:
                    return f"{name} has {list(members)}"
        return None


def _committed(machine: GroupShard) -> dict[Place, tuple[int, int]]:
    found: dict[Place, tuple[int, int]] = {}
    for group in machine.offsets:
        offsets = machine.offsets.of(group)
        assert offsets is not None
        for topic, partitions in offsets.committed.items():
            for partition, committed in partitions.items():
                found[group, topic, partition] = committed.record_offset, committed.offset
    return found
