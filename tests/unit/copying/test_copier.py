"""Rounds of a copy on two nodes: what is kept, what shifts, what is lost, and what ends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from andiron.copying.copier import READ_SETTINGS, reader_settings
from andiron.copying.offset_map import Stretch
from andiron.records.record import Record

if TYPE_CHECKING:
    from unit.copying.conftest import Both


def without_offsets(records: list[Record]) -> list[Record]:
    return [each._replace(offset=0) for each in records]


def test_records_are_copied_as_they_are_with_their_offsets(both: Both) -> None:
    both.write("a", None, "b" * 100_000, "")

    copier = both.copy()

    assert both.there(both.target) == both.there(both.source)
    assert copier.records == 4
    assert copier.copies[both.partition].map.keeps_offsets


def test_a_second_run_goes_on_where_the_first_ended(both: Both) -> None:
    both.write("a", "b")
    both.copy()
    assert both.copy().records == 0
    both.write("c")

    assert both.copy().records == 1
    assert both.there(both.target) == both.there(both.source)


def test_behind_a_transactions_marker_offsets_shift_and_aborted_records_stay_away(both: Both) -> None:
    both.write("a")
    both.transact("b", "c")  # a marker at 3
    both.transact("x", "y", commit=False)  # 4 and 5, and a marker at 6
    both.write("d")  # 7

    copier = both.copy()

    assert [each.value for each in both.there(both.target)] == [b"a", b"b", b"c", b"d"]
    assert without_offsets(both.there(both.target)) == without_offsets(both.there(both.source))
    assert not copier.copies[both.partition].map.keeps_offsets


def test_the_map_goes_on_over_runs(both: Both) -> None:
    both.transact("a")
    both.copy()
    both.write("b")
    copier = both.copy()
    both.transact("c")
    both.write("d")
    copier = both.copy()

    assert copier.copies[both.partition].map.stretches[:2] == [Stretch(0, 0), Stretch(2, 1)]
    assert [each.value for each in both.there(both.target)] == [b"a", b"b", b"c", b"d"]


def test_all_of_it_is_copied_where_one_asks_for_what_is_uncommitted(both: Both) -> None:
    both.transact("x", commit=False)

    assert both.copy(committed=False).records == 1


def test_it_follows_until_it_is_told_to_stop(both: Both) -> None:
    rounds: list[int] = []

    def between() -> None:
        rounds.append(len(rounds))
        both.write(f"{len(rounds)}")

    copier = both.copy(follow=True, stopping=lambda: len(rounds) >= 3, between_rounds=between)

    assert copier.records in (1, 2)
    assert both.there(both.target) == both.there(both.source)[: copier.records]


def test_a_topic_deleted_on_the_source_is_set_aside_and_what_is_copied_stays(both: Both) -> None:
    both.write("a")
    said: list[str] = []
    copier = both.copy(
        follow=True,
        tell=said.append,
        stopping=lambda: bool(said),
        between_rounds=lambda: (
            both.source.admin.delete_topic(both.topic)
            if both.topic in {each.name for each in both.source.client.topics()}
            else None
        ),
    )

    assert "was deleted on the source" in copier.set_aside[both.topic]
    assert [each.value for each in both.there(both.target)] == [b"a"]


def test_what_retention_took_first_ends_the_partition_or_is_stepped_over(both: Both) -> None:
    both.write("a")
    both.copy()
    both.write("b", "c")
    both.source.admin.delete_records({both.partition: 2})

    copier = both.copy()
    assert "offsets 1 to 1 are gone" in copier.set_aside[str(both.partition)]

    copier = both.copy(accept_loss=True)
    assert [each.value for each in both.there(both.target)] == [b"a", b"c"]
    assert both.copy(accept_loss=True).records == 0


def test_a_rate_bounds_what_is_read_at_once() -> None:
    assert reader_settings(None) == READ_SETTINGS
    assert reader_settings(1 << 40) == READ_SETTINGS
    slow = reader_settings(200_000)
    assert (slow.fetch_max_bytes, slow.max_partition_fetch_bytes) == (200_000, 200_000)
    assert reader_settings(1).fetch_max_bytes == 64 << 10
