"""Who is there and who leads what; topics made by being asked for."""

import pytest

from andiron.wire.messages.metadata import NOT_ASKED, MetadataRequest, MetadataRequestTopic
from worlds.cluster_client import small_cluster
from worlds.node import SmallNode, error_of


def asking(*names, create=False, ids=(), **how):
    topics = [MetadataRequestTopic(name=name) for name in names]
    topics += [MetadataRequestTopic(topic_id, None) for topic_id in ids]
    return MetadataRequest(topics, create, **how)


def all_topics(create=False):
    return MetadataRequest(None, create)


@pytest.mark.parametrize("version", range(14))
def test_it_names_the_brokers_and_the_topics_in_every_version(node, version):
    created = node.create("t", partitions=2)

    response = node.ask(asking("t"), version)

    [broker] = response.brokers
    assert (broker.node_id, broker.host, broker.port) == (1, "localhost", 9092)
    assert response.controller_id == (1 if version >= 1 else -1)
    assert response.cluster_id == (node.node.broker.cluster_id if version >= 2 else None)
    [topic] = response.topics
    assert (error_of(topic), topic.name) == ("NONE", "t")
    assert topic.topic_id == (created.topic_id if version >= 10 else bytes(16))
    assert [(p.partition_index, p.leader_id, p.replica_nodes, p.isr_nodes) for p in topic.partitions] == [
        (0, 1, [1], [1]), (1, 1, [1], [1]),
    ]  # fmt: skip
    assert topic.partitions[0].leader_epoch == (0 if version >= 7 else -1)


@pytest.mark.parametrize("version", range(14))
def test_all_topics_and_no_topics(node, version):
    node.create("a")
    node.create("b")

    everything = node.ask(MetadataRequest([] if version == 0 else None, False), version)
    assert [topic.name for topic in everything.topics] == ["a", "b"]
    if version > 0:
        assert node.ask(MetadataRequest([], False), version).topics == []


def test_whoever_answers_is_to_be_asked_for_what_the_controller_does_unless_it_is_fenced():
    """The controller may hang, and who answers does not."""
    cluster = small_cluster()
    assert [cluster.answer(n, asking()).controller_id for n in (1, 2, 3)] == [1, 2, 3]

    fenced = next(n for n in (1, 2, 3) if n != cluster.controller)
    image = cluster.broker(fenced).image
    image.brokers[fenced] = image.brokers[fenced]._replace(fenced=True)
    assert cluster.answer(fenced, asking()).controller_id == cluster.controller


def test_partitions_are_told_in_the_order_of_their_numbers(node):
    node.create("t", partitions=20)

    [topic] = node.ask(asking("t")).topics

    assert [p.partition_index for p in topic.partitions] == list(range(20))


def test_a_topic_asked_for_twice_is_told_once(node):
    node.create("t")

    assert [topic.name for topic in node.ask(asking("t", "t"), 9).topics] == ["t"]


@pytest.mark.parametrize("version", [12, 13])
def test_a_topic_by_its_id(node, version):
    topic_id = node.create("t").topic_id

    known, unknown = node.ask(asking(ids=[topic_id, b"\x07" * 16]), version).topics

    assert (error_of(known), known.name) == ("NONE", "t")
    assert (error_of(unknown), unknown.name, unknown.topic_id) == ("UNKNOWN_TOPIC_ID", None, b"\x07" * 16)


@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize("topic_id", [bytes(16), b"\x07" * 16])
def test_ids_before_version_12_are_refused(node, version, topic_id):
    response = node.ask(asking("t", ids=[topic_id]), version)

    assert [(topic.name, error_of(topic)) for topic in response.topics] == [
        ("t", "INVALID_REQUEST"), ("", "INVALID_REQUEST"),
    ]  # fmt: skip


def test_a_topic_that_is_not_there(node):
    [topic] = node.ask(asking("nope")).topics

    assert (error_of(topic), topic.name, topic.partitions) == ("UNKNOWN_TOPIC_OR_PARTITION", "nope", [])
    assert "nope" not in node.node.broker.image.topics


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "a/b", "x" * 250, "naïve"])
@pytest.mark.parametrize("create", [False, True])
def test_a_name_that_no_topic_may_have(node, name, create):
    [topic] = node.ask(asking(name, create=create)).topics

    assert error_of(topic) == "INVALID_TOPIC_EXCEPTION"


