"""A topic that the controller has made is there for whoever asked before they are told of it."""

from andiron.broker.metadata.topic_creation import create_internal, until_created
from andiron.broker.node.patience import TOPIC_KNOWN_MS
from andiron.broker.node.waiting import Wait
from andiron.wire.messages.create_topics import CreatableTopicResult, CreateTopicsResponse


def made(*topics):
    return CreateTopicsResponse(topics=[CreatableTopicResult(name, error_code=code) for name, code in topics])


def test_what_is_known_here_is_told_at_once(node):
    node.create("t")

    assert until_created(node.node.broker, made(("t", 0)), lambda: "told") == "told"


def test_what_is_not_known_yet_is_waited_for(node):
    broker = node.node.broker
    wait = until_created(broker, made(("t", 0)), lambda: "told")

    assert isinstance(wait, Wait)
    assert wait.watch == (broker.raft.partition,)
    assert not wait.until()
    node.create("t")
    assert wait.until()
    assert wait.then() == "told"


def test_it_is_not_waited_for_for_ever(node):
    wait = until_created(node.node.broker, made(("t", 0)), lambda: "told")

    assert wait.deadline == node.now + TOPIC_KNOWN_MS
    assert wait.otherwise() == "told"


def test_what_was_refused_is_not_waited_for(node):
    assert until_created(node.node.broker, made(("t", 36)), lambda: "told") == "told"


def test_a_coordinators_topic_is_made_as_the_settings_say(node):
    wait = create_internal(node.node.broker, "__consumer_offsets", node.now)
    node.carry_out(node.node.broker.end_step())

    assert wait.then().topics[0].error_code == 0
    assert len(node.node.broker.image.topics["__consumer_offsets"].partitions) == 50
