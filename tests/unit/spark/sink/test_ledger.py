"""A cluster answers what the protocol asks: against a node, since what counts is what that remembers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from andiron.client.blocking.group_admin import GroupAdmin
from andiron.client.blocking.transaction import Transaction
from andiron.client.core.outbox import ProducerIdentity
from andiron.model.errors import ErrorCode, Fenced, ProtocolError
from andiron.model.ids import TopicPartition
from andiron.spark import steps
from andiron.spark.sink import ledger as module
from andiron.spark.sink.decision import DECISIONS, Decision, Participant, Pointer, Sink
from andiron.spark.sink.ledger import Ledger
from andiron.spark.sink.ledger_request import (
    AbortTransaction,
    AcquireDecider,
    CommitParticipant,
    FindDecision,
    HasDecided,
    IsDeciderTaken,
    ListOpen,
    Pause,
    Procedure,
    ReachStep,
    ReadDecision,
    ReadPointer,
    WritePointer,
)
from peers.waiting import eventually
from unit.spark.sinking import Field, node_in


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    with node_in(tmp_path_factory.mktemp("node")) as node, contextlib.closing(Field(node)) as made:
        yield made


@pytest.fixture
def ledger(field: Field) -> Ledger:
    return Ledger(field.client)


@pytest.fixture
def sink(field: Field) -> Sink:
    return Sink(field.new_query())


def registered(ledger: Ledger, sink: Sink, run: str = "run") -> Pointer:
    identity = ledger.answer(AcquireDecider(sink))
    pointer: Pointer = ledger.answer(WritePointer(sink, identity, Pointer().registered(run, "0.0")))
    return pointer


def decided(ledger: Ledger, sink: Sink, batch: int) -> tuple[Decision, Pointer]:
    decision = Decision(batch, "run", "0.0", (Participant("w.0.0", ProducerIdentity(1, 0), 5),), {"out": 5})
    identity = ledger.answer(AcquireDecider(sink))
    pointer: Pointer = ledger.answer(
        WritePointer(sink, identity, Pointer(run="run", term="0.0"), decision, "writer")
    )
    return decision, pointer


def looked(ledger: Ledger, sink: Sink) -> Pointer | None:
    pointer: Pointer | None = ledger.answer(ReadPointer(sink))
    return pointer


def test_at_first_there_is_nothing(ledger: Ledger, sink: Sink) -> None:
    assert looked(ledger, sink) is None
    assert ledger.answer(FindDecision(sink)) is None
    assert ledger.answer(HasDecided(sink)) is False
    assert ledger.answer(IsDeciderTaken(sink)) is False
    assert ledger.answer(ListOpen(sink)) == {}


def test_who_has_registered_is_seen(ledger: Ledger, sink: Sink) -> None:
    pointer = registered(ledger, sink)

    eventually(lambda: looked(ledger, sink) == pointer)
    assert ledger.answer(HasDecided(sink)) is True
    assert ledger.answer(IsDeciderTaken(sink)) is True


def test_a_decision_and_its_pointer_are_one(ledger: Ledger, sink: Sink) -> None:
    registered(ledger, sink)
    decision, pointer = decided(ledger, sink, 4)

    eventually(lambda: looked(ledger, sink) == pointer)
    assert (pointer.batch, pointer.writer, pointer.turn) == (4, "writer", 1)
    assert ledger.answer(ReadDecision(sink, pointer.offset)) == decision
    assert ledger.answer(FindDecision(sink)) == (pointer.offset, decision)


def test_decisions_of_others_are_not_taken_for_ours(ledger: Ledger, field: Field, sink: Sink) -> None:
    registered(ledger, sink)
    _, pointer = decided(ledger, sink, 4)
    other = Sink(field.new_query())

    assert ledger.answer(ReadDecision(other, pointer.offset)) is None
    assert ledger.answer(ReadDecision(sink, pointer.offset + 1000)) is None
    assert ledger.answer(FindDecision(other)) is None


def test_of_several_decisions_the_newest_is_found(ledger: Ledger, sink: Sink) -> None:
    registered(ledger, sink)
    decided(ledger, sink, 1)
    decision, pointer = decided(ledger, sink, 2)

    assert ledger.answer(FindDecision(sink)) == (pointer.offset, decision)


def test_whoever_takes_the_decider_fences_who_had_it(ledger: Ledger, field: Field, sink: Sink) -> None:
    registered(ledger, sink)
    identity = ledger.answer(AcquireDecider(sink))
    Ledger(field.client).answer(AcquireDecider(sink))

    with pytest.raises(Fenced):
        ledger.answer(WritePointer(sink, identity, Pointer(run="late", term="0.1")))
    pointer = looked(ledger, sink)
    assert pointer is not None
    assert pointer.run == "run"


def test_two_that_name_the_same_identity_would_both_get_the_next(field: Field, sink: Sink) -> None:
    """Why the decider is taken as a newcomer."""
    first, second = (Transaction(field.client, sink.decider) for _ in range(2))
    held = first.initiate().identity

    assert first.initiate(held).identity == second.initiate(held).identity


def test_offsets_of_other_groups_are_committed_with_it(ledger: Ledger, field: Field, sink: Sink) -> None:
    registered(ledger, sink)
    topic = field.topics.make(2)
    offsets = {TopicPartition(topic, 0): 17, TopicPartition(topic, 1): 4}
    decision = Decision(0, "run", "0.0", ())
    identity = ledger.answer(AcquireDecider(sink))
    ledger.answer(
        WritePointer(sink, identity, Pointer(run="run"), decision, groups={"progress-of-q": offsets})
    )

    def told() -> dict[TopicPartition, int]:
        return {at: each.offset for at, each in GroupAdmin(field.client).committed("progress-of-q").items()}

    eventually(lambda: told() == offsets)


def participant(field: Field, sink: Sink, name: str = "0.0/w.0.0") -> Transaction:
    """With a row in a topic of its own."""
    topic = field.topics.make()
    transaction = Transaction(field.client, sink.participants + name, timeout_ms=60_000, two_phase=True)
    transaction.initiate()
    transaction.begin()
    transaction.add([TopicPartition(topic, 0)])
    return transaction


def test_what_is_open_is_listed_for_its_own_sink_alone(ledger: Ledger, field: Field, sink: Sink) -> None:
    mine = participant(field, sink)
    participant(field, Sink(sink.query, "other"))

    assert ledger.answer(ListOpen(sink)) == {mine.id: mine.identity.id}


def test_a_participant_is_committed_once_however_often_it_is_said(
    ledger: Ledger, field: Field, sink: Sink
) -> None:
    mine = participant(field, sink)

    assert ledger.answer(CommitParticipant(mine.id, mine.identity)) is True
    assert ledger.answer(CommitParticipant(mine.id, mine.identity)) is True
    eventually(lambda: field.state(mine.id) == "CompleteCommit")


def test_one_that_was_aborted_cannot_be_committed(ledger: Ledger, field: Field, sink: Sink) -> None:
    taken, ended = participant(field, sink, "0.0/taken"), participant(field, sink, "0.0/ended")
    ledger.answer(AbortTransaction(taken.id))
    ended.abort()

    assert ledger.answer(CommitParticipant(taken.id, taken.identity)) is False
    assert ledger.answer(CommitParticipant(ended.id, ended.identity)) is False
    assert ledger.answer(ListOpen(sink)) == {}


def test_of_one_that_was_forgotten_nobody_knows_how_it_ended(ledger: Ledger, sink: Sink) -> None:
    assert (
        ledger.answer(CommitParticipant(f"{sink.participants}0.0/forgotten", ProducerIdentity(4711, 0)))
        is None
    )


def test_the_topic_is_compacted(ledger: Ledger, field: Field, sink: Sink) -> None:
    registered(ledger, sink)

    configs = field.topics.client.describe_configs(DECISIONS.topic)
    assert configs["cleanup.policy"] == "compact"


def test_steps_are_passed_on(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    passed = []
    monkeypatch.setattr(steps, "reached", lambda step, batch: passed.append((step, batch)))

    ledger.answer(ReachStep("after_decision", 3))

    assert passed == [("after_decision", 3)]


def test_pauses_grow_and_end(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(module.time, "sleep", pauses.append)

    for times in range(50):
        ledger.answer(Pause(times))

    assert 0.02 < pauses[0] < 0.08
    assert max(pauses) <= module.PAUSE_MS_MAX * 1.5 / 1000


def test_an_error_is_told_to_whoever_asked(ledger: Ledger, field: Field, sink: Sink) -> None:
    def procedure() -> Procedure[str]:
        identity = yield AcquireDecider(sink)
        Ledger(field.client).answer(AcquireDecider(sink))
        try:
            yield WritePointer(sink, identity, Pointer())
        except ProtocolError as error:
            return error.code.name
        return "nothing"

    assert ledger.perform(procedure()) == ErrorCode.PRODUCER_FENCED.name
