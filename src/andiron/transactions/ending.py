"""EndTxn: the outcome of a transaction, fixed by one record.

Once the Prepare record is committed nothing can change the outcome, and the producer is answered; the markers follow
(markers.py). What an answer that is lost, or a request that is late, can do depends on the version:

    classic (up to 4)                              version 2 (5 and above, KIP-890)
    ─────────────────────────────────────────────  ─────────────────────────────────────────────────────────────
    the producer keeps its epoch                   it gets the next one, with the answer
    markers carry that epoch                       markers carry the epoch above the transaction's
    asked again: OK, as long as the last one       asked again with the old epoch: OK and the new epoch, as long
    ended that way                                 as nothing was begun since; after that PRODUCER_FENCED
    late, in the next transaction: ENDS IT         late, in the next transaction: PRODUCER_FENCED
    with no transaction: INVALID_TXN_STATE         abort with no transaction: a new epoch, for what may be late

The second last row on the left is the fault that Jepsen found. It is the protocol's and cannot be healed on this side:
the late request is in no way different from one that is in time.

A transaction whose time is up, or whose holder is driven out, is aborted as under version 2 whatever its client
speaks. A holder that asks to abort what was aborted because of its time gets its next epoch, and can go on (KIP-588).
"""

from __future__ import annotations

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis
from andiron.model.machine import Decision
from andiron.transactions.records import TransactionRecord
from andiron.transactions.requests import EndTransaction
from andiron.transactions.states import State
from andiron.transactions.transaction import LAST_EPOCH, Identity, Transaction
from andiron.wire.messages.end_txn import EndTxnResponse

BUMPS_SINCE = 5  # version of EndTxn


def end_transaction(
    request: EndTransaction, current: Transaction | None, now: Millis
) -> Decision[TransactionRecord]:
    """EndTxn: commit or abort the ongoing transaction."""
    if not request.transactional_id:
        raise ErrorCode.INVALID_REQUEST.error("the transactional id is empty")
    if current is None:
        raise ErrorCode.INVALID_PRODUCER_ID_MAPPING.error(f"there is no {request.transactional_id!r}")
    if request.version >= BUMPS_SINCE:
        return _end_bumping(request, current, now)
    return _end_classic(request, current, now)


def needs_fresh_id(request: EndTransaction, current: Transaction | None) -> bool:
    """Whether EndTxn may need a fresh producer id, because the epochs of this one are used up."""
    if current is None or current.state.is_prepared:
        return False
    return request.version >= BUMPS_SINCE and current.holder.is_exhausted


def abort(current: Transaction, previous_id: int, now: Millis) -> Transaction:
    """Abort an ongoing transaction over its holder's head; `previous_id` is the holder's if it may go on after that.

    There may be no new producer id at hand, so the epoch may become the one that nobody gets.
    """
    return current.decided_for(current.holder.above(), committed=False, previous_id=previous_id, now=now)


def check_holder(current: Transaction, identity: Identity, version: int) -> None:
    """Raise for a producer that does not hold the transactional id: INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED …"""
    holder = current.holder
    known = (holder.producer_id, current.producer.producer_id)
    if identity.producer_id not in known:
        raise ErrorCode.INVALID_PRODUCER_ID_MAPPING.error(f"{current.id!r} has another producer id")
    if identity != holder or identity.epoch > LAST_EPOCH:
        code = ErrorCode.PRODUCER_FENCED if version >= 2 else ErrorCode.INVALID_PRODUCER_EPOCH
        raise code.error(f"{current.id!r} is held by {holder}, not by {identity}")


def _end_bumping(request: EndTransaction, current: Transaction, now: Millis) -> Decision[TransactionRecord]:
    if current.state.is_prepared:
        raise ErrorCode.CONCURRENT_TRANSACTIONS.error(f"{current.id!r} is in {current.state.title}")
    if _asks_again(request, current):
        if current.state is not _complete(request):
            raise _not_now(request, current)
        return Decision(_answer(current.holder))
    check_holder(current, Identity(request.producer_id, request.producer_epoch), request.version)
    if request.committed and current.state is not State.ONGOING:
        raise _not_now(request, current)
    successor = current.holder.successor(request.fresh_id)
    decided = current.decided_for(
        successor, committed=request.committed, previous_id=request.producer_id, now=now
    )
    return Decision(_answer(successor), [decided.record()])


def _end_classic(request: EndTransaction, current: Transaction, now: Millis) -> Decision[TransactionRecord]:
    check_holder(current, Identity(request.producer_id, request.producer_epoch), request.version)
    if current.state.is_prepared:
        raise ErrorCode.CONCURRENT_TRANSACTIONS.error(f"{current.id!r} is in {current.state.title}")
    if current.state is _complete(request):
        return Decision(EndTxnResponse())
    if current.state is not State.ONGOING:
        raise _not_now(request, current)
    return Decision(EndTxnResponse(), [current.decided(committed=request.committed, now=now).record()])


def _asks_again(request: EndTransaction, current: Transaction) -> bool:
    """Whether this EndTxn repeats the one that ended the last transaction, with nothing begun since."""
    ended = current.state in (State.COMPLETE_COMMIT, State.COMPLETE_ABORT)
    asking = Identity(request.producer_id, request.producer_epoch)
    return ended and current.holder.epoch <= LAST_EPOCH and current.was_held_by(asking)


def _complete(request: EndTransaction) -> State:
    return State.COMPLETE_COMMIT if request.committed else State.COMPLETE_ABORT


def _not_now(request: EndTransaction, current: Transaction) -> ProtocolError:
    wish = "commit" if request.committed else "abort"
    return ErrorCode.INVALID_TXN_STATE.error(
        f"{current.id!r} is in {current.state.title}, too late to {wish}"
    )


def _answer(successor: Identity) -> EndTxnResponse:
    return EndTxnResponse(producer_id=successor.producer_id, producer_epoch=successor.epoch)
