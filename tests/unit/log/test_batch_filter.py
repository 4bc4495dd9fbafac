from __future__ import annotations

import pytest

from andiron.log.abort_index import AbortedTransaction
from andiron.log.batch_filter import BatchFilter, DeleteHorizon, ProducerEnd
from andiron.log.cleaned_transactions import CleanedTransactions
from andiron.log.offset_map import OffsetMap
from andiron.model.settings import MAX_LONG
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.compression import GZIP, LZ4, NONE, SNAPPY, ZSTD
from andiron.records.control import end_marker
from andiron.records.record import Record, records_of

NOW, RETENTION = 50_000, 1_000


def batch_of(*pairs, base=10, **how):
    """A batch of (key, value) from offset `base` on; record i has the time 100 + i."""
    records = [Record(0, 100 + i, key, value, (("h", b"x"),)) for i, (key, value) in enumerate(pairs)]
    return Batch(build(records, base_offset=base, leader_epoch=3, **how))


def marker(base=10, **how):
    return Batch(
        end_marker(
            **{"committed": True, "producer_id": 7, "producer_epoch": 2, "coordinator_epoch": 0, **how},
            timestamp=100,
            base_offset=base,
        )
    )


def filtering(latest=(), *, upto=100, end=1_000, aborted=(), producers=None, retention=RETENTION, now=NOW):
    offsets = OffsetMap(1 << 16, 0.9, 100)
    for key, offset in dict(latest).items():
        offsets.put(key, offset)
    return BatchFilter(
        offsets,
        upto,
        end=end,
        transactions=CleanedTransactions(aborted),
        producers=producers or {},
        horizon=DeleteHorizon(now, retention),
    )


def left(batch):
    return None if batch is None else [(r.offset, r.key, r.value) for r in records_of(batch)]


# ── records ──────────────────────────────────────────────────────────────────────────


def test_only_the_latest_record_of_a_key_stays_with_offset_time_and_headers():
    batch = batch_of(
        (b"a", b"1"), (b"b", b"2"), (b"c", b"3"), producer_id=7, producer_epoch=1, base_sequence=5
    )

    kept = filtering({b"a": 30, b"b": 11, b"c": 40}).keep(batch)

    assert list(records_of(kept)) == [Record(11, 101, b"b", b"2", (("h", b"x"),))]
    assert kept.is_intact()
    for name in (
        "base_offset",
        "last_offset",
        "leader_epoch",
        "producer_id",
        "producer_epoch",
        "base_sequence",
    ):
        assert getattr(kept, name) == getattr(batch, name)
    assert kept.max_timestamp == 101


def test_a_batch_in_which_nothing_changes_is_the_batch_itself():
    batch = batch_of((b"a", b"1"), (b"b", b"2"))

    assert filtering({b"a": 10, b"b": 11}).keep(batch) is batch


def test_a_key_not_in_the_map_has_its_latest_record_here():
    batch = batch_of((b"clean", b"1"))

    assert filtering({b"other": 90}).keep(batch) is batch


def test_a_batch_of_which_nothing_stays_is_gone():
    assert filtering({b"a": 30}).keep(batch_of((b"a", b"1"))) is None


def test_records_without_a_key_are_dropped():
    assert left(filtering().keep(batch_of((None, b"1"), (b"a", b"2")))) == [(11, b"a", b"2")]


def test_what_the_map_does_not_cover_stays_as_it_is():
    batch = batch_of((b"a", b"1"), (None, b"2"), (b"a", b"3"))

    assert filtering({b"a": 90}, upto=10).keep(batch) is batch
    assert left(filtering({b"a": 90}, upto=11).keep(batch)) == [(11, None, b"2"), (12, b"a", b"3")]


@pytest.mark.parametrize("codec", [NONE, GZIP, SNAPPY, LZ4, ZSTD])
def test_the_codec_stays(codec):
    kept = filtering({b"a": 30}).keep(batch_of((b"a", b"1"), (b"b", b"2" * 99), codec=codec))

    assert kept.codec == codec
    assert left(kept) == [(11, b"b", b"2" * 99)]


def test_the_time_of_append_stays():
    batch = batch_of((b"a", b"1"), (b"b", b"2"), timestamp_type=1, max_timestamp=777)

    kept = filtering({b"a": 30}).keep(batch)

    assert [record.timestamp for record in records_of(kept)] == [777]


# ── tombstones ───────────────────────────────────────────────────────────────────────


def test_a_tombstone_gets_a_delete_horizon_when_it_is_first_met():
    kept = filtering().keep(batch_of((b"a", None), (b"b", b"2")))

    assert kept.delete_horizon == NOW + RETENTION
    assert [(r.offset, r.timestamp, r.value) for r in records_of(kept)] == [(10, 100, None), (11, 101, b"2")]
    assert kept.max_timestamp == 101


