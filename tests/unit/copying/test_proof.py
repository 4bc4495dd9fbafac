"""That two sides are the same, and that it shows where they are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from andiron.client.blocking.producer import Producer
from andiron.columns.schema import arrow_schema
from andiron.copying.proof import BY_KEY, Checksum, LastOfKeys, Prover

if TYPE_CHECKING:
    from unit.copying.conftest import Both

ROWS = [
    {"key": b"a", "value": b"1", "timestamp": 5, "headers": [{"key": "h", "value": b"x"}, {"key": "n", "value": None}]},
    {"key": None, "value": b"", "timestamp": 6, "headers": None},
    {"key": b"", "value": None, "timestamp": 7, "headers": []},
    {"key": b"a", "value": b"22", "timestamp": -1000, "headers": [{"key": "", "value": b""}]},
]  # fmt: skip


def rows(*some: dict[str, object]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(
        [{"topic": "t", **each} for each in some], schema=arrow_schema(headers=True)
    )


def checksum(*answers: pa.RecordBatch) -> str:
    total = Checksum()
    for answer in answers:
        total.update(answer)
    return total.text()


def test_a_checksum_does_not_depend_on_how_answers_are_cut() -> None:
    whole = rows(*ROWS)

    assert checksum(whole) == checksum(*(rows(each) for each in ROWS))
    assert checksum(whole) == checksum(whole.slice(0, 1), whole.slice(1, 2), whole.slice(3))


@pytest.mark.parametrize(
    "change",
    [{"key": b"b"}, {"key": None}, {"value": None}, {"value": b""}, {"timestamp": 6}, {"headers": None},
     {"headers": [{"key": "h", "value": b"x"}, {"key": "n", "value": b""}]}],
)  # fmt: skip
def test_every_part_of_a_record_counts(change: dict[str, object]) -> None:
    assert checksum(rows(ROWS[0] | change)) != checksum(rows(ROWS[0]))


def test_bytes_do_not_wander_between_records() -> None:
    assert checksum(rows({"value": b"ab"}, {"value": b"c"})) != checksum(
        rows({"value": b"a"}, {"value": b"bc"})
    )


def test_of_compacted_records_the_last_of_each_key_counts() -> None:
    one, other = LastOfKeys(), LastOfKeys()
    one.update(rows({"key": b"a", "value": b"1"}, {"key": b"b", "value": b"2"}, {"key": b"b", "value": None}))
    one.update(rows({"key": b"a", "value": b"3"}))
    other.update(rows({"key": b"a", "value": b"3"}))

    assert one.text() == other.text()
    assert one.records == other.records == 1


def test_a_copy_is_proven_and_a_change_shows(both: Both) -> None:
    both.write("a", "b")
    both.transact("c")
    copier = both.copy()
    both.write("d")
    copy = both.copy().copies[both.partition]
    prover = Prover(both.source, both.target)

    proof = prover.prove(copy, compacted=False)
    assert proof.holds and proof.records == (4, 4)
    with Producer(both.target.client) as another:
        another.send(both.topic, b"mine", key=b"k")
    copy.target += 1
    proof = prover.prove(copy, compacted=False)
    assert not proof.holds and proof.records == (4, 5)
    copy.source, copy.target = copier.copies[both.partition].source, 3
    assert prover.prove(copy, compacted=False).holds


def test_it_begins_behind_what_either_side_has_lost(both: Both) -> None:
    both.write("a", "b", "c")
    copy = both.copy().copies[both.partition]
    both.target.admin.delete_records({both.partition: 2})

    proof = Prover(both.source, both.target).prove(copy, compacted=False)

    assert proof.holds and proof.records == (1, 1) and proof.source == (2, 3)


def test_sides_that_were_compacted_at_different_times_are_compared_by_key(both: Both) -> None:
    both.write("a", "b")
    copy = both.copy().copies[both.partition]
    both.target.admin.delete_records({both.partition: 1})
    copy.map.stretches[0] = copy.map.first._replace(source=0, target=1)  # as if "a" were compacted away

    proof = Prover(both.source, both.target).prove(copy, compacted=True)

    assert proof.compared == BY_KEY
    assert proof.holds and proof.records == (1, 1)
