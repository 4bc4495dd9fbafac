"""Requests to several brokers at once, without retries: a broker that does not answer soon is left out.

    broker 1 ──▶ answer            0.01 s
    broker 2 ──▶ (frozen)          3 s, and then it is known that it does not answer
    broker 3 ──▶ answer            0.01 s

For questions that are as good without some of the answers: a description is most needed when something is down, and
nobody wants to wait a minute for the part of it that will not come. Each broker has a connection and a thread of its
own for it, so the whole takes as long as the slowest, and no longer than `HASTE_MS` for one that answers nothing.

The law: an answer that lacks somebody's part says so. Who asks either takes note of the silent (`left_out`), or has
the silence raised as what went wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias, TypeVar

from andiron.client.blocking.client import Client
from andiron.client.connection import Connection
from andiron.client.core.addresses import Address
from andiron.client.core.answer_errors import Answers, by_topic
from andiron.client.core.descriptions import EARLIEST, LATEST, LogDir
from andiron.client.core.isolation import READ_UNCOMMITTED
from andiron.client.core.metadata import NO_LEADER, ClusterMetadata, Topic
from andiron.client.settings import ClientSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition
from andiron.wire.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from andiron.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from andiron.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

R = TypeVar("R")
LeftOut: TypeAlias = Callable[[int, ProtocolError], None]  # a broker that did not answer, and its error

HASTE_MS = 3_000  # for a connection, and for an answer
THREADS_MAX = 32

# The timeouts of descriptions: an answer that does not come soon is not worth a minute.
HASTY = ClientSettings(
    request_timeout_ms=HASTE_MS, socket_connection_setup_timeout_ms=HASTE_MS, default_api_timeout_ms=5 * HASTE_MS
)  # fmt: skip


class LogExtent(NamedTuple):
    """Log start offset, log end offset and size of a partition on its leader; what is not known is None."""

    start: int | None = None
    end: int | None = None
    size: int | None = None


def ask_side_by_side(
    client: Client, questions: Mapping[int, Callable[[Connection], R]]
) -> dict[int, R | ProtocolError]:
    """Ask brokers at the same time, a thread each: the answer of each, or its error."""
    haste = replace(
        client.settings,
        request_timeout_ms=min(HASTE_MS, client.settings.request_timeout_ms),
        socket_connection_setup_timeout_ms=min(HASTE_MS, client.settings.socket_connection_setup_timeout_ms),
    )

    def ask(address: Address, question: Callable[[Connection], R]) -> R | ProtocolError:
        try:
            with closing(Connection(address, haste)) as connection:
                return question(connection)
        except ProtocolError as error:
            return error

    known = client.metadata.brokers
    answers: dict[int, R | ProtocolError] = {
        node: ErrorCode.BROKER_NOT_AVAILABLE.error(f"there is no broker {node} in the cluster")
        for node in questions
        if node not in known
    }
    asked = [node for node in questions if node in known]
    if asked:
        with ThreadPoolExecutor(min(THREADS_MAX, len(asked))) as threads:
            addresses = [known[node].address for node in asked]
            found = threads.map(ask, addresses, [questions[node] for node in asked])
            answers.update(zip(asked, found, strict=True))
    return answers


def ask_every(
    client: Client,
    request: Any,
    response: type[R],
    check: Callable[[R], None],
    require: tuple[int, str] | None = None,
    left_out: LeftOut | None = None,
) -> dict[int, R]:
    """Send a request to every broker at the same time; the answers by broker id, without those that are `left_out`.

    What is asked may `require` a version of each of them: the least, and what needs it.
    """

    def question(broker: Connection) -> R:
        if require is not None:
            broker.versions.require(request.__api_key__, *require)
        answer = broker.call(request, response)
        check(answer)
        return answer

    def attempt() -> dict[int, R]:
        client.refresh(list(client.metadata.topics))
        return _without_silent(
            ask_side_by_side(client, dict.fromkeys(sorted(client.metadata.brokers), question)), left_out
        )

    return client.retry(attempt)


def ask_leaders(
    client: Client,
    partitions: Iterable[TopicPartition],
    ask: Callable[[Connection, list[TopicPartition]], Answers[R]],
    left_out: LeftOut,
) -> dict[TopicPartition, R]:
    """As Client.ask_leaders, all leaders at the same time, without partitions whose leaders are `left_out`."""
    wanted = list(partitions)

    def attempt() -> dict[TopicPartition, R]:
        questions = {
            node: lambda leader, group=group: ask(leader, group)
            for node, group in client.by_leader(wanted).items()
        }
        found: dict[TopicPartition, R] = {}
        for told in _without_silent(ask_side_by_side(client, questions), left_out).values():
            for partition, answer in told.items():
                if isinstance(answer, ProtocolError):
                    raise answer
                found[partition] = answer
        return found

    return client.retry(attempt)


def _without_silent(answers: Mapping[int, R | ProtocolError], left_out: LeftOut | None) -> dict[int, R]:
    """The answers; raises the error of a broker that answered with one, and of a silent one unless `left_out`."""
    heard: dict[int, R] = {}
    for node, answer in answers.items():
        if not isinstance(answer, ProtocolError):
            heard[node] = answer
        elif left_out is not None and answer.code is ErrorCode.NETWORK_EXCEPTION:
            left_out(node, answer)
        else:
            raise answer
    return heard


# ── logs ─────────────────────────────────────────────────────────────────────────────


def log_extents(
    client: Client,
    partitions: Iterable[TopicPartition],
    *,
    sizes: bool = False,
    left_out: LeftOut = lambda node, error: None,
) -> dict[TopicPartition, LogExtent]:
    """Start, end and, with `sizes`, bytes of some partitions' logs, as far as their leaders answer."""
    led = _by_leader(client.metadata, partitions)

    def question(group: list[TopicPartition]) -> Callable[[Connection], dict[TopicPartition, LogExtent]]:
        return lambda leader: _logs(leader, group, sizes)

    found: dict[TopicPartition, LogExtent] = {}
    for node, answer in ask_side_by_side(client, {node: question(led[node]) for node in led}).items():
        if isinstance(answer, ProtocolError):
            left_out(node, answer)
        else:
            found.update(answer)
    return found


