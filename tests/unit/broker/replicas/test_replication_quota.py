"""A bucket of bytes, for replicas that are being moved."""

from types import SimpleNamespace

import pytest

from andiron.broker.replicas.replication_quota import ReplicationQuota, is_throttled
from andiron.model.settings import MAX_LONG

NOW = 1_000_000


def quota_of(rate):
    """A bucket whose rate is what `rate` says when it is asked."""
    return ReplicationQuota(SimpleNamespace(current=rate), lambda settings: settings)


def test_without_a_rate_nothing_is_ever_spent():
    quota = quota_of(lambda: MAX_LONG)
    quota.spend(1 << 60, NOW)

    assert not quota.is_spent(NOW)


def test_what_is_fetched_is_taken_out_and_comes_back_at_the_rate():
    quota = quota_of(lambda: 1_000)
    assert not quota.is_spent(NOW)
    quota.spend(1_500, NOW)

    assert quota.is_spent(NOW)
    assert quota.is_spent(NOW + 500)
    assert not quota.is_spent(NOW + 501)


def test_a_quiet_time_saves_up_no_more_than_a_second():
    quota = quota_of(lambda: 1_000)
    quota.spend(1, NOW)
    quota.spend(1_000, NOW + 1_000_000)

    assert quota.is_spent(NOW + 1_000_000)


def test_a_rate_that_changes_counts_at_once():
    rate = [1_000]
    quota = quota_of(lambda: rate[0])
    quota.spend(10_000, NOW)
    rate[0] = 100_000

    assert not quota.is_spent(NOW + 100)
    rate[0] = MAX_LONG
    assert not quota.is_spent(NOW)


@pytest.mark.parametrize(
    "replicas, throttled",
    [((), False), (("*",), True), (("3:2",), True), (("3:1", "2:3"), False), (("1:2", "3:2"), True)],
)
def test_a_list_names_replicas_by_partition_and_broker(replicas, throttled):
    assert is_throttled(replicas, 3, 2) is throttled
