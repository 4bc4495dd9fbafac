"""Metrics of what passes through a node: requests, bytes, connections, the loop that serves them and the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from andiron.broker.telemetry.traffic import TopicTraffic
from andiron.edge.metrics.families import Sample, counter, gauge, histogram, single
from andiron.edge.metrics.meter import FETCH, FOLLOWER_FETCH, Histogram
from andiron.edge.metrics.survey import Survey
from andiron.edge.metrics.text import inner, labelled
from andiron.model.errors import ErrorCode
from andiron.wire.apis import APIS

_TOPIC = "kafka.server:type=BrokerTopicMetrics,name={},topic=…"
FETCHES = {FETCH: "FetchConsumer", FOLLOWER_FETCH: "FetchFollower"}
_REQUEST = "kafka.network:type=RequestMetrics,name={},request=…"


def of_topics(value: Callable[[TopicTraffic], int]) -> Callable[[Survey], Iterable[Sample]]:
    """A value of every topic that has, or had, a partition here."""
    return lambda survey: (
        (labelled(topic=topic), value(traffic)) for topic, traffic in survey.topics if topic
    )


def failures(of: Callable[[TopicTraffic], dict[str, int]]) -> Callable[[Survey], Iterable[Sample]]:
    """Failures of every topic by error; of topics that do not exist, without a name."""
    return lambda survey: (
        (labelled(topic=topic, error=error), count)
        for topic, traffic in survey.topics
        for error, count in list(of(traffic).items())
    )


def by_api(of: Callable[[Survey], dict[int, Histogram]]) -> Callable[[Survey], Iterable[Sample]]:
    """A histogram for every API that was asked for."""
    return lambda survey: ((inner(api=api_name(kind)), each) for kind, each in sorted(of(survey).items()))


def api_name(key: int) -> str:
    """What Kafka calls an API, and a fetch by who fetches; keys that it does not know are one."""
    if key in FETCHES:
        return FETCHES[key]
    return APIS[key].name if key in APIS else "unknown"


def _disk(survey: Survey) -> Iterator[Sample]:
    times = survey.host.meter.disk
    yield inner(operation="read"), times.reads.histogram
    yield inner(operation="write"), times.writes.histogram
    yield inner(operation="sync"), times.syncs


def _errors(survey: Survey) -> Iterator[Sample]:
    for (key, number), count in list(survey.node.errors.items()):
        yield (
            labelled(api=APIS[key].name if key in APIS else "unknown", error=ErrorCode.of(number).name),
            count,
        )


def _connections(survey: Survey) -> Iterator[Sample]:
    open_now = {listener.name: 0 for listener in survey.broker.settings.listeners}
    for each in survey.host.connections.by_number.values():
        open_now[each.listener] = open_now.get(each.listener, 0) + 1
    return ((labelled(listener=name), count) for name, count in open_now.items())


FAMILIES = [
    counter(
        "topic_bytes_in_total", "Bytes of batches that were written to a topic's leaders here.",
        _TOPIC.format("BytesInPerSec"), of_topics(lambda t: t.bytes_in), "topic",
    ),
    counter(
        "topic_messages_in_total", "Records in these batches, by their headers.",
        _TOPIC.format("MessagesInPerSec"), of_topics(lambda t: t.messages_in), "topic",
    ),
    counter(
        "topic_bytes_out_total", "Bytes of batches that consumers were sent.",
        _TOPIC.format("BytesOutPerSec"), of_topics(lambda t: t.bytes_out), "topic",
    ),
    counter(
        "topic_replication_bytes_in_total", "Bytes of batches that followers here have fetched.",
        "kafka.server:type=BrokerTopicMetrics,name=ReplicationBytesInPerSec",
        of_topics(lambda t: t.replicated_in), "topic",
    ),
    counter(
        "topic_replication_bytes_out_total", "Bytes of batches that followers elsewhere were sent.",
        "kafka.server:type=BrokerTopicMetrics,name=ReplicationBytesOutPerSec",
        of_topics(lambda t: t.replicated_out), "topic",
    ),
    counter(
        "failed_produce_requests_total", "Partitions in Produce requests that were answered with an error.",
        _TOPIC.format("FailedProduceRequestsPerSec"), failures(lambda t: t.failed_produces), "topic", "error",
    ),
    counter(
        "failed_fetch_requests_total", "Partitions in Fetch requests that were answered with an error.",
        _TOPIC.format("FailedFetchRequestsPerSec"), failures(lambda t: t.failed_fetches), "topic", "error",
    ),
    histogram(
        "request_duration_seconds",
        "From the turn in which a request came to the end of that in which it was answered.",
        _REQUEST.format("TotalTimeMs"), by_api(lambda s: s.host.meter.durations), "api",
    ),
    histogram(
        "request_wait_seconds", "Of those that had to wait (for followers, an fsync, records, members): how long.",
        _REQUEST.format("RemoteTimeMs"), by_api(lambda s: s.host.meter.waits), "api",
    ),
    counter(
        "request_errors_total", "Responses with an error for the whole request, and requests that were hung up on.",
        f"{_REQUEST.format('ErrorsPerSec')},error=…", _errors, "api", "error",
    ),
    counter(
        "malformed_requests_total", "Frames that were no request; each cost its connection.",
        "", lambda s: single(s.node.malformed),
    ),
    gauge(
        "waiting_requests", "Requests that wait for something to happen, and what the node itself waits for.",
        "kafka.server:type=DelayedOperationPurgatory,name=PurgatorySize,delayedOperation=…",
        lambda s: single(len(s.broker.waiting)),
    ),
    gauge(
        "stalled_connections", "Connections whose next request is here and not taken yet.",
        "kafka.network:type=RequestChannel,name=RequestQueueSize",
        lambda s: single(sum(each.is_stalled for each in s.host.connections.by_number.values())),
    ),
    gauge(
        "unsent_bytes", "Bytes of answers that wait for clients to take them.",
        "kafka.network:type=RequestChannel,name=ResponseQueueSize",
        lambda s: single(s.host.connections.backlog),
    ),
    counter(
        "sendfile_bytes_total", "Bytes of batches that left the page cache without a copy, by sendfile.",
        "", lambda s: single(s.host.carrier.sendfile_bytes + s.host.processors.sendfile_bytes),
    ),
    gauge(
        "connections", "Connections that are open.",
        "kafka.server:type=socket-server-metrics,listener=…,networkProcessor=…: connection-count",
        _connections, "listener",
    ),
    counter(
        "connections_accepted_total", "Connections that were let in.",
        "kafka.server:type=socket-server-metrics,listener=…,networkProcessor=…: connection-creation-total",
        lambda s: single(s.host.connections.accepted),
    ),
    counter(
        "connections_refused_total", "Connections that max.connections.per.ip kept out.",
        "", lambda s: single(s.host.connections.refused),
    ),
    gauge(
        "connections_limit", "Connections of clients and brokers at most: max.connections, or what descriptors allow.",
        "", lambda s: single(s.host.connections.limit),
    ),
    counter(
        "connections_waits_total", "Times that the limit was reached, and further connections had to wait.",
        "", lambda s: single(s.host.connections.waits),
    ),
    counter(
        "connections_given_up_total", "Clients' connections that were closed at the limit, for those of other brokers.",
        "", lambda s: single(s.host.connections.given_up),
    ),
    gauge(
        "large_requests_bytes", "Memory that large requests hold while they arrive and wait for their answers.",
        "kafka.network:type=SocketServer,name=MemoryPoolUsed", lambda s: single(s.host.room.taken),
    ),
    gauge(
        "large_requests_waiting", "Connections whose large request is not read further: queued.max.request.bytes.",
        "", lambda s: single(len(s.host.room.waiting)),
    ),
    gauge(
        "fetch_sessions", "Incremental fetch sessions that are remembered.",
        "kafka.server:type=FetchSessionCache,name=NumIncrementalFetchSessions",
        lambda s: single(len(s.broker.fetch_sessions)),
    ),
    gauge(
        "loop_idle_ratio", "Part of its time that the loop, which handles all requests, has lately been idle.",
        "kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent",
        lambda s: single(s.host.meter.idle_ratio()),
    ),
    gauge(
        "network_threads_idle_ratio",
        "Part of their time that the network threads have lately been idle, all together; 1 while there are none.",
        "kafka.network:type=SocketServer,name=NetworkProcessorAvgIdlePercent",
        lambda s: single(s.host.processors.idle_share()),
    ),
    gauge(
        "network_threads_connections", "Connections that network threads serve, and not the loop.",
        "", lambda s: single(s.host.processors.connections),
    ),
    counter(
        "loop_idle_seconds_total", "Time in which the loop had nothing to do.",
        "", lambda s: single(s.host.meter.idle_s),
    ),
    counter(
        "loop_busy_seconds_total", "Time in which it had.",
        "", lambda s: single(s.host.meter.busy_s),
    ),
    counter(
        "loop_turns_total", "Turns of the loop: polls, and what came of each.",
        "", lambda s: single(s.host.meter.turns),
    ),
    gauge(
        "loop_longest_turn_seconds", "The longest turn of the loop of late: for so long nobody else was served.",
        "", lambda s: single(s.host.meter.longest_turn_s()),
    ),
    histogram(
        "flush_duration_seconds", "From the wish for an fsync to its end, the wait for the one before included.",
        "kafka.log:type=LogFlushStats,name=LogFlushRateAndTimeMs", lambda s: [("", s.host.meter.flushes)],
    ),
    histogram(
        "disk_duration_seconds",
        "What a read or write of a log's file took, one in 17 of them, and each fsync (sync) by itself.",
        "", _disk, "operation",
    ),
]  # fmt: skip
