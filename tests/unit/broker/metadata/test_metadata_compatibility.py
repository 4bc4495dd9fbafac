"""A folder whose metadata somebody else has written is understood, or let be with a word why."""

import pytest

from andiron.broker.metadata import metadata_compatibility
from andiron.broker.metadata.snapshot_files import UnsupportedMetadata
from andiron.controller.records import (
    AbortTransactionRecord,
    AccessControlEntryRecord,
    BeginTransactionRecord,
    ClearElrRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    PartitionRecord,
    TopicRecord,
    encode_record,
)
from andiron.model.effects import Woken
from andiron.quorum.snapshot_format import SnapshotId, batches_of
from andiron.records.builder import build
from andiron.records.record import Record
from worlds.formatted import formatted
from worlds.node import SmallNode

FOLDER = "/data/__cluster_metadata-0"
LOG = f"{FOLDER}/00000000000000000000.log"
UNKNOWN = b"\x01\x63\x00"  # of type 99


def contents(disk, folder="/data"):
    found = {}
    for name in disk.names(folder):
        path = f"{folder}/{name.rstrip('/')}"
        found |= contents(disk, path) if name.endswith("/") else {path: disk.read_file(path)}
    return found


def stopped_node(**properties):
    node = SmallNode(**properties)
    node.create("ours")
    node.node.stop(node.now)
    return node


def append(node, *records):
    """As Kafka would, which opened the folder since."""
    end, epoch = node.node.broker.raft.partition.log.end, node.node.broker.raft.partition.epoch
    values = [each if isinstance(each, bytes) else encode_record(each) for each in records]
    packed = build([Record(0, 1, None, value) for value in values], base_offset=end, leader_epoch=epoch + 1)
    node.disk.open(LOG).append(bytes(packed))


def refusal(node):
    before = contents(node.disk)
    with pytest.raises(UnsupportedMetadata) as refused:
        node.restart(clean=False)
    assert contents(node.disk) == before, "nothing was changed"
    said = str(refused.value)
    assert "\n" not in said
    return said


def topic(name, id):
    place = PartitionRecord(0, id, [1], [1], leader=1, leader_epoch=0, partition_epoch=0)
    return [TopicRecord(name, id), place]


@pytest.mark.parametrize("clean", [True, False])
def test_what_kafka_wrote_since_is_taken_in(clean):
    node = stopped_node()
    if not clean:
        node.disk.remove("/data/.kafka_cleanshutdown")
    whole = [BeginTransactionRecord(), *topic("whole", b"w" * 16), EndTransactionRecord()]
    aborted = [BeginTransactionRecord(), *topic("aborted", b"a" * 16), AbortTransactionRecord()]
    append(node, *whole, *aborted, ClearElrRecord(), FeatureLevelRecord("share.version", 1))

    node.restart(clean=False)

    image = node.node.broker.image
    assert {"ours", "whole"} <= image.topics.keys()
    assert "aborted" not in image.topics
    assert image.features["share.version"] == 1
    assert node.produce("whole", b"a").error_code == 0


def test_a_record_of_a_type_that_is_not_known_is_named_and_nothing_is_changed():
    node = stopped_node()
    append(node, TopicRecord("t", b"t" * 16), UNKNOWN)
    end = node.node.broker.raft.partition.log.end

    said = refusal(node)

    assert f"{LOG}, offset {end + 1}: UNSUPPORTED_VERSION: a metadata record of type 99" in said
    assert "open the folder with what wrote it" in said


def test_a_snapshot_that_has_one_is_not_passed_over():
    node = stopped_node()
    append(node, FeatureLevelRecord("share.version", 1))
    id = SnapshotId(3, 1)
    for batch in batches_of(id, 1, [UNKNOWN]):
        node.disk.open(f"{FOLDER}/{id.file_name}").append(bytes(batch))

    assert f"{FOLDER}/{id.file_name}: a metadata record of type 99" in refusal(node)


