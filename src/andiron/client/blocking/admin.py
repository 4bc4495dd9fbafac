"""Topics, settings, offsets and log directories: what an operator asks of a cluster and changes in it.

Each method is one request to whoever can answer it: changes go to the controller, questions about a
broker to that broker, questions about a log to its leader. A refusal comes as the broker put it.

A new topic is there for the controller first and for every broker a little later, so `create_topic`
returns when the brokers know it and its partitions have leaders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from andiron.client.blocking.broker_survey import missing_of
from andiron.client.blocking.client import Client
from andiron.client.connection import Connection
from andiron.client.core.addresses import Address
from andiron.client.core.answer_errors import Answers, by_topic, check_error, error_in
from andiron.client.core.descriptions import (
    Cluster,
    Config,
    LogDir,
    OffsetAt,
    Resource,
    ResourceType,
    configs_of,
)
from andiron.client.core.isolation import READ_COMMITTED, READ_UNCOMMITTED
from andiron.client.core.metadata import Broker, Topic
from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicPartition
from andiron.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from andiron.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from andiron.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from andiron.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from andiron.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from andiron.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from andiron.wire.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from andiron.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from andiron.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

T = TypeVar("T")
Check: TypeAlias = Callable[[T], None]

BROKER_DEFAULT = -1  # partitions or replicas as the broker's settings say
UPTO_WATERMARK = -1  # delete_records: all that is committed
_SET, _DELETE = 0, 1


class Admin:
    """Administration of topics, settings, offsets and log directories, one request at a time."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._timeout_ms = client.settings.request_timeout_ms

    # ── topics ───────────────────────────────────────────────────────────────────────

    def topics(self) -> list[Topic]:
        """All topics, by name."""
        return self._client.topics()

    def topic(self, name: str) -> Topic:
        """One topic's current metadata."""
        self._client.mark_stale()
        return self._client.topic(name)

    def create_topic(
        self,
        name: str,
        partitions: int = BROKER_DEFAULT,
        replication_factor: int = BROKER_DEFAULT,
        configs: Mapping[str, str] | None = None,
        waits_for: Callable[[str], None] = lambda missing: None,
    ) -> Topic:
        """Make a topic; returns when every broker knows it and every leader takes records, and `waits_for` is told what
        is missing until then. If that does not come in time, LEADER_NOT_AVAILABLE says what is."""
        rows = [CreatableTopicConfig(key, value) for key, value in (configs or {}).items()]
        wanted = CreatableTopic(name, partitions, replication_factor, configs=rows)

        def check(answer: CreateTopicsResponse) -> None:
            for each in answer.topics:
                check_error(each.error_code, each.error_message, f"topic {name!r}")

        request = CreateTopicsRequest([wanted], self._timeout_ms)
        self._client.call_controller(request, CreateTopicsResponse, check)
        return self._client.retry(lambda: self._led_topic(name, 1, waits_for))

    def create_partitions(
        self, name: str, total: int, waits_for: Callable[[str], None] = lambda missing: None
    ) -> Topic:
        """Give a topic more partitions, `total` in all, and wait as for a new one; keys go elsewhere from then on."""

        def check(answer: CreatePartitionsResponse) -> None:
            for each in answer.results:
                check_error(each.error_code, each.error_message, f"topic {name!r}")

        request = CreatePartitionsRequest([CreatePartitionsTopic(name, total, None)], self._timeout_ms)
        self._client.call_controller(request, CreatePartitionsResponse, check)
        return self._client.retry(lambda: self._led_topic(name, total, waits_for))

    def delete_topic(self, name: str) -> None:
        """Remove a topic and its records."""

        def check(answer: DeleteTopicsResponse) -> None:
            for each in answer.responses:
                check_error(each.error_code, each.error_message, f"topic {name!r}")

        request = DeleteTopicsRequest([DeleteTopicState(name)], [name], self._timeout_ms)
        self._client.call_controller(request, DeleteTopicsResponse, check)
        self._client.metadata.topics.pop(name, None)

    def _led_topic(self, name: str, partitions: int, waits_for: Callable[[str], None]) -> Topic:
        self._client.refresh([name])
        topic = self._client.metadata.topics.get(name)
        if topic is None or len(topic.partitions) < partitions:
            missing = "the broker that was asked does not know of them yet"
        elif led_by_none := len(topic.partitions) - len(topic.writable()):
            missing = f"{led_by_none} of {len(topic.partitions)} partitions have no leader"
        else:
            missing = missing_of(self._client, topic)
        if topic is None or missing:
            waits_for(missing)
            raise ErrorCode.LEADER_NOT_AVAILABLE.error(
                f"{name} is created, and not all of it can be written to yet: {missing}"
            )
        return topic

    # ── settings ─────────────────────────────────────────────────────────────────────

    def configs(
        self, resource: Resource, *, documentation: bool = False, anywhere: bool = False
    ) -> list[Config]:
        """The settings of a topic or a broker, all of them, by name; those of a topic by the controller, or from
        `anywhere`, which may be a moment behind."""
        asked = DescribeConfigsResource(resource.type, resource.name, None)
        request = DescribeConfigsRequest([asked], True, documentation)

        def check(answer: DescribeConfigsResponse) -> None:
            for each in answer.results:
                check_error(each.error_code, each.error_message, resource)

        if anywhere:
            answer = self._client.call_any(request, DescribeConfigsResponse, check)
        else:
            answer = self._call_for(resource, request, DescribeConfigsResponse, check)
        return configs_of(answer.results[0])

    def alter_configs(
        self, resource: Resource, given: Mapping[str, str], deleted: Sequence[str] = ()
    ) -> None:
        """Set some settings and take others back to their defaults; the rest stays."""
        changes = [AlterableConfig(name, _SET, value) for name, value in given.items()]
        changes += [AlterableConfig(name, _DELETE, None) for name in deleted]

        def check(answer: IncrementalAlterConfigsResponse) -> None:
            for each in answer.responses:
                check_error(each.error_code, each.error_message, resource)

        asked = AlterConfigsResource(resource.type, resource.name, changes)
        request = IncrementalAlterConfigsRequest([asked])
        self._call_for(resource, request, IncrementalAlterConfigsResponse, check)

    def _call_for(self, resource: Resource, request: object, response: type[T], check: Check[T]) -> T:
        """Send to the broker whose settings these are; those of topics and of all brokers can be asked of any."""
        if resource.type is ResourceType.BROKER and resource.name:
            self._client.refresh([])
            return self._client.call_broker(int(resource.name), request, response, check)
        return self._client.call_controller(request, response, check)

    # ── logs ─────────────────────────────────────────────────────────────────────────

    def list_offsets(
        self, times: Mapping[TopicPartition, int], *, committed: bool = False
    ) -> dict[TopicPartition, OffsetAt]:
        """The first offset at or after a time (ms), or at EARLIEST, LATEST or MAX_TIMESTAMP.

        For readers of `committed` records the log ends before the first transaction that is open.
        """

        isolation = READ_COMMITTED if committed else READ_UNCOMMITTED

        def ask(leader: Connection, asked: list[TopicPartition]) -> Answers[OffsetAt]:
            rows = [
                ListOffsetsTopic(
                    name, [ListOffsetsPartition(each.partition, -1, times[each]) for each in group]
                )
                for name, group in by_topic(asked)
            ]
            request = ListOffsetsRequest(-1, isolation, rows, self._timeout_ms)
            answers: Answers[OffsetAt] = {}
            for topic in leader.call(request, ListOffsetsResponse).topics:
                for each in topic.partitions:
                    partition = TopicPartition(topic.name, each.partition_index)
                    found = OffsetAt(each.offset, each.timestamp, each.leader_epoch)
                    answers[partition] = error_in(each.error_code, None, partition) or found
            return answers

        return self._client.ask_leaders(times, ask)

    def delete_records(self, offsets: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        """DeleteRecords: delete those below an offset, or all (UPTO_WATERMARK); returns the new log start offsets."""

        def ask(leader: Connection, asked: list[TopicPartition]) -> Answers[int]:
            rows = [
                DeleteRecordsTopic(
                    name, [DeleteRecordsPartition(each.partition, offsets[each]) for each in group]
                )
                for name, group in by_topic(asked)
            ]
            answers: Answers[int] = {}
            for topic in leader.call(
                DeleteRecordsRequest(rows, self._timeout_ms), DeleteRecordsResponse
            ).topics:
                for each in topic.partitions:
                    partition = TopicPartition(topic.name, each.partition_index)
                    error = error_in(each.error_code, None, partition)
                    answers[partition] = each.low_watermark if error is None else error
            return answers

        return self._client.ask_leaders(offsets, ask)

    def log_dirs(self, node_id: int, partitions: Sequence[TopicPartition] | None = None) -> list[LogDir]:
        """A broker's log directories and what lies in them: everything, or these partitions."""

        def check(answer: DescribeLogDirsResponse) -> None:
            check_error(answer.error_code, None, f"broker {node_id}")
            for each in answer.results:
                check_error(each.error_code, None, each.log_dir)

        wanted = None
        if partitions is not None:
            wanted = [
                DescribableLogDirTopic(name, [each.partition for each in group])
                for name, group in by_topic(partitions)
            ]
        request = DescribeLogDirsRequest(wanted)
        answer = self._client.call_broker(node_id, request, DescribeLogDirsResponse, check)
        return [LogDir.of(each) for each in answer.results]

    # ── the cluster ──────────────────────────────────────────────────────────────────

    def cluster(self) -> Cluster:
        """The cluster's id, controller and brokers."""

        def check(answer: DescribeClusterResponse) -> None:
            check_error(answer.error_code, answer.error_message, "the cluster")

        answer = self._client.call_any(DescribeClusterRequest(), DescribeClusterResponse, check)
        brokers = [
            Broker(each.broker_id, Address(each.host, each.port), each.rack) for each in answer.brokers
        ]
        return Cluster(answer.cluster_id, answer.controller_id, sorted(brokers))
