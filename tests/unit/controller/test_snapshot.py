"""A snapshot makes the same image again."""

from __future__ import annotations

from andiron.controller.image import Image
from andiron.controller.producer_ids import AllocateProducerIds
from andiron.controller.records import FeatureLevelRecord, decode_record, encode_record
from andiron.controller.snapshot import offset_of, records_of
from andiron.model.ids import NodeId
from andiron.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
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
    cluster.run(AllocateProducerIds(NodeId(1)))
    cluster.alter("t", [1, 2])
    cluster.beat(2, want_shut_down=True)
    cluster.crash(4)
    partition = cluster.partition("t")
    assert partition.elr and partition.adding and cluster.partition("gone").last_known_elr

    assert again(cluster.image) == cluster.image


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
