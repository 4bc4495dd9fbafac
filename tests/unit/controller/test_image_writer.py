"""A snapshot makes the same image again."""

from __future__ import annotations

from andiron.controller.image import TOPIC, Image
from andiron.controller.image_writer import changes, copy_of, offset_of, records_of
from andiron.controller.records import (
    AccessControlEntryRecord,
    ClientQuotaRecord,
    DelegationTokenRecord,
    EntityData,
    FeatureLevelRecord,
    NoOpRecord,
    RegisterBrokerRecord,
    UserScramCredentialRecord,
    decode_record,
    encode_record,
)
from andiron.model.ids import Offset
from andiron.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from andiron.wire.messages.controller_registration import ControllerRegistrationRequest, Feature, Listener
from andiron.wire.messages.delete_topics import DeleteTopicsRequest
from andiron.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from andiron.wire.messages.unregister_broker import UnregisterBrokerRequest
from controller.cluster import joined


def again(image: Image) -> Image:
    fresh = Image()
    for record in records_of(image):
        fresh.replay(decode_record(encode_record(record)), offset_of(image))
    return fresh


def test_a_cluster_that_has_seen_something_is_made_again():
    cluster = joined(4)
    cluster.place("t", [1, 2, 3], retention_ms="5", min_insync_replicas="2")
    cluster.place("gone", [4])
    cluster.place("dark", [4], unclean_leader_election_enable="true")
    moved = [ReassignableTopic("t", [ReassignablePartition(0, [4, 2, 3])])]
    cluster.run(AlterPartitionReassignmentsRequest(topics=moved))
    cluster.allocate_producer_ids(1)
    where, knows = [Listener("CONTROLLER", "host", 9093, 0)], [Feature("group.version", 0, 1)]
    cluster.run(ControllerRegistrationRequest(9, bytes(16), listeners=where, features=knows))
    cluster.alter("t", [1, 2])
    cluster.beat(2, want_shut_down=True)
    cluster.crash(4)
    partition = cluster.partition("t")
    assert partition.elr and partition.adding and cluster.partition("gone").last_known_elr

    assert again(cluster.image) == cluster.image
    assert copy_of(cluster.image) == cluster.image
    assert brought_up(joined(4).image, cluster.image).controllers == cluster.image.controllers != {}


def with_what_kafka_keeps(*, rate: float = 7.0) -> Image:
    image = Image()
    records = [
        RegisterBrokerRecord(1, log_dirs=[b"d" * 16, b"c" * 16], cordoned_log_dirs=[b"c" * 16]),
        ClientQuotaRecord([EntityData("user", None)], "producer_byte_rate", rate),
        UserScramCredentialRecord("alice", 1, b"salt", b"stored", b"server", 4096),
        AccessControlEntryRecord(b"i" * 16, 2, "t", 3, "User:alice", "*", 3, 3),
        DelegationTokenRecord("User:alice", "User:alice", [], 1, 2, 3, "token"),
    ]
    for offset, record in enumerate(records):
        image.replay(record, Offset(offset))
    return image


def test_what_is_kept_for_kafka_is_in_a_snapshot():
    image = with_what_kafka_keeps()

    assert len(list(image.unserved)) == 4
    assert again(image) == image
    assert copy_of(image) == image


def test_what_is_kept_for_kafka_comes_and_goes_with_a_snapshot_that_is_skipped_to():
    assert brought_up(Image(), with_what_kafka_keeps()) == with_what_kafka_keeps()
    later = Image()
    later.replay(NoOpRecord(), Offset(9))
    assert brought_up(with_what_kafka_keeps(), later).unserved == Image().unserved
    changed = changes(with_what_kafka_keeps(), with_what_kafka_keeps(rate=8.0))
    assert [type(record) for record in changed] == [ClientQuotaRecord, NoOpRecord]


def test_an_empty_image_has_no_records():
    assert list(records_of(Image())) == []


def test_the_metadata_version_comes_first():
    image = Image()
    image.replay(FeatureLevelRecord("a", 1), 0)
    image.replay(FeatureLevelRecord("metadata.version", 30), 1)

    assert [record.name for record in records_of(image)] == ["metadata.version", "a"]


def test_images_differ_by_what_they_say():
    cluster = joined(1)
    before = again(cluster.image)

    cluster.create("t")

    assert before != cluster.image
    assert before != "an image"


# ── a copy ───────────────────────────────────────────────────────────────────────────


def test_a_copy_stays_what_it_is_while_the_image_goes_on():
    cluster = joined(3)
    cluster.place("t", [1, 2, 3], retention_ms="5")
    copy, before = copy_of(cluster.image), again(cluster.image)

    cluster.alter("t", [1, 2])
    cluster.create("u")
    cluster.crash(3)

    assert copy == before != cluster.image


# ── from one image to another ────────────────────────────────────────────────────────


def brought_up(old: Image, new: Image) -> Image:
    for record in changes(old, new):
        old.replay(decode_record(encode_record(record)), offset_of(new))
    return old


def test_an_image_that_has_missed_something_is_told_what_and_no_more():
    cluster = joined(3)
    for name in ("same", "gone", "again"):
        cluster.place(name, [1, 2, 3], retention_ms="5")
    cluster.place("changed", [1, 2, 3], retention_ms="5", segment_ms="7")
    old = again(cluster.image)
    old.take_delta()
    cluster.run(DeleteTopicsRequest(topic_names=["gone", "again"]))
    cluster.place("again", [2], segment_ms="9")
    cluster.alter("changed", [1, 2])
    unset = [AlterConfigsResource(TOPIC, "changed", [AlterableConfig("segment.ms", 1, None)])]
    cluster.run(IncrementalAlterConfigsRequest(unset))

    assert brought_up(old, cluster.image) == cluster.image

    delta, topics = old.take_delta(), cluster.image.topics
    assert [topic.name for topic in delta.removed_topics] == ["gone", "again"]
    assert list(delta.partitions) == [(topics["changed"].id, 0), (topics["again"].id, 0)]
    assert list(delta.configs) == [(TOPIC, "changed"), (TOPIC, "again")]
    assert list(delta.brokers) == []


def test_brokers_and_features_that_are_gone_go():
    cluster = joined(3)
    old = again(cluster.image)
    old.replay(FeatureLevelRecord("elsewhere", 3), old.next_offset)
    cluster.crash(3)
    cluster.run(UnregisterBrokerRequest(3))
    assert 3 not in cluster.image.brokers

    assert brought_up(old, cluster.image) == cluster.image


def test_an_image_that_has_missed_nothing_only_comes_further():
    cluster = joined(2)

    assert changes(again(cluster.image), cluster.image) == [NoOpRecord()]
