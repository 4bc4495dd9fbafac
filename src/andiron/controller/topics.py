"""Topics are created and deleted.

Each topic of a request is decided for itself, and gets its own error; topics of one request see each other.
A topic is known by its name to people and by its topic id (KIP-516) to logs: one that is deleted and created anew
has another id, and nothing of the old one is taken for it.
"""

from __future__ import annotations

import re
from collections import Counter

from andiron.controller.image import TOPIC, Image
from andiron.controller.partitions import PARTITIONS_MAX, check_assignment, new_partitions
from andiron.controller.records import ConfigRecord, MetadataRecord, RemoveTopicRecord, TopicRecord
from andiron.controller.replica_placement import place
from andiron.controller.settings import ControllerSettings
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NO_TOPIC_ID, TopicId
from andiron.model.layers import describe_topic
from andiron.model.machine import Decision
from andiron.model.settings import SettingError
from andiron.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from andiron.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)

NAME_LENGTH_MAX = 249
METADATA_TOPIC = "__cluster_metadata"
INTERNAL = ("__consumer_offsets", "__transaction_state", "__share_group_state")

_NAME = re.compile(r"[a-zA-Z0-9._-]+")
_DEFAULT = -1  # "as many as the broker thinks right"


def name_fault(name: str) -> str | None:
    """Why a topic cannot be called so; None if it can."""
    if not name:
        return "a topic needs a name"
    if name in (".", ".."):
        return f"a topic cannot be called {name!r}"
    if len(name) > NAME_LENGTH_MAX:
        return f"a topic's name has at most {NAME_LENGTH_MAX} characters, and this has {len(name)}"
    if _NAME.fullmatch(name) is None:
        return f"{name!r} has characters other than ASCII letters and digits, '.', '_' and '-'"
    return None


def is_internal(name: str) -> bool:
    """Whether it is a topic in which the cluster keeps its own state."""
    return name in INTERNAL


# ── creating ─────────────────────────────────────────────────────────────────────────


def create_topics(
    request: CreateTopicsRequest, image: Image, settings: ControllerSettings, chance: Chance
) -> Decision[MetadataRecord]:
    """Create topics, or say of each why it cannot be."""
    creation = _Creation(request, image, settings, chance)
    for topic in {topic.name: topic for topic in request.topics}.values():
        creation.decide(topic)
    return Decision(creation.response, [] if request.validate_only else creation.records)


