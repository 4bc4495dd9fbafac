"""Records in: what is taken, when that is told, and what is refused with which code."""

import struct

import pytest

from andiron.records.batch import iterate, seal
from andiron.records.builder import build
from andiron.records.compression import ZSTD, compress
from andiron.records.record import Record
from andiron.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from worlds.cluster_client import create, produce_request, small_cluster
from worlds.node import Closed, error_of
from worlds.producing import batch, sequence

HOUR = 3_600_000


def stored(node, topic):
    """The batches of a partition as they lie in its log."""
    return list(iterate(bytes(node.fetch(topic).records)))


# ── acknowledgement ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("acks", [1, -1])
@pytest.mark.parametrize("version", range(3, 13))
def test_an_answer_names_the_offset_of_the_first_record(node, version, acks):
    node.create("t")
    node.produce("t", b"a", b"b", version=version, acks=acks)

    answer = node.produce("t", b"c", version=version, acks=acks)

    assert (error_of(answer), answer.base_offset, answer.log_append_time_ms) == ("NONE", 2, -1)
    assert node.values("t") == [b"a", b"b", b"c"]


def test_acks_0_is_not_answered(node):
    node.create("t")

    ticket = node.send(node.produce_request("t", [b"a"], acks=0), version=9)

    assert node.replies[ticket] is None
    assert node.values("t") == [b"a"]


def test_an_error_with_acks_0_closes_the_connection(node):
    with pytest.raises(Closed, match="UNKNOWN_TOPIC_OR_PARTITION"):
        node.produce("nope", b"a", acks=0)


@pytest.mark.parametrize("acks", [2, -2, 100])
def test_other_acks_are_refused_and_nothing_is_written(node, acks):
    node.create("t")

    assert error_of(node.produce("t", b"a", acks=acks)) == "INVALID_REQUIRED_ACKS"
    assert node.values("t") == []


def test_partitions_of_one_request_are_answered_each_for_itself(node):
    node.create("t", partitions=2)
    data = [PartitionProduceData(index, batch(node, b"a")) for index in (1, 5, 0)]
    request = ProduceRequest(
        acks=1, timeout_ms=1_000, topic_data=[TopicProduceData("t", partition_data=data)]
    )

    answers = node.ask(request, version=9).responses[0].partition_responses

    assert [(a.index, error_of(a)) for a in answers] == [
        (1, "NONE"), (5, "UNKNOWN_TOPIC_OR_PARTITION"), (0, "NONE"),
    ]  # fmt: skip


def test_a_request_without_topics_is_answered_with_none(node):
    assert node.ask(ProduceRequest(acks=-1, timeout_ms=1_000), version=9).responses == []


# ── what is in a batch ───────────────────────────────────────────────────────────────


def lying(records, at, field):
    """A batch with some bytes of its header changed, and its checksum right."""
    records[at : at + len(field)] = field
    seal(records, 0, len(records))
    return records


def timeless(**how):
    """What librdkafka makes of records whose timestamp is -1: the header says that the largest is 0."""
    return lying(build([Record(0, -1, b"k", b"v")] * 2, **how), 35, bytes(8))


@pytest.mark.parametrize("ways", [1, 3], ids=["handler", "shortcut"])
@pytest.mark.parametrize("codec", [0, ZSTD])
def test_records_without_a_timestamp_are_kept_as_long_as_others(node, ways, codec):
    node.create("t", retention_ms="3600000")
    for _ in range(ways):
        assert error_of(node.produce("t", records=timeless(codec=codec))) == "NONE"

    node.advance(HOUR - 600_000)
    kept = stored(node, "t")
    node.advance(HOUR)

    assert [(each.base_timestamp, each.max_timestamp, each.is_intact()) for each in kept] == [
        (-1, -1, True)
    ] * ways
    assert node.values("t") == []


@pytest.mark.parametrize("version", range(3, 13))
def test_records_without_a_key_are_told_by_their_index_to_whoever_can_read_it(node, version):
    node.create("t", cleanup_policy="compact")
    keys = [b"k", None, b"k", None]
    for _ in range(2):  # by the handler, and the short way
        node.produce("t", b"v", records=build([Record(0, node.now, b"k", b"v")]), version=version)
        records = build([Record(0, node.now, key, b"v") for key in keys])

        answer = node.produce("t", records=records, version=version)

        assert (error_of(answer), answer.base_offset) == ("INVALID_RECORD", -1)
        told = [(bad.batch_index, bad.batch_index_error_message) for bad in answer.record_errors]
        reason = "has no key, and the topic is compacted"
        assert told == ([(1, reason), (3, reason)] if version >= 8 else [])
        assert version < 8 or "record 1 has no key" in answer.error_message


