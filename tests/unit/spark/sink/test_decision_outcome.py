"""What was decided and is lost, without two-phase commit: found, written again, and nothing else with it."""

from __future__ import annotations

import pytest

from andiron.spark.sink import commit_protocol, ledger_request
from andiron.spark.sink.commit_protocol import BatchWrite, PreparedBatch
from andiron.spark.sink.decision import SinkError
from unit.spark.sink.test_commit_protocol import RUN, World
from worlds.committing import SINK


@pytest.fixture
def world() -> World:
    return World()


def with_a_loss(world: World, rows: int = 5) -> None:
    """A batch of two parts, decided; one is committed when the driver dies, the other aborted by its timeout."""
    pointer = world.entered()
    parts = [world.prepared(pointer, "a", 1, "one"), world.prepared(pointer, "b", rows, "five")]
    procedure = commit_protocol.decide(BatchWrite(SINK, 0, RUN), PreparedBatch(parts, {pointer.term}))
    world.perform(procedure, stop_at=ledger_request.CommitParticipant)
    world.cluster.has_timeouts = True
    world.cluster.answer(
        ledger_request.CommitParticipant(parts[0].transactional_id(SINK, pointer.term), parts[0].identity)
    )
    world.cluster.time_out(parts[1].transactional_id(SINK, pointer.term))


def test_what_was_lost_is_written_again_and_nothing_else(world: World) -> None:
    with_a_loss(world)

    pointer = world.entered(0, "next")
    assert pointer.mending
    anew = [world.prepared(pointer, "x", 1, "one"), world.prepared(pointer, "y", 5, "five")]
    world.decide(0, pointer, *anew)

    assert sum(world.cluster.rows.values()) == 1 + 5
    assert world.cluster.open_ids() == []
    assert world.cluster.topic[-1].participants == (anew[1],)
    assert world.admitted(0, "after that") is None, "it is whole now"


def test_whoever_comes_next_goes_on_mending(world: World) -> None:
    with_a_loss(world)
    world.entered(0, "next")

    pointer = world.entered(0, "the one after")
    assert pointer.mending
    world.decide(0, pointer, world.prepared(pointer, "z", 5, "five"))

    assert sum(world.cluster.rows.values()) == 6


def test_what_is_lost_again_is_written_once_more(world: World) -> None:
    with_a_loss(world)
    pointer = world.entered(0, "next")
    again = world.prepared(pointer, "y", 5, "five")
    procedure = commit_protocol.decide(BatchWrite(SINK, 0, "next"), PreparedBatch([again], {pointer.term}))
    world.perform(procedure, stop_at=ledger_request.CommitParticipant)
    world.cluster.time_out(again.transactional_id(SINK, pointer.term))

    pointer = world.entered(0, "third")
    world.decide(0, pointer, world.prepared(pointer, "z", 5, "five"))

    assert sum(world.cluster.rows.values()) == 6


def test_a_driver_that_finds_rows_lost_says_that_the_next_start_writes_them(world: World) -> None:
    pointer = world.entered()
    part = world.prepared(pointer, "a", 5, "five")
    procedure = commit_protocol.decide(BatchWrite(SINK, 0, RUN), PreparedBatch([part], {pointer.term}))
    world.perform(procedure, stop_at=ledger_request.CommitParticipant)
    world.cluster.has_timeouts = True
    world.cluster.time_out(part.transactional_id(SINK, pointer.term))

    with pytest.raises(SinkError, match="start the query again, which writes these 5 rows again"):
        world.perform(commit_protocol.settle(BatchWrite(SINK, 0, RUN)))


def test_a_batch_that_is_not_the_same_again_cannot_be_mended(world: World) -> None:
    with_a_loss(world)
    pointer = world.entered(0, "next")

    with pytest.raises(SinkError, match=r"5 rows of it are lost: .* no task had the same rows"):
        world.decide(0, pointer, world.prepared(pointer, "x", 6, "all in one"))
    assert sum(world.cluster.rows.values()) == 1
    with pytest.raises(SinkError, match="5 rows of it are lost"):
        world.decide(0, pointer)


def test_one_may_go_on_without_what_was_lost(world: World) -> None:
    with_a_loss(world)
    world.entered(0, "next")

    assert (
        world.perform(commit_protocol.admit(BatchWrite(SINK, 0, "forgiving"), first=True, forgiving=True))
        is None
    )
    assert world.admitted(1, "later") is not None


def test_the_next_batch_does_not_begin_before_what_was_lost_is_there(world: World) -> None:
    with_a_loss(world)

    with pytest.raises(SinkError, match="rows of batch 0 were lost and are to be written again"):
        world.admitted(1, "next")


def test_what_was_written_again_and_is_not_decided_is_undone(world: World) -> None:
    with_a_loss(world)
    pointer = world.entered(0, "next")
    write, told = (
        BatchWrite(SINK, 0, "next"),
        PreparedBatch([world.prepared(pointer, "y", 5, "five")], {pointer.term}),
    )
    assert world.perform(commit_protocol.is_wanted(write, pointer.term))

    world.perform(commit_protocol.undo(write, told))

    assert world.cluster.open_ids() == []


def test_how_a_transaction_ended_is_not_guessed_where_its_batch_is_run_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    pointer = world.entered()
    world.decide(0, pointer, world.prepared(pointer, "a", 5, "five"))
    monkeypatch.setattr(world.cluster, "_finish", lambda name, identity: None)

    with pytest.raises(SinkError, match="nobody knows any more whether 5 rows of batch 0"):
        world.admitted(0, "next")
    assert world.admitted(1, "next") is not None, "Spark knew that the batch was done"