class _Creation:
    """One CreateTopics request while it is being decided."""

    def __init__(
        self, request: CreateTopicsRequest, image: Image, settings: ControllerSettings, chance: Chance
    ) -> None:
        self.response = CreateTopicsResponse()
        self.records: list[MetadataRecord] = []
        self._image, self._settings, self._chance = image, settings, chance
        self._described: dict[tuple[tuple[str, str], ...], list[CreatableTopicConfigs]] = {}
        self._counts = Counter(topic.name for topic in request.topics)
        self._partitions = sum(max(0, self._count(topic)) for topic in request.topics)
        # Metrics of Kafka's kind write "." as "_": two names that differ in nothing else would be one there.
        self._alike = {name.replace(".", "_"): name for name in image.topics if "." in name or "_" in name}

    def decide(self, topic: CreatableTopic) -> None:
        result = CreatableTopicResult(topic.name)
        self.response.topics.append(result)
        try:
            self._check(topic)
            configs = self._configs(topic)
            assignments = self._assignments(topic)
        except ProtocolError as error:
            result.error_code, result.error_message = error.code.number, error.detail
            return
        self._alike[topic.name.replace(".", "_")] = topic.name
        topic_id = self._new_id()
        self.records.append(TopicRecord(topic.name, topic_id))
        self.records += [ConfigRecord(TOPIC, topic.name, name, value) for name, value in configs.items()]
        self.records += new_partitions(self._image, topic_id, assignments)
        result.topic_id = topic_id
        result.num_partitions, result.replication_factor = len(assignments), len(assignments[0])
        result.configs = self._shown(configs)

    def _check(self, topic: CreatableTopic) -> None:
        name = topic.name
        if self._counts[name] > 1:
            raise ErrorCode.INVALID_REQUEST.error("the topic is there twice")
        if (fault := name_fault(name)) is not None:
            raise ErrorCode.INVALID_TOPIC_EXCEPTION.error(fault)
        if name == METADATA_TOPIC:
            raise ErrorCode.INVALID_REQUEST.error(f"{name} is the cluster's own and is always there")
        if name in self._image.topics:
            raise ErrorCode.TOPIC_ALREADY_EXISTS.error(f"topic {name} is there already")
        if (other := self._alike.get(name.replace(".", "_"))) is not None:
            raise ErrorCode.INVALID_TOPIC_EXCEPTION.error(f"{name} and {other} differ in '.' and '_' only")
        if self._partitions > PARTITIONS_MAX:
            raise ErrorCode.POLICY_VIOLATION.error(
                f"the request is for {self._partitions} partitions; {PARTITIONS_MAX} is the most at a time"
            )

    def _configs(self, topic: CreatableTopic) -> dict[str, str]:
        configs: dict[str, str] = {}
        for config in topic.configs:
            if config.value is None:
                raise ErrorCode.INVALID_CONFIG.error(f"{config.name}: there is no value")
            configs[config.name] = config.value
        try:
            self._settings.check_topic(configs, self._image)
        except SettingError as error:
            raise ErrorCode.INVALID_CONFIG.error(str(error)) from error
        return configs

    def _assignments(self, topic: CreatableTopic) -> list[list[int]]:
        if topic.assignments:
            return self._by_hand(topic)
        count, replicas = self._count(topic), topic.replication_factor
        if count < 1:
            raise ErrorCode.INVALID_PARTITIONS.error(
                f"a topic cannot have {count} partitions; -1 is the default"
            )
        if replicas == _DEFAULT:
            replicas = self._settings.default_replication_factor
        if replicas < 1:
            raise ErrorCode.INVALID_REPLICATION_FACTOR.error(
                f"a partition cannot have {replicas} replicas; -1 is the default"
            )
        return place(count, replicas, self._image.brokers.values(), self._chance)

    def _by_hand(self, topic: CreatableTopic) -> list[list[int]]:
        if topic.num_partitions != _DEFAULT or topic.replication_factor != _DEFAULT:
            raise ErrorCode.INVALID_REQUEST.error(
                "with assignments by hand, the number of partitions and of replicas must be -1"
            )
        by_number = {each.partition_index: each.broker_ids for each in topic.assignments}
        if len(by_number) < len(topic.assignments):
            raise ErrorCode.INVALID_REPLICA_ASSIGNMENT.error("a partition is there twice")
        if sorted(by_number) != list(range(len(by_number))):
            raise ErrorCode.INVALID_REPLICA_ASSIGNMENT.error("partitions are numbered from 0 without gaps")
        replication_factor = len(by_number[0])
        for replicas in by_number.values():
            check_assignment(replicas, self._image, replication_factor)
        return [by_number[number] for number in range(len(by_number))]

    def _count(self, topic: CreatableTopic) -> int:
        if topic.assignments:
            return len(topic.assignments)
        return self._settings.num_partitions if topic.num_partitions == _DEFAULT else topic.num_partitions

    def _new_id(self) -> TopicId:
        """An id that no topic has, and that tools can print: none that begins with "-" in base64."""
        while True:
            topic_id = TopicId(self._chance.uuid())
            if topic_id[0] >> 2 != 62 and any(topic_id[:15]) and topic_id not in self._image.topics_by_id:
                return topic_id

    def _shown(self, configs: dict[str, str]) -> list[CreatableTopicConfigs]:
        """What the topic's settings are; a request for thousands of topics gives most of them the same."""
        key = tuple(configs.items())
        if key not in self._described:
            self._described[key] = self._describe(configs)
        return self._described[key]

    def _describe(self, configs: dict[str, str]) -> list[CreatableTopicConfigs]:
        entries = describe_topic(
            self._settings.topic_rows.values(), configs, self._settings.layers(self._image)
        )
        return [
            CreatableTopicConfigs(
                entry.row.name, entry.value, entry.read_only, entry.source, entry.row.sensitive
            )
            for entry in entries
        ]


# ── deleting ─────────────────────────────────────────────────────────────────────────


def delete_topics(
    request: DeleteTopicsRequest, image: Image, settings: ControllerSettings
) -> Decision[MetadataRecord]:
    """Delete topics, or say of each why it cannot be."""
    asked = request.topics or [DeleteTopicState(name) for name in request.topic_names]
    counts = Counter((topic.name, topic.topic_id) for topic in asked)
    response, records = DeleteTopicsResponse(), dict[bytes, MetadataRecord]()
    for (name, topic_id), count in counts.items():
        result = DeletableTopicResult(name, topic_id)
        response.responses.append(result)
        try:
            if count > 1:
                raise ErrorCode.INVALID_REQUEST.error("the topic is there twice")
            if not settings.delete_topic_enable:
                raise ErrorCode.TOPIC_DELETION_DISABLED.error()
            topic = _to_delete(name, topic_id, image)
            if topic in records:
                raise ErrorCode.INVALID_REQUEST.error("the topic is there twice")
        except ProtocolError as error:
            result.error_code, result.error_message = error.code.number, error.detail
            continue
        result.name, result.topic_id = image.topics_by_id[topic].name, topic
        records[topic] = RemoveTopicRecord(topic)
    return Decision(response, list(records.values()))


def _to_delete(name: str | None, topic_id: bytes, image: Image) -> TopicId:
    if (name is None) == (topic_id == NO_TOPIC_ID):
        raise ErrorCode.INVALID_REQUEST.error("name the topic or give its id, one of the two")
    if name is None:
        if topic_id not in image.topics_by_id:
            raise ErrorCode.UNKNOWN_TOPIC_ID.error(f"no topic has the id {topic_id.hex()}")
        return TopicId(topic_id)
    topic = image.topics.get(name)
    if topic is None:
        raise ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.error(f"there is no topic {name}")
    return topic.id
