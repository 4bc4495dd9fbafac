"""One look at a node: everything that its metrics tell, gathered in pieces between which the loop goes on.

    gather ─▶ partitions, 100 at a time ─▶ the cluster, topic by topic ─▶ lags, 20 at a time ─▶ the rest at once

Thousands of partitions are a tenth of a second's work, which nobody's produce is to wait for. So what is told of one
partition is of one moment, and what is told of two may be some milliseconds apart.

Read next: broker/telemetry/stats.py for what the values mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from andiron.broker.telemetry.group_stats import Lag, LagWatch, group_states, rebalances, transaction_states
from andiron.broker.telemetry.stats import (
    BrokerTotals,
    ControllerTotals,
    PartitionStats,
    QuorumStats,
    all_partitions,
    controller_totals,
    quorum_stats,
)
from andiron.broker.telemetry.traffic import TopicTraffic
from andiron.edge.metrics.text import escaped

if TYPE_CHECKING:
    from andiron.broker.node.node import Node
    from andiron.edge.host import Host


class Survey:
    """What was seen."""

    controller: ControllerTotals | None  # None where it is not active
    quorum: QuorumStats
    groups: dict[tuple[str, str], int]
    rebalances: list[tuple[str, str, int]]
    transactions: dict[str, int]
    topics: list[tuple[str, TopicTraffic]]

    def __init__(self, host: Host, node: Node, watch: LagWatch) -> None:
        self.host, self.node, self.broker = host, node, node.broker
        self._watch = watch
        self.totals = BrokerTotals()
        self.partitions: list[tuple[str, PartitionStats]] = []  # with their labels
        self.lags: list[tuple[str, Lag]] = []
        self.controller = None

    def gather(self) -> Iterator[None]:
        """Look at everything; a step does no more than a fraction of a millisecond's work."""
        broker, now = self.broker, self.host.now
        for piece in all_partitions(broker, now):
            for each in piece:
                self.totals.add(each)
                self.partitions.append((_place(each.name.topic, each.name.partition), each))
            yield
        if broker.controller.is_active:
            for self.controller in controller_totals(broker.image):
                yield
        for lags in self._watch.lags(broker, now):
            self.lags += [(_lag_place(each), each) for each in lags]
            yield
        self.quorum = quorum_stats(broker)
        self.groups, self.transactions = group_states(broker), transaction_states(broker)
        self.rebalances = rebalances(broker)
        self.topics = broker.replica_manager.traffic.topics()

    @property
    def unmeasured(self) -> int:
        """Lags whose age was not looked up."""
        return self._watch.unmeasured


def _place(topic: str, partition: int) -> str:
    return f'{{topic="{topic}",partition="{partition}"}}'  # a topic's name has nothing to escape in it


def _lag_place(lag: Lag) -> str:
    return f'{{group="{escaped(lag.group)}",topic="{escaped(lag.topic)}",partition="{lag.partition}"}}'