@pytest.mark.parametrize(
    ("feature", "level", "advice"),
    [
        ("metadata.version", 21, "raise it with Kafka first (kafka-features upgrade"),
        ("metadata.version", 31, "open the folder with what wrote it"),
        ("share.version", 2, "lower it with what raised it"),
        ("new.version", 1, "lower it with what raised it"),
    ],
)
def test_a_level_that_is_not_known_is_named_and_what_to_do(feature, level, advice):
    node = stopped_node()
    append(node, FeatureLevelRecord(feature, level))

    said = refusal(node)

    assert f"the cluster's {feature} is {level}" in said
    assert advice in said


def test_what_was_never_committed_to_the_disk_whole_is_not_judged():
    node = stopped_node()
    node.disk.remove("/data/.kafka_cleanshutdown")
    append(node, UNKNOWN)
    whole = node.disk.read_file(LOG)
    node.disk.write_file(LOG, whole[:-1])

    node.restart(clean=False)

    assert "ours" in node.node.broker.image.topics


def test_what_this_node_has_flushed_itself_is_not_tried_again(monkeypatch):
    tried = []
    monkeypatch.setattr(metadata_compatibility, "_replay", lambda disk, path, image: tried.append(path))
    node = stopped_node()
    node.restart(clean=False)
    node.node.stop(node.now)
    assert tried == []

    append(node, FeatureLevelRecord("share.version", 1))
    node.restart(clean=False)

    assert tried == [LOG]


def test_what_comes_later_and_is_not_understood_ends_the_node_with_a_word():
    node = SmallNode()
    partition = node.node.broker.raft.partition
    written = partition.append_own(build([Record(0, 1, None, UNKNOWN)]), node.now)
    node.node.broker.step.appended(partition, written)

    for _ in range(3):
        node.step(Woken())

    assert "type 99" in node.node.broken


def test_what_is_kept_for_kafka_is_told_once_and_outlives_a_restart(caplog):
    node = stopped_node()
    append(node, AccessControlEntryRecord(b"i" * 16, 2, "t", 3, "User:alice", "*", 3, 3))

    node.restart(clean=False)
    node.restart()

    assert len(list(node.node.broker.image.unserved)) == 1
    said = [record.message for record in caplog.records if "not enforced" in record.message]
    assert ['kept="1 access rules"' in each for each in said] == [True] * 2, "once a start"


# ── a log that ends inside a transaction ─────────────────────────────────────────────


def test_a_log_that_ends_inside_a_transaction_goes_on_without_it():
    node = stopped_node()
    append(node, BeginTransactionRecord("large"), *topic("half", b"h" * 16))

    node.restart(clean=False)
    node.create("after")
    node.restart()

    image = node.node.broker.image
    assert {"ours", "after"} <= image.topics.keys()
    assert "half" not in image.topics
    assert not image.transaction.is_open


def test_no_snapshot_is_cut_inside_a_transaction():
    node = SmallNode(metadata_log_max_record_bytes_between_snapshots="100000")
    metadata = node.node.broker.metadata
    metadata._snapshot_generator.committed(200_000)
    metadata.image.replay(BeginTransactionRecord(), metadata.applied)
    assert metadata._snapshot_generator._due() > node.now

    metadata.image.replay(EndTransactionRecord(), metadata.applied)

    assert metadata._snapshot_generator._due() <= node.now


# ── a folder that was formatted, and never opened ────────────────────────────────────


def test_one_that_is_formatted_for_more_than_is_known_here_is_let_be():
    for disk, said in (
        (formatted(UNKNOWN), "/data/bootstrap.checkpoint: UNSUPPORTED_VERSION: a metadata record of type 99"),
        (formatted(FeatureLevelRecord("metadata.version", 31)), "the cluster's metadata.version is 31"),
    ):
        with pytest.raises(UnsupportedMetadata, match=said):
            SmallNode(disk)
        assert not disk.names("/data/__cluster_metadata-0")
