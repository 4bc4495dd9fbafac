"""How far behind, in records and in time."""

from __future__ import annotations

from andiron.client.core.group_descriptions import CommittedOffset
from andiron.client.core.lag import Lag, first_unread, lag_of, written_at
from andiron.model.ids import TopicPartition
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.record import Record

NOW = 10_000
P0, P1, P2, P3 = (TopicPartition("t", number) for number in range(4))


def at(offset: int) -> CommittedOffset:
    return CommittedOffset(offset, -1, "")


def test_lag_is_what_lies_between_and_how_old_its_first_record_is() -> None:
    assert lag_of(at(3), 0, 10, 4_000, NOW) == Lag(at(3), 10, 7, 6_000)


def test_nothing_left_is_no_lag_at_all() -> None:
    assert lag_of(at(10), 0, 10, None, NOW) == Lag(at(10), 10, 0, 0)


def test_a_log_that_was_cut_leaves_nobody_ahead_of_it() -> None:
    assert lag_of(at(12), 0, 10, None, NOW) == Lag(at(12), 10, 0, 0)


def test_what_is_not_known_stays_unknown() -> None:
    assert lag_of(None, None, None, None, NOW) == Lag(None, None, None, None)
    assert lag_of(at(3), None, None, None, NOW) == Lag(at(3), None, None, None)
    assert lag_of(at(3), 0, 10, None, NOW) == Lag(at(3), 10, 7, None)


def test_where_nothing_is_committed_there_is_no_lag_and_yet_records_that_nobody_has_read() -> None:
    assert lag_of(None, 4, 10, None, NOW) == Lag(None, 10, None, None, unread=6)
    assert lag_of(None, 10, 10, None, NOW).unread == 0


def test_a_clock_ahead_of_ours_is_no_negative_age() -> None:
    assert lag_of(at(3), 0, 10, NOW + 5, NOW).ms == 0


def test_reading_goes_on_where_the_log_starts_at_the_least() -> None:
    committed = {P0: at(3), P1: at(3), P2: at(10), P3: at(1)}
    starts, ends = {P0: 0, P1: 5, P2: 0}, {P0: 10, P1: 10, P2: 10}

    assert first_unread(committed, starts, ends) == {P0: 3, P1: 5}


def test_the_time_is_that_of_the_record_and_not_of_its_batch() -> None:
    records = [Record(0, 1000, None, b"a"), Record(0, 2000, None, b"b"), Record(0, 3000, None, b"c")]
    batch = Batch(build(records, base_offset=5))

    assert [written_at(batch, offset) for offset in (0, 5, 6, 7)] == [1000, 1000, 2000, 3000]


def test_a_batch_of_which_nothing_is_left_tells_its_latest_time() -> None:
    batch = Batch(build([Record(0, 1000, None, b"a"), Record(0, 3000, None, b"b")], base_offset=5))

    assert written_at(batch, 99) == 3000


def test_a_record_without_a_time_has_none() -> None:
    assert written_at(Batch(build([Record(0, -1, None, b"a")])), 0) is None
