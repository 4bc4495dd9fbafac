"""A leader finds out who is in sync, and asks the controller to say so: together, and again if it must."""

import pytest

from andiron.broker.node.patience import ALTER_PARTITION_RETRY_MS
from andiron.model.errors import ErrorCode
from andiron.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    AlterPartitionResponsePartition,
    AlterPartitionResponseTopic,
)
from worlds.cluster_client import all_in_sync, begin_produce, create, isr, produced, small_cluster, write

LAG_MS = 30_000


@pytest.fixture
def cluster():
    return small_cluster((1, 2, 3, 4), voters=(4,), without_broker=(4,))


def without_fetching(cluster, follower, leader=1):
    """The follower lives and is heard of by its controller, and cannot fetch from its leader."""
    cluster.cut |= {(follower, leader), (leader, follower)}


def test_one_that_is_behind_for_too_long_leaves_and_not_before(cluster):
    create(cluster, "t")
    write(cluster, "t", b"a")
    without_fetching(cluster, 3)
    begin_produce(cluster, "t", b"b", timeout_ms=100_000)
    began = cluster.now

    cluster.until(lambda: isr(cluster, "t") == [1, 2])

    assert LAG_MS - 1_000 <= cluster.now - began <= LAG_MS * 3 // 2 + 100


def test_one_that_has_everything_stays_though_nothing_is_written(cluster):
    create(cluster, "t")
    write(cluster, "t", b"a")

    cluster.pass_time(3 * LAG_MS, step=50)

    assert all_in_sync(cluster, "t")
    assert cluster.broker(1).alter_partition_manager.shrinks == 0


def test_one_that_has_caught_up_joins_at_once(cluster):
    create(cluster, "t")
    without_fetching(cluster, 3)
    begin_produce(cluster, "t", b"a", timeout_ms=100_000)
    cluster.until(lambda: isr(cluster, "t") == [1, 2])
    cluster.heal()
    began = cluster.now

    cluster.until(lambda: all_in_sync(cluster, "t"))

    assert cluster.now - began < 2_000


def test_the_watermark_waits_for_one_that_is_about_to_join(cluster):
    """From the proposal on it counts, whatever the controller will say."""
    create(cluster, "t", min_insync_replicas=1)
    without_fetching(cluster, 3)
    begin_produce(cluster, "t", b"a", timeout_ms=100_000)
    cluster.until(lambda: isr(cluster, "t") == [1, 2])
    partition = cluster.partition(1, "t")
    cluster.heal(keep={(1, 4), (4, 1)})  # the follower is back, and the controller cannot be asked
    cluster.until(lambda: partition.leader().proposed == {1, 2, 3}, ms=5_000)

    without_fetching(cluster, 3)
    answers = begin_produce(cluster, "t", b"b", to=1, timeout_ms=3_000)
    cluster.pass_time(1_000)

    assert not answers
    assert partition.watermark == 1


def proposing(cluster, isr=frozenset({1, 2})):
    """A leader that has proposed something; who keeps ISRs there, and the partition."""
    create(cluster, "t")
    partition = cluster.partition(1, "t")
    partition.leader().proposed = isr
    return cluster.broker(1).alter_partition_manager, partition


def refusing(partition, code):
    part = AlterPartitionResponsePartition(0, code.number)
    return AlterPartitionResponse(topics=[AlterPartitionResponseTopic(partition.topic_id, [part])])


def test_a_proposal_that_the_controller_has_not_taken_is_withdrawn_and_thought_over(cluster):
    in_sync, partition = proposing(cluster)

    in_sync._take(refusing(partition, ErrorCode.INELIGIBLE_REPLICA), {partition: 0})

    assert partition.leader().proposed == partition.leader().isr == {1, 2, 3}
    assert in_sync.next_deadline() <= cluster.now + ALTER_PARTITION_RETRY_MS


@pytest.mark.parametrize(
    "response", [None, AlterPartitionResponse(error_code=ErrorCode.STALE_BROKER_EPOCH.number)]
)
def test_a_proposal_that_was_not_answered_may_have_been_taken_and_stands(cluster, response):
    in_sync, partition = proposing(cluster)

    in_sync._take(response, {partition: 0})

    assert partition.leader().proposed == {1, 2}
    assert in_sync.next_deadline() <= cluster.now + ALTER_PARTITION_RETRY_MS


def test_a_proposal_that_was_not_answered_is_made_again(cluster):
    in_sync, partition = proposing(cluster)
    in_sync._take(None, {partition: 0})

    cluster.until(lambda: partition.leader().proposed == partition.leader().isr, ms=5_000)

    assert cluster.image_of("t").partition_epoch > 0  # the controller has said something


@pytest.mark.parametrize("code", [ErrorCode.INVALID_UPDATE_VERSION, ErrorCode.FENCED_LEADER_EPOCH])
def test_a_proposal_that_came_too_late_ends_with_what_the_metadata_says(cluster, code):
    in_sync, partition = proposing(cluster)

    in_sync._take(refusing(partition, code), {partition: 0})

    assert partition.leader().proposed == {1, 2}
    partition.settle(frozenset({1, 2, 3}), frozenset({1, 3}), cluster.now)
    assert partition.leader().proposed == {1, 3}


def test_one_that_is_fenced_is_not_asked_to_join(cluster):
    create(cluster, "t")
    cluster.kill(3)
    cluster.until(lambda: isr(cluster, "t") == [1, 2])
    epoch = cluster.image_of("t").partition_epoch

    cluster.pass_time(LAG_MS)

    assert cluster.image_of("t").partition_epoch == epoch  # nothing was asked for in vain


def test_a_leader_of_many_partitions_asks_for_all_of_them_at_once(cluster, monkeypatch):
    create(cluster, "t", [(1, 2, 3)] * 20)
    without_fetching(cluster, 3)
    asked = []
    channel = cluster.broker(1).channel
    sent = channel.decide

    def noted(request, *rest):
        if isinstance(request, AlterPartitionRequest):
            asked.append(request)
        return sent(request, *rest)

    monkeypatch.setattr(channel, "decide", noted)

    cluster.until(lambda: all(isr(cluster, "t", p) == [1, 2] for p in range(20)))

    sizes = [len(request.topics[0].partitions) for request in asked]
    assert sum(sizes) == 20
    assert len(sizes) <= 3


def test_the_lead_is_lost_while_a_proposal_is_under_way(cluster):
    create(cluster, "t")
    without_fetching(cluster, 3)
    answers = begin_produce(cluster, "t", b"a", timeout_ms=100_000)
    cluster.cut |= {(1, 4), (4, 1)}
    cluster.until(lambda: cluster.leader_of("t") == 2)
    cluster.heal()

    cluster.until(lambda: answers and all_in_sync(cluster, "t"))

    assert produced(answers).error_code != 0
    assert not cluster.partition(1, "t").leads
