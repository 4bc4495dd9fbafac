"""What a leader counts as committed, and whom it counts as in sync."""

from andiron.replication.commit_rule import CommitTerms
from andiron.replication.leader import LeaderAndIsr, LeaderReplica, LogOffsets

LAG = 10_000


def leading(
    replicas=(1, 2, 3),
    isr=None,
    end=10,
    flushed_end=None,
    watermark=0,
    now=0,
    lag_ms_max=LAG,
    heard=None,
    **terms,
):
    members = frozenset(replicas)
    return LeaderReplica(
        LeaderAndIsr(1, 0, members, frozenset(isr or members)),
        LogOffsets(end, end if flushed_end is None else flushed_end, watermark),
        CommitTerms(**terms),
        lag_ms_max=lag_ms_max,
        now=now,
        heard={} if heard is None else heard,
    )


def test_the_watermark_waits_for_the_slowest_in_sync_replica():
    leader = leading(end=10)

    assert not leader.fetched(2, 10, now=1)
    assert leader.fetched(3, 7, now=2)
    assert leader.watermark == 7


def test_a_leader_alone_commits_what_it_appends():
    leader = leading(replicas=[1], end=0)

    assert leader.appended(5)
    assert leader.watermark == 5


def test_a_durable_leader_commits_only_what_is_on_disk():
    leader = leading(replicas=[1], end=0, durable=True)

    assert not leader.appended(5)
    assert leader.watermark == 0
    assert leader.flushed(4)
    assert leader.watermark == 4


def test_a_flush_that_says_less_than_the_last_one_takes_nothing_back():
    leader = leading(replicas=[1], end=0, durable=True)
    leader.appended(9)
    leader.flushed(9)

    assert not leader.flushed(3)
    assert leader.watermark == 9


def test_a_follower_that_stays_behind_is_proposed_out():
    leader = leading(end=10)
    leader.fetched(2, 10, now=LAG - 1)

    assert leader.propose(now=LAG) == {1, 2}
    assert leader.propose(now=LAG) is None, "one proposal at a time"


def test_a_follower_under_steady_load_stays_in_sync_without_ever_reaching_the_end():
    leader = leading(replicas=[1, 2], end=10)
    for now in range(1_000, 30_000, 1_000):
        leader.appended(leader.end + 5)
        leader.fetched(2, leader.end - 5, now=now)

    assert leader.propose(now=30_000) is None


def test_a_follower_rejoining_counts_from_the_proposal_on():
    leader = leading(isr=[1, 2], end=10, watermark=10)
    leader.fetched(2, 10, now=1)
    leader.fetched(3, 10, now=2)

    assert leader.propose(now=2) == {1, 2, 3}
    leader.appended(12)
    assert not leader.fetched(2, 12, now=3), "3 is not confirmed yet, but already counts"
    assert leader.fetched(3, 12, now=4)


def test_a_late_fetch_moves_no_follower_back_but_a_new_broker_epoch_may():
    leader = leading(end=10)
    leader.fetched(2, 8, now=1, broker_epoch=5)

    leader.fetched(2, 3, now=2, broker_epoch=5)
    leader.fetched(2, 9, now=2, broker_epoch=4)
    assert leader.progress()[2].offset == 8

    leader.fetched(2, 3, now=3, broker_epoch=6)
    assert leader.progress()[2].offset == 3


def test_a_follower_must_reach_this_epochs_start_before_it_may_rejoin():
    leader = leading(isr=[1], end=10, watermark=4)
    leader.fetched(3, 8, now=1)

    assert leader.propose(now=1) is None


def test_min_insync_replicas_asks_for_no_more_than_there_are():
    assert leading(replicas=[1]).enough_in_sync(2)
    assert not leading(isr=[1]).enough_in_sync(2)
    assert leading(isr=[1, 2]).enough_in_sync(2)


def test_a_durable_leader_waits_for_the_flush_until_it_is_durable_no_more():
    leader = leading(replicas=[1], end=0, durable=True)
    assert not leader.appended(5)

    assert leader.require(durable=False, least=1)
    assert leader.watermark == 5
    assert not leader.require(durable=True, least=1), "nothing is taken back"
    assert leader.watermark == 5


def test_a_follower_that_has_everything_is_not_behind_however_long_nothing_is_written():
    heard = {}
    leader = leading(replicas=[1, 2], end=10, heard=heard)
    leader.fetched(2, 10, now=1)
    heard[2] = 10 * LAG  # of an idle partition it says nothing, and yet it fetches from this node

    assert leader.behind_ms(2, now=10 * LAG + 500) == 0


def test_a_follower_that_lacks_records_is_behind_since_it_last_had_all():
    leader = leading(replicas=[1, 2], end=10, heard={2: 7_000})
    leader.fetched(2, 10, now=1_000)
    leader.appended(11)

    assert leader.behind_ms(2, now=7_300) == 300
    assert leader.behind_ms(2, now=9_000) == 2_000


def test_a_follower_that_has_fallen_silent_is_behind_even_where_nothing_is_written():
    leader = leading(replicas=[1, 2], end=10, heard={2: 1_000})
    leader.fetched(2, 10, now=1_000)

    assert leader.behind_ms(2, now=6_000) == 5_000


def test_a_leader_that_has_just_begun_cannot_tell_what_is_committed_at_its_end():
    leader = leading(end=10, watermark=4)

    assert [leader.can_tell(offset) for offset in (3, 4, 10, 11)] == [True, False, False, True]
    leader.fetched(2, 10, now=1)
    leader.fetched(3, 10, now=1)
    assert leader.knows_committed and leader.can_tell(10)
