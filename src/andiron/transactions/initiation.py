"""InitProducerId: which producer holds a transactional id from now on, and fences those before it (KIP-98).

Whoever asks gets an identity that all before it are fenced by. A newcomer names none of its own; a producer that
goes on after an error (KIP-360) names the one it has, and is refused if another has come since. What the predecessor
left open is aborted first: the answer is CONCURRENT_TRANSACTIONS until every partition has its marker.

Under two-phase commit (KIP-939) the predecessor may have *prepared*: everything is written, and some database decides
whether it counts. Whoever comes after it asks with `keep_prepared`, and is made the holder of the transaction as it
stands. It learns under which identity that was written (by which the database tells which one it is), and ends it
under its own. P and N are producer ids, e and n epochs; `next` is the field of the record:

    state                   asked                   becomes                             answered
    ──────────────────────  ──────────────────────  ──────────────────────────────────  ───────────────────────────
    unknown                 keep, or not            Empty P:0                           P:0, nothing ongoing
    at rest, P:e            keep, or not            Empty P:e+1                         P:e+1, nothing ongoing
    at rest, e = 32766      keep, or not            Empty N:0                           N:0, nothing ongoing
    Ongoing P:e             keep                    Ongoing P:e, next P:e+1             P:e+1, ongoing P:e
    the same, once more     keep (the answer was    Ongoing P:e, next P:e+2             P:e+2, ongoing P:e
                            lost, or it crashed)
    … next N:32766          keep                    Ongoing P:e, next M:0               M:0, ongoing P:e
    Ongoing P:e, next N:n   keep, by N:n-1 that     as it is                            N:n, ongoing P:e
                            asked as itself
    Ongoing, handed over    without keep            PrepareAbort P:e+1, next N:n+1      CONCURRENT_TRANSACTIONS, then
                                                                                        as at rest
    Prepare…                keep, or not            as it is                            CONCURRENT_TRANSACTIONS, then
                                                                                        as at rest: nothing ongoing

    Ongoing P:e, next N:n   EndTxn by N:n           Prepare… P:e+1, next N:n+1          N:n+1 (ending.py)
                            EndTxn, anything by     as it is                            PRODUCER_FENCED
                            P:e
                            AddPartitions by N:n    as it is                            INVALID_TXN_STATE: its records
                                                                                        could not be told from P:e's
    Prepare… P:e+1, next    markers written, as     Complete… N:n+1
                            P:e+1

A kept transaction keeps the time it was promised: it has its own timeout or the newcomer's, whichever is longer, and
none at all if either takes part in two-phase commit. Without `transaction.two.phase.commit.enable` nothing of this is
on offer. With it, `keep_prepared` is also for transactions that do time out, as the KIP has it.

Stricter than Kafka in one point: a producer that names an identity it does not hold any more is refused before what
is ongoing is aborted, not after. A request that was delayed or sent twice thus never touches its successor's work.
"""

from __future__ import annotations

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis
from andiron.model.machine import Decision
from andiron.transactions.ending import abort
from andiron.transactions.records import TransactionRecord
from andiron.transactions.requests import NO_EPOCH, NO_ID, InitProducer
from andiron.transactions.settings import TransactionSettings
from andiron.transactions.states import State
from andiron.transactions.transaction import (
    LAST_EPOCH,
    NOBODY,
    UNLIMITED_MS,
    Identity,
    Transaction,
    first_of,
)
from andiron.wire.messages.init_producer_id import InitProducerIdResponse


def init_producer(
    request: InitProducer, current: Transaction | None, settings: TransactionSettings, now: Millis
) -> Decision[TransactionRecord]:
    """InitProducerId: give a producer the next identity (producer id and epoch) of its transactional id."""
    _check(request, settings)
    timeout_ms = UNLIMITED_MS if request.enable_2pc else request.timeout_ms
    if current is None:
        return _first(request, timeout_ms, now)
    if current.state.is_prepared:
        raise ErrorCode.CONCURRENT_TRANSACTIONS.error(f"{current.id!r} is in {current.state.title}")
    if current.state is not State.ONGOING:
        return _renew(request, current, timeout_ms, now)
    if request.keep_prepared:
        return _hand_over(request, current, timeout_ms, now)
    if _named(request) not in (NOBODY, current.holder):
        raise _fenced(request, current)
    return Decision(
        InitProducerIdResponse(
            error_code=ErrorCode.CONCURRENT_TRANSACTIONS.number, producer_id=NO_ID, producer_epoch=NO_EPOCH
        ),
        [abort(current, _previous_id(request), now).record()],
    )