def sizes_on(
    client: Client, asked: Mapping[int, list[TopicPartition]]
) -> dict[tuple[int, TopicPartition], int]:
    """The bytes of replicas (DescribeLogDirs), by broker and partition, as far as brokers answer."""

    def question(partitions: list[TopicPartition]) -> Callable[[Connection], dict[TopicPartition, int]]:
        return lambda broker: _sizes(broker, _numbers(partitions))

    answers = ask_side_by_side(client, {node: question(asked[node]) for node in asked})
    return {
        (node, partition): size
        for node, answer in answers.items()
        if not isinstance(answer, ProtocolError)
        for partition, size in answer.items()
    }


def _by_leader(
    metadata: ClusterMetadata, partitions: Iterable[TopicPartition]
) -> dict[int, list[TopicPartition]]:
    """The partitions by their leaders, without those that do not exist or have none."""
    led: dict[int, list[TopicPartition]] = {}
    for partition in partitions:
        topic = metadata.topics.get(partition.topic)
        if topic is not None and partition.partition < len(topic.partitions):
            leader = topic.partitions[partition.partition].leader
            if leader != NO_LEADER:
                led.setdefault(leader, []).append(partition)
    return led


def _logs(
    leader: Connection, partitions: list[TopicPartition], sizes: bool
) -> dict[TopicPartition, LogExtent]:
    topics = _numbers(partitions)
    starts, ends = _offsets(leader, topics, EARLIEST), _offsets(leader, topics, LATEST)
    told = _sizes(leader, topics) if sizes else {}
    return {each: LogExtent(starts.get(each), ends.get(each), told.get(each)) for each in partitions}


def _numbers(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    return {topic: [each.partition for each in some] for topic, some in by_topic(partitions)}


def _sizes(leader: Connection, topics: Mapping[str, list[int]]) -> dict[TopicPartition, int]:
    """The bytes of the logs (DescribeLogDirs); empty where a broker refuses to tell."""
    request = DescribeLogDirsRequest([DescribableLogDirTopic(name, each) for name, each in topics.items()])
    found: dict[TopicPartition, int] = {}
    with suppress(ProtocolError):
        for told in leader.call(request, DescribeLogDirsResponse).results:
            found.update(LogDir.of(told).sizes)
    return found


def _offsets(leader: Connection, topics: Mapping[str, list[int]], at: int) -> dict[TopicPartition, int]:
    """Log start or end offsets (ListOffsets) of the partitions that the broker leads."""
    rows = [
        ListOffsetsTopic(name, [ListOffsetsPartition(number, -1, at) for number in numbers])
        for name, numbers in topics.items()
    ]
    told = leader.call(ListOffsetsRequest(-1, READ_UNCOMMITTED, rows, HASTE_MS), ListOffsetsResponse).topics
    return {
        TopicPartition(topic.name, each.partition_index): each.offset
        for topic in told
        for each in topic.partitions
        if not each.error_code
    }


# ── topics that are being created ────────────────────────────────────────────────────


def missing_of(client: Client, topic: Topic) -> str:
    """What a topic still lacks before every broker knows it and every leader takes records; empty: nothing. A broker
    that does not answer and leads nothing of it is not waited for."""
    led = _by_leader(client.metadata, topic.names())

    def question(node: int) -> Callable[[Connection], str]:
        return lambda broker: _lacks(broker, topic, led.get(node, []))

    answers = ask_side_by_side(client, {node: question(node) for node in client.metadata.brokers})
    lacking = [
        f"broker {node} {answer}"
        for node, answer in answers.items()
        if isinstance(answer, str) and answer
    ]  # fmt: skip
    lacking += [
        f"broker {node}, which leads {len(led[node])} of them, does not answer"
        for node, answer in answers.items()
        if isinstance(answer, ProtocolError) and node in led
    ]
    return ", ".join(lacking)


def _lacks(broker: Connection, topic: Topic, led: list[TopicPartition]) -> str:
    request = MetadataRequest([MetadataRequestTopic(name=topic.name)], allow_auto_topic_creation=False)
    (told,) = broker.call(request, MetadataResponse).topics
    leaders = sum(each.leader_id != NO_LEADER for each in told.partitions)
    if told.error_code or leaders < len(topic.partitions):
        return f"knows the leaders of {leaders} of {len(topic.partitions)} partitions"
    if led:
        takes = len(_offsets(broker, {topic.name: [each.partition for each in led]}, LATEST))
        if takes < len(led):
            return f"leads {len(led)} partitions and takes records for {takes}"
    return ""
