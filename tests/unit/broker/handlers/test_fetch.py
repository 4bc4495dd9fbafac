"""Records out: at once or after a wait, within the limits, up to the watermark, and no further."""

import pytest

from andiron.model.effects import Disconnected
from andiron.records.batch import Batch, iterate
from andiron.records.builder import build
from andiron.records.control import end_marker
from andiron.records.record import Record
from worlds.fetching import asking, fill_three_partitions, sizes, told, values, wait_for
from worlds.node import SmallNode, error_of, records_in


@pytest.fixture
def filled(node):
    """A topic with three batches: a b, c, d."""
    node.create("t")
    node.produce("t", b"a", b"b")
    node.produce("t", b"c")
    node.produce("t", b"d")
    return node


# ── what there is ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("version", range(4, 13))
def test_records_come_with_the_offsets_that_bound_the_log(filled, version):
    found = filled.fetch("t", version=version)

    assert values(found) == [b"a", b"b", b"c", b"d"]
    assert (found.high_watermark, found.last_stable_offset) == (4, 4)
    assert found.log_start_offset == (0 if version >= 5 else -1)


@pytest.mark.parametrize("version", range(13, 19))
def test_from_version_13_on_topics_go_by_id(node, version):
    topic_id = node.create("t").topic_id
    node.produce("t", b"a")

    [answer] = node.ask(node.fetch_request(topic_id), version).responses

    assert answer.topic_id == topic_id
    assert values(answer.partitions[0]) == [b"a"]


def test_a_fetch_from_the_middle_of_a_batch_brings_the_whole_batch(filled):
    assert values(filled.fetch("t", 1)) == [b"a", b"b", b"c", b"d"]


def test_at_the_end_there_is_nothing_and_that_is_no_error(filled):
    found = filled.fetch("t", 4)

    assert (error_of(found), len(found.records)) == ("NONE", 0)


@pytest.mark.parametrize("offset", [5, -1, 1 << 40])
def test_an_offset_out_of_range(filled, offset):
    found = filled.fetch("t", offset)

    assert error_of(found) == "OFFSET_OUT_OF_RANGE"
    assert (found.high_watermark, found.last_stable_offset, found.log_start_offset) == (-1, -1, -1)


def test_what_was_deleted_is_out_of_range(filled):
    filled.delete_records("t", 2)

    assert error_of(filled.fetch("t", 1)) == "OFFSET_OUT_OF_RANGE"
    assert filled.fetch("t", 2).log_start_offset == 2
    assert values(filled.fetch("t", 2)) == [b"c", b"d"]


@pytest.mark.parametrize(("topic", "partition"), [("nope", 0), ("t", 7), ("t", -1)])
def test_a_partition_that_is_not_there(filled, topic, partition):
    assert error_of(filled.fetch(topic, partition=partition)) == "UNKNOWN_TOPIC_OR_PARTITION"


@pytest.mark.parametrize("topic_id", [b"\x07" * 16, bytes(16)])
def test_an_id_that_no_topic_has(filled, topic_id):
    assert error_of(filled.fetch(topic_id, version=13)) == "UNKNOWN_TOPIC_ID"


def test_a_leader_epoch_is_checked(node):
    node.create("t")
    node.restart(clean=False)
    epoch = node.partition("t").epoch
    assert epoch > 0

    codes = [error_of(node.fetch("t", epoch=each)) for each in (epoch - 1, epoch, epoch + 1, -1)]

    assert codes == ["FENCED_LEADER_EPOCH", "NONE", "UNKNOWN_LEADER_EPOCH", "NONE"]