def test_records_outside_the_limits_of_time_are_told_by_their_index(node):
    node.create("t", message_timestamp_before_max_ms="1000")
    times = [node.now, node.now - 1_001, node.now - 1_000]

    answer = node.produce("t", records=build([Record(0, time, None, b"v") for time in times]))

    assert error_of(answer) == "INVALID_TIMESTAMP"
    assert [bad.batch_index for bad in answer.record_errors] == [1]


@pytest.mark.parametrize("ways", [0, 1], ids=["handler", "shortcut"])
@pytest.mark.parametrize(
    "records",
    [
        lying(build([Record(0, 0, b"k", b"v")]), 61, b"\x99\xaa\xbb\xcc\xdd\xee\xff"),
        lying(lying(build([Record(0, 0, b"k", b"v")]), 57, b"\x7f\xff\xff\xff"), 23, b"\x7f\xff\xff\xfe"),
        lying(lying(build([Record(0, 0, b"k", b"v")] * 3), 57, b"\0\0\0\x02"), 23, b"\0\0\0\x01"),
    ],
    ids=["nonsense", "too many", "too few"],
)
def test_what_no_consumer_could_read_is_refused(node, records, ways):
    node.create("t")
    for _ in range(ways):
        node.produce("t", b"a")

    assert error_of(node.produce("t", records=bytearray(records))) == "INVALID_RECORD"
    assert node.values("t") == [b"a"] * ways


def test_a_bomb_goes_off_nowhere(node):
    node.create("t", cleanup_policy="compact")
    record = b"\x0e\0\0\0\x02k\x01\0"
    bomb = lying(
        build([Record(0, node.now, b"k", None)], codec=ZSTD)[:61] + compress(ZSTD, record * 5_000_000), 0, b""
    )
    bomb[8:12] = (len(bomb) - 12).to_bytes(4, "big")
    bomb[57:61], bomb[23:27] = (5_000_000).to_bytes(4, "big"), (4_999_999).to_bytes(4, "big")

    answer = node.produce("t", records=lying(bomb, 0, b""))

    assert error_of(answer) == "MESSAGE_TOO_LARGE"
    assert len(bomb) < 100_000


# ── finding the partition ────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("topic", "partition"), [("nope", 0), ("t", 1), ("t", -1), ("no such name!", 0)])
def test_a_partition_that_is_not_there(node, topic, partition):
    node.create("t")

    answer = node.produce(topic, b"a", partition=partition)

    assert (error_of(answer), answer.base_offset) == ("UNKNOWN_TOPIC_OR_PARTITION", -1)


def by_id(node, topic_id, version=13):
    data = TopicProduceData("", topic_id, [PartitionProduceData(0, batch(node, b"a"))])
    response = node.ask(ProduceRequest(acks=-1, timeout_ms=1_000, topic_data=[data]), version)
    return response.responses[0]


def test_version_13_names_topics_by_id(node):
    topic_id = node.create("t").topic_id

    answer = by_id(node, topic_id)

    assert answer.topic_id == topic_id
    assert error_of(answer.partition_responses[0]) == "NONE"
    assert node.values("t") == [b"a"]


@pytest.mark.parametrize("topic_id", [b"\x07" * 16, bytes(16)])
def test_an_id_that_no_topic_has(node, topic_id):
    assert error_of(by_id(node, topic_id).partition_responses[0]) == "UNKNOWN_TOPIC_ID"


def test_the_id_of_a_deleted_topic_does_not_find_its_successor(node):
    old = node.create("t").topic_id
    node.delete("t")
    node.create("t")

    assert error_of(by_id(node, old).partition_responses[0]) == "UNKNOWN_TOPIC_ID"


# ── what is refused ──────────────────────────────────────────────────────────────────


def bad_crc(node):
    records = batch(node, b"a")
    records[-1] ^= 1
    return records


def with_magic(magic):
    def records(node):
        records = batch(node, b"a")
        records[16] = magic
        return records

    return records


def control(node):
    return batch(node, b"a", control=True, **sequence(0))


def wrong_count(node):
    records = batch(node, b"a")
    struct.pack_into(">i", records, 57, 2)
    seal(records, 0, len(records))
    return records


