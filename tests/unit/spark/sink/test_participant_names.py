"""A name is used again only when what was written under it is over."""

from __future__ import annotations

import pytest

from andiron.spark.sink.decision import Pointer, Sink, SinkError
from andiron.spark.sink.participant_names import ParticipantNames

SINK = Sink("q")


def pointer(term: str = "1.0", turn: int = 0) -> Pointer:
    return Pointer(term=term, turn=turn)


def test_tasks_of_one_batch_have_different_names() -> None:
    slots = ParticipantNames("w")

    assert [slots.next_name(SINK, pointer(), 0) for _ in range(3)] == ["w.0.0", "w.1.0", "w.2.0"]


def test_the_next_batch_begins_with_the_first_slot_in_the_other_turn() -> None:
    slots = ParticipantNames("w")
    slots.next_name(SINK, pointer(), 0)

    assert slots.next_name(SINK, pointer(turn=1), 1) == "w.0.1"


def test_another_term_begins_anew() -> None:
    slots = ParticipantNames("w")
    slots.next_name(SINK, pointer(), 5)

    assert slots.next_name(SINK, pointer("1.1"), 5) == "w.0.0"


def test_sinks_do_not_disturb_each_other() -> None:
    slots = ParticipantNames("w")
    slots.next_name(SINK, pointer(), 5)

    assert slots.next_name(Sink("q", "other"), pointer(), 3) == "w.0.0"


def test_a_task_of_a_batch_that_is_over_gets_no_name() -> None:
    slots = ParticipantNames("w")
    slots.next_name(SINK, pointer(), 5)

    with pytest.raises(SinkError, match="a task of batch 4 comes too late, 5 is being written"):
        slots.next_name(SINK, pointer(), 4)
