"""The protocol, story by story. Every interleaving of them: tests/properties/test_spark_commits.py."""

from __future__ import annotations

from typing import Any

import pytest

from andiron.client.core.outbox import ProducerIdentity
from andiron.model.ids import TopicPartition
from andiron.spark.sink import commit_protocol, ledger_request
from andiron.spark.sink.commit_protocol import BatchWrite, PreparedBatch
from andiron.spark.sink.decision import Participant, Pointer, SinkError, participant_id
from andiron.spark.sink.ledger_request import Procedure
from worlds.committing import SINK, Cluster, Holding

RUN = "run"


class World:
    """A cluster, and what was asked of it."""

    def __init__(self) -> None:
        self.cluster = Cluster()
        self.asked: list[Any] = []

    def perform(self, procedure: Procedure[Any], *, stop_at: type | None = None) -> Any:
        """To the end, or until something is about to be asked, as by a process that dies there."""
        answer = None
        try:
            while True:
                ask = procedure.send(answer)
                if stop_at is not None and isinstance(ask, stop_at):
                    return None
                self.asked.append(ask)
                answer = self.cluster.answer(ask)
                self.cluster.markers_arrive()
        except StopIteration as end:
            return end.value

    def admitted(self, batch: int = 0, run: str = RUN, writer: str = "") -> Pointer | None:
        found: Pointer | None = self.perform(
            commit_protocol.admit(BatchWrite(SINK, batch, run, writer), first=True)
        )
        return found

    def entered(self, batch: int = 0, run: str = RUN, writer: str = "") -> Pointer:
        pointer = self.admitted(batch, run, writer)
        assert pointer is not None, "it is to be written"
        return pointer

    def prepared(self, pointer: Pointer, name: str = "w", rows: int = 1, digest: str = "") -> Participant:
        transactional_id = participant_id(SINK, pointer.term, name)
        identity = self.cluster.answer(ledger_request.AbortTransaction(transactional_id))
        self.cluster.holdings[transactional_id] = Holding(
            identity, "Ongoing", [(0, len(self.cluster.holdings))] * rows
        )
        return Participant(name, identity, rows, digest)

    def decide(self, batch: int, pointer: Pointer, *participants: Participant, **more: Any) -> None:
        told = PreparedBatch(participants, {pointer.term}, **more)
        self.perform(commit_protocol.decide(BatchWrite(SINK, batch, pointer.run), told))


@pytest.fixture
def world() -> World:
    return World()


def test_the_first_task_registers_its_run(world: World) -> None:
    pointer = world.entered()
    assert (pointer.run, pointer.batch, pointer.term) == (RUN, -1, "0.0")
    assert world.cluster.pointer == pointer


def test_others_wait_for_it(world: World) -> None:
    procedure = commit_protocol.admit(BatchWrite(SINK, 0, RUN), first=False)

    assert isinstance(procedure.send(None), ledger_request.ReadPointer)
    assert isinstance(procedure.send(None), ledger_request.Pause)
    assert isinstance(procedure.send(None), ledger_request.ReadPointer)
    with pytest.raises(StopIteration) as end:
        procedure.send(Pointer(run=RUN, term="0.0"))
    assert end.value.value.term == "0.0"


def test_but_not_for_ever(world: World) -> None:
    pointer = world.perform(commit_protocol.admit(BatchWrite(SINK, 0, RUN), first=False))

    assert pointer.run == RUN
    assert sum(isinstance(ask, ledger_request.Pause) for ask in world.asked) == commit_protocol.WAITS


def test_a_batch_counts_from_its_decision_on(world: World) -> None:
    pointer = world.entered()
    first, second = world.prepared(pointer, "a"), world.prepared(pointer, "b")

    world.decide(0, pointer, first, second, rows={"out": 2})

    assert sum(world.cluster.rows.values()) == 2
    (decision,) = world.cluster.topic
    assert decision.participants == (first, second)
    assert decision.rows == {"out": 2}
    assert world.cluster.pointer == pointer.decided(0, 0, "")


def test_nothing_counts_before_it(world: World) -> None:
    pointer = world.entered()
    told = PreparedBatch([world.prepared(pointer)], {pointer.term})

    world.perform(commit_protocol.decide(BatchWrite(SINK, 0, RUN), told), stop_at=ledger_request.WritePointer)

    assert not world.cluster.rows
    assert world.admitted(0, "next") is not None, "the next run writes it again"
    assert world.cluster.open_ids() == [], "and has aborted what was there"


def test_what_was_decided_is_finished_by_the_next_run(world: World) -> None:
    pointer = world.entered()
    told = PreparedBatch([world.prepared(pointer, "a"), world.prepared(pointer, "b")], {pointer.term})

    world.perform(
        commit_protocol.decide(BatchWrite(SINK, 0, RUN), told), stop_at=ledger_request.CommitParticipant
    )
    assert not world.cluster.rows
    assert world.admitted(0, "next") is None, "there is nothing to write"

    assert sum(world.cluster.rows.values()) == 2


def test_a_driver_that_finds_the_batch_decided_finishes_it(world: World) -> None:
    pointer = world.entered()
    told = PreparedBatch([world.prepared(pointer)], {pointer.term})
    world.perform(
        commit_protocol.decide(BatchWrite(SINK, 0, RUN), told), stop_at=ledger_request.CommitParticipant
    )

    world.perform(commit_protocol.decide(BatchWrite(SINK, 0, "next"), PreparedBatch([], [], skipped=True)))

    assert sum(world.cluster.rows.values()) == 1


