"""Decisions and pointers are written down and read again; names are told apart."""

from __future__ import annotations

import pytest

from andiron.client.core.outbox import ProducerIdentity
from andiron.spark.sink.decision import (
    REMEMBERED_RUNS,
    Decision,
    Participant,
    Pointer,
    Sink,
    SinkError,
    participant_id,
    term_of,
)

DECISION = Decision(7, "run", "3.1", (Participant("w.0.1", ProducerIdentity(12, 4), 100),), {"out": 100})


def test_a_decision_is_read_as_it_was_written() -> None:
    assert Decision.of_json(DECISION.to_json()) == DECISION
    assert b"lost" not in DECISION.to_json(), "which versions that do not know it would not read"


def test_what_is_lost_is_read_with_its_digest() -> None:
    lost = Decision(7, "run", "3.1", (), {}, (Participant("w.0.1", ProducerIdentity(12, 4), 100, "abc"),))

    assert Decision.of_json(lost.to_json()) == lost
    assert Pointer.found(23, lost).mending


def test_a_batch_is_awaited_until_it_is_decided_and_again_while_it_is_mended() -> None:
    pointer = Pointer().decided(7, 23, "")

    assert [pointer.awaits(batch) for batch in (6, 7, 8)] == [False, False, True]
    mending = pointer.decided(7, 24, "", mending=True)
    assert [mending.awaits(batch) for batch in (6, 7, 8)] == [False, True, True]
    assert Pointer.of_metadata(24, mending.to_metadata()) == mending


def test_a_pointer_is_read_as_it_was_written() -> None:
    pointer = Pointer(7, 23, "run", "3.1", 1, "run", "writer", ("older", "old"))

    assert Pointer.of_metadata(23, pointer.to_metadata()) == pointer


@pytest.mark.parametrize("text", ["", "no JSON", "[]", "{}", '{"batch": 1}'])
def test_what_somebody_else_wrote_is_said_to_be_that(text: str) -> None:
    with pytest.raises(SinkError, match="was not written by this sink"):
        Pointer.of_metadata(0, text)
    with pytest.raises(SinkError, match="was not written by this sink"):
        Decision.of_json(text.encode())


def test_a_pointer_fits_into_the_metadata_of_an_offset_with_all_it_remembers() -> None:
    run = "application_1700000000000_0001/6ba7b810-9dad-11d1-80b4-00c04fd430c8"
    pointer = Pointer(2**40, 2**60, run, "9" * 25, 1, run, "f" * 16, (run,) * REMEMBERED_RUNS)

    assert len(pointer.to_metadata()) < 1500  # a broker takes 4096, unless told otherwise


def test_whoever_registers_is_followed_by_nobody_who_was_superseded() -> None:
    pointer = Pointer(4, 17, turn=1, decided_by="a").registered("a", "1.0").registered("b", "1.1")

    assert (pointer.run, pointer.term, pointer.before) == ("b", "1.1", ("a",))
    assert (pointer.batch, pointer.offset, pointer.turn, pointer.decided_by) == (4, 17, 1, "a")
    assert pointer.registered("b", "1.2").before == ("a",), "a run does not supersede itself"


def test_the_last_runs_are_remembered_and_no_more() -> None:
    pointer = Pointer()
    for number in range(20):
        pointer = pointer.registered(f"run{number}", f"0.{number}")

    assert pointer.before == tuple(f"run{number}" for number in range(19 - REMEMBERED_RUNS, 19))


def test_with_each_decision_the_turn_changes() -> None:
    pointer = Pointer().registered("run", "1.0")
    first = pointer.decided(0, 10, "")
    second = first.decided(1, 11, "w")

    assert (pointer.turn, first.turn, second.turn) == (0, 1, 0)
    assert (second.batch, second.offset, second.decided_by, second.writer) == (1, 11, "run", "w")
    assert second.term == "1.0"


def test_a_pointer_found_again_has_nobody_registered() -> None:
    pointer = Pointer.found(23, DECISION)

    assert (pointer.batch, pointer.offset, pointer.run, pointer.term) == (7, 23, "", "")


def test_sinks_of_one_query_are_told_apart() -> None:
    first, second = Sink("q"), Sink("q", "audit")

    assert (first.key, second.key) == ("q", "q:audit")
    assert (first.decider, second.decider) == ("andiron-spark-q", "andiron-spark-q:audit")
    assert not second.decider.startswith(first.participants)
    assert participant_id(first, "3.1", "w.0.0") == "andiron-spark-q/3.1/w.0.0"
    assert str(second) == "query q, sink audit"


def test_a_term_is_named_by_the_identity_of_the_decider() -> None:
    assert term_of(ProducerIdentity(3, 1)) == "3.1"
