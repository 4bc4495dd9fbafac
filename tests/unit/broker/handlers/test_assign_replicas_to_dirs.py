"""A broker says in which directory a replica lies."""

import pytest

from andiron.wire.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsRequestDirectory,
    AssignReplicasToDirsRequestPartition,
    AssignReplicasToDirsRequestTopic,
)
from worlds.node import Closed, error_of

LOST = bytes(15) + b"\x01"


def saying(three, directory, broker=2, epoch=None, topic_id=None, partition=0):
    epoch = three.epoch_of(broker) if epoch is None else epoch
    part = AssignReplicasToDirsRequestPartition(partition)
    topic = AssignReplicasToDirsRequestTopic(topic_id or three.topic_id, [part])
    return AssignReplicasToDirsRequest(
        broker, epoch, [AssignReplicasToDirsRequestDirectory(directory, [topic])]
    )


def said(answer):
    return error_of(answer.directories[0].topics[0].partitions[0])


def test_where_a_replica_lies_is_written_down(three):
    known = three.cluster.image_of("t")
    directory = known.directories[known.replicas.index(2)]

    answer = three.ask(three.leader, saying(three, directory))

    assert (error_of(answer), said(answer)) == ("NONE", "NONE")


def test_a_replica_that_is_lost_is_in_sync_no_more(three):
    lost = next(n for n in (2, 3))
    answer = three.ask(three.leader, saying(three, LOST, broker=lost))

    assert said(answer) == "NONE"
    three.cluster.until(lambda: lost not in three.cluster.image_of("t").isr, ms=2_000)


@pytest.mark.parametrize(
    "how, code",
    [({"topic_id": b"x" * 16}, "UNKNOWN_TOPIC_ID"), ({"partition": 7}, "UNKNOWN_TOPIC_OR_PARTITION")],
)
def test_what_is_not_there_cannot_lie_anywhere(three, how, code):
    assert said(three.ask(three.leader, saying(three, LOST, **how))) == code


def test_a_broker_of_another_life_is_refused(three):
    assert three.error(three.leader, saying(three, LOST, epoch=0)) == "STALE_BROKER_EPOCH"


def test_who_is_not_the_controller_says_so(three):
    assert three.error(three.follower, saying(three, LOST)) == "NOT_CONTROLLER"


def test_clients_have_no_directories(three):
    with pytest.raises(Closed):
        three.ask_as_client(three.leader, saying(three, LOST))
