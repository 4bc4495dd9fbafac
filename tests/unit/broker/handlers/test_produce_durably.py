"""Records acknowledged after an fsync, and on disks that fail or run full."""

import pytest

from andiron.model.effects import Disconnected
from worlds.node import error_of


def sequence(first, producer_id=7, epoch=0):
    return {"producer_id": producer_id, "producer_epoch": epoch, "base_sequence": first}


# ── acknowledged after an fsync ──────────────────────────────────────────────────────


@pytest.fixture
def durable(node):
    """A node with a topic that acknowledges after fsync, and fsyncs that wait to be done."""
    node.create("t", flush_messages=1)
    node.flush_at_once = False
    return node


def send(node, *values, **how):
    return node.send(node.produce_request("t", values, **how), version=9)


def answer(node, ticket):
    found = node.answer(ticket)
    return found and found.responses[0].partition_responses[0]


@pytest.mark.parametrize("acks", [1, -1])
def test_with_flush_messages_1_the_answer_waits_for_the_fsync(durable, acks):
    ticket = send(durable, b"a", acks=acks)
    assert answer(durable, ticket) is None

    durable.do_flushes()

    assert (error_of(answer(durable, ticket)), answer(durable, ticket).base_offset) == ("NONE", 0)


def test_acks_0_waits_for_no_fsync(durable):
    ticket = send(durable, b"a", acks=0)

    assert durable.replies[ticket] is None
    assert durable.flushes


def test_what_is_not_on_the_disk_is_not_shown_to_consumers(durable):
    send(durable, b"a")
    assert durable.values("t") == []

    durable.do_flushes()

    assert durable.values("t") == [b"a"]


def test_an_fsync_that_takes_too_long_is_a_timeout_and_the_record_comes_all_the_same(durable):
    ticket = send(durable, b"a", timeout_ms=500)

    durable.advance(499)
    assert answer(durable, ticket) is None
    durable.advance(1)

    assert (error_of(answer(durable, ticket)), answer(durable, ticket).base_offset) == (
        "REQUEST_TIMED_OUT",
        -1,
    )
    durable.do_flushes()
    assert durable.values("t") == [b"a"]


def test_many_appends_share_one_fsync(durable):
    first = send(durable, b"0")
    tickets = [send(durable, b"%d" % number) for number in range(1, 100)]
    assert len(durable.flushes) == 1

    durable.do_flush()
    assert answer(durable, first).base_offset == 0
    assert answer(durable, tickets[0]) is None, "it came after that fsync had begun"
    assert len(durable.flushes) == 1
    durable.do_flush()

    assert [answer(durable, ticket).base_offset for ticket in tickets] == list(range(1, 100))
    assert durable.flushes == []


def test_a_failed_fsync_is_told_to_those_who_wait_and_to_those_who_come_later(durable):
    tickets = [send(durable, b"a"), send(durable, b"b")]

    durable.do_flushes(error="EIO")

    assert [error_of(answer(durable, ticket)) for ticket in tickets] == ["KAFKA_STORAGE_ERROR"] * 2
    assert error_of(durable.produce("t", b"c")) == "KAFKA_STORAGE_ERROR"
    assert error_of(durable.fetch("t")) == "KAFKA_STORAGE_ERROR"


def test_a_failed_fsync_harms_no_other_partition(durable):
    send(durable, b"a")
    durable.do_flush(error="EIO")
    durable.flush_at_once = True
    durable.do_flushes()
    durable.create("other")

    assert error_of(durable.produce("other", b"a")) == "NONE"
    image = durable.node.broker.image.topics["t"].partitions[0]
    assert (image.leader, image.isr) == (-1, ()), "the controller knows that the replica is lost"


def test_every_hundredth_record_waits_where_flush_messages_is_100(node):
    node.create("t", flush_messages=100)
    node.flush_at_once = False
    early = send(node, *[b"x"] * 99)
    late = send(node, b"x")

    assert error_of(answer(node, early)) == "NONE"
    assert answer(node, late) is None
    node.do_flushes()
    assert error_of(answer(node, late)) == "NONE"


