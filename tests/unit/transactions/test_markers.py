"""Which markers are owed, taken, put back and written."""

from __future__ import annotations

from andiron.model.ids import Millis, Offset
from andiron.transactions.markers import OwedMarkers
from andiron.transactions.requests import Markers
from andiron.transactions.states import State
from andiron.transactions.transaction import Identity, Transaction
from worlds.transacting import A, B, C

NOW = Millis(9)
END = Offset(100)
PRODUCER = Identity(7, 3)


def owing(*partitions, at: int = 5, gone: tuple[str, ...] = (), name: str = "t") -> OwedMarkers:
    owed = OwedMarkers(4, lambda topic, _: topic not in gone)
    owed.replay(decided(*partitions, name=name), Offset(at))
    return owed


def decided(*partitions, name: str = "t", committed: bool = True) -> Transaction:
    state = State.PREPARE_COMMIT if committed else State.PREPARE_ABORT
    return Transaction(name, PRODUCER, state, 1, NOW, NOW, dict.fromkeys(partitions), version=2)


def test_markers_say_how_it_ended_and_who_says_so():
    assert owing(A, B).take(END) == [Markers("t", 7, 3, True, 4, (A, B), 2)]


def test_they_go_out_when_their_record_is_committed_and_once():
    owed = owing(A, at=5)

    assert owed.take(Offset(5)) == []
    assert len(owed.take(Offset(6))) == 1
    assert owed.take(Offset(6)) == []


def test_all_must_be_written():
    owed = owing(A, B, C)
    owed.take(END)

    assert not owed.written("t", PRODUCER, [A])
    assert not owed.written("t", PRODUCER, [A, B])
    assert owed.written("t", PRODUCER, [C])
    assert owed.written("t", PRODUCER, [C]), "until the log says so it can be asked again"


def test_what_is_put_back_is_given_again():
    owed = owing(A, B)
    (markers,) = owed.take(END)
    owed.put_back(markers._replace(partitions=(B,)))

    assert [again.partitions for again in owed.take(END)] == [(B,)]
    assert not owed.written("t", PRODUCER, [A])
    assert owed.written("t", PRODUCER, [B])


def test_what_was_written_and_is_put_back_all_the_same_is_not_given_again():
    owed = owing(A, B)
    (markers,) = owed.take(END)
    owed.written("t", PRODUCER, [A])
    owed.put_back(markers)

    assert [again.partitions for again in owed.take(END)] == [(B,)]


def test_what_is_put_back_may_have_been_written_after_all():
    owed = owing(A)
    (markers,) = owed.take(END)
    owed.put_back(markers)

    assert owed.written("t", PRODUCER, [A])


def test_a_partition_that_is_gone_has_nothing_to_be_told():
    owed = owing(A, C, gone=("b",))

    assert [markers.partitions for markers in owed.take(END)] == [(A,)]
    assert owed.written("t", PRODUCER, [A])


def test_when_all_are_gone_there_is_nothing_to_write_and_that_is_told():
    owed = owing(A, gone=("a",))

    (markers,) = owed.take(END)
    assert markers.partitions == ()
    assert owed.take(END) == []
    owed.put_back(markers)
    assert owed.take(END) == [markers]
    assert owed.written("t", PRODUCER, [])


def test_a_partition_may_go_while_its_marker_waits():
    gone: dict[str, None] = {}
    owed = OwedMarkers(4, lambda topic, _: topic not in gone)
    owed.replay(decided(A, C), Offset(5))
    (markers,) = owed.take(END)
    gone["b"] = None
    owed.put_back(markers._replace(partitions=(C,)))

    assert owed.take(END) == [], "the other is on its way"
    assert owed.written("t", PRODUCER, [A])


def test_what_is_said_of_another_transaction_does_not_count():
    owed = owing(A)
    (markers,) = owed.take(END)

    assert not owed.written("t", Identity(7, 2), [A])
    assert not owed.written("u", PRODUCER, [A])
    owed.put_back(markers._replace(producer_epoch=2))
    assert owed.take(END) == []


def test_a_transaction_that_is_complete_owes_nothing():
    owed = owing(A)
    owed.replay(decided(A).completed(NOW), Offset(6))

    assert (len(owed), owed.take(END)) == (0, [])
    assert not owed.written("t", PRODUCER, [A])


def test_an_id_that_is_forgotten_owes_nothing():
    owed = owing(A)
    owed.forget("t")

    assert (len(owed), owed.take(END)) == (0, [])


def test_those_decided_first_come_first():
    owed = owing(A, at=5, name="t")
    owed.replay(decided(B, name="u", committed=False), Offset(6))
    owed.replay(decided(C, name="v"), Offset(7))

    assert [(m.transactional_id, m.committed) for m in owed.take(Offset(7))] == [("t", True), ("u", False)]
