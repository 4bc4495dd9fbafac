"""Whatever two replicas have been through, the one that follows ends with the log of the one that leads.

Leaders change, cleanly or not, and write in epochs of their own; followers copy some of it, and are cut off; records
are deleted from the beginning. Then one of them follows the other to the end.
"""

from __future__ import annotations

import random

import pytest

from andiron.broker.replicas.partition import Partition
from andiron.model.errors import ProtocolError
from andiron.records.batch import iterate
from andiron.replication.follower import FetchPartitionData, FollowerReplica, Next
from andiron.replication.leader import LeaderAndIsr
from properties.effort import tries
from unit.log.logs import ID, ORDERS, append, open_log

ROUNDS_MAX = 200


class Replica:
    """A log, and the role it plays."""

    def __init__(self, me: int) -> None:
        self.me, self.log = me, open_log(segment_bytes=600)
        self.partition = Partition(ORDERS, ID, self.log)

    def lead(self, epoch: int) -> None:
        members = frozenset({1, 2})
        self.partition.lead(
            LeaderAndIsr(self.me, epoch, members, frozenset({self.me})), watermark=0, now=0, lag_ms_max=1000
        )

    def answer(self, offset: int, last_epoch: int, max_bytes: int) -> FetchPartitionData:
        """As the Fetch handler does, up to the end of the log."""
        log = self.log
        try:
            if last_epoch >= 0 and (parted := self.partition.divergence(last_epoch, offset)):
                return FetchPartitionData(diverging=parted)
            piece = self.partition.read(offset, max_bytes, log.end, at_least_one=True)
        except ProtocolError as error:
            return FetchPartitionData(error.code)
        records = b"" if piece is None else bytes(piece.read())
        return FetchPartitionData(records=records, watermark=self.partition.watermark, log_start=log.start)

    def contents(self, start: int) -> list[bytes]:
        """The batches from `start` on."""
        found, offset = [], start
        while (piece := self.log.read(offset, 1 << 20, self.log.end)) is not None:
            for batch in iterate(piece.read()):
                found.append(bytes(batch.buf[batch.position : batch.position + batch.size]))
                offset = batch.next_offset
        return found


def follow(follower: Replica, leader: Replica, rounds: int, chance: random.Random) -> bool:
    """Fetch some rounds; whether it has got to the end."""
    replica = FollowerReplica(follower.log, watermark=follower.log.start)
    for _ in range(rounds):
        place = replica.position()
        answer = leader.answer(place.offset, place.last_epoch, chance.choice([1, 200, 2000]))
        if replica.take(answer, 0) is Next.ASK_OFFSETS:
            replica.go_to(leader.log.start, leader.log.end, 0)
        elif not answer.records and answer.diverging is None:
            return True
    return False


@pytest.mark.parametrize("seed", range(tries(150)))
def test_a_follower_ends_with_its_leaders_log(seed: int) -> None:
    chance = random.Random(seed)
    pair = [Replica(1), Replica(2)]
    for epoch in range(1, chance.randint(2, 12)):
        leader, follower = chance.sample(pair, 2)
        leader.lead(epoch)
        for _ in range(chance.randint(0, 5)):
            append(
                leader.log, chance.randint(1, 3), epoch=epoch, value=bytes([epoch]) * chance.randint(1, 90)
            )
            if chance.random() < 0.5:
                follow(follower, leader, chance.randint(0, 4), chance)
        if chance.random() < 0.2:
            leader.log.advance_start(chance.randint(leader.log.start, leader.log.end))
            leader.log.delete_old(0, leader.log.end)

    leader, follower = pair
    leader.lead(99)
    assert follow(follower, leader, ROUNDS_MAX, chance), "it comes to an end"

    start = follower.log.start
    assert start >= leader.log.start, "it may have deleted more when it led"
    assert follower.log.end == leader.log.end
    assert follower.contents(start) == leader.contents(start)
    assert [follower.log.epochs.epoch_of(each) for each in range(start, leader.log.end)] == [
        leader.log.epochs.epoch_of(each) for each in range(start, leader.log.end)
    ]
