"""Metrics of partitions and their replicas: are there as many copies as there should be?

Under-replicated, under and at the minimum are counted where a partition is led, as in Kafka: add up the nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from andiron.broker.telemetry.stats import PartitionStats
from andiron.edge.metrics.families import Sample, counter, gauge, single
from andiron.edge.metrics.survey import Survey

_MANAGER = "kafka.server:type=ReplicaManager,name="
_PARTITION = "kafka.cluster:type=Partition,name={},topic=…,partition=…"
_LOG = "kafka.log:type=Log,name={},topic=…,partition=…"


def of_all(value: Callable[[PartitionStats], float]) -> Callable[[Survey], Iterable[Sample]]:
    """A value of every partition here."""
    return lambda survey: ((labels, value(each)) for labels, each in survey.partitions)


def of_led(value: Callable[[PartitionStats], float]) -> Callable[[Survey], Iterable[Sample]]:
    """A value of every partition that is led here."""
    return lambda survey: ((labels, value(each)) for labels, each in survey.partitions if each.leads)


def _fetch_lags(survey: Survey) -> Iterator[Sample]:
    return (
        (labels, each.fetch_lag) for labels, each in survey.partitions if not each.leads and not each.failed
    )


def _follower_lags(survey: Survey) -> Iterator[Sample]:
    for labels, each in survey.partitions:
        for follower in each.followers:
            yield f'{labels[:-1]},follower="{follower.node}"}}', follower.lag


FAMILIES = [
    gauge(
        "under_replicated_partitions", "Partitions led here with fewer replicas in sync than there should be.",
        f"{_MANAGER}UnderReplicatedPartitions", lambda s: single(s.totals.under_replicated),
    ),
    gauge(
        "under_min_isr_partitions", "Partitions led here with fewer in sync than min.insync.replicas: acks=all fails.",
        f"{_MANAGER}UnderMinIsrPartitionCount", lambda s: single(s.totals.under_min_isr),
    ),
    gauge(
        "at_min_isr_partitions", "Partitions led here where acks=all fails if one more replica is lost.",
        f"{_MANAGER}AtMinIsrPartitionCount", lambda s: single(s.totals.at_min_isr),
    ),
    counter(
        "isr_shrinks_total", "Times that a partition led here has lost an in-sync replica.",
        f"{_MANAGER}IsrShrinksPerSec", lambda s: single(s.broker.alter_partition_manager.shrinks),
    ),
    counter(
        "isr_expands_total", "Times that a partition led here has gained an in-sync replica.",
        f"{_MANAGER}IsrExpandsPerSec", lambda s: single(s.broker.alter_partition_manager.expands),
    ),
    gauge(
        "partitions", "Partitions that have a replica here.",
        f"{_MANAGER}PartitionCount", lambda s: single(s.totals.partitions),
    ),
    gauge(
        "leaders", "Partitions that are led here.",
        f"{_MANAGER}LeaderCount", lambda s: single(s.totals.leaders),
    ),
    gauge(
        "offline_replicas", "Replicas here that cannot be used: the log will not open, or an fsync has failed.",
        f"{_MANAGER}OfflineReplicaCount", lambda s: single(s.totals.failed + len(s.broker.replica_manager.unopened)),
    ),
    gauge(
        "partition_in_sync_replicas", "In-sync replicas of a partition led here.",
        _PARTITION.format("InSyncReplicasCount"), of_led(lambda p: p.isr), "topic", "partition",
    ),
    gauge(
        "partition_replicas", "Replicas that a partition led here should have.",
        _PARTITION.format("ReplicasCount"), of_led(lambda p: p.replicas), "topic", "partition",
    ),
    gauge(
        "partition_log_start_offset", "The first offset of the log here.",
        _LOG.format("LogStartOffset"), of_all(lambda p: p.start), "topic", "partition",
    ),
    gauge(
        "partition_log_end_offset", "The offset after the last record of the log here.",
        _LOG.format("LogEndOffset"), of_all(lambda p: p.end), "topic", "partition",
    ),
    gauge(
        "partition_high_watermark", "The end of what is committed of a partition led here: what consumers can read.",
        "", of_led(lambda p: p.watermark), "topic", "partition",
    ),
    gauge(
        "partition_last_stable_offset_lag", "Committed records that an open transaction hides from read_committed.",
        _PARTITION.format("LastStableOffsetLag"), of_led(lambda p: p.last_stable_lag), "topic", "partition",
    ),
    gauge(
        "partition_log_size_bytes", "Bytes of the log's segments here.",
        _LOG.format("Size"), of_all(lambda p: p.size), "topic", "partition",
    ),
    gauge(
        "partition_log_segments", "Segments of the log here.",
        _LOG.format("NumLogSegments"), of_all(lambda p: p.segments), "topic", "partition",
    ),
    gauge(
        "replica_fetch_lag_records", "Committed records that this follower does not have yet, as its leader last told.",
        "kafka.server:type=FetcherLagMetrics,name=ConsumerLag,clientId=…,topic=…,partition=…", _fetch_lags,
        "topic", "partition",
    ),
    gauge(
        "replica_fetch_lag_max_records", "The largest of these.",
        "kafka.server:type=ReplicaFetcherManager,name=MaxLag,clientId=Replica",
        lambda s: single(s.totals.fetch_lag_max),
    ),
    gauge(
        "follower_lag_records", "Records that a follower of a partition led here has not asked for yet.",
        "", _follower_lags, "topic", "partition", "follower",
    ),
    gauge(
        "follower_lag_max_records", "The largest of these.",
        "", lambda s: single(s.totals.follower_lag_max),
    ),
    gauge(
        "follower_lag_max_seconds",
        "The longest that a follower of a partition led here has not been caught up; 0: each has all there is.",
        "", lambda s: single(s.totals.follower_behind_ms_max / 1000),
    ),
]  # fmt: skip
