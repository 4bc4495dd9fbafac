"""A partition goes from one state to the next, and keeps what is committed; one decision's changes see each other."""

from __future__ import annotations

import pytest

from andiron.controller.image import NO_LEADER, Image, PartitionImage
from andiron.controller.partition_changes import (
    Election,
    PartitionChanges,
    TopicRules,
    change_record,
    next_state,
    with_replicas,
)
from andiron.controller.records import PartitionRecord, TopicRecord
from andiron.model.ids import NodeId, Offset
from andiron.model.invariant import BrokenInvariant
from controller.cluster import Cluster, directory

ELR = TopicRules(min_insync=2, unclean=False, elr=True)
SINGLE = TopicRules(min_insync=1, unclean=False, elr=True)
WITHOUT = TopicRules(min_insync=2, unclean=False, elr=False)
UNCLEAN = TopicRules(min_insync=2, unclean=True, elr=True)


def partition(replicas=(1, 2, 3), isr=None, leader=1, **fields) -> PartitionImage:
    return PartitionImage(replicas, replicas if isr is None else isr, leader, 5, 9, **fields)


def live(*brokers: int):
    return lambda _, replica: replica in brokers


def to(old: PartitionImage, rules=ELR, brokers=(1, 2, 3), *, lost=None, election=Election.ONLINE, **wanted):
    return next_state(old, old._replace(**wanted), live(*brokers), rules, election, lost)


def test_what_is_as_it_should_be_stays_the_same():
    old = partition()

    assert to(old) is old


def test_the_next_replica_in_sync_takes_over_in_a_new_leader_epoch():
    after = to(partition(), brokers=(2, 3), isr=(2, 3))

    assert (after.leader, after.leader_epoch, after.partition_epoch) == (2, 6, 10)


def test_replicas_take_over_in_their_order_and_not_in_that_of_the_isr():
    assert to(partition(replicas=(1, 3, 2), isr=(1, 2, 3)), brokers=(2, 3), isr=(2, 3)).leader == 3


def test_a_smaller_isr_does_not_begin_a_leader_epoch():
    after = to(partition(), isr=(1, 2))

    assert (after.leader, after.leader_epoch, after.partition_epoch) == (1, 5, 10)


def test_who_leaves_while_enough_stay_is_not_eligible():
    assert to(partition(), isr=(1, 2)).elr == ()


def test_who_leaves_when_too_few_stay_is_eligible():
    after = to(partition(isr=(1, 2)), isr=(1,))

    assert (after.isr, after.elr) == ((1,), (2,))


def test_the_last_in_sync_may_go_and_is_eligible():
    after = to(partition(isr=(1,), elr=(2,)), brokers=(3,), isr=())

    assert (after.isr, after.elr, after.leader) == ((), (2, 1), NO_LEADER)
    assert after.last_known_elr == (1,)


def test_an_eligible_replica_leads_when_nobody_is_in_sync():
    after = to(partition(isr=(), elr=(2, 1), leader=NO_LEADER, last_known_elr=(1,)), brokers=(2,))

    assert (after.leader, after.isr, after.elr) == (2, (2,), (1,))
    assert (after.leader_epoch, after.recovering, after.last_known_elr) == (6, False, ())


def test_an_eligible_replica_does_not_lead_while_somebody_is_in_sync():
    after = to(partition(isr=(3,), elr=(1, 2), leader=NO_LEADER))

    assert after.leader == 3


def test_the_eligible_are_forgotten_when_enough_are_in_sync_again():
    assert to(partition(isr=(1,), elr=(2, 3)), isr=(1, 3)).elr == ()


def test_no_more_must_be_in_sync_than_there_are_replicas():
    old = partition(replicas=(1,))

    assert to(old, ELR, (), isr=()).elr == (1,)
    assert to(partition(replicas=(1,), isr=(), elr=(1,), leader=NO_LEADER), ELR).elr == ()


def test_who_may_have_lost_records_is_not_eligible():
    after = to(partition(isr=(1, 2)), brokers=(2, 3), isr=(2,), lost=NodeId(1))

    assert (after.isr, after.elr) == ((2,), ())


