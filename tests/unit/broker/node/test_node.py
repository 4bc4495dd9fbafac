"""Events in, effects out: what every request goes through, and what a restart finds again."""

import random
import struct

import pytest

from andiron.broker.handlers import HANDLERS
from andiron.broker.node.node import Node
from andiron.broker.settings.node_settings import NodeSettings
from andiron.model.effects import Close, Connected, Disconnected, Received, Reply, Woken
from andiron.model.errors import ErrorCode
from andiron.sim.disk import MemoryDisk
from andiron.wire.apis import ApiKey
from andiron.wire.header import encode_request_header
from andiron.wire.messages.api_versions import ApiVersionsRequest
from andiron.wire.messages.describe_cluster import DescribeClusterRequest
from andiron.wire.messages.describe_groups import DescribeGroupsRequest
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from andiron.wire.messages.find_coordinator import FindCoordinatorRequest
from andiron.wire.messages.heartbeat import HeartbeatRequest
from andiron.wire.messages.init_producer_id import InitProducerIdRequest
from andiron.wire.messages.metadata import MetadataRequest
from andiron.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from andiron.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from worlds.coordinating import (
    DURABLY,
    begun,
    coordinating,
    marker_request,
    txn_commit_request,
    write_request,
)
from worlds.node import PROPERTIES, START, Closed, SmallNode, error_of


def receive(node, frame, ticket=1, conn=1):
    return node.node.step(Received(conn, ticket, memoryview(bytearray(frame))), node.now)


# ── one request ──────────────────────────────────────────────────────────────────────


def test_the_answer_carries_the_correlation_id_and_the_ticket(node):
    frame = encode_request_header(18, 0, 77, None)

    [reply] = receive(node, frame, ticket=5)

    assert (reply.conn, reply.ticket) == (1, 5)
    assert bytes(reply.parts[0])[:4] == struct.pack(">i", 77)


def test_a_request_without_a_client_id_is_fine(node):
    [reply] = receive(node, encode_request_header(3, 0, 1, None) + struct.pack(">i", 0))

    assert type(reply) is Reply


NOT_REQUESTS = {
    "nothing": b"",
    "a byte": b"\0",
    "half a header": bytes(7),
    "a client id that never ends": struct.pack(">hhih", 3, 0, 1, 1000),
    "a client id that is not text": struct.pack(">hhih", 3, 0, 1, 2) + b"\xff\xfe" + struct.pack(">i", 0),
    "half a body": encode_request_header(3, 9, 1, "x") + b"\x05",
    "an array of two billion": encode_request_header(3, 0, 1, "x") + struct.pack(">i", (1 << 31) - 1),
    "an array of minus two": encode_request_header(3, 0, 1, "x") + struct.pack(">i", -2),
    "a null array where there is none": encode_request_header(3, 0, 1, "x") + struct.pack(">i", -1),
    "a name that is not text": encode_request_header(3, 0, 1, "x") + struct.pack(">ih", 1, 2) + b"\xff\xff",
    "a varint without end": encode_request_header(3, 9, 1, "x") + b"\xff" * 20,
}


@pytest.mark.parametrize("frame", NOT_REQUESTS.values(), ids=NOT_REQUESTS)
def test_what_cannot_be_read_closes_the_connection_with_the_reason(node, frame):
    [close] = receive(node, frame)

    assert type(close) is Close
    assert close.reason.startswith("not a request")


def test_bytes_after_the_end_of_a_request_are_nobodys_business(node):
    """librdkafka sends three of them after a request for all topics."""
    [reply] = receive(node, encode_request_header(3, 1, 1, "x") + struct.pack(">i", -1) + b"\0\0\0")

    assert type(reply) is Reply


@pytest.mark.parametrize("key", [-1, 7, 99, 32_000])
def test_an_api_that_nobody_knows_closes_the_connection(node, key):
    with pytest.raises(Closed, match="an unknown API"):
        node.ask_raw(key, 0, b"")


