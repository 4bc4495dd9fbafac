"""A partition's leader proposes who is in sync; the controller decides, where it is."""

import pytest

from andiron.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartition,
    AlterPartitionRequestTopic,
    BrokerState,
)
from worlds.controllers import every_version_of
from worlds.node import Closed, error_of


def proposing(three, isr=(1, 2), leader_epoch=0, partition_epoch=0, broker=1, epoch=None, topic_id=None):
    part = AlterPartitionRequestPartition(
        0, leader_epoch, list(isr), [BrokerState(node) for node in isr], partition_epoch=partition_epoch
    )
    epoch = three.epoch_of(broker) if epoch is None else epoch
    return AlterPartitionRequest(
        broker, epoch, [AlterPartitionRequestTopic(topic_id or three.topic_id, [part])]
    )


def decided(answer):
    return answer.topics[0].partitions[0]


@every_version_of(AlterPartitionRequest)
def test_the_answer_is_how_the_partition_stands_now(three, version):
    answer = decided(three.ask(three.leader, proposing(three), version))

    assert (error_of(answer), answer.isr, answer.partition_epoch, answer.leader_id) == ("NONE", [1, 2], 1, 1)


@pytest.mark.parametrize(
    "how, code",
    [
        ({"leader_epoch": 5}, "NOT_CONTROLLER"),
        ({"partition_epoch": 5}, "NOT_CONTROLLER"),
        ({"isr": (2, 3)}, "INVALID_REQUEST"),
        ({"isr": (1, 9)}, "INVALID_REQUEST"),
        ({"broker": 2}, "INVALID_REQUEST"),
        ({"topic_id": b"x" * 16}, "UNKNOWN_TOPIC_ID"),
    ],
)
def test_what_cannot_be_is_refused_for_the_partition(three, how, code):
    assert error_of(decided(three.ask(three.leader, proposing(three, **how)))) == code


def test_a_broker_of_another_life_is_refused_altogether(three):
    assert three.error(three.leader, proposing(three, epoch=0)) == "STALE_BROKER_EPOCH"


def test_who_is_not_the_controller_says_so(three):
    assert three.error(three.follower, proposing(three)) == "NOT_CONTROLLER"


def test_clients_do_not_decide_who_is_in_sync(three):
    with pytest.raises(Closed):
        three.ask_as_client(three.leader, proposing(three))