def needs_fresh_id(request: InitProducer, current: Transaction | None) -> bool:
    """Whether InitProducerId may need a fresh producer id: the id is new, or its epochs are used up."""
    if current is None:
        return True
    renews = current.state.is_at_rest or (current.state is State.ONGOING and request.keep_prepared)
    return renews and current.holder.is_exhausted


def _check(request: InitProducer, settings: TransactionSettings) -> None:
    if (request.producer_id == NO_ID) != (request.producer_epoch == NO_EPOCH):
        raise ErrorCode.INVALID_REQUEST.error("a producer id comes with its epoch, or not at all")
    if not request.transactional_id:
        raise ErrorCode.INVALID_REQUEST.error("the transactional id is empty")
    if not settings.transaction_two_phase_commit_enable:
        if request.enable_2pc:
            raise ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED.error("two-phase commit is not enabled")
        if request.keep_prepared:
            raise ErrorCode.UNSUPPORTED_VERSION.error("two-phase commit is not enabled")
    longest = settings.transaction_max_timeout_ms
    if not request.enable_2pc and not 0 < request.timeout_ms <= longest:
        raise ErrorCode.INVALID_TRANSACTION_TIMEOUT.error(
            f"{request.timeout_ms} ms is not within 1 to {longest}"
        )


def _first(request: InitProducer, timeout_ms: int, now: Millis) -> Decision[TransactionRecord]:
    """The transactional id is new, or has expired: an identity that the request names counts for nothing."""
    holder = first_of(request.fresh_id)
    return _decision(Transaction(request.transactional_id, holder, State.EMPTY, timeout_ms, now))


def _renew(
    request: InitProducer, current: Transaction, timeout_ms: int, now: Millis
) -> Decision[TransactionRecord]:
    """No transaction is ongoing: the holder gets the next epoch, unless it asks again for one that it was given."""
    if _asks_again(request, current) and current.holder.epoch <= LAST_EPOCH:
        return _decision(current.renewed(current.holder, current.previous_id, timeout_ms, now))
    holder = current.holder.successor(request.fresh_id)
    return _decision(current.renewed(holder, _previous_id(request), timeout_ms, now))


def _hand_over(
    request: InitProducer, current: Transaction, timeout_ms: int, now: Millis
) -> Decision[TransactionRecord]:
    """KIP-939's keep_prepared: the ongoing transaction stays, and its new holder is the one to end it."""
    if _asks_again(request, current):
        return Decision(_answer(current))
    holder = current.holder.successor(request.fresh_id)
    longer_ms = max(current.timeout_ms, timeout_ms)
    return _decision(current.handed_over(holder, _previous_id(request), longer_ms, now))


def _asks_again(request: InitProducer, current: Transaction) -> bool:
    """Whether the request repeats one that was answered; raises PRODUCER_FENCED if it names an older identity."""
    named = _named(request)
    if named in (NOBODY, current.holder):
        return False
    if not current.was_held_by(named):
        raise _fenced(request, current)
    return True


def _named(request: InitProducer) -> Identity:
    return Identity(request.producer_id, request.producer_epoch)


def _previous_id(request: InitProducer) -> int:
    """The previous producer id for the record: none for a newcomer, since whoever held the id is to be fenced.

    One that goes on held `producer_id`, and is told from a newcomer by that alone. (Kafka writes the producer id in
    both cases, and keeps in memory, so not across a failover, what tells them apart.)
    """
    return request.producer_id


def _fenced(request: InitProducer, current: Transaction) -> ProtocolError:
    code = ErrorCode.PRODUCER_FENCED if request.version >= 4 else ErrorCode.INVALID_PRODUCER_EPOCH
    return code.error(f"{current.id!r} is held by {current.holder}, not by {_named(request)}")


def _decision(transaction: Transaction) -> Decision[TransactionRecord]:
    return Decision(_answer(transaction), [transaction.record()])


def _answer(transaction: Transaction) -> InitProducerIdResponse:
    ongoing = transaction.producer if transaction.is_handed_over else NOBODY
    return InitProducerIdResponse(
        producer_id=transaction.holder.producer_id,
        producer_epoch=transaction.holder.epoch,
        ongoing_txn_producer_id=ongoing.producer_id,
        ongoing_txn_producer_epoch=ongoing.epoch,
    )