@pytest.mark.parametrize("handler", HANDLERS.values(), ids=lambda handler: str(int(handler.api)))
def test_no_bytes_at_all_are_no_request_of_any_api_that_asks_for_something(node, handler):
    for version in range(handler.served[0], handler.served[1] + 1):
        frame = encode_request_header(handler.api, version, 1, "x")
        for effect in receive(node, frame, ticket=version + 1):
            assert type(effect) in (Reply, Close)


@pytest.mark.parametrize("seed", range(20))
def test_whatever_a_body_holds_the_next_request_is_served(node, seed):
    chance = random.Random(seed)
    node.create("t")
    for ticket in range(1_000, 1_100):
        handler = chance.choice(list(HANDLERS.values()))
        head = encode_request_header(handler.api, chance.randint(*handler.served), 1, "x")
        body = chance.randbytes(chance.randrange(60))
        node.step(Received(2, ticket, memoryview(bytearray(head + body))))

    assert node.produce("t", b"a").error_code == 0


# ── connections ──────────────────────────────────────────────────────────────────────


def test_requests_of_one_connection_may_be_answered_out_of_turn(node):
    """The edge puts the answers in order; the node gives each when it has it."""
    node.create("t")
    waiting = node.send(node.fetch_request("t", wait_ms=500), 12)
    quick = node.send(ApiVersionsRequest(), 0)

    assert node.answer(waiting) is None
    assert node.answer(quick) is not None


def test_a_connection_that_was_never_announced_is_served_all_the_same(node):
    assert node.ask(MetadataRequest(None, False), 9, conn=99).brokers[0].host == "localhost"


def test_a_client_of_the_controllers_listener_is_answered(node):
    node.connect(9, "CONTROLLER")

    assert node.ask(DescribeClusterRequest(endpoint_type=2), 1, conn=9).brokers[0].port == 9093
    with pytest.raises(Closed, match=r"Metadata .* is not served"):
        node.ask(MetadataRequest(None, False), 9, conn=9)


def test_disconnecting_twice_or_without_having_come_is_nothing(node):
    node.step(Disconnected(1))
    node.step(Disconnected(1))
    node.step(Disconnected(42))


# ── one wait after another ───────────────────────────────────────────────────────────


def test_a_request_that_needs_several_things_is_answered_after_the_last_of_them():
    """A producer id from the controller, and then the coordinator's word."""
    node = coordinating(**DURABLY)
    node.flush_at_once = False
    ticket = node.send(InitProducerIdRequest("tx", 1_000))

    waited = 0
    while node.answer(ticket) is None:
        node.do_flush()
        waited += 1

    assert waited == 2
    assert error_of(node.answer(ticket)) == "NONE"


def test_whoever_hangs_up_between_two_waits_is_not_answered_and_keeps_nobody_else_waiting():
    node = coordinating(**DURABLY)
    producer = begun(node)
    node.flush_at_once = False
    node.connect(2)
    lost = node.send(txn_commit_request(producer, 5), conn=2)
    kept = node.send(txn_commit_request(producer, 6, partition=1))
    node.do_flush()

    node.step(Disconnected(2))
    node.do_flushes()

    assert node.answer(lost) is None
    assert error_of(node.answer(kept).topics[0].partitions[0]) == "NONE"
    assert len(node.node.broker.waiting) == 0


def test_what_goes_wrong_after_a_wait_closes_the_connection_if_there_is_no_answer_to_say_it_in():
    node = coordinating(**DURABLY)
    producer = begun(node)
    node.flush_at_once = False
    node.send(write_request(node, producer, acks=0), 12)
    node.send(marker_request(producer, committed=False))
    assert node.closed == {}

    node.do_flushes()

    assert "INVALID_TXN_STATE" in node.closed[1]


# ── time ─────────────────────────────────────────────────────────────────────────────


def test_a_node_woken_too_early_does_nothing(node):
    node.create("t")
    ticket = node.send(node.fetch_request("t", wait_ms=500), 12)

    node.step(Woken())

    assert node.answer(ticket) is None


