"""Empty records for the offsets that a source has lost."""

from __future__ import annotations

from andiron.copying import lead_in
from andiron.records.batch import Batch


def test_there_are_as_many_as_offsets_in_small_batches() -> None:
    made = list(lead_in.batches(7, 250_010))

    assert [count for _, count in made] == [100_000, 100_000, 50_003]
    for data, count in made:
        batch = Batch(data)
        assert batch.count == count == batch.last_offset_delta + 1
        assert batch.is_intact()
        assert batch.size < 160_000


def test_there_are_none_where_nothing_is_lost() -> None:
    assert list(lead_in.batches(5, 5)) == []