@pytest.mark.parametrize("wait_ms", [0, 500])
def test_who_says_which_epoch_it_ends_with_is_told_where_it_parts_from_the_log(node, wait_ms):
    node.create("t")
    for _ in range(2):  # a record in the first epoch, and one in the second
        node.produce("t", b"v")
        node.restart(clean=False)
    first, second = (epoch for epoch, _ in node.partition("t").log.epochs.entries())

    def ending_with(epoch, offset):
        request = asking({0: offset}, wait_ms=wait_ms)
        request.topics[0].partitions[0].last_fetched_epoch = epoch
        [found] = node.ask(request, 12).responses[0].partitions
        parted = found.diverging_epoch
        return error_of(found), len(found.records) > 0, parted and (parted.epoch, parted.end_offset)

    assert ending_with(first, 1) == ("NONE", True, None)
    assert ending_with(first, 2) == ("NONE", False, (first, 1)), "more of the first epoch than there is"
    assert ending_with(second, 9) == ("NONE", False, (second, 2)), "told where it parts, out of range or not"
    assert ending_with(second + 7, 2) == ("OFFSET_OUT_OF_RANGE", False, None), (
        "no leader of that epoch was here"
    )


def test_only_what_is_below_the_watermark_is_shown(node):
    node.create("t", flush_messages=1)
    node.flush_at_once = False
    node.send(node.produce_request("t", [b"a"]), version=9)
    node.send(node.produce_request("t", [b"b"]), version=9)
    assert values(node.fetch("t")) == []

    node.do_flush()

    assert values(node.fetch("t")) == [b"a"]
    assert node.fetch("t").high_watermark == 1


def test_read_committed_readers_are_given_a_list_of_aborted_transactions(filled):
    assert filled.fetch("t", isolation_level=0).aborted_transactions is None
    assert filled.fetch("t", isolation_level=1).aborted_transactions == []


def test_of_many_aborted_transactions_a_reader_is_told_of_those_in_what_it_gets(node):
    node.create("t")
    log, partition = node.log("t"), node.partition("t")
    for number in range(50):
        begun = build(
            [Record(0, 0, b"k", b"v" * 100)],
            producer_id=7,
            producer_epoch=0,
            base_sequence=number,
            transactional=True,
        )
        ended = end_marker(False, producer_id=7, producer_epoch=0, coordinator_epoch=0, timestamp=0)
        for records in (begun, ended):
            log.append(Batch(records), partition.epoch, node.now)
    partition.leader().appended(log.end)

    found = node.fetch("t", 40, isolation_level=1, partition_bytes=600)

    assert {batch.base_offset for batch in iterate(bytes(found.records))} == {40, 41, 42, 43}
    assert [each.first_offset for each in found.aborted_transactions] == [40, 42]


# ── limits ───────────────────────────────────────────────────────────────────────────


@pytest.fixture
def wide(node):
    fill_three_partitions(node)
    return node


def test_a_partition_gives_no_more_than_it_may(wide):
    assert sizes(wide.ask(asking({0: 0, 1: 0}, partition_bytes=400), 12)) == [2, 2]


def test_partitions_share_what_the_fetch_may_give(wide):
    assert sizes(wide.ask(asking({0: 0, 1: 0, 2: 0}, max_bytes=800), 12)) == [3, 1, 0]


@pytest.mark.parametrize("limits", [{"max_bytes": 1}, {"partition_bytes": 1}, {"max_bytes": 0}])
def test_the_first_partition_gives_at_least_one_batch_and_no_other_does(wide, limits):
    assert sizes(wide.ask(asking({0: 0, 1: 0, 2: 0}, **limits), 12)) == [1, 0, 0]


def test_a_partition_without_records_does_not_use_up_that_right(wide):
    assert sizes(wide.ask(asking({0: 3, 1: 0, 2: 0}, max_bytes=1), 12)) == [0, 1, 0]


def test_the_broker_has_a_limit_too():
    node = SmallNode(fetch_max_bytes="1024")
    node.create("t")
    for _ in range(3):
        node.produce("t", bytes(600))

    assert len(values(node.fetch("t"))) == 1


def test_batches_come_whole(wide):
    records = wide.fetch("t", partition_bytes=300).records

    assert len(records_in(records)) == 1
    assert len(records) < 300


# ── waiting ──────────────────────────────────────────────────────────────────────────


def test_a_fetch_waits_for_records_and_a_produce_answers_it(node):
    node.create("t")
    ticket = wait_for(node, node.fetch_request("t", wait_ms=500))

    node.produce("t", b"a")

    assert told(node.answer(ticket)) == {0: [b"a"]}