def test_the_next_deadline_is_that_of_the_first_who_waits(node):
    node.create("t")
    quiet = node.node.next_deadline()
    node.send(node.fetch_request("t", wait_ms=500), 12)

    assert node.node.next_deadline() == node.now + 500 < quiet
    node.advance(500)
    assert node.node.next_deadline() == quiet


def test_the_same_seed_and_the_same_events_give_the_same_effects():
    def history():
        node = SmallNode(seed=7)
        node.create("t", partitions=3)
        for number in range(5):
            node.produce("t", b"%d" % number, partition=number % 3)
        node.advance(120_000)
        parts = [part for each in node.replies.values() for part in each]
        return b"".join(bytes(part) for part in parts if isinstance(part, bytes)), node.disk.names("/data")

    assert history() == history()


# ── restarts ─────────────────────────────────────────────────────────────────────────


def fill(node):
    node.create("plain", partitions=2)
    node.create("kept", retention_ms=-1, cleanup_policy="compact", internal_segment_bytes=300)
    for number in range(10):
        node.produce("plain", b"%d" % number, partition=number % 2)
        node.produce("kept", records=node.keyed(b"k", b"%d" % number, producer=(7, 0, number)))
    node.delete_records("plain", 2)
    node.create("gone")
    node.delete("gone")


def state(node):
    logs = {
        str(p.name): (p.log.start, p.log.end, p.watermark, p.topic_id, len(p.log.producers))
        for p in node.node.broker.replica_manager
    }
    values = {name: node.values(*name.rsplit("-", 1)[:1], int(name[-1])) for name in logs}
    return logs, values, node.node.broker.image.configs


@pytest.mark.parametrize("clean", [True, False])
def test_after_a_restart_everything_is_as_it_was(node, clean):
    fill(node)
    node.advance(61_000)  # the checkpoints are written
    before = state(node)

    for _ in range(2):
        node.restart(clean)
        assert state(node) == before

    again = node.produce("kept", records=node.keyed(b"k", b"9", producer=(7, 0, 9)))
    assert (error_of(again), again.base_offset) == ("NONE", 9), "its producers are known"


def test_a_clean_restart_scans_nothing(node, monkeypatch):
    fill(node)
    assert node.node.stop(node.now)
    assert node.disk.exists("/data/.kafka_cleanshutdown")

    node.start()

    assert not node.disk.exists("/data/.kafka_cleanshutdown")
    assert node.node.broker.directories.clean


@pytest.mark.parametrize("seed", range(10))
def test_after_a_power_loss_all_that_was_acknowledged_after_an_fsync_is_there(seed):
    node = SmallNode()
    node.create("t", flush_messages=1, internal_segment_bytes=500)
    for number in range(20):
        assert node.produce("t", b"%d" % number).error_code == 0

    node.disk.crash(random.Random(seed))
    node.restart(clean=False)

    assert node.values("t") == [b"%d" % number for number in range(20)]
    assert node.produce("t", b"next").base_offset == 20


def test_a_stop_on_a_full_disk_raises_nothing_and_leaves_no_clean_mark(node):
    node.create("t")
    for _ in range(3):
        node.produce("t", b"a", producer_id=7, producer_epoch=0, base_sequence=0)
    node.disk.fill_up()

    assert not node.node.stop(node.now)

    assert not node.disk.exists("/data/.kafka_cleanshutdown")
    node.disk.free_up()
    node.start()
    assert node.values("t") == [b"a"]


def test_a_stop_with_a_failed_partition_leaves_no_clean_mark(node):
    node.create("t", flush_messages=1)
    node.flush_at_once = False
    node.send(node.produce_request("t", [b"a"]), version=9)
    node.do_flushes(error="EIO")

    assert not node.node.stop(node.now)

    assert not node.disk.exists("/data/.kafka_cleanshutdown")


def test_a_stop_whose_syncs_fail_leaves_no_clean_mark(node):
    node.create("t")
    node.produce("t", b"a")
    node.disk.fail_syncs()

    assert not node.node.stop(node.now)

    node.disk.fail_syncs(False)
    assert not node.disk.exists("/data/.kafka_cleanshutdown")