def test_a_duplicate_of_what_is_not_on_the_disk_yet_waits_like_the_first(durable):
    tickets = [send(durable, b"a", **sequence(0)) for _ in range(2)]
    assert [answer(durable, ticket) for ticket in tickets] == [None, None]

    durable.do_flushes()

    assert [answer(durable, ticket).base_offset for ticket in tickets] == [0, 0]


@pytest.mark.parametrize("flush_messages", [2, 1_000])
def test_who_waits_for_an_fsync_is_answered_though_the_setting_changes_meanwhile(durable, flush_messages):
    ticket = send(durable, b"a")
    alteration = durable.alter_topic("t", flush_messages=flush_messages)

    durable.flushes.reverse()  # the change is committed before the record is on the disk
    durable.do_flushes()

    assert durable.answer(alteration).responses[0].error_code == 0
    assert error_of(answer(durable, ticket)) == "NONE"
    assert durable.values("t") == [b"a"]


def test_a_topic_that_becomes_durable_brings_its_records_to_the_disk(node):
    node.create("t")
    node.produce("t", b"a")
    node.answer(node.alter_topic("t", flush_messages=1))

    assert node.log("t").flushed_end == 1
    assert node.values("t") == [b"a"]


@pytest.mark.parametrize("acks", [1, -1])
def test_a_topic_deleted_while_a_producer_waits_tells_it_so(durable, acks):
    begun = send(durable, b"a", acks=acks)
    waiting = send(durable, b"b", acks=acks)
    durable.send(durable.delete_request("t"))

    durable.flushes.reverse()  # the deletion is committed before the record is on the disk
    durable.do_flush()

    assert error_of(answer(durable, begun)) in ("NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_OR_PARTITION")
    assert error_of(answer(durable, waiting)) in ("NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_OR_PARTITION")


def test_a_producer_that_is_gone_is_not_answered(durable):
    ticket = send(durable, b"a")
    durable.step(Disconnected(1))

    durable.do_flushes()

    assert ticket not in durable.replies
    assert durable.log("t").flushed_end == 1


# ── a full disk ──────────────────────────────────────────────────────────────────────


def test_a_full_disk_is_a_storage_error_and_there_is_room_again_it_goes_on(node):
    node.create("t")
    node.produce("t", b"a")
    node.disk.fill_up()

    refused = node.produce("t", bytes(1_000))
    assert (error_of(refused), refused.base_offset) == ("KAFKA_STORAGE_ERROR", -1)
    assert node.values("t") == [b"a"]

    node.disk.free_up()
    assert node.produce("t", b"b").base_offset == 1
    assert node.values("t") == [b"a", b"b"]


def test_a_duplicate_refused_by_a_full_disk_is_written_when_sent_again(node):
    node.create("t")
    node.disk.fill_up()
    assert error_of(node.produce("t", b"a", **sequence(0))) == "KAFKA_STORAGE_ERROR"
    node.disk.free_up()

    assert node.produce("t", b"a", **sequence(0)).base_offset == 0
    assert node.values("t") == [b"a"]


@pytest.mark.parametrize("room", range(60, 160, 3))
def test_a_durable_topic_on_a_disk_that_runs_full_at_any_byte_goes_on_when_there_is_room(node, room):
    node.create("t", flush_messages=1, internal_segment_bytes=150)
    node.disk.fill_up(room)
    codes = [error_of(node.produce("t", b"%d" % number)) for number in range(5)]
    assert set(codes) <= {"NONE", "KAFKA_STORAGE_ERROR"}

    node.disk.free_up()

    assert error_of(node.produce("t", b"last")) == "NONE"
    written = [b"%d" % number for number, code in enumerate(codes) if code == "NONE"]
    found = node.values("t")
    assert [value for value in found if value in written] == written
    assert found[-1] == b"last"
