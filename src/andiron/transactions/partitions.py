"""AddPartitionsToTxn: the partitions of a transaction, so that the coordinator knows where its markers must go.

The first partition begins the transaction. A client names its partitions before it writes to them (up to version 3);
from 4 on brokers ask, when a producer's batch arrives: to add its partition (version 2 of transactions, where the
client does not: KIP-890), or merely whether it was added (`verify_only`), since a late batch must not open a
transaction in its partition which nobody is going to end.
"""

from __future__ import annotations

from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis, TopicPartition
from andiron.model.machine import Decision
from andiron.transactions.ending import check_holder
from andiron.transactions.records import TransactionRecord
from andiron.transactions.requests import AddPartitions
from andiron.transactions.states import State
from andiron.transactions.transaction import BUMPING, CLASSIC, Identity, Transaction

BY_BROKERS_SINCE = 4
ABORTABLE_SINCE = 5


def add_partitions(
    request: AddPartitions, current: Transaction | None, now: Millis
) -> Decision[TransactionRecord]:
    """AddPartitionsToTxn: add partitions to the transaction, which begins with the first of them."""
    if not request.transactional_id:
        raise ErrorCode.INVALID_REQUEST.error("the transactional id is empty")
    if current is None:
        raise ErrorCode.INVALID_PRODUCER_ID_MAPPING.error(f"there is no {request.transactional_id!r}")
    if request.verify_only:
        return Decision(_verify(request, current))
    _check_free(current)
    _check_holder(request, current)
    answer = dict.fromkeys(request.partitions, ErrorCode.NONE)
    if current.state is State.ONGOING and all(each in current.partitions for each in answer):
        return Decision(answer)
    version = BUMPING if request.version >= BY_BROKERS_SINCE else CLASSIC
    return Decision(answer, [current.writing_to(answer, version, now).record()])


def _verify(request: AddPartitions, current: Transaction) -> dict[TopicPartition, ErrorCode]:
    _check_holder(request, current)
    _check_free(current)
    known = request.version >= ABORTABLE_SINCE
    missing = ErrorCode.TRANSACTION_ABORTABLE if known else ErrorCode.INVALID_TXN_STATE
    return {each: ErrorCode.NONE if each in current.partitions else missing for each in request.partitions}


def _check_free(current: Transaction) -> None:
    if current.state.is_prepared:
        raise ErrorCode.CONCURRENT_TRANSACTIONS.error(f"{current.id!r} is in {current.state.title}")


def _check_holder(request: AddPartitions, current: Transaction) -> None:
    check_holder(current, Identity(request.producer_id, request.producer_epoch), request.version)
    if current.is_handed_over:
        raise ErrorCode.INVALID_TXN_STATE.error(f"{current.id!r} was handed over, and can only be ended")
