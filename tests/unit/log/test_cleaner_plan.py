from __future__ import annotations

from typing import NamedTuple

from andiron.log.cleaner_plan import LogToClean, first_dirty_offset, pick_dirtiest, plan_cleaning
from andiron.log.settings import LogSettings


class Summary(NamedTuple):
    base: int
    size: int
    first_timestamp: int
    max_timestamp: int


# Offsets 0-9, 10-19, 20-29 and, active, 30-34; the clock stands at 10,000.
SEGMENTS = [
    Summary(0, 100, 500, 1_000),
    Summary(10, 200, 1_500, 2_000),
    Summary(20, 300, 2_500, 3_000),
    Summary(30, 50, 8_000, 9_000),
]


def share(segments=SEGMENTS, *, start=0, end=35, cleaned_upto=None, last_stable=35, now=10_000, **settings):
    return plan_cleaning(
        segments,
        LogSettings(**settings),
        first_dirty=first_dirty_offset(start, end, cleaned_upto),
        last_stable=last_stable,
        now=now,
    )


def test_a_log_never_cleaned_is_dirty_up_to_its_active_segment():
    assert share() == LogToClean(0, 30, clean_bytes=0, dirty_bytes=600, is_overdue=False)


def test_what_lies_below_the_checkpoint_is_clean():
    assert share(cleaned_upto=10) == (10, 30, 100, 500, False)
    assert share(cleaned_upto=30) == (30, 30, 600, 0, False)


def test_a_segment_cleaned_in_part_counts_on_both_sides():
    assert share(cleaned_upto=15) == (15, 30, 300, 500, False)


def test_a_checkpoint_outside_the_log_says_nothing():
    assert share(start=12, cleaned_upto=5).first_dirty == 12
    assert share(cleaned_upto=36).first_dirty == 0
    assert share(cleaned_upto=35).first_dirty == 35


def test_nothing_at_or_after_the_last_stable_offset_is_cleaned():
    assert share(last_stable=20)[:4] == (0, 20, 0, 300)
    assert share(last_stable=19)[:4] == (0, 10, 0, 100)
    assert share(last_stable=0)[:4] == (0, 0, 0, 0)


def test_young_records_are_safe_from_cleaning_with_all_that_follows_them():
    assert share(min_compaction_lag_ms=6_999).first_uncleanable == 30
    assert share(min_compaction_lag_ms=8_001).first_uncleanable == 10
    odd = [SEGMENTS[0]._replace(max_timestamp=9_999), *SEGMENTS[1:]]
    assert share(odd, min_compaction_lag_ms=2).first_uncleanable == 0
    assert share(odd, min_compaction_lag_ms=2, cleaned_upto=10).first_uncleanable == 30


def test_a_log_with_an_active_segment_only_has_nothing_to_clean():
    assert share(SEGMENTS[3:], start=30) == (30, 30, 0, 0, False)
    assert not share(SEGMENTS[3:], start=30).is_due(LogSettings(min_cleanable_dirty_ratio=0.0))


def test_a_log_is_due_above_the_dirty_ratio():
    half = LogToClean(10, 30, 100, 100, False)

    assert half.is_due(LogSettings(min_cleanable_dirty_ratio=0.49))
    assert not half.is_due(LogSettings(min_cleanable_dirty_ratio=0.5))


def test_a_log_is_due_when_a_dirty_record_has_waited_too_long():
    def is_due(**changes):
        settings = {"min_cleanable_dirty_ratio": 1.0, "max_compaction_lag_ms": 8_499, **changes}
        return share(cleaned_upto=10, **settings).is_due(LogSettings(**settings))

    assert is_due()
    assert not is_due(max_compaction_lag_ms=8_500)
    assert not is_due(max_compaction_lag_ms=9_200)  # only the clean part is as old as that
    assert not share(cleaned_upto=30, max_compaction_lag_ms=1).is_due(LogSettings())


def test_a_record_without_a_time_is_not_overdue():
    timeless = [SEGMENTS[0]._replace(first_timestamp=-1), SEGMENTS[3]]

    assert not share(timeless, max_compaction_lag_ms=1).is_overdue


def test_an_overdue_log_with_nothing_to_clean_is_not_due():
    assert not share(last_stable=0, max_compaction_lag_ms=1).is_due(LogSettings())


def test_the_dirtiest_log_goes_first():
    logs = [
        ("a", LogToClean(0, 9, 100, 50, False)),
        ("b", LogToClean(0, 9, 0, 10, False)),
        ("c", LogToClean(0, 9, 1, 1, True)),
    ]

    assert pick_dirtiest(logs)[0] == "b"
    assert pick_dirtiest([]) is None
