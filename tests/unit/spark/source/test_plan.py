"""What a batch reads: every offset once, within the limits, the same each time it is asked."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andiron.model.ids import TopicPartition
from andiron.spark.source.plan import DataLoss, Limits, Log, Range, admit, cut, is_enough, lags, ranges

A, B, C = (TopicPartition("orders", each) for each in range(3))

WHOLE = Log(0, 1 << 60)
partitions = st.builds(TopicPartition, st.sampled_from(["a", "b"]), st.integers(0, 5))
spans = st.dictionaries(partitions, st.tuples(st.integers(0, 1 << 50), st.integers(0, 100_000)), max_size=8)
limit = st.none() | st.integers(1, 200_000)


# ── how far ──────────────────────────────────────────────────────────────────────────


def test_without_a_limit_a_batch_goes_to_the_end():
    assert admit({A: 0, B: 5}, {A: 100, B: 5}, Limits()) == {A: 100, B: 5}


def test_a_limit_is_shared_out_by_lag():
    assert admit({A: 0, B: 0}, {A: 900, B: 100}, Limits(max_offsets=100)) == {A: 90, B: 10}


def test_a_share_is_rounded_down_as_spark_does_it():
    start, end = dict.fromkeys([A, B, C], 0), dict.fromkeys([A, B, C], 20)

    assert admit(start, end, Limits(max_offsets=7)) == {A: 2, B: 2, C: 2}


def test_a_small_partition_is_not_starved():
    assert admit({A: 0, B: 0}, {A: 10_000, B: 1}, Limits(max_offsets=10)) == {A: 9, B: 1}


def test_bytes_count_where_they_are_known():
    end = admit({A: 0, B: 0}, {A: 1000, B: 1000}, Limits(max_bytes=11_000), {A: 10.0, B: 100.0})

    assert end == {A: 100, B: 100}
    assert admit({A: 0}, {A: 1000}, Limits(max_bytes=1)) == {A: 1000}


def test_the_tighter_of_two_limits_counts():
    start, end = {A: 0}, {A: 1000}

    assert admit(start, end, Limits(max_offsets=10, max_bytes=500), {A: 1.0}) == {A: 10}
    assert admit(start, end, Limits(max_offsets=500, max_bytes=10), {A: 1.0}) == {A: 10}


def test_too_little_waits_until_the_delay_is_over():
    limits = Limits(min_offsets=10, max_delay_ms=1000)

    assert not is_enough({A: 0, B: 0}, {A: 4, B: 5}, limits, waited_ms=999)
    assert is_enough({A: 0, B: 0}, {A: 5, B: 5}, limits, waited_ms=0)
    assert is_enough({A: 0, B: 0}, {A: 1, B: 0}, limits, waited_ms=1000)
    assert is_enough({A: 0}, {A: 1}, limits, waited_ms=None)
    assert is_enough({A: 0}, {A: 1}, Limits(), waited_ms=0)


@given(spans, limit, limit, st.floats(0.1, 5000))
def test_admission_moves_on_and_keeps_to_its_limits(spans, max_offsets, max_bytes, each_bytes):
    start = {each: begin for each, (begin, _) in spans.items()}
    end = {each: begin + size for each, (begin, size) in spans.items()}
    sizes = dict.fromkeys(spans, each_bytes)

    admitted = admit(start, end, Limits(max_offsets, max_bytes), sizes)
    taken = lags(start, admitted)

    assert admitted.keys() == end.keys()
    assert all(start[each] <= admitted[each] <= end[each] for each in end)
    assert taken.keys() == lags(start, end).keys(), "whoever lags moves on"
    assert sum(taken.values()) <= (max_offsets or math.inf) + len(taken)
    assert sum(taken.values()) * each_bytes <= (max_bytes or math.inf) * 1.0001 + len(taken) * each_bytes


@given(spans, st.integers(1, 1000))
def test_admission_comes_to_the_end(spans, max_offsets):
    at = {each: begin for each, (begin, _) in spans.items()}
    end = {each: begin + size % 300 for each, (begin, size) in spans.items()}
    for _ in range(8 * 300 + 1):
        if at == end:
            break
        at = admit(at, end, Limits(max_offsets=max_offsets))
    assert at == end


# ── what exactly ─────────────────────────────────────────────────────────────────────


def test_a_new_partition_begins_where_its_log_begins():
    logs = {A: Log(0, 9), B: Log(3, 7)}

    assert ranges({A: 5}, {A: 9, B: 7}, logs) == ([Range(A, 5, 9), Range(B, 3, 7)], [])


def test_what_has_nothing_new_is_no_range():
    assert ranges({A: 5}, {A: 5}, {}) == ([], [])
    assert ranges({A: 5}, {A: 5}, {A: Log(7, 9)}) == ([], [])


def test_records_that_were_deleted_are_named():
    found, losses = ranges({A: 5}, {A: 20}, {A: Log(12, 20)})

    assert found == [Range(A, 12, 20)]
    assert losses == ["orders-0: offsets 5 to 11 are gone, its log starts at 12"]


def test_a_range_may_be_gone_as_a_whole():
    found, losses = ranges({A: 5}, {A: 20}, {A: Log(30, 40)})

    assert found == []
    assert losses == ["orders-0: offsets 5 to 19 are gone, its log starts at 30"]


def test_a_partition_that_is_gone_is_a_loss():
    assert ranges({A: 5, B: 1}, {A: 5}, {}) == ([], ["orders-1: gone, with what was not read of it"])
    assert ranges({A: 5}, {A: 9}, {}) == ([], ["orders-0: gone, before it was read up to offset 9"])
    assert ranges({}, {A: 9}, {}) == ([], ["orders-0: gone, before it was read up to offset 9"])


def test_a_log_that_ends_before_what_was_read_is_a_loss():
    found, losses = ranges({A: 50}, {A: 20}, {A: Log(0, 20)})

    assert found == []
    assert losses == ["orders-0: was read up to offset 50, and its log ends at 20 now"]


def test_a_batch_that_was_planned_beyond_the_log_is_a_loss():
    found, losses = ranges({A: 5, B: 5}, {A: 20, B: 20}, {A: Log(0, 15), B: Log(0, 2)})

    assert found == [Range(A, 5, 15)]
    assert losses == [
        "orders-0: offsets 15 to 19 are not there, its log ends at 15",
        "orders-1: offsets 5 to 19 are not there, its log ends at 2",
    ]


def test_tasks_are_as_many_as_asked_for():
    tasks = cut([Range(A, 0, 900), Range(B, 0, 50), Range(C, 7, 7)], min_partitions=10, max_records=None)

    assert [each.partition for each in tasks] == [A] * 9 + [B]
    assert {each.size for each in tasks[:9]} == {100}


def test_no_task_is_longer_than_asked_for():
    tasks = cut([Range(A, 10, 35)], min_partitions=2, max_records=10)

    assert tasks == [Range(A, 10, 18), Range(A, 18, 26), Range(A, 26, 35)]


def test_a_record_is_not_cut():
    assert cut([Range(A, 4, 6)], min_partitions=100, max_records=None) == [Range(A, 4, 5), Range(A, 5, 6)]


@given(spans, st.none() | st.integers(1, 40), st.none() | st.integers(1_000, 200_000))
def test_every_offset_is_read_once(spans, min_partitions, max_records):
    start = {each: begin for each, (begin, _) in spans.items()}
    end = {each: begin + size for each, (begin, size) in spans.items()}
    whole, losses = ranges(start, end, dict.fromkeys(end, WHOLE))

    tasks = cut(whole, min_partitions, max_records)

    assert not losses
    assert tasks == cut(
        ranges(dict(reversed(start.items())), end, dict.fromkeys(end, WHOLE)).ranges,
        min_partitions,
        max_records,
    )
    for each, until in end.items():
        edges = [(task.start, task.end) for task in tasks if task.partition == each]
        read = [begin for begin, _ in edges] + [edges[-1][1]] if edges else [start[each]]
        assert read == [start[each]] + [last for _, last in edges], "one piece begins where the last ended"
        assert read[-1] == until
    assert all(0 < task.size <= (max_records or math.inf) for task in tasks)
    assert len(tasks) >= min(min_partitions or 0, sum(each.size for each in whole))


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=6), st.integers(1, 60))
def test_the_longest_task_is_as_short_as_can_be(sizes, count):
    whole = [Range(TopicPartition("a", i), 0, size) for i, size in enumerate(sizes)]
    tasks = cut(whole, count, None)
    longest = max(task.size for task in tasks)

    def needed(most: int) -> int:
        return sum(-(-size // most) for size in sizes)

    assert longest == 1 or needed(longest - 1) > max(count, len(sizes))


def test_a_loss_says_what_it_is():
    with pytest.raises(DataLoss, match="orders"):
        raise DataLoss("orders-0: gone")