def test_attempts_that_did_not_count_are_aborted_with_the_decision(world: World) -> None:
    pointer = world.entered()
    winner, twin = world.prepared(pointer, "winner"), world.prepared(pointer, "twin")

    world.decide(0, pointer, winner)

    assert world.cluster.open_ids() == []
    assert ledger_request.AbortTransaction(twin.transactional_id(SINK, pointer.term)) in world.asked


def test_offsets_of_a_group_are_decided_with_the_batch_even_if_it_is_empty(world: World) -> None:
    pointer = world.entered()
    offsets = {"group": {TopicPartition("in", 0): 17}}

    world.decide(0, pointer, groups=offsets)

    (record,) = [
        ask
        for ask in world.asked
        if isinstance(ask, ledger_request.WritePointer) and ask.decision is not None
    ]
    assert record.groups == offsets


def test_of_an_empty_batch_there_is_nothing_to_decide(world: World) -> None:
    pointer = world.entered()

    world.decide(0, pointer)

    assert not world.cluster.topic


def test_a_run_that_was_superseded_is_told_so(world: World) -> None:
    old = world.entered(0, "old")
    participant = world.prepared(old)
    world.admitted(0, "new")

    with pytest.raises(SinkError, match="run old was superseded by run new"):
        world.decide(0, old, participant)
    with pytest.raises(SinkError, match="run old was superseded by run new"):
        world.admitted(0, "old")
    assert not world.cluster.rows


def test_a_task_that_was_superseded_is_not_wanted(world: World) -> None:
    old = world.entered(0, "old")
    write = BatchWrite(SINK, 0, "old")
    assert world.perform(commit_protocol.is_wanted(write, old.term))

    world.admitted(0, "new")

    assert not world.perform(commit_protocol.is_wanted(write, old.term))


def test_what_an_administrator_has_aborted_fails_the_batch(world: World) -> None:
    pointer = world.entered()
    participant = world.prepared(pointer)
    world.cluster.answer(ledger_request.AbortTransaction(participant.transactional_id(SINK, pointer.term)))

    with pytest.raises(SinkError, match="was aborted before the batch was complete"):
        world.decide(0, pointer, participant)
    assert not world.cluster.topic


@pytest.mark.parametrize("forgiving", [False, True])
def test_what_was_decided_and_then_lost_is_said_aloud(world: World, forgiving: bool) -> None:
    pointer = world.entered()
    participant = world.prepared(pointer, rows=5)
    told = PreparedBatch([participant], {pointer.term})
    world.perform(
        commit_protocol.decide(BatchWrite(SINK, 0, RUN), told), stop_at=ledger_request.CommitParticipant
    )
    name = participant.transactional_id(SINK, pointer.term)
    world.cluster.has_timeouts = True
    world.cluster.holdings[name] = Holding(ProducerIdentity(participant.identity.id, 99))

    if forgiving:
        world.perform(commit_protocol.register(BatchWrite(SINK, 0, "next"), forgiving=True))
    else:
        with pytest.raises(SinkError, match="batch 0 counts, and 5 rows of it are lost"):
            world.perform(commit_protocol.register(BatchWrite(SINK, 0, "next")))


def test_an_older_checkpoint_than_the_output_is_refused(world: World) -> None:
    for batch in range(3):
        pointer = world.entered(batch)
        world.decide(batch, pointer, world.prepared(pointer, f"w{batch}"))

    with pytest.raises(SinkError, match="batch 1 is to be written, and 2 was already"):
        world.admitted(1, "restored")


def test_two_writes_of_one_batch_need_two_ids(world: World) -> None:
    pointer = world.entered(0, writer="first")
    told = PreparedBatch([world.prepared(pointer)], {pointer.term})
    world.perform(commit_protocol.decide(BatchWrite(SINK, 0, RUN, "first"), told))

    with pytest.raises(
        SinkError, match=r"written twice in one run; give each write in foreachBatch\s+a sink.id"
    ):
        world.admitted(0, writer="second")
    assert world.admitted(0, "next", writer="third") is None, "in the next run it is the same batch again"


def test_tasks_that_found_the_batch_decided_do_not_mix_with_others(world: World) -> None:
    pointer = world.entered()

    with pytest.raises(SinkError, match="was decided when it was written, and is not any more"):
        world.decide(0, pointer, world.prepared(pointer), skipped=True)


def test_a_pointer_that_expired_is_found_again(world: World) -> None:
    pointer = world.entered()
    world.decide(0, pointer, world.prepared(pointer))
    world.cluster.lose_pointer()

    assert world.admitted(0, "next") is None
    assert world.cluster.pointer is not None
    assert (world.cluster.pointer.batch, world.cluster.pointer.run) == (0, "next")


def test_decisions_that_are_gone_are_missed(world: World) -> None:
    pointer = world.entered()
    world.decide(0, pointer, world.prepared(pointer))
    world.cluster.pointer, world.cluster.topic = None, []

    with pytest.raises(SinkError, match="it has made decisions, and they are gone"):
        world.admitted(1, "next")


def test_undone_is_what_does_not_count(world: World) -> None:
    pointer = world.entered()
    participant = world.prepared(pointer)
    write, told = BatchWrite(SINK, 0, RUN), PreparedBatch([participant], {pointer.term})

    world.perform(commit_protocol.undo(write, told))

    assert world.cluster.open_ids() == []


def test_what_counts_is_not_undone(world: World) -> None:
    pointer = world.entered()
    participant = world.prepared(pointer)
    write, told = BatchWrite(SINK, 0, RUN), PreparedBatch([participant], {pointer.term})
    world.perform(commit_protocol.decide(write, told), stop_at=ledger_request.CommitParticipant)

    world.perform(commit_protocol.undo(write, told))

    assert len(world.cluster.open_ids()) == 1
