"""Topics a page at a time."""

import pytest

from andiron.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from worlds.node import error_of


def ask(node, *names, limit=2000, cursor=None):
    place = cursor and Cursor(*cursor)
    return node.ask(DescribeTopicPartitionsRequest([TopicRequest(name) for name in names], limit, place))


def told(response):
    return [(topic.name, [p.partition_index for p in topic.partitions]) for topic in response.topics]


def next_page(response):
    return response.next_cursor and (response.next_cursor.topic_name, response.next_cursor.partition_index)


@pytest.fixture
def filled(node):
    node.create("b", partitions=3)
    node.create("a", partitions=2)
    node.create("c")
    return node


def test_all_topics_in_the_order_of_their_names(filled):
    response = ask(filled)

    assert told(response) == [("a", [0, 1]), ("b", [0, 1, 2]), ("c", [0])]
    assert next_page(response) is None


def test_a_topic_is_told_as_it_is(filled):
    [topic] = ask(filled, "a").topics

    assert (error_of(topic), topic.topic_id) == ("NONE", filled.node.broker.image.topics["a"].id)
    part = topic.partitions[0]
    assert (part.leader_id, part.leader_epoch, part.replica_nodes, part.isr_nodes) == (1, 0, [1], [1])
    assert (part.offline_replicas, topic.topic_authorized_operations) == ([], 3576)


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 6, 7])
def test_pages_together_are_everything_and_none_is_too_long(filled, limit):
    seen, cursor = [], None
    while True:
        response = ask(filled, limit=limit, cursor=cursor)
        page = [(name, number) for name, numbers in told(response) for number in numbers]
        assert 1 <= len(page) <= limit
        seen += page
        cursor = next_page(response)
        if cursor is None:
            break

    assert seen == [("a", 0), ("a", 1), ("b", 0), ("b", 1), ("b", 2), ("c", 0)]


@pytest.mark.parametrize("limit", [0, -5])
def test_a_page_has_at_least_one_partition(filled, limit):
    assert told(ask(filled, limit=limit)) == [("a", [0])]


def test_a_page_has_no_more_than_the_broker_gives(node):
    node.create("t", partitions=2_001)

    response = ask(node, limit=100_000)

    assert len(response.topics[0].partitions) == 2_000
    assert next_page(response) == ("t", 2_000)


def test_a_cursor_whose_topic_is_gone_goes_on_with_the_next(filled):
    assert told(ask(filled, cursor=("aa", 1))) == [("b", [0, 1, 2]), ("c", [0])]


@pytest.mark.parametrize("cursor", [("b", 0), ("a", -1)])
def test_a_cursor_that_no_page_could_have_given_is_refused(filled, cursor):
    [topic] = ask(filled, "a", cursor=cursor).topics

    assert (topic.name, error_of(topic), topic.partitions) == ("a", "INVALID_REQUEST", [])


def test_topics_that_are_not_there_and_cannot_be(filled):
    response = ask(filled, "nope", "a", "no good")

    assert {topic.name: error_of(topic) for topic in response.topics} == {
        "a": "NONE", "nope": "UNKNOWN_TOPIC_OR_PARTITION", "no good": "INVALID_TOPIC_EXCEPTION",
    }  # fmt: skip


def test_a_page_that_is_full_leaves_unknown_topics_to_the_next(filled):
    response = ask(filled, "c", "d", limit=1)

    assert (told(response), next_page(response)) == ([("c", [0])], ("d", 0))


def test_a_topic_asked_for_twice_is_told_once(filled):
    assert told(ask(filled, "c", "c")) == [("c", [0])]