def test_a_node_that_has_not_started_has_done_nothing():
    disk = MemoryDisk()

    node = Node(NodeSettings.load(PROPERTIES), disk, seed=1)

    assert not node.ready
    assert disk.names("/") == {}
    assert node.step(Connected(1, "PLAINTEXT", "127.0.0.1"), START) == []


def test_a_bug_in_what_is_due_keeps_nobody_waiting(monkeypatch):
    node = SmallNode()
    node.create("orders")

    def broken(now):
        raise RuntimeError("planted")

    monkeypatch.setattr(node.node.broker.housekeeping, "run", broken)
    wanted = FetchTopic("orders", partitions=[FetchPartition(0, partition_max_bytes=1000)])
    ticket = node.send(FetchRequest(max_wait_ms=500, min_bytes=1, topics=[wanted]), 12)
    node.now += 500
    node.step(Woken())

    assert node.answer(ticket) is not None
    assert node.node.failures == 1


def test_errors_are_counted_by_api(coordinator):
    for _ in range(2):
        coordinator.ask(HeartbeatRequest("g", 1, "nobody"))

    assert coordinator.node.errors == {(ApiKey.HEARTBEAT, ErrorCode.UNKNOWN_MEMBER_ID.number): 2}


# ── large requests ───────────────────────────────────────────────────────────────────


def many_groups(count):
    return DescribeGroupsRequest([f"group-{number}" for number in range(count)])


def test_a_large_request_is_answered_in_slices_between_which_others_are_served(node):
    node.ask(FindCoordinatorRequest(coordinator_keys=["g"]))
    node.settle()
    node.connect(2)

    large = node.send(many_groups(5_000))
    slices = 0
    while large not in node.replies:
        assert node.ask(ApiVersionsRequest("a", "1"), conn=2).error_code == 0
        assert node.node.next_deadline() <= node.now, "it wants to go on at once"
        node.wake()
        slices += 1

    assert slices > 10
    assert [group.group_id for group in node.answer(large).groups] == many_groups(5_000).groups


def test_what_comes_after_a_large_request_is_answered_after_it(node):
    large = node.send(many_groups(5_000))
    small = node.send(ApiVersionsRequest())
    assert small not in node.replies

    node.settle()

    assert [ticket for ticket in node.replies if ticket in (large, small)] == [large, small]


def test_a_large_request_ends_with_its_connection(node):
    large = node.send(many_groups(5_000))

    node.step(Disconnected(1))
    node.settle()

    assert large not in node.replies


ENTRIES = {
    "in a large request": DescribeGroupsRequest([""] * 200_000),
    "of numbers": OffsetFetchRequest(
        groups=[
            OffsetFetchRequestGroup(
                "g", topics=[OffsetFetchRequestTopics("a", partition_indexes=[0] * 200_000)]
            )
        ]
    ),
    "with records": ProduceRequest(
        acks=1, topic_data=[TopicProduceData("a", partition_data=[PartitionProduceData(0)] * 50_000)]
    ),
}


@pytest.mark.parametrize("request_", ENTRIES.values(), ids=ENTRIES)
def test_more_entries_than_one_may_ask_for_are_hung_up_on_with_the_reason(node, request_):
    version = 9 if type(request_) in (ProduceRequest, OffsetFetchRequest) else None

    with pytest.raises(Closed, match=r"not a request: the message has more than \d+ entries"):
        node.ask(request_, version=version)
    assert node.node.malformed == 1


def test_the_offsets_of_a_hundred_thousand_partitions_can_be_asked_for(node):
    node.ask(FindCoordinatorRequest(coordinator_keys=["g"]))
    node.settle()
    topics = [OffsetFetchRequestTopics(f"t{n}", partition_indexes=[*range(100)]) for n in range(1_000)]

    ticket = node.send(OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=topics)]), version=9)
    node.settle()

    [group] = node.answer(ticket).groups
    answered = [(topic.name, each.partition_index) for topic in group.topics for each in topic.partitions]
    assert answered == [(topic.name, index) for topic in topics for index in topic.partition_indexes]
