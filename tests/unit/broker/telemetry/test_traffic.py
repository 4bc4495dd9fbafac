"""What went through a topic is counted where it passes."""

from andiron.broker.telemetry.traffic import Traffic, count
from andiron.controller.image import Image
from worlds.cluster import SmallCluster
from worlds.coordinating import TOPIC, commit
from worlds.replicating import create, produce


def traffic(node, topic):
    return node.node.broker.replica_manager.traffic.of(topic)


def test_bytes_and_messages_are_counted_when_written(node):
    node.create("t", 2)

    node.produce("t", b"a", b"b")
    node.produce("t", b"c", partition=1)

    seen = traffic(node, "t")
    assert seen.messages_in == 3
    assert seen.bytes_in == node.log("t", 0).size + node.log("t", 1).size


def test_the_short_way_counts_as_the_long_one_does(node):
    node.create("t")
    for number in range(5):
        node.produce("t", b"%d" % number)

    assert node.node._shortcuts, "the later ones took it"
    assert (traffic(node, "t").messages_in, traffic(node, "t").bytes_in) == (5, node.log("t").size)


def test_a_batch_that_was_written_before_is_not_counted_again(node):
    node.create("t")
    for _ in range(2):
        node.produce("t", b"a", producer_id=7, producer_epoch=0, base_sequence=0)

    assert traffic(node, "t").messages_in == 1


def test_what_consumers_are_sent_is_counted(node):
    node.create("t")
    node.produce("t", b"a" * 100)

    for _ in range(2):
        node.fetch("t")

    assert traffic(node, "t").bytes_out == 2 * node.log("t").size
    assert traffic(node, "t").replicated_out == 0


def test_the_coordinators_own_records_are_counted_under_their_topic(coordinator):
    before = traffic(coordinator, "__consumer_offsets").messages_in

    assert commit(coordinator, 5, topic=TOPIC) == "NONE"

    assert traffic(coordinator, "__consumer_offsets").messages_in == before + 1


def test_what_failed_is_counted_by_error(node):
    node.create("t", max_message_bytes=100)

    for _ in range(3):
        node.produce("t", b"a" * 200)
    node.fetch("t", offset=99)

    assert traffic(node, "t").failed_produces == {"MESSAGE_TOO_LARGE": 3}
    assert traffic(node, "t").failed_fetches == {"OFFSET_OUT_OF_RANGE": 1}
    assert traffic(node, "t").messages_in == 0


def test_a_producer_that_waits_too_long_has_failed(node):
    node.create("t", flush_messages=1)
    node.flush_at_once = False
    ticket = node.send(node.produce_request("t", [b"a"], timeout_ms=100), 9)

    node.advance(200)

    assert node.answer(ticket) is not None
    assert traffic(node, "t").failed_produces == {"REQUEST_TIMED_OUT": 1}


def test_topics_that_there_are_not_take_no_room(node):
    for number in range(10):
        node.produce(f"missing-{number}", b"a")

    seen = node.node.broker.replica_manager.traffic
    assert [name for name, _ in seen.topics()] == [""]
    assert seen.unknown.failed_produces == {"UNKNOWN_TOPIC_OR_PARTITION": 10}


def test_a_topic_that_is_deleted_is_forgotten(node):
    node.create("t")
    node.produce("t", b"a")
    node.delete("t")
    node.create("t")

    assert traffic(node, "t").messages_in == 0


def test_what_is_replicated_is_counted_on_both_sides():
    cluster = SmallCluster()
    cluster.until(cluster.all_ready)
    create(cluster, "t")
    leader = cluster.leader_of("t")

    produce(cluster, "t", b"a" * 100)
    cluster.until(lambda: all(cluster.partition(node, "t").log.end == 1 for node in (1, 2, 3)))

    size = cluster.partition(leader, "t").log.size
    seen = {node: cluster.broker(node).replica_manager.traffic.of("t") for node in (1, 2, 3)}
    assert (seen[leader].bytes_in, seen[leader].replicated_out, seen[leader].bytes_out) == (size, 2 * size, 0)
    assert [each.replicated_in for node, each in seen.items() if node != leader] == [size, size]
    assert sum(each.messages_in for each in seen.values()) == 1


def test_a_topic_is_found_by_name_or_by_id_and_what_is_not_there_counts_as_one():
    held = Traffic()
    assert held.asked_for("t", bytes(16), Image()) is held.unknown
    assert held.asked_for("", b"i" * 16, Image()) is held.unknown


def test_counting():
    failures: dict[str, int] = {}
    count(failures, "A")
    count(failures, "A")
    assert failures == {"A": 2}