def test_internal_topics_are_marked(node):
    node.create("__consumer_offsets")
    node.create("t")

    assert [topic.is_internal for topic in node.ask(all_topics()).topics] == [True, False]


# ── made by being asked for ──────────────────────────────────────────────────────────


@pytest.mark.parametrize("version", range(14))
def test_a_topic_is_made_and_can_be_written_to_at_once(node, version):
    """Before version 4 a client cannot say that it does not want this."""
    [topic] = node.ask(asking("new", create=True), version).topics

    assert (error_of(topic), len(topic.partitions)) == ("NONE", 1)
    assert node.produce("new", b"a").error_code == 0


def test_a_topic_is_made_as_the_broker_is_set_up():
    node = SmallNode(num_partitions="5")

    [topic] = node.ask(asking("new", create=True)).topics

    assert len(topic.partitions) == 5


def test_where_auto_creation_is_turned_off_none_is_made():
    node = SmallNode(auto_create_topics_enable="false")

    [topic] = node.ask(asking("new", create=True)).topics

    assert error_of(topic) == "UNKNOWN_TOPIC_OR_PARTITION"


def test_the_answer_waits_until_the_topic_is_there(node):
    node.flush_at_once = False
    ticket = node.send(asking("new", "new", create=True))
    assert node.answer(ticket) is None

    node.do_flushes()

    assert [error_of(topic) for topic in node.answer(ticket).topics] == ["NONE"]


def test_two_clients_that_ask_for_the_same_new_topic_both_get_it(node):
    node.flush_at_once = False
    tickets = [node.send(asking("new", create=True)) for _ in range(2)]

    node.do_flushes()

    answers = [node.answer(ticket).topics[0] for ticket in tickets]
    assert [error_of(topic) for topic in answers] == ["NONE", "NONE"]
    assert answers[0].topic_id == answers[1].topic_id


def test_known_and_new_and_invalid_topics_in_one_request(node):
    node.create("old")

    topics = node.ask(asking("old", "new", "no good", create=True)).topics

    assert [(t.name, error_of(t)) for t in topics] == [
        ("old", "NONE"), ("new", "NONE"), ("no good", "INVALID_TOPIC_EXCEPTION"),
    ]  # fmt: skip


def test_a_topic_by_id_is_not_made(node):
    [topic] = node.ask(asking(ids=[b"\x07" * 16], create=True)).topics

    assert error_of(topic) == "UNKNOWN_TOPIC_ID"


# ── what one may do ──────────────────────────────────────────────────────────────────


def test_authorized_operations_are_told_to_those_who_ask(node):
    """Without an authorizer everyone may do everything: the bits of Kafka's operations."""
    node.create("t")

    asked = node.ask(asking("t", include_cluster_authorized_operations=True,
                            include_topic_authorized_operations=True), 8)  # fmt: skip
    not_asked = node.ask(asking("t"), 8)

    assert (asked.cluster_authorized_operations, asked.topics[0].topic_authorized_operations) == (8096, 3576)
    assert not_asked.cluster_authorized_operations == NOT_ASKED
    assert not_asked.topics[0].topic_authorized_operations == NOT_ASKED


def test_clients_are_told_the_address_that_is_advertised():
    node = SmallNode(advertised_listeners="PLAINTEXT://broker.example:1234")

    [broker] = node.ask(all_topics()).brokers

    assert (broker.host, broker.port) == ("broker.example", 1234)


def test_a_client_is_told_the_address_of_the_listener_it_came_by():
    node = SmallNode(
        listeners="INSIDE://in:1,OUTSIDE://out:2,CONTROLLER://in:3",
        listener_security_protocol_map="INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT",
    )
    seen = []
    for conn, listener in enumerate(("INSIDE", "OUTSIDE"), 5):
        node.connect(conn, listener)
        seen += [(broker.host, broker.port) for broker in node.ask(all_topics(), conn=conn).brokers]

    assert seen == [("in", 1), ("out", 2)]


def test_the_rack_is_told():
    assert SmallNode(broker_rack="north").ask(all_topics()).brokers[0].rack == "north"
