"""The metadata of the cluster, as replayed from its log.

A node has two of these: the controller's, which is ahead (as appended), and the broker's,
which is what clients are told (as committed). Both come about by `replay` alone, so the
same records give the same image, on every node and after every restart.

    image.replay(record, offset) ··· image.replay(record, offset)
    image.take_delta()  ──▶  what these have changed

Whoever follows an image (broker/replicas/replica_manager.py) looks at what is new and never at
everything. The controller follows nobody: its image notes no changes.

Values are immutable and replaced, so a partition once taken out of an image stays what it
was.

    Image             the cluster at one point of its metadata log
    TopicImage        one topic, and its partitions: PartitionImage
    BrokerImage       one registered broker; ControllerImage: one registered controller
    Delta             what some records have changed

Read next: controller.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from andiron.controller.metadata_transaction import MetadataTransaction
from andiron.controller.records import (
    BrokerRegistrationChangeRecord,
    ClearElrRecord,
    ConfigRecord,
    FeatureLevelRecord,
    FenceBrokerRecord,
    MetadataRecord,
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    RemoveTopicRecord,
    TopicRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
    ZkMigrationStateRecord,
)
from andiron.controller.unserved_records import KINDS, UnservedRecords
from andiron.model.errors import ErrorCode
from andiron.model.ids import LeaderEpoch, NodeId, Offset, TopicId
from andiron.model.invariant import invariant

TOPIC, BROKER, CLIENT_METRICS, GROUP = 2, 4, 16, 32  # the resource types that have settings
NO_LEADER = NodeId(-1)
SAME_LEADER = -2  # in a PartitionChangeRecord

# Directories that are none: the broker is to choose one; it is moving the replica; what it had is lost.
UNASSIGNED, LOST, MIGRATING = bytes(16), bytes(15) + b"\x01", bytes(15) + b"\x02"

ConfigKey = tuple[int, str]  # resource type, resource name
_NOTHING: Mapping[str, str] = {}


class PartitionImage(NamedTuple):
    """One partition: who holds it, who is in sync, who leads."""

    replicas: tuple[NodeId, ...]
    isr: tuple[NodeId, ...]
    leader: NodeId  # -1: none
    leader_epoch: LeaderEpoch
    partition_epoch: int
    directories: tuple[bytes, ...] = ()  # of each replica, in the order of `replicas`
    adding: tuple[NodeId, ...] = ()  # replicas that a reassignment brings
    removing: tuple[NodeId, ...] = ()  # and those that it takes away
    elr: tuple[NodeId, ...] = ()  # eligible leader replicas: not in sync, and yet with all that is committed
    last_known_elr: tuple[NodeId, ...] = ()  # who led last, while nobody is in sync
    recovering: bool = False  # its leader was elected uncleanly and has not said since that it has recovered

    @classmethod
    def of(cls, record: PartitionRecord) -> PartitionImage:
        """The partition that a record makes."""
        return cls(
            _nodes(record.replicas),
            _nodes(record.isr),
            NodeId(record.leader),
            LeaderEpoch(record.leader_epoch),
            record.partition_epoch,
            tuple(record.directories),
            _nodes(record.adding_replicas),
            _nodes(record.removing_replicas),
            _nodes(record.eligible_leader_replicas or ()),
            _nodes(record.last_known_elr or ()),
            record.leader_recovery_state > 0,
        )

    @property
    def reassigning(self) -> bool:
        """Whether its replicas are being moved."""
        return bool(self.adding or self.removing)

    def directory_of(self, replica: int) -> bytes:
        """Where a replica lies at its broker."""
        at = self.replicas.index(NodeId(replica)) if replica in self.replicas else len(self.directories)
        return self.directories[at] if at < len(self.directories) else UNASSIGNED


@dataclass(slots=True)
class TopicImage:
    """One topic and its partitions, by number."""

    name: str
    id: TopicId
    partitions: dict[int, PartitionImage] = field(default_factory=dict)


class BrokerImage(NamedTuple):
    """One registered broker."""

    id: NodeId
    epoch: int  # a new one with each registration
    incarnation: bytes
    endpoints: Mapping[str, tuple[str, int]]  # listener name → host, port
    rack: str | None
    fenced: bool
    stopping: bool = False  # in controlled shutdown
    log_dirs: tuple[bytes, ...] = ()  # those that work
    features: Mapping[str, tuple[int, int]] = {}  # the levels it can be set to
    protocols: tuple[int, ...] = ()  # the security protocol of each endpoint, in their order
    cordoned: tuple[bytes, ...] = ()  # directories that take no more partitions

    @classmethod
    def of(cls, record: RegisterBrokerRecord) -> BrokerImage:
        """The broker that a record registers."""
        return cls(
            NodeId(record.broker_id),
            record.broker_epoch,
            record.incarnation_id,
            {each.name: (each.host, each.port) for each in record.end_points},
            record.rack,
            record.fenced,
            record.in_controlled_shutdown,
            tuple(record.log_dirs),
            {each.name: (each.min_supported_version, each.max_supported_version) for each in record.features},
            tuple(each.security_protocol for each in record.end_points),
            tuple(record.cordoned_log_dirs or ()),
        )

    @property
    def live(self) -> bool:
        """Whether it may lead partitions and be in sync."""
        return not (self.fenced or self.stopping)

    def holds(self, directory: bytes) -> bool:
        """Whether what lies in a directory of it is there, as far as one knows."""
        return not self.log_dirs or directory in self.log_dirs or directory in (UNASSIGNED, MIGRATING)

    def endpoint(self, listener: str) -> tuple[str, int]:
        """Where a client of `listener` finds this broker; its first address if it has none of that name."""
        return self.endpoints.get(listener) or next(iter(self.endpoints.values()), ("", -1))


class ControllerImage(NamedTuple):
    """One registered controller."""

    id: NodeId
    incarnation: bytes
    endpoints: tuple[tuple[str, str, int, int], ...]  # listener name, host, port, security protocol
    features: tuple[tuple[str, int, int], ...]  # name, and the levels it can be set to

    @classmethod
    def of(cls, record: RegisterControllerRecord) -> ControllerImage:
        """The controller that a record registers."""
        return cls(
            NodeId(record.controller_id),
            record.incarnation_id,
            tuple((each.name, each.host, each.port, each.security_protocol) for each in record.end_points),
            tuple((f.name, f.min_supported_version, f.max_supported_version) for f in record.features),
        )

    def endpoint(self, listener: str) -> tuple[str, int] | None:
        """Where who came by `listener` finds it."""
        return next(((host, port) for name, host, port, _ in self.endpoints if name == listener), None)


@dataclass(slots=True)
class Delta:
    """What some records have changed, in the order in which they did.

    A topic that came and went within them is among the removed all the same: its files may be there from an
    earlier run that ended before it could remove them.
    """

    partitions: dict[tuple[TopicId, int], None] = field(default_factory=dict)  # new or changed
    removed_topics: list[TopicImage] = field(default_factory=list)
    configs: dict[ConfigKey, None] = field(default_factory=dict)
    brokers: dict[NodeId, None] = field(default_factory=dict)


class Image:
    """The cluster at one point of its metadata log."""

    def __init__(self, *, noting: bool = True) -> None:
        self.topics: dict[str, TopicImage] = {}
        self.topics_by_id: dict[bytes, TopicImage] = {}
        self.brokers: dict[NodeId, BrokerImage] = {}
        self.controllers: dict[NodeId, ControllerImage] = {}
        self.configs: dict[ConfigKey, dict[str, str]] = {}
        self.features: dict[str, int] = {}
        self.unserved = UnservedRecords()
        self.transaction = MetadataTransaction()
        self.next_producer_id = 0
        self.next_offset = Offset(0)  # all records below it have been replayed
        self.unclean_elections = 0  # that it has seen: leaders that were not in sync
        self._noting = noting
        self._delta = Delta()
        self._replay: dict[type, Callable[[Any], None]] = {
            TopicRecord: self._topic,
            PartitionRecord: self._partition,
            PartitionChangeRecord: self._partition_change,
            RemoveTopicRecord: self._remove_topic,
            ConfigRecord: self._config,
            RegisterBrokerRecord: self._register_broker,
            UnregisterBrokerRecord: self._unregister_broker,
            BrokerRegistrationChangeRecord: self._registration_change,
            FeatureLevelRecord: self._feature_level,
            ProducerIdsRecord: self._producer_ids,
            NoOpRecord: _pass_by,
            RegisterControllerRecord: self._register_controller,
            FenceBrokerRecord: lambda record: self._fence(record, fenced=True),
            UnfenceBrokerRecord: lambda record: self._fence(record, fenced=False),
            ClearElrRecord: self._clear_elr,
            ZkMigrationStateRecord: _pass_by,
            **dict.fromkeys(KINDS, self._unserved_record),
        }

    def __eq__(self, other: object) -> bool:
        """Whether another image says the same of the cluster, at the same point of its log."""
        if not isinstance(other, Image):
            return NotImplemented
        return self._state() == other._state()

    def __hash__(self) -> int:
        raise TypeError("an image changes, and is the key to nothing")

    def _state(self) -> tuple[object, ...]:
        decided = self.topics, self.topics_by_id, self.brokers, self.controllers, self.configs, self.features
        return *decided, self.unserved, self.transaction.waiting, self.next_producer_id, self.next_offset

    # ── asking ───────────────────────────────────────────────────────────────────────

    def configs_of(self, kind: int, name: str) -> Mapping[str, str]:
        """The settings that a resource has of its own."""
        return self.configs.get((kind, name), _NOTHING)

    def is_live(self, broker: int) -> bool:
        found = self.brokers.get(NodeId(broker))
        return found is not None and found.live

    def has_partition(self, topic: str, index: int) -> bool:
        found = self.topics.get(topic)
        return found is not None and index in found.partitions

    def offline_replicas(self, partition: PartitionImage) -> list[int]:
        """The replicas of a partition that stand on no live broker, or in a directory that has failed."""
        return [replica for replica in partition.replicas if self._is_offline(partition, replica)]

    def _is_offline(self, partition: PartitionImage, replica: NodeId) -> bool:
        broker = self.brokers.get(replica)
        return broker is None or broker.fenced or not broker.holds(partition.directory_of(replica))

    def partitions(self) -> Iterator[tuple[TopicImage, int, PartitionImage]]:
        """All there are: topic, number, partition."""
        for topic in self.topics.values():
            for number, partition in topic.partitions.items():
                yield topic, number, partition

    def take_delta(self) -> Delta:
        """What has changed since this was last asked."""
        assert self._noting, "this image notes no changes"
        delta, self._delta = self._delta, Delta()
        return delta

    # ── replaying ────────────────────────────────────────────────────────────────────

    def replay(self, record: MetadataRecord, offset: Offset) -> Sequence[MetadataRecord]:
        """Take in the record at `offset`; returns those that count now (metadata_transaction.py), mostly it alone.
        Raises where it is about what is not there."""
        invariant(
            offset + 1 >= self.next_offset, "the metadata offset never goes back", offset, self.next_offset
        )
        counting = self.transaction.take(record, offset)
        for each in counting:
            try:
                self._replay[type(each)](each)
            except KeyError as error:
                raise ErrorCode.CORRUPT_MESSAGE.error(
                    f"{type(each).__name__} at {offset} is about what is not there: {error}"
                ) from error
        self.next_offset = Offset(offset + 1)
        return counting

    def _topic(self, record: TopicRecord) -> None:
        topic = TopicImage(record.name, TopicId(record.topic_id))
        self.topics[topic.name] = self.topics_by_id[topic.id] = topic

    def _partition(self, record: PartitionRecord) -> None:
        self._put(record.topic_id, record.partition_id, PartitionImage.of(record))

    def _partition_change(self, record: PartitionChangeRecord) -> None:
        old = self.topics_by_id[record.topic_id].partitions[record.partition_id]
        leader, leader_epoch = old.leader, old.leader_epoch
        if record.leader != SAME_LEADER:
            leader, leader_epoch = NodeId(record.leader), LeaderEpoch(leader_epoch + 1)
        recovery = record.leader_recovery_state
        partition = PartitionImage(
            _nodes(record.replicas, old.replicas),
            _nodes(record.isr, old.isr),
            leader,
            leader_epoch,
            old.partition_epoch + 1,
            old.directories if record.directories is None else tuple(record.directories),
            _nodes(record.adding_replicas, old.adding),
            _nodes(record.removing_replicas, old.removing),
            _nodes(record.eligible_leader_replicas, old.elr),
            _nodes(record.last_known_elr, old.last_known_elr),
            old.recovering if recovery < 0 else recovery > 0,
        )
        self.unclean_elections += partition.recovering and not old.recovering
        self._put(record.topic_id, record.partition_id, partition)

    def _put(self, topic_id: bytes, index: int, partition: PartitionImage) -> None:
        topic = self.topics_by_id[topic_id]
        if (known := topic.partitions.get(index)) is not None:
            forward = known.leader_epoch <= partition.leader_epoch
            invariant(forward, "a leader epoch never goes back", topic.name, index, known, partition)
            forward = known.partition_epoch <= partition.partition_epoch
            invariant(forward, "a partition epoch never goes back", topic.name, index, known, partition)
        topic.partitions[index] = partition
        if self._noting:
            self._delta.partitions[topic.id, index] = None

    def _clear_elr(self, record: ClearElrRecord) -> None:
        for topic in [self.topics[record.topic_name]] if record.topic_name else self.topics.values():
            for index, old in topic.partitions.items():
                if old.elr or old.last_known_elr:
                    cleared = old._replace(elr=(), last_known_elr=(), partition_epoch=old.partition_epoch + 1)
                    self._put(topic.id, index, cleared)

    def _remove_topic(self, record: RemoveTopicRecord) -> None:
        topic = self.topics_by_id.pop(record.topic_id)
        del self.topics[topic.name]
        self.configs.pop((TOPIC, topic.name), None)
        if self._noting:
            for index in topic.partitions:
                self._delta.partitions.pop((topic.id, index), None)
            self._delta.configs.pop((TOPIC, topic.name), None)
            self._delta.removed_topics.append(topic)

    def _config(self, record: ConfigRecord) -> None:
        key = (record.resource_type, record.resource_name)
        configs = self.configs.setdefault(key, {})
        if record.value is None:
            configs.pop(record.name, None)
        else:
            configs[record.name] = record.value
        if not configs:
            del self.configs[key]
        if self._noting:
            self._delta.configs[key] = None

    def _register_broker(self, record: RegisterBrokerRecord) -> None:
        broker, known = BrokerImage.of(record), self.brokers.get(NodeId(record.broker_id))
        forward = known is None or known.epoch <= broker.epoch
        invariant(forward, "a broker epoch never goes back", known, broker)
        self._put_broker(broker.id, broker)

    def _register_controller(self, record: RegisterControllerRecord) -> None:
        controller = ControllerImage.of(record)
        self.controllers[controller.id] = controller

    def _unregister_broker(self, record: UnregisterBrokerRecord) -> None:
        self._put_broker(NodeId(record.broker_id), None)

    def _registration_change(self, record: BrokerRegistrationChangeRecord) -> None:
        old = self.brokers[NodeId(record.broker_id)]
        broker = old._replace(
            fenced=record.fenced > 0 if record.fenced else old.fenced,
            stopping=old.stopping or record.in_controlled_shutdown > 0,
            log_dirs=tuple(record.log_dirs) or old.log_dirs,
            cordoned=old.cordoned if record.cordoned_log_dirs is None else tuple(record.cordoned_log_dirs),
        )
        self._put_broker(broker.id, broker)

    def _fence(self, record: FenceBrokerRecord | UnfenceBrokerRecord, *, fenced: bool) -> None:
        id = NodeId(record.id)
        self._put_broker(id, self.brokers[id]._replace(fenced=fenced))

    def _put_broker(self, id: NodeId, broker: BrokerImage | None) -> None:
        if broker is None:
            self.brokers.pop(id, None)
        else:
            self.brokers[id] = broker
        if self._noting:
            self._delta.brokers[id] = None

    def _feature_level(self, record: FeatureLevelRecord) -> None:
        if record.feature_level:
            self.features[record.name] = record.feature_level
        else:
            self.features.pop(record.name, None)

    def _unserved_record(self, record: MetadataRecord) -> None:
        self.unserved.replay(record)

    def _producer_ids(self, record: ProducerIdsRecord) -> None:
        self.next_producer_id = record.next_producer_id


def _nodes(ids: Iterable[int] | None, before: tuple[NodeId, ...] = ()) -> tuple[NodeId, ...]:
    return before if ids is None else tuple(map(NodeId, ids))


def _pass_by(_: MetadataRecord) -> None:
    """A record that says nothing about what is kept here."""