def test_who_led_last_leads_again_and_recovers_when_nobody_is_left():
    gone = to(partition(replicas=(1,)), brokers=(), isr=(), lost=NodeId(1))
    assert (gone.isr, gone.elr, gone.leader, gone.last_known_elr) == ((), (), NO_LEADER, (1,))

    back = to(gone, brokers=(1,))

    assert (back.leader, back.isr, back.recovering, back.last_known_elr) == (1, (1,), True, ())
    assert back.leader_epoch == gone.leader_epoch + 1


def test_a_leader_that_lost_records_and_is_there_at_once_begins_a_leader_epoch():
    after = to(partition(replicas=(1,)), isr=(), lost=NodeId(1))

    assert (after.leader, after.leader_epoch, after.isr) == (1, 6, (1,))


def test_nobody_else_leads_when_nobody_is_left():
    gone = to(partition(isr=(1,)), brokers=(2, 3), isr=(), lost=NodeId(1))

    assert gone.leader == NO_LEADER


def test_where_it_is_allowed_one_that_is_not_in_sync_leads_and_recovers():
    after = to(partition(isr=(1,), elr=(2,)), UNCLEAN, brokers=(3,), isr=())

    assert (after.leader, after.isr, after.elr, after.recovering) == (3, (3,), (), True)


def test_an_unclean_election_that_is_asked_for_needs_no_allowance():
    after = to(partition(isr=(), elr=(2,), leader=NO_LEADER), brokers=(3,), election=Election.UNCLEAN)

    assert (after.leader, after.recovering) == (3, True)


def test_even_an_unclean_election_prefers_one_that_is_in_sync():
    old = partition(isr=(3,), leader=NO_LEADER)
    after = to(old, UNCLEAN, election=Election.UNCLEAN)

    assert (after.leader, after.recovering) == (3, False)


def test_the_preferred_leader_is_the_first_replica_if_it_is_in_sync():
    assert to(partition(leader=3), election=Election.PREFERRED).leader == 1
    assert to(partition(leader=3, isr=(2, 3)), election=Election.PREFERRED).leader == 3
    assert to(partition(leader=NO_LEADER, isr=(2, 3)), election=Election.PREFERRED).leader == 2


def test_without_eligible_replicas_the_last_in_sync_stays_so():
    after = to(partition(isr=(1,)), WITHOUT, brokers=(2, 3), isr=())

    assert (after.isr, after.elr, after.leader, after.last_known_elr) == ((1,), (), NO_LEADER, ())
    assert to(after, WITHOUT).leader == 1


def test_a_reassignment_is_done_when_all_that_stay_are_in_sync():
    moving = partition((4, 2, 1), isr=(1, 2), adding=(4,), removing=(1,), directories=(b"4", b"2", b"1"))
    assert to(moving, brokers=(1, 2, 4), isr=(1, 2)) is moving

    after = to(moving, brokers=(1, 2, 4), isr=(1, 2, 4))

    assert (after.replicas, after.isr, after.adding, after.removing) == ((4, 2), (2, 4), (), ())
    assert after.directories == (b"4", b"2")
    assert (after.leader, after.leader_epoch) == (4, 6)


def test_taking_a_replica_away_begins_a_leader_epoch_even_if_the_leader_stays():
    moving = partition((1, 2, 3), removing=(3,))

    after = to(moving)

    assert (after.replicas, after.leader, after.leader_epoch) == ((1, 2), 1, 6)


def test_replicas_take_their_directories_along():
    old = partition((1, 2, 3), directories=(b"1", b"2", b"3"))

    after = with_replicas(old, [3, 1])

    assert (after.replicas, after.directories, after.isr) == ((3, 1), (b"3", b"1"), (1, 3))