def test_a_tombstone_stays_until_its_horizon_and_goes_then():
    kept = filtering().keep(batch_of((b"a", None), (b"b", b"2")))

    assert filtering(now=NOW + RETENTION - 1).keep(kept) is kept
    last = filtering(now=NOW + RETENTION).keep(kept)
    assert [(r.offset, r.timestamp) for r in records_of(last)] == [(11, 101)]
    assert last.delete_horizon == kept.delete_horizon


def test_a_tombstone_that_is_not_the_latest_goes_at_once_and_leaves_no_horizon():
    kept = filtering({b"a": 30}).keep(batch_of((b"a", None), (b"b", b"2")))

    assert left(kept) == [(11, b"b", b"2")]
    assert kept.delete_horizon is None


def test_a_horizon_once_set_is_not_moved():
    kept = filtering().keep(batch_of((b"a", None), (b"b", b"2"), (b"c", b"3")))

    again = filtering({b"b": 40}, now=NOW + 500).keep(kept)

    assert again.delete_horizon == NOW + RETENTION
    assert [(r.offset, r.timestamp) for r in records_of(again)] == [(10, 100), (12, 102)]


def test_tombstones_may_be_kept_for_ever():
    kept = filtering(retention=MAX_LONG).keep(batch_of((b"a", None)))

    assert kept.delete_horizon == MAX_LONG
    assert left(kept) == [(10, b"a", None)]


# ── headers that stay without records ────────────────────────────────────────────────


def test_the_last_batch_of_a_producer_keeps_its_header():
    batch = batch_of((b"a", b"1"), (b"a", b"2"), producer_id=7, producer_epoch=1, base_sequence=5)
    rules = {"latest": {b"a": 30}, "producers": {7: ProducerEnd(11, 1)}}

    kept = filtering(**rules).keep(batch)

    assert (kept.count, kept.base_offset, kept.last_offset, kept.last_sequence) == (0, 10, 11, 6)
    assert filtering(**rules).keep(kept) is kept
    assert filtering(latest={b"a": 30}, producers={7: ProducerEnd(50, 1)}).keep(kept) is None


def test_the_last_batch_of_the_round_keeps_its_header():
    assert filtering({b"a": 30}, end=11).keep(batch_of((b"a", b"1"))).count == 0
    assert filtering({b"a": 30}, end=12).keep(batch_of((b"a", b"1"))) is None


def test_records_of_no_producer_belong_to_nobody():
    assert filtering({b"a": 30}, producers={-1: ProducerEnd(10, -1)}).keep(batch_of((b"a", b"1"))) is None


# ── transactions ─────────────────────────────────────────────────────────────────────


def transaction(*pairs, base=10):
    return batch_of(*pairs, base=base, producer_id=7, producer_epoch=2, base_sequence=0, transactional=True)


def test_aborted_records_are_dropped_though_nothing_follows_them():
    rules = {"aborted": [AbortedTransaction(7, 10, 12, 13)], "upto": 0}

    assert filtering(**rules).keep(transaction((b"a", b"1"))) is None
    kept = filtering(**rules, producers={7: ProducerEnd(10, 2)}).keep(transaction((b"a", b"1")))
    assert (kept.count, kept.is_transactional) == (0, True)


def test_committed_records_are_cleaned_like_any():
    assert left(filtering({b"a": 30}).keep(transaction((b"a", b"1"), (b"b", b"2")))) == [(11, b"b", b"2")]


def test_a_marker_stays_as_it_is_while_data_of_its_transaction_are_met():
    rules = filtering({b"a": 30})
    rules.keep(transaction((b"a", b"1")))
    commit = marker(base=12)

    assert rules.keep(commit) is commit


def test_a_spent_marker_gets_a_horizon_stays_until_then_and_goes():
    first = filtering().keep(marker())

    assert first.delete_horizon == NOW + RETENTION
    assert first.is_control
    assert first.count == 1
    assert filtering(now=NOW + RETENTION - 1).keep(first) is first
    assert filtering(now=NOW + RETENTION).keep(first) is None


def test_a_spent_marker_keeps_its_header_while_it_alone_tells_of_its_producers_epoch():
    spent = filtering().keep(marker())
    rules = {"now": NOW + RETENTION, "producers": {7: ProducerEnd(None, 2)}}

    kept = filtering(**rules).keep(spent)

    assert (kept.count, kept.is_control, kept.producer_epoch) == (0, True, 2)
    assert filtering(**rules).keep(kept) is kept
    assert filtering(now=NOW + RETENTION, producers={7: ProducerEnd(None, 3)}).keep(kept) is None


def test_an_aborted_transaction_with_data_left_goes_on_into_the_index():
    aborted = AbortedTransaction(7, 10, 12, 13)
    rules = filtering(aborted=[aborted])

    rules.keep(transaction((b"a", b"1")))
    assert rules.ended is None
    rules.keep(marker(base=12, committed=False))
    assert rules.ended == aborted
    rules.keep(batch_of((b"b", b"2"), base=13))
    assert rules.ended is None
