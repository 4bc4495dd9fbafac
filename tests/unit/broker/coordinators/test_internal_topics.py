"""The coordinators' topics: as many partitions and replicas as the settings say, and compacted."""

import pytest

from andiron.broker.coordinators.internal_topics import INTERNAL, internal_topic
from andiron.broker.metadata.topic_creation import create_internal
from andiron.broker.settings.broker_settings import TOPIC_ROWS
from andiron.broker.settings.node_settings import NodeSettings
from andiron.controller.image import BROKER
from andiron.controller.partitions import PARTITIONS_MAX
from andiron.groups.settings import GroupSettings
from andiron.model.settings import SettingError
from andiron.model.settings import rows as rows_of
from andiron.transactions.settings import TransactionSettings
from worlds.coordinating import OFFSETS, TRANSACTIONS, coordinating
from worlds.node import PROPERTIES, Closed, SmallNode, error_of


def topic_of(name, **properties):
    named = {key.replace("_", "."): value for key, value in properties.items()}
    topic = internal_topic(name, NodeSettings.load(PROPERTIES | named))
    return topic, {config.name: config.value for config in topic.configs}


def test_the_offsets_topic_is_made_as_the_settings_of_groups_say():
    topic, configs = topic_of(
        OFFSETS,
        offsets_topic_num_partitions="7",
        offsets_topic_replication_factor="2",
        offsets_topic_segment_bytes="5000000",
    )

    assert (topic.name, topic.num_partitions, topic.replication_factor) == (OFFSETS, 7, 2)
    assert configs == {
        "cleanup.policy": "compact", "compression.type": "producer", "segment.bytes": "5000000",
    }  # fmt: skip


def test_the_transaction_topic_is_made_as_the_settings_of_transactions_say():
    topic, configs = topic_of(
        TRANSACTIONS,
        transaction_state_log_num_partitions="9",
        transaction_state_log_replication_factor="3",
        transaction_state_log_min_isr="2",
        transaction_state_log_segment_bytes="6000000",
    )

    assert (topic.name, topic.num_partitions, topic.replication_factor) == (TRANSACTIONS, 9, 3)
    assert configs == {
        "cleanup.policy": "compact", "compression.type": "uncompressed", "min.insync.replicas": "2",
        "segment.bytes": "6000000", "unclean.leader.election.enable": "false",
    }  # fmt: skip


# Which settings of a broker say what a coordinators' topic is made with, and the topic's own settings.
MADE_WITH = {
    "offsets.topic.segment.bytes": "segment.bytes",
    "transaction.state.log.segment.bytes": "segment.bytes",
    "transaction.state.log.min.isr": "min.insync.replicas",
}


@pytest.mark.parametrize(("given", "made_with"), MADE_WITH.items())
def test_what_its_creation_would_refuse_is_refused_at_the_start(given, made_with):
    least = int(TOPIC_ROWS[made_with].least)

    assert NodeSettings.load(PROPERTIES | {given: str(least)})
    with pytest.raises(SettingError, match=given):
        NodeSettings.load(PROPERTIES | {given: str(least - 1)})


@pytest.mark.parametrize("given", ["offsets.topic.num.partitions", "transaction.state.log.num.partitions"])
def test_an_internal_topic_with_more_partitions_than_one_request_may_create_is_refused(given):
    assert NodeSettings.load(PROPERTIES | {given: str(PARTITIONS_MAX)})
    with pytest.raises(SettingError, match=given):
        NodeSettings.load(PROPERTIES | {given: str(PARTITIONS_MAX + 1)})


@pytest.mark.parametrize("topic", [OFFSETS, TRANSACTIONS])
def test_with_the_least_and_the_most_that_the_settings_allow_the_topic_is_made(topic):
    rows = [row for table in (GroupSettings, TransactionSettings) for row in rows_of(table).values()]
    own = [row for row in rows if row.name.startswith(("offsets.topic.", "transaction.state.log."))]
    for bound in ("least", "most"):
        given = {row.name: str(int(getattr(row, bound))) for row in own if getattr(row, bound) is not None}
        node = SmallNode(**{name.replace(".", "_"): text for name, text in given.items()})
        wait = create_internal(node.node.broker, topic, node.now)
        node.carry_out(node.node.broker.end_step())
        assert wait.then().topics[0].error_message is None
        assert topic in node.node.broker.image.topics


def test_they_cannot_be_changed_while_it_runs_to_what_would_be_refused():
    node = coordinating()
    for name in MADE_WITH:
        answer = node.ask(node.alter_request(BROKER, "1", {name: "1"})).responses[0]
        assert error_of(answer) == "INVALID_REQUEST"


def test_the_internal_topics_are_consumer_offsets_and_transaction_state():
    assert sorted(INTERNAL) == [OFFSETS, TRANSACTIONS]


@pytest.mark.parametrize("topic", [OFFSETS, TRANSACTIONS, "__share_group_state"])
def test_only_an_administrators_client_writes_to_one_nor_to_what_is_kept_of_share_groups(topic):
    node = coordinating()
    node.create("__share_group_state")
    request = node.produce_request(topic, [], records=node.keyed(b"k", b"v"))

    def answer(client_id):
        response = node.ask(request, 9, client_id=client_id)
        return error_of(response.responses[0].partition_responses[0])

    assert answer("anybody") == "INVALID_TOPIC_EXCEPTION"
    assert answer("__admin_client") == "NONE"
    assert node.log(topic).end == 1


def test_whoever_writes_to_one_without_wanting_an_answer_is_hung_up_on():
    node = coordinating()

    with pytest.raises(Closed, match="INVALID_TOPIC_EXCEPTION"):
        node.ask(node.produce_request(OFFSETS, [], records=node.keyed(b"k", b"v"), acks=0), 9)
