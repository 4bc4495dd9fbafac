"""A broker says that it is alive, and hears whether it is let in, or may go."""

import pytest

from andiron.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from worlds.controllers import every_version_of, registering
from worlds.node import Closed, error_of


def beat(three, broker, read=None, epoch=None, **how):
    read = three.cluster.broker(three.leader).metadata.applied - 1 if read is None else read
    epoch = three.epoch_of(broker) if epoch is None else epoch
    return BrokerHeartbeatRequest(broker, epoch, read, **how)


@every_version_of(BrokerHeartbeatRequest)
def test_a_broker_that_is_unfenced_hears_so(three, version):
    answer = three.ask(three.leader, beat(three, three.follower), version)

    assert (error_of(answer), answer.is_fenced, answer.is_caught_up, answer.should_shut_down) == (
        "NONE", False, True, False,
    )  # fmt: skip


def test_a_broker_in_controlled_shutdown_may_go_when_others_lead(three):
    number = next(n for n in (2, 3) if n != three.leader)  # it leads nothing
    answer = three.ask(three.leader, beat(three, number, want_shut_down=True))
    assert error_of(answer) == "NONE"

    def may_go():
        return three.ask(three.leader, beat(three, number, want_shut_down=True)).should_shut_down

    three.cluster.until(may_go)
    assert number not in three.cluster.image_of("t").isr


def test_a_heartbeat_with_another_broker_epoch_is_refused(three):
    assert three.error(three.leader, beat(three, three.follower, epoch=1)) == "STALE_BROKER_EPOCH"


def test_a_heartbeat_of_an_unregistered_broker_is_refused(three):
    assert three.error(three.leader, beat(three, 9, epoch=1)) == "BROKER_ID_NOT_REGISTERED"


def test_who_is_not_the_controller_says_so(three):
    assert three.error(three.follower, beat(three, three.follower)) == "NOT_CONTROLLER"


def test_one_that_does_not_follow_the_metadata_stays_fenced_whatever_it_says(three):
    leader, member = three.leader, three.raft(three.leader)
    epoch = three.ask(leader, registering(66)).broker_epoch

    answer = three.ask(leader, beat(three, 66, read=1 << 40, epoch=epoch))
    assert (error_of(answer), answer.is_caught_up, answer.is_fenced) == ("NONE", False, True)
    assert three.cluster.image.brokers[66].fenced

    member.fetched_by(66, member.partition.log.end, 0)
    assert not three.ask(leader, beat(three, 66, epoch=epoch)).is_fenced


def test_clients_send_no_heartbeats(three):
    with pytest.raises(Closed):
        three.ask_as_client(three.leader, beat(three, 1))
