from __future__ import annotations

from typing import NamedTuple

from andiron.log.retention import plan_deletion
from andiron.log.settings import LogSettings


class Summary(NamedTuple):
    base: int
    size: int
    max_timestamp: int


# Offsets 0-9, 10-19, 20-29 and, active, 30-34; 100 bytes each and 50; the clock stands at 10,000.
SEGMENTS = [Summary(0, 100, 1_000), Summary(10, 100, 2_000), Summary(20, 100, 3_000), Summary(30, 50, 9_000)]
KEEP_ALL = {"retention_ms": -1, "retention_bytes": -1}


def expired(segments=SEGMENTS, *, start=0, end=35, upto=35, now=10_000, **settings):
    plan = plan_deletion(
        segments, LogSettings(**{**KEEP_ALL, **settings}), start=start, end=end, upto=upto, now=now
    )
    return [tuple(each) for each in plan]


def test_nothing_goes_where_no_rule_says_so():
    assert expired() == []
    assert expired([], retention_ms=0) == []


def test_segments_go_when_their_latest_record_is_older_than_retention_ms():
    assert expired(retention_ms=8_000) == [(0, "retention.ms")]  # the second is just as old, not older
    assert expired(retention_ms=7_999) == [(0, "retention.ms"), (10, "retention.ms")]


def test_the_active_segment_goes_too_if_all_of_it_is_old():
    assert [base for base, _ in expired(retention_ms=999)] == [0, 10, 20, 30]


def test_an_active_segment_that_is_empty_stays():
    empty = [*SEGMENTS[:3], Summary(30, 0, -1)]

    assert [base for base, _ in expired(empty, end=30, upto=30, retention_ms=0)] == [0, 10, 20]


def test_a_record_from_the_future_holds_back_what_came_after_it():
    odd = [SEGMENTS[0], SEGMENTS[1]._replace(max_timestamp=99_000), *SEGMENTS[2:]]

    assert expired(odd, retention_ms=1_000) == [(0, "retention.ms")]


def test_a_segment_without_timestamps_is_as_old_as_the_one_after_it():
    timeless = [SEGMENTS[0]._replace(max_timestamp=-1), *SEGMENTS[1:]]

    assert expired(timeless, retention_ms=8_000) == []
    assert [base for base, _ in expired(timeless, retention_ms=7_999)] == [0, 10]
    assert expired([each._replace(max_timestamp=-1) for each in SEGMENTS], retention_ms=0) == []


def test_retention_bytes_keeps_at_least_that_much():
    assert expired(retention_bytes=350) == []
    assert expired(retention_bytes=251) == []
    assert expired(retention_bytes=250) == [(0, "retention.bytes")]
    assert expired(retention_bytes=149) == [(0, "retention.bytes"), (10, "retention.bytes")]
    assert [base for base, _ in expired(retention_bytes=0)] == [0, 10, 20, 30]


def test_what_size_has_taken_counts_before_time_is_asked():
    assert expired(retention_bytes=250, retention_ms=7_999) == [(0, "retention.bytes"), (10, "retention.ms")]


def test_segments_wholly_below_the_start_go_under_every_policy():
    for policy in ((), ("compact",), ("delete",), ("compact", "delete")):
        assert expired(start=19, cleanup_policy=policy) == [(0, "start")]
        assert expired(start=20, cleanup_policy=policy) == [(0, "start"), (10, "start")]


def test_the_active_segment_stays_though_the_start_is_at_its_end():
    assert [base for base, _ in expired(start=35)] == [0, 10, 20]


def test_what_is_below_the_start_does_not_count_as_size():
    assert expired(start=10, retention_bytes=250) == [(0, "start")]
    assert expired(start=10, retention_bytes=150) == [(0, "start"), (10, "retention.bytes")]


def test_age_and_size_do_not_count_without_the_delete_policy():
    for policy in ((), ("compact",)):
        assert expired(cleanup_policy=policy, retention_ms=0, retention_bytes=0) == []
    assert len(expired(cleanup_policy=("compact", "delete"), retention_ms=0)) == 4


def test_nothing_that_is_not_committed_goes():
    assert [base for base, _ in expired(upto=34, retention_ms=0)] == [0, 10, 20]
    assert [base for base, _ in expired(upto=29, retention_bytes=0)] == [0, 10]
    assert [base for base, _ in expired(upto=10, start=30)] == [0]
    assert expired(upto=9, start=30, retention_ms=0, retention_bytes=0) == []
