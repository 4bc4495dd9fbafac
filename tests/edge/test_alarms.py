"""The shipped rules on clusters that are well and on clusters that are not: alarms where they should be, and no others.

Scrapes of small clusters, in their own time, are given to promtool. `python -m alarms` (tests/alarms/) does the same
with real nodes and a real Prometheus.
"""

import shutil
import subprocess

import pytest

from worlds.alarming import RULES, Watched
from worlds.cluster import SmallCluster
from worlds.cluster_coordinators import commit_offset, patiently
from worlds.coordinating import consumer_heartbeat
from worlds.replicating import create, produce

pytestmark = pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool comes with Prometheus")

WITHOUT_ONE = {
    "AndironBrokerFenced": 1, "AndironIsrShrinks": 1, "AndironNodeGone": 1, "AndironUnderReplicated": 1,
}  # fmt: skip


@pytest.fixture
def cluster():
    made = SmallCluster()
    made.until(made.all_ready)
    create(made, "t")
    assert produce(made, "t", b"a") == 0
    return made


def follower(cluster):
    return next(node for node in (3, 2, 1) if node not in (cluster.leader_of("t"), cluster.controller))


def test_the_rules_are_ones_and_their_own_cases_hold():
    cases = RULES.with_name("andiron-rules-test.yml")
    done = subprocess.run(["promtool", "test", "rules", cases], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_fires_in_a_healthy_cluster_where_nothing_happens(cluster, tmp_path):
    watched = Watched(cluster)
    watched.pass_time(17)

    assert watched.alarms(tmp_path) == {}
    seen = {name.partition("{")[0]: values for name, values in watched.series.items()}
    assert max(seen["andiron_follower_lag_max_seconds"]) == 0


def test_a_follower_that_is_killed_fires_until_it_is_back(cluster, tmp_path):
    watched = Watched(cluster)
    watched.pass_time(1)
    lost = follower(cluster)
    cluster.kill(lost)
    watched.pass_time(7)
    assert watched.alarms(tmp_path) == {**WITHOUT_ONE, "AndironFollowerLags": 1}

    cluster.start(lost)
    watched.pass_time(1)
    assert watched.alarms(tmp_path) == {}


def test_a_follower_that_is_frozen_fires_as_one_that_is_gone(cluster, tmp_path):
    watched = Watched(cluster)
    watched.pass_time(1)
    cluster.paused.add(follower(cluster))
    watched.pass_time(7)

    assert watched.alarms(tmp_path) == {**WITHOUT_ONE, "AndironFollowerLags": 1}


def test_two_of_three_that_are_gone_leave_nobody_who_decides_and_nobody_who_may_write(cluster, tmp_path):
    watched = Watched(cluster)
    watched.pass_time(1)
    kept = cluster.leader_of("t")
    cluster.kill(next(node for node in (1, 2, 3) if node not in (kept, cluster.controller)))
    watched.pass_time(1)
    cluster.kill(*(node for node in (1, 2, 3) if node != kept and cluster.members[node].node is not None))
    watched.pass_time(3)

    assert watched.alarms(tmp_path) == {
        "AndironNoController": 1,
        "AndironNodeGone": 2,
        "AndironFollowerLags": 1,
    }


def test_a_group_that_falls_behind_and_one_that_never_commits_fire_and_one_that_keeps_up_does_not(tmp_path):
    alone = SmallCluster((1,), default_replication_factor=1, min_insync_replicas=1, **ONE_COPY)
    alone.until(alone.all_ready)
    create(alone, "t", replicas=1)
    member = consumer_heartbeat(group="never")
    watched, written = Watched(alone), 0

    def goes_on():
        nonlocal written
        assert produce(alone, "t", *[b"x"] * 100) == 0
        written += 100
        commit_offset(alone, "quick", "t", written)
        beaten = patiently(alone, 0, "never", member, 1)
        member.member_epoch = beaten.member_epoch
        if written == 100:
            commit_offset(alone, "slow", "t", 0)

    watched.pass_time(30, goes_on)

    assert watched.alarms(tmp_path) == {"AndironLagClimbs": 1, "AndironNeverCommitted": 1}


ONE_COPY = {
    "offsets_topic_replication_factor": 1, "transaction_state_log_replication_factor": 1,
    "transaction_state_log_min_isr": 1,
}  # fmt: skip