BAD = {
    "no records": (lambda node: None, "INVALID_RECORD"),
    "empty": (lambda node: b"", "INVALID_RECORD"),
    "two batches": (lambda node: batch(node, b"a") * 2, "INVALID_RECORD"),
    "cut short": (lambda node: batch(node, b"a")[:-3], "CORRUPT_MESSAGE"),
    "cut in the header": (lambda node: batch(node, b"a")[:30], "CORRUPT_MESSAGE"),
    "cut in the size": (lambda node: batch(node, b"a")[:5], "CORRUPT_MESSAGE"),
    "a wrong checksum": (bad_crc, "CORRUPT_MESSAGE"),
    "magic 0": (with_magic(0), "INVALID_RECORD"),
    "magic 1": (with_magic(1), "INVALID_RECORD"),
    "magic 9": (with_magic(9), "CORRUPT_MESSAGE"),
    "a base offset": (lambda node: batch(node, b"a", base_offset=5), "INVALID_RECORD"),
    "a wrong count": (wrong_count, "INVALID_RECORD"),
    "control records": (control, "INVALID_RECORD"),
    "a producer without a sequence": (lambda node: batch(node, b"a", **sequence(-1)), "INVALID_RECORD"),
}  # fmt: skip


@pytest.mark.parametrize(("records", "code"), BAD.values(), ids=BAD)
def test_a_bad_batch_is_refused_with_its_code_and_not_written(node, records, code):
    node.create("t")

    answer = node.produce("t", records=records(node))

    assert (error_of(answer), answer.base_offset) == (code, -1)
    assert answer.error_message
    assert node.log("t").end == 0


def test_a_refusal_leaves_the_other_partitions_alone(node):
    node.create("t", partitions=2)
    data = [PartitionProduceData(0, bad_crc(node)), PartitionProduceData(1, batch(node, b"a"))]
    request = ProduceRequest(
        acks=-1, timeout_ms=1_000, topic_data=[TopicProduceData("t", partition_data=data)]
    )

    answers = node.ask(request, version=9).responses[0].partition_responses

    assert [error_of(answer) for answer in answers] == ["CORRUPT_MESSAGE", "NONE"]


def test_a_batch_beyond_max_message_bytes(node):
    node.create("t", max_message_bytes=200)

    assert error_of(node.produce("t", bytes(200))) == "MESSAGE_TOO_LARGE"
    assert error_of(node.produce("t", bytes(100))) == "NONE"


def test_a_batch_that_fits_into_no_segment(node):
    node.create("t", internal_segment_bytes=200)

    assert error_of(node.produce("t", bytes(300))) == "RECORD_LIST_TOO_LARGE"


def test_zstd_before_version_7(node):
    node.create("t")
    records = batch(node, bytes(100), codec=ZSTD)

    assert error_of(node.produce("t", records=records, version=6)) == "UNSUPPORTED_COMPRESSION_TYPE"
    assert error_of(node.produce("t", records=records, version=7)) == "NONE"