def test_when_its_time_is_up_it_is_answered_with_nothing(node):
    node.create("t")
    ticket = wait_for(node, node.fetch_request("t", wait_ms=500))
    assert node.node.next_deadline() == node.now + 500

    node.advance(499)
    assert node.answer(ticket) is None
    node.advance(1)

    assert told(node.answer(ticket)) == {0: []}


def test_when_its_time_is_up_it_is_answered_with_what_there_is(node):
    node.create("t")
    ticket = wait_for(node, node.fetch_request("t", wait_ms=500, min_bytes=1_000))
    node.produce("t", b"a")
    assert node.answer(ticket) is None

    node.advance(500)

    assert told(node.answer(ticket)) == {0: [b"a"]}


def test_min_bytes_are_counted_over_all_partitions(wide):
    request = asking({0: 3, 1: 3}, wait_ms=500, min_bytes=300)
    ticket = wait_for(wide, request)

    wide.produce("t", bytes(100), partition=0)
    assert wide.answer(ticket) is None
    wide.produce("t", bytes(100), partition=1)

    assert sizes(wide.answer(ticket)) == [1, 1]


def test_other_partitions_do_not_wake_it(wide):
    ticket = wait_for(wide, asking({0: 3}, wait_ms=500))

    wide.produce("t", b"a", partition=1)

    assert wide.answer(ticket) is None


@pytest.mark.parametrize("how", [{"wait_ms": 0}, {"wait_ms": -5}, {"wait_ms": 500, "min_bytes": 0}])
def test_what_need_not_wait_is_answered_at_once(node, how):
    node.create("t")

    assert told(node.ask(node.fetch_request("t", **how), 12)) == {0: []}


def test_a_fetch_of_nothing_does_not_wait(node):
    assert node.ask(asking({}, wait_ms=500), 12).responses == []


def test_an_error_in_one_partition_is_told_at_once(node):
    node.create("t")

    response = node.ask(asking({0: 0, 9: 0}, wait_ms=500), 12)

    assert [error_of(p) for p in response.responses[0].partitions] == ["NONE", "UNKNOWN_TOPIC_OR_PARTITION"]


def test_many_fetches_wait_for_one_partition_and_all_are_answered(node):
    node.create("t")
    for conn in range(2, 12):
        node.connect(conn)
    tickets = [wait_for(node, node.fetch_request("t", wait_ms=500), conn=conn) for conn in range(2, 12)]

    node.produce("t", b"a")

    assert [told(node.answer(ticket)) for ticket in tickets] == [{0: [b"a"]}] * 10


@pytest.mark.parametrize(
    ("by_id", "code"), [(False, "UNKNOWN_TOPIC_OR_PARTITION"), (True, "UNKNOWN_TOPIC_ID")]
)
def test_a_topic_deleted_while_a_fetch_waits_tells_it_so(node, by_id, code):
    topic_id = node.create("t").topic_id
    version = 13 if by_id else 12
    ticket = wait_for(node, node.fetch_request(topic_id if by_id else "t", wait_ms=60_000), version)

    node.delete("t")

    assert error_of(node.answer(ticket).responses[0].partitions[0]) == code


def test_a_client_that_is_gone_is_forgotten(node):
    node.create("t")
    ticket = wait_for(node, node.fetch_request("t", wait_ms=500))

    node.step(Disconnected(1))
    node.produce("t", b"a")
    node.advance(1_000)

    assert ticket not in node.replies


def test_records_deleted_while_a_fetch_waits_behind_them_tell_it_so(node):
    node.create("t")
    node.produce("t", b"a")
    ticket = wait_for(node, node.fetch_request("t", 0, wait_ms=500, min_bytes=1_000))

    node.delete_records("t", 1)

    assert error_of(node.answer(ticket).responses[0].partitions[0]) == "OFFSET_OUT_OF_RANGE"


def test_a_failing_disk_is_told_to_those_who_wait(node):
    node.create("t", flush_messages=1)
    node.flush_at_once = False
    ticket = wait_for(node, node.fetch_request("t", wait_ms=60_000))
    node.send(node.produce_request("t", [b"a"]), version=9)

    node.do_flush(error="EIO")

    assert error_of(node.answer(ticket).responses[0].partitions[0]) == "KAFKA_STORAGE_ERROR"
