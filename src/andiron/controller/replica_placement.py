"""Which brokers get the replicas of new partitions.

Live brokers stand in a ring in which racks alternate. Leaders go round it, so that each broker leads its
share; followers stand behind their leader, a step further away with each lap, so that the load of a broker
that fails falls on all others and not on one:

    ring  1 2 3     p0  1 2 3     p3  1 3 2       first lap: the next two
                    p1  2 3 1     p4  2 1 3       second lap: one further
                    p2  3 1 2     p5  3 2 1

A replica goes to a rack that has none yet as long as there is one. Brokers that are not live get replicas
last and never lead; they catch up when they are back.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest

from andiron.controller.image import BrokerImage
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode


def place(partitions: int, replicas: int, brokers: Iterable[BrokerImage], chance: Chance) -> list[list[int]]:
    """The replicas of each new partition, its first leader first."""
    known = list(brokers)
    ring = _ring([broker for broker in known if broker.live])
    reserve = [broker for broker in known if not broker.live]
    if replicas > len(known):
        raise ErrorCode.INVALID_REPLICATION_FACTOR.error(
            f"a partition was to have {replicas} replicas, and only {len(known)} brokers are registered"
        )
    if not ring:
        raise ErrorCode.INVALID_REPLICATION_FACTOR.error("all brokers are fenced")
    start, shift = chance.below(len(ring)), chance.below(len(ring))
    if replicas == 1:
        return [[ring[(start + number) % len(ring)].id] for number in range(partitions)]
    return [_replicas(ring, reserve, start + number, shift, replicas) for number in range(partitions)]


def _ring(brokers: list[BrokerImage]) -> list[BrokerImage]:
    """The brokers with their racks in turn; one without a rack is a rack by itself."""
    racks: dict[str | int, list[BrokerImage]] = {}
    for broker in brokers:
        racks.setdefault(_rack(broker), []).append(broker)
    return [broker for turn in zip_longest(*racks.values()) for broker in turn if broker is not None]


def _rack(broker: BrokerImage) -> str | int:
    return broker.id if broker.rack is None else broker.rack


def _replicas(
    ring: list[BrokerImage], reserve: list[BrokerImage], number: int, shift: int, count: int
) -> list[int]:
    size = len(ring)
    lap, at = divmod(number, size)
    leader = ring[at]
    others = [ring[(at + step) % size] for step in range(1, size)]
    turn = (shift + lap) % len(others) if others else 0
    candidates = others[turn:] + others[:turn] + reserve
    chosen, racks = [leader.id], {_rack(leader)}
    for broker in candidates:
        if len(chosen) < count and _rack(broker) not in racks:
            chosen.append(broker.id)
            racks.add(_rack(broker))
    rest = [broker.id for broker in candidates if broker.id not in chosen]
    return [*map(int, chosen), *rest[: count - len(chosen)]]