@pytest.mark.parametrize(("ahead", "code"), [(2 * HOUR, "INVALID_TIMESTAMP"), (HOUR // 2, "NONE")])
def test_a_clock_too_far_ahead(node, ahead, code):
    node.create("t")
    records = build([Record(0, node.now + ahead, None, b"a")])

    assert error_of(node.produce("t", records=records)) == code


def test_a_clock_too_far_behind(node):
    node.create("t", message_timestamp_before_max_ms=HOUR)

    records = build([Record(0, node.now - 2 * HOUR, None, b"a")])

    assert error_of(node.produce("t", records=records)) == "INVALID_TIMESTAMP"


@pytest.mark.parametrize("policy", ["compact", "compact,delete"])
def test_a_compacted_topic_takes_no_record_without_a_key(node, policy):
    node.create("t", cleanup_policy=policy)

    assert error_of(node.produce("t", records=batch(node, b"a"))) == "INVALID_RECORD"
    assert error_of(node.produce("t", records=batch(node, b"a", key=b"k"))) == "NONE"


def test_more_in_sync_replicas_than_there_are_is_not_asked_for(node):
    """Kafka asks for no more replicas than the partition has."""
    node.create("t", min_insync_replicas=2)

    assert error_of(node.produce("t", b"a", acks=-1)) == "NONE"


# ── idempotent producers ─────────────────────────────────────────────────────────────


def test_a_batch_sent_again_is_answered_with_its_first_offset_and_not_written_again(node):
    node.create("t")
    node.produce("t", b"a", **sequence(0))
    node.produce("t", b"b", b"c", **sequence(1))

    again = node.produce("t", b"b", b"c", **sequence(1))

    assert (error_of(again), again.base_offset) == ("NONE", 1)
    assert node.values("t") == [b"a", b"b", b"c"]


def test_five_batches_can_be_sent_again_and_the_sixth_last_cannot(node):
    node.create("t")
    for number in range(6):
        node.produce("t", b"%d" % number, **sequence(number))

    answers = [node.produce("t", b"%d" % number, **sequence(number)) for number in range(6)]

    assert [error_of(a) for a in answers] == ["OUT_OF_ORDER_SEQUENCE_NUMBER", *["NONE"] * 5]
    assert [a.base_offset for a in answers] == [-1, 1, 2, 3, 4, 5]


def test_a_gap_in_the_sequence_is_refused(node):
    node.create("t")
    node.produce("t", b"a", **sequence(0))

    assert error_of(node.produce("t", b"c", **sequence(2))) == "OUT_OF_ORDER_SEQUENCE_NUMBER"
    assert error_of(node.produce("t", b"b", **sequence(1))) == "NONE"


def test_a_new_epoch_begins_at_0_and_fences_the_old_one(node):
    node.create("t")
    node.produce("t", b"a", **sequence(0))

    assert error_of(node.produce("t", b"b", **sequence(1, epoch=1))) == "OUT_OF_ORDER_SEQUENCE_NUMBER"
    assert error_of(node.produce("t", b"b", **sequence(0, epoch=1))) == "NONE"
    assert error_of(node.produce("t", b"c", **sequence(1, epoch=0))) == "INVALID_PRODUCER_EPOCH"


def test_an_unknown_producer_may_begin_anywhere(node):
    node.create("t")

    assert error_of(node.produce("t", b"a", **sequence(41))) == "NONE"


def test_the_sequence_starts_over_after_the_largest_number(node):
    node.create("t")
    node.produce("t", b"a", b"b", **sequence((1 << 31) - 1))

    assert error_of(node.produce("t", b"c", **sequence(1))) == "NONE"


# ── who leads instead ────────────────────────────────────────────────────────────────


@pytest.fixture
def cluster():
    made = small_cluster((1, 2, 3, 4), voters=(4,), without_broker=(4,))
    create(made, "t", [(1, 2), (2, 3)])
    return made


def produce_at(cluster, number, partition, version=13):
    request = produce_request(cluster, "t", b"a", partition=partition)
    request.topic_data[0].name = "t" if version < 13 else ""
    return cluster.answer(number, request, version)


@pytest.mark.parametrize("number", [2, 3])
def test_who_asks_the_wrong_broker_is_told_the_right_one(cluster, number):
    response = produce_at(cluster, number, 0)
    [answer] = response.responses[0].partition_responses

    assert error_of(answer) == "NOT_LEADER_OR_FOLLOWER"
    assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (1, 0)
    assert [(each.node_id, each.host, each.port) for each in response.node_endpoints] == [(1, "node-1", 9092)]


@pytest.mark.parametrize("version", range(3, 10))
def test_older_versions_are_told_only_that_it_was_the_wrong_one(cluster, version):
    response = produce_at(cluster, 2, 0, version)
    [answer] = response.responses[0].partition_responses

    assert error_of(answer) == "NOT_LEADER_OR_FOLLOWER"
    assert answer.current_leader is None


def test_who_waited_at_a_leader_that_is_none_any_more_is_told_the_next(cluster):
    cluster.isolate(1)
    answers = cluster.ask(1, produce_request(cluster, "t", b"a", timeout_ms=60_000))
    cluster.until(lambda: cluster.leader_of("t") == 2)
    cluster.heal()
    cluster.until(lambda: answers)
    [answer] = answers[0].responses[0].partition_responses

    assert error_of(answer) == "NOT_LEADER_OR_FOLLOWER"
    assert answer.current_leader.leader_id == 2
    assert [each.node_id for each in answers[0].node_endpoints] == [2]


def test_where_all_is_well_nobody_is_named(cluster):
    response = produce_at(cluster, 1, 0)

    assert response.responses[0].partition_responses[0].current_leader is None
    assert response.node_endpoints == []


def test_a_disk_that_is_full_is_in_the_log_once_a_minute_however_many_write(node, caplog):
    node.create("t")
    node.disk.fill_up()
    for _ in range(20):
        assert error_of(node.produce("t", b"x")) == "KAFKA_STORAGE_ERROR"
    assert len([each for each in caplog.messages if "cannot be written" in each]) == 1

    node.now += 60_000
    node.produce("t", b"x")
    assert "suppressed=19" in caplog.messages[-1]
