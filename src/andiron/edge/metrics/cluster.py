"""Metrics of the cluster: its controller and quorum, its groups and transactions.

What only the active controller knows is told by it alone, and what only a group's coordinator knows by that: on other
nodes these metrics have no samples. Add up the nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from andiron.broker.telemetry.group_stats import Lag
from andiron.broker.telemetry.stats import ControllerTotals, broker_state
from andiron.edge.metrics.families import Sample, counter, gauge, single
from andiron.edge.metrics.survey import Survey
from andiron.edge.metrics.text import labelled

_CONTROLLER = "kafka.controller:type=KafkaController,name="
_RAFT = "kafka.server:type=raft-metrics: "


def of_controller(value: Callable[[ControllerTotals], int]) -> Callable[[Survey], Iterable[Sample]]:
    """A value that the active controller knows."""
    return lambda survey: [] if survey.controller is None else single(value(survey.controller))


def of_lags(value: Callable[[Lag], float | None]) -> Callable[[Survey], Iterable[Sample]]:
    """A value of every committed offset, where it is known."""
    return lambda survey: (
        (labels, told)
        for labels, each in survey.lags
        if each.committed is not None and (told := value(each)) is not None
    )


def of_uncommitted(value: Callable[[Lag], float | None]) -> Callable[[Survey], Iterable[Sample]]:
    """A value of every partition that a group reads and has never committed, where it is known."""
    return lambda survey: (
        (labels, told)
        for labels, each in survey.lags
        if each.committed is None and (told := value(each)) is not None
    )


def _rebalances(survey: Survey) -> Iterator[Sample]:
    return ((labelled(group=group, reason=reason), count) for group, reason, count in survey.rebalances)


def _quorum_lags(survey: Survey) -> Iterator[Sample]:
    return ((labelled(replica=node), lag) for node, lag in survey.quorum.lags.items())


def _groups(survey: Survey) -> Iterator[Sample]:
    for (protocol, state), count in survey.groups.items():
        yield labelled(protocol=protocol, state=state), count


def _transactions(survey: Survey) -> Iterator[Sample]:
    return ((labelled(state=state), count) for state, count in survey.transactions.items())


FAMILIES = [
    gauge(
        "active_controller", "1 on the node that is the active controller, else 0.",
        f"{_CONTROLLER}ActiveControllerCount", lambda s: single(int(s.quorum.leads)),
    ),
    gauge(
        "offline_partitions", "Partitions without a leader: they can be neither written nor read.",
        f"{_CONTROLLER}OfflinePartitionsCount", of_controller(lambda c: c.offline),
    ),
    gauge(
        "active_brokers", "Brokers that are registered and let in.",
        f"{_CONTROLLER}ActiveBrokerCount", of_controller(lambda c: c.active_brokers),
    ),
    gauge(
        "fenced_brokers", "Brokers that are registered and kept out: they are gone, or not ready yet.",
        f"{_CONTROLLER}FencedBrokerCount", of_controller(lambda c: c.fenced_brokers),
    ),
    gauge(
        "cluster_topics", "Topics of the cluster.",
        f"{_CONTROLLER}GlobalTopicCount", of_controller(lambda c: c.topics),
    ),
    gauge(
        "cluster_partitions", "Partitions of the cluster.",
        f"{_CONTROLLER}GlobalPartitionCount", of_controller(lambda c: c.partitions),
    ),
    gauge(
        "preferred_replica_imbalance", "Partitions that are not led by the first of their replicas.",
        f"{_CONTROLLER}PreferredReplicaImbalanceCount", of_controller(lambda c: c.not_preferred),
    ),
    counter(
        "unclean_leader_elections_total", "Leaders that were not in sync when elected: records are lost.",
        "kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec",
        of_controller(lambda c: c.unclean_elections),
    ),
    gauge(
        "broker_state", "0 not started, 1 starting, 3 running, 6 leaving, 7 has left.",
        "kafka.server:type=KafkaServer,name=BrokerState", lambda s: single(broker_state(s.broker)),
    ),
    gauge(
        "quorum_epoch", "The epoch of the metadata quorum.",
        f"{_RAFT}current-epoch", lambda s: single(s.quorum.epoch),
    ),
    gauge(
        "quorum_leader_id", "The node that leads the quorum as far as this one knows; -1: none.",
        f"{_RAFT}current-leader", lambda s: single(s.quorum.leader),
    ),
    gauge(
        "quorum_state", "1, with this node's role in the quorum as its label.",
        f"{_RAFT}current-state", lambda s: [(labelled(state=s.quorum.role), 1)], "state",
    ),
    gauge(
        "quorum_voters", "Voters of the quorum.",
        f"{_RAFT}number-of-voters", lambda s: single(s.quorum.voters),
    ),
    gauge(
        "quorum_log_end_offset", "The end of the metadata log here.",
        f"{_RAFT}log-end-offset", lambda s: single(s.quorum.end),
    ),
    gauge(
        "quorum_high_watermark", "The end of what is committed of the metadata log, as far as this node knows.",
        f"{_RAFT}high-watermark", lambda s: single(s.quorum.watermark),
    ),
    gauge(
        "quorum_replica_lag_records", "Told by its leader: metadata records that a node has not asked for yet.",
        "", _quorum_lags, "replica",
    ),
    gauge(
        "metadata_applied_offset", "Up to where the metadata has taken effect here.",
        "kafka.server:type=broker-metadata-metrics: last-applied-record-offset",
        lambda s: single(s.quorum.applied),
    ),
    gauge(
        "groups", "Groups that are coordinated here, by protocol and state.",
        "kafka.server:type=group-coordinator-metrics,name=group-count,protocol=…; "
        "name=consumer-group-count,state=…; name=classic-group-count,state=…",
        _groups, "protocol", "state",
    ),
    counter(
        "group_rebalances_total",
        "Rebalances of a group since it is coordinated here, by what began them: join, leave, session_timeout, "
        "rebalance_timeout, subscription, metadata, size, assignment, protocol.",
        "kafka.server:type=group-coordinator-metrics,name=group-completed-rebalance-count; "
        "name=consumer-group-rebalance-count",
        _rebalances, "group", "reason",
    ),
    gauge(
        "group_committed_offset", "Told by the group's coordinator: the offset that a group has committed.",
        "", of_lags(lambda lag: lag.committed), "group", "topic", "partition",
    ),
    gauge(
        "group_lag_records", "High watermark less committed offset, where an in-sync replica is here.",
        "", of_lags(lambda lag: lag.records), "group", "topic", "partition",
    ),
    gauge(
        "group_lag_seconds", "Age of the first record that is not committed, where an in-sync replica is here.",
        "", of_lags(lambda lag: None if lag.age_ms is None else lag.age_ms / 1000), "group", "topic", "partition",
    ),
    gauge(
        "group_uncommitted", "1 for each partition that a group reads and has never committed: it has no lag.",
        "", of_uncommitted(lambda lag: 1), "group", "topic", "partition",
    ),
    gauge(
        "group_uncommitted_records",
        "Records there are in such a partition, where an in-sync replica is here; auto.offset.reset says what of them.",
        "", of_uncommitted(lambda lag: lag.records), "group", "topic", "partition",
    ),
    gauge(
        "group_lag_unmeasured", "Lags that have no seconds because too many had to be looked up.",
        "", lambda s: single(s.unmeasured),
    ),
    gauge(
        "transactional_ids", "Transactional ids that are coordinated here, by the state of their transaction.",
        "", _transactions, "state",
    ),
    gauge(
        "open_transactions", "Transactions open in partitions here, counted once in each.",
        "", lambda s: single(s.totals.transactions),
    ),
    gauge(
        "producer_ids", "Producers whose sequence numbers are remembered, counted once in each partition here.",
        "kafka.server:type=ReplicaManager,name=ProducerIdCount", lambda s: single(s.totals.producers),
    ),
]  # fmt: skip
