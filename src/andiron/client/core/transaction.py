"""The state of a transactional producer (KIP-98), and the requests of each step.

    NEW ──initiate──▶ READY ──begin──▶ OPEN ──commit, abort──▶ ENDED ──begin: initiates anew──▶ OPEN
          │                             └──something failed──▶ FAILED ──abort──▶ ENDED
          └──one was prepared, and is kept──▶ PREPARED ──commit, abort──▶ ENDED
    any ──another has the id──▶ FENCED

The classic requests are spoken, which every broker serves: partitions and groups are added before anything is
written to them, and EndTxn tells the outcome. In these versions a request that comes late can touch the
producer's next transaction, since both have one epoch. So each transaction here has an epoch of its own:
`begin` after an end asks for the next one first, by name of the one it has, which is refused to whoever was
fenced since.

An identity may also come from elsewhere (`resume`): from another process that wrote under it, or from the record
of a decision. What was begun there is not known here, so its end is told in any case.

The law: what failed half-way is never committed. Whoever gave up a batch says so (`fail`).

Read next: ../blocking/transaction.py.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from andiron.client.core.answer_errors import by_topic
from andiron.client.core.outbox import NOBODY, ProducerIdentity
from andiron.model.errors import ErrorCode, Fenced, ProtocolError
from andiron.model.ids import TopicPartition
from andiron.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from andiron.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from andiron.wire.messages.end_txn import EndTxnRequest
from andiron.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from andiron.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

Offsets: TypeAlias = Mapping[TopicPartition, tuple[int, str]]  # offset and metadata


class Phase(enum.Enum):
    """The phase of a transactional producer; the value says it in a sentence."""

    NEW = "has no identity yet: initiate it"
    READY = "is not begun"
    OPEN = "is open"
    PREPARED = "was prepared by another, and can only be ended"
    FAILED = "has failed, and can only be aborted"
    ENDED = "has ended"
    FENCED = "is another's: a newer producer has its id"


class InitiatedIdentity(NamedTuple):
    """InitProducerId's answer: the new identity, and that of a prepared transaction that is kept (KIP-939), if any."""

    identity: ProducerIdentity
    prepared: ProducerIdentity | None


class TransactionState:
    """A transactional id as its producer knows it: identity, phase, partitions and groups added."""

    def __init__(self, transactional_id: str) -> None:
        self.id = transactional_id
        self.phase = Phase.NEW
        self.identity = NOBODY
        self.failure: BaseException | None = None
        self._partitions: set[TopicPartition] = set()
        self._groups: set[str] = set()
        self._begun_elsewhere = False

    # ── identity ─────────────────────────────────────────────────────────────────────

    def initiate(
        self, timeout_ms: int, holder: ProducerIdentity | None, *, two_phase: bool, keep_prepared: bool
    ) -> InitProducerIdRequest:
        """The InitProducerId request, as a newcomer or as the `holder` of the identity before it."""
        return InitProducerIdRequest(self.id, timeout_ms, *(holder or NOBODY), two_phase, keep_prepared)

    def initiated(self, answer: InitProducerIdResponse) -> InitiatedIdentity:
        """Take in the InitProducerId response."""
        prepared = ProducerIdentity(answer.ongoing_txn_producer_id, answer.ongoing_txn_producer_epoch)
        kept = prepared if prepared.id >= 0 else None
        self._become(ProducerIdentity(answer.producer_id, answer.producer_epoch))
        self.phase = Phase.PREPARED if kept else Phase.READY
        self._begun_elsewhere = kept is not None
        return InitiatedIdentity(self.identity, kept)

    def resume(self, identity: ProducerIdentity) -> None:
        """Go on under an identity that was given elsewhere, whose transaction may be open."""
        self._become(identity)
        self.phase, self._begun_elsewhere = Phase.OPEN, True

    # ── partitions and offsets ───────────────────────────────────────────────────────

    def begin(self) -> None:
        """Begin a transaction."""
        self._check(Phase.READY, "begun")
        self.phase = Phase.OPEN

    def check_open(self) -> None:
        """Raise unless a transaction is open."""
        self._check(Phase.OPEN, "written to")

    def missing(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        """Those of some partitions that AddPartitionsToTxn must name before they are written to."""
        return [each for each in partitions if each not in self._partitions]

    def add(self, partitions: Iterable[TopicPartition]) -> AddPartitionsToTxnRequest:
        """The AddPartitionsToTxn request."""
        self.check_open()
        rows = [
            AddPartitionsToTxnTopic(name, [each.partition for each in some])
            for name, some in by_topic(partitions)
        ]
        return AddPartitionsToTxnRequest([], self.id, *self.identity, rows)

    def added(self, partitions: Iterable[TopicPartition]) -> None:
        """These partitions have been added."""
        self._partitions.update(partitions)

    def add_group(self, group: str) -> AddOffsetsToTxnRequest | None:
        """The AddOffsetsToTxn request of a group; None if it was added."""
        self.check_open()
        return None if group in self._groups else AddOffsetsToTxnRequest(self.id, *self.identity, group)

    def added_group(self, group: str) -> None:
        """This group has been added."""
        self._groups.add(group)

    def offsets(self, group: str, offsets: Offsets) -> TxnOffsetCommitRequest:
        """The TxnOffsetCommit request of a group's offsets."""
        rows = [
            TxnOffsetCommitRequestTopic(
                name,
                [
                    TxnOffsetCommitRequestPartition(
                        each.partition, offsets[each][0], committed_metadata=offsets[each][1]
                    )
                    for each in some
                ],
            )
            for name, some in by_topic(offsets)
        ]
        return TxnOffsetCommitRequest(self.id, group, *self.identity, topics=rows)

    # ── the end ──────────────────────────────────────────────────────────────────────

    def end(self, *, commit: bool) -> EndTxnRequest | None:
        """The EndTxn request; None where nothing was added, so that the coordinator has no transaction."""
        endable = {Phase.OPEN, Phase.PREPARED} if commit else {Phase.OPEN, Phase.PREPARED, Phase.FAILED}
        if self.phase not in endable:
            raise self._wrong("committed" if commit else "aborted")
        if not (self._partitions or self._groups or self._begun_elsewhere):
            return None
        return EndTxnRequest(self.id, *self.identity, commit)

    def ended(self) -> None:
        """EndTxn was answered: the transaction is over."""
        self.phase = Phase.ENDED

    def fail(self, reason: BaseException) -> None:
        """Records were dropped, so that it can only be aborted; or another producer has fenced this one."""
        if isinstance(reason, Fenced):
            self.phase, self.failure = Phase.FENCED, reason
        elif self.phase is Phase.OPEN:
            self.phase, self.failure = Phase.FAILED, reason

    def __str__(self) -> str:
        return f"transaction {self.id!r}"

    def _become(self, identity: ProducerIdentity) -> None:
        self.identity, self.failure = identity, None
        self._partitions.clear()
        self._groups.clear()

    def _check(self, phase: Phase, wish: str) -> None:
        if self.phase is not phase:
            raise self._wrong(wish)

    def _wrong(self, wish: str) -> ProtocolError:
        code = ErrorCode.PRODUCER_FENCED if self.phase is Phase.FENCED else ErrorCode.INVALID_TXN_STATE
        reason = f" ({self.failure})" if self.failure is not None else ""
        return code.error(f"{self} {self.phase.value}; it cannot be {wish}{reason}")
