"""What a node keeps in mind, table by table, beside what there is of that: memory follows state.

    ended transactions    7 of 7       their markers are not committed yet
    timers of groups    212 of 140     deadlines that were moved stay beside the new ones, up to as many again

A table that grows with what has happened, and not with what is, fills any memory in time, however slowly; and whoever
empties it at last does so in one step. So each table that loses its entries by something else than the end of what they
are of is counted here, and the law is that it has at most as many spare entries as living ones (`is_worn`).

Read next: sim/invariants/memory.py, which asks the law; edge/metrics/process.py, which tells the counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from andiron.model.timers import SPARE
from andiron.transactions.states import State

if TYPE_CHECKING:
    from andiron.broker.broker import Broker


class Kept(NamedTuple):
    """How many entries a table has, and how many of them are of something that is there."""

    table: str
    entries: int
    living: int
    heaps: int = 1  # of how many it is the sum: each may have some to spare

    @property
    def is_worn(self) -> bool:
        """Whether most of it is of what was, and is no more."""
        return self.entries > 2 * self.living + self.heaps * SPARE


def census(broker: Broker) -> list[Kept]:
    """The tables of a node."""
    return [*_of_requests(broker), *_of_logs(broker), *_of_groups(broker), *_of_transactions(broker)]


def _of_requests(broker: Broker) -> Iterator[Kept]:
    waiting = broker.waiting
    yield Kept("deadlines of requests", waiting.deadlines.entries, len(waiting))


def _of_logs(broker: Broker) -> Iterator[Kept]:
    partitions = list(broker.replica_manager)
    ended = [(each.watermark, each.log.producers.unreplicated) for each in partitions]
    yield Kept(
        "ended transactions",
        sum(len(markers) for _, markers in ended),
        sum(marker >= watermark for watermark, markers in ended for marker in markers.values()),
    )
    yield Kept("counted topics", len(broker.replica_manager.traffic.topics()) - 1, len(broker.image.topics))
    timetable = broker.housekeeping.timetable
    yield Kept("house to keep", len(timetable), len(partitions))


def _of_groups(broker: Broker) -> Iterator[Kept]:
    timers = broker.groups.shards.timers
    yield Kept("timers of group coordinators", timers.entries, len(timers))
    machines = [shard.machine for shard in broker.groups.shards]
    yield Kept(
        "timers of groups",
        sum(each.timers.entries for each in machines),
        sum(len(each.timers) for each in machines),
        heaps=len(machines),
    )
    yield Kept(
        "weights of groups",
        sum(len(each.memory) for each in machines),
        sum(len(each.groups) for each in machines),
    )


def _of_transactions(broker: Broker) -> Iterator[Kept]:
    timers = broker.transactions.shards.timers
    yield Kept("timers of transaction coordinators", timers.entries, len(timers))
    machines = [shard.machine for shard in broker.transactions.shards]
    states = [each.state for machine in machines for each in machine.transactions.values()]
    yield Kept(
        "ongoing transactions",
        sum(each.ongoing for each in machines),
        states.count(State.ONGOING),
    )
    yield Kept(
        "transactions that owe markers",
        sum(each.owing for each in machines),
        sum(state.is_prepared for state in states),
    )
