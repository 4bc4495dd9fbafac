"""A request to the ledger: what commit_protocol.py asks for, one thing at a time, and what it is answered.

A `Procedure` is a generator of these: it is sent the answer to each, or has an error thrown at it, and returns
when it is done. It has no socket and no clock, so that a test can stop it anywhere.

Read next: commit_protocol.py for who asks what, ledger.py for how a cluster answers.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias, TypeVar

from andiron.client.core.outbox import ProducerIdentity
from andiron.model.ids import TopicPartition
from andiron.spark.sink.decision import Decision, Pointer, Sink

T = TypeVar("T")
GroupOffsets: TypeAlias = Mapping[TopicPartition, int]


class ReadPointer(NamedTuple):
    """Read the pointer: how far the sink is. → Pointer | None"""

    sink: Sink


class ReadDecision(NamedTuple):
    """Read the decision at an offset of the topic. → Decision | None if it is not there any more"""

    sink: Sink
    offset: int


class FindDecision(NamedTuple):
    """Find the newest decision in the topic, where there is no pointer. → (offset, Decision) | None"""

    sink: Sink


class HasDecided(NamedTuple):
    """Whether the decider's last transaction was committed, so that there must be a pointer. → bool"""

    sink: Sink


class IsDeciderTaken(NamedTuple):
    """Whether anybody has ever taken the decider, the sink's own transactional id. → bool"""

    sink: Sink


class AcquireDecider(NamedTuple):
    """Take the decider; what another has begun under it is aborted. → ProducerIdentity"""

    sink: Sink


class ListOpen(NamedTuple):
    """List the participants whose transaction is open, with their producer ids. → dict[str, int]"""

    sink: Sink


@dataclass(frozen=True, slots=True)
class WritePointer:
    """Change the pointer, in a transaction of the decider with all the rest. → Pointer; raises Fenced

    With a decision, the pointer given is the one before it.
    """

    sink: Sink
    identity: ProducerIdentity
    pointer: Pointer
    decision: Decision | None = None
    writer: str = ""
    groups: Mapping[str, GroupOffsets] = field(default_factory=dict)


class CommitParticipant(NamedTuple):
    """Commit a participant. → False if it was aborted, None if nobody knows any more"""

    id: str
    identity: ProducerIdentity


class AbortTransaction(NamedTuple):
    """Abort the open transaction of a transactional id."""

    id: str


class Pause(NamedTuple):
    """Pause before the next attempt; the more attempts, the longer."""

    times: int


class ReachStep(NamedTuple):
    """Say that a step was reached."""

    step: str
    batch: int


LedgerRequest: TypeAlias = (
    ReadPointer
    | ReadDecision
    | FindDecision
    | HasDecided
    | IsDeciderTaken
    | AcquireDecider
    | ListOpen
    | WritePointer
    | CommitParticipant
    | AbortTransaction
    | Pause
    | ReachStep
)
Procedure: TypeAlias = Generator[LedgerRequest, Any, T]