def test_the_record_of_a_change_says_what_is_new_and_replays_to_it():
    old = partition(isr=(1,), elr=(2,), directories=(b"d" * 16,) * 3)
    for after in (
        to(old, brokers=(3,), isr=()),
        to(old, UNCLEAN, brokers=(3,), isr=()),
        to(old, isr=(1, 3)),
        to(old, replicas=(2, 1, 4), adding=(4,), removing=(2,)),
    ):
        image = Image()
        image.replay(TopicRecord("t", b"t" * 16), Offset(0))
        first = PartitionRecord(0, b"t" * 16, [1, 2, 3], [1], [], [], 1, 0, 5, 9, [b"d" * 16] * 3, [2])
        image.replay(first, Offset(1))
        assert image.topics["t"].partitions[0] == old

        record = change_record(b"t" * 16, 0, old, after)
        assert record is not None
        image.replay(record, Offset(2))

        assert image.topics["t"].partitions[0] == after


def test_no_change_has_no_record():
    assert change_record(b"t" * 16, 0, partition(), partition()) is None


def test_the_rules_of_a_topic_are_its_own_settings_or_the_brokers():
    cluster = Cluster(1, min_insync_replicas="3")
    cluster.create("plain")
    cluster.create("own", **{"min_insync_replicas": "2", "unclean_leader_election_enable": "true"})

    assert TopicRules.of("plain", cluster.image, cluster.settings) == TopicRules(3, False, True)
    assert TopicRules.of("own", cluster.image, cluster.settings) == TopicRules(2, True, True)


@pytest.mark.parametrize(
    ("wanted", "law"),
    [
        ({"replicas": (1, 2)}, "who is in the ISR is a replica"),
        ({"isr": (1, 2, 9)}, "who is in the ISR is a replica"),
    ],
)
def test_a_state_that_keeps_no_promise_is_never_written(wanted, law):
    with pytest.raises(BrokenInvariant, match=law):
        to(partition(), **wanted)


# ── the changes of one decision ──────────────────────────────────────────────────────


def test_a_partition_is_seen_as_changed_by_the_same_decision():
    cluster = Cluster(3)
    cluster.place("t", [1, 2, 3])
    topic = cluster.image.topics["t"]
    changes = PartitionChanges(cluster.image, cluster.settings)

    changes.change(topic, 0, changes.state(topic, 0)._replace(isr=(1, 2)))
    after = changes.change(topic, 0, changes.state(topic, 0)._replace(isr=(1,)))

    assert after.partition_epoch == 2
    assert cluster.partition("t").isr == (1, 2, 3)
    cluster.append(changes.records)
    assert cluster.partition("t") == after


def test_what_stays_as_it_was_has_no_record():
    cluster = Cluster(1)
    cluster.create("t")
    topic = cluster.image.topics["t"]
    changes = PartitionChanges(cluster.image, cluster.settings)

    assert changes.change(topic, 0, topic.partitions[0]) is topic.partitions[0]
    assert changes.records == []


# ── who may lead, given what is about to change ──────────────────────────────────────

LED = PartitionImage((1, 2), (1, 2), 1, 0, 0, (directory(1), directory(2)))


def test_a_live_broker_may_lead_and_a_fenced_or_unknown_one_may_not():
    cluster = Cluster(2, fenced=(2,))
    changes = PartitionChanges(cluster.image, cluster.settings)

    assert [changes.may_lead(LED, broker) for broker in (1, 2, 3)] == [True, False, False]


def test_a_broker_counts_as_it_will_be():
    cluster = Cluster(2, fenced=(2,))
    one, two = cluster.image.brokers[1], cluster.image.brokers[2]

    assert PartitionChanges(cluster.image, cluster.settings, two._replace(fenced=False)).may_lead(LED, 2)
    assert not PartitionChanges(cluster.image, cluster.settings, one._replace(stopping=True)).may_lead(LED, 1)
    assert PartitionChanges(cluster.image, cluster.settings, two).may_lead(LED, 1)


def test_what_lies_in_a_directory_that_has_failed_does_not_lead():
    cluster = Cluster(1)
    elsewhere = cluster.image.brokers[1]._replace(log_dirs=(b"e" * 16,))
    changes = PartitionChanges(cluster.image, cluster.settings, elsewhere)

    assert not changes.may_lead(LED, 1)
    assert changes.may_lead(LED._replace(directories=()), 1)
