"""Administration of transactions (KIP-664): list, describe, find hanging ones, abort.

There are two ways to end one that its producer will not end:

    terminate     its coordinator knows it: the transactional id gets a new epoch, as if its producer had
                  started anew; the old producer is fenced and its transaction aborted
    abort         no coordinator knows it: the partition's leader is told to write an abort marker

The law: `abort` goes behind a coordinator's back. Used on a transaction that a coordinator knows, it aborts
one partition of what may yet be committed in the others; `find_hanging` tells which ones may be aborted.

Read next: ../core/transaction_descriptions.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from andiron.client.blocking.broker_survey import LeftOut, ask_every, ask_leaders
from andiron.client.blocking.client import Client
from andiron.client.blocking.coordinators import Coordinators, CoordinatorType
from andiron.client.connection import Connection
from andiron.client.core.answer_errors import Answers, by_topic, check_error, error_in
from andiron.client.core.transaction_descriptions import (
    ActiveProducer,
    OpenTransaction,
    TransactionDescription,
    TransactionListing,
    hanging,
    open_transactions,
)
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition
from andiron.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    TopicRequest,
)
from andiron.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from andiron.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from andiron.wire.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from andiron.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

ANY_DURATION = -1
MARKER_VERSION = 1  # a marker without a transaction version: it carries the epoch that the partition knows


class TransactionAdmin:
    """Describes and ends transactions, one request at a time."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._coordinators = Coordinators(client, CoordinatorType.TRANSACTION)

    # ── transaction coordinators ─────────────────────────────────────────────────────

    def transactions(
        self,
        states: Sequence[str] = (),
        producer_ids: Sequence[int] = (),
        longer_than_ms: int = ANY_DURATION,
        id_pattern: str | None = None,
        left_out: LeftOut | None = None,
    ) -> list[TransactionListing]:
        """ListTransactions, of every broker: all transactional ids, or those which fit every filter; the pattern is a
        regular expression. Brokers that do not answer are noted in `left_out`, or else their error is raised.

        `longer_than_ms` is about transactions that are open: brokers go by the time since a start, also that of one
        that has ended long ago, and count an id that never began one as begun in 1970.
        """

        def check(answer: ListTransactionsResponse) -> None:
            check_error(answer.error_code, None, "the transactions")
            if answer.unknown_state_filters:
                unknown = ", ".join(answer.unknown_state_filters)
                raise ErrorCode.INVALID_REQUEST.error(f"the broker knows no state {unknown}")

        by_duration = (1, "a filter by duration") if longer_than_ms != ANY_DURATION else None
        by_pattern = (2, "a pattern of ids") if id_pattern is not None else None
        request = ListTransactionsRequest(list(states), list(producer_ids), longer_than_ms, id_pattern)
        answers = ask_every(
            self._client, request, ListTransactionsResponse, check, by_pattern or by_duration, left_out
        )
        found = [
            TransactionListing.of(each, node_id)
            for node_id, answer in answers.items()
            for each in answer.transaction_states
        ]
        return sorted(each for each in found if by_duration is None or each.is_open)

    def describe(self, transactional_id: str) -> TransactionDescription:
        """DescribeTransactions of one transactional id; TRANSACTIONAL_ID_NOT_FOUND where there is none."""

        def check(answer: DescribeTransactionsResponse) -> None:
            for each in answer.transaction_states:
                check_error(each.error_code, None, f"transactional id {transactional_id!r}")

        request = DescribeTransactionsRequest([transactional_id])
        answer = self._coordinators.call(transactional_id, request, DescribeTransactionsResponse, check)
        coordinator = self._coordinators.find(transactional_id)
        return TransactionDescription.of(answer.transaction_states[0], coordinator)

    def terminate(self, transactional_id: str) -> None:
        """Abort the open transaction of a transactional id by InitProducerId, which fences its producer."""

        def check(answer: InitProducerIdResponse) -> None:
            check_error(answer.error_code, None, f"transactional id {transactional_id!r}")

        self.describe(transactional_id)  # InitProducerId would create an id that does not exist
        request = InitProducerIdRequest(transactional_id, self._client.settings.request_timeout_ms)
        self._coordinators.call(transactional_id, request, InitProducerIdResponse, check)

    # ── leaders of partitions ────────────────────────────────────────────────────────

    def producers(
        self, partitions: Iterable[TopicPartition], left_out: LeftOut | None = None
    ) -> dict[TopicPartition, list[ActiveProducer]]:
        """DescribeProducers: the active producers of partitions, of all leaders or of those that answer soon."""

        def ask(leader: Connection, asked: list[TopicPartition]) -> Answers[list[ActiveProducer]]:
            rows = [TopicRequest(name, [each.partition for each in some]) for name, some in by_topic(asked)]
            answers: Answers[list[ActiveProducer]] = {}
            for topic in leader.call(DescribeProducersRequest(rows), DescribeProducersResponse).topics:
                for each in topic.partitions:
                    partition = TopicPartition(topic.name, each.partition_index)
                    error = error_in(each.error_code, each.error_message, partition)
                    found = sorted(map(ActiveProducer.of, each.active_producers))
                    answers[partition] = found if error is None else error
            return answers

        if left_out is None:
            return self._client.ask_leaders(partitions, ask)
        return ask_leaders(self._client, partitions, ask, left_out)

    def find_hanging(
        self,
        partitions: Iterable[TopicPartition],
        older_than_ms: int,
        now_ms: int,
        left_out: LeftOut | None = None,
    ) -> list[OpenTransaction]:
        """Transactions in these partitions that are older than any may be, and that nobody will complete. A leader may
        be left out, and a coordinator may not: what it knows is what does not hang."""
        return self.hanging(open_transactions(self.producers(partitions, left_out), now_ms - older_than_ms))

    def hanging(self, candidates: Sequence[OpenTransaction]) -> list[OpenTransaction]:
        """Those of some open transactions that no coordinator knows, and so nobody will complete."""
        producer_ids = sorted({each.producer.producer_id for each in candidates})
        listed = self.transactions(producer_ids=producer_ids) if producer_ids else []
        known = [self._describe_if_there(each.transactional_id) for each in listed]
        return hanging(candidates, [each for each in known if each is not None])

    def _describe_if_there(self, transactional_id: str) -> TransactionDescription | None:
        try:
            return self.describe(transactional_id)
        except ProtocolError as error:
            if error.code is not ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                raise
            return None  # it expired a moment ago

    def abort(self, transaction: OpenTransaction) -> None:
        """WriteTxnMarkers: write an abort marker into one partition, past any coordinator."""
        partition, producer = transaction

        def ask(leader: Connection, asked: list[TopicPartition]) -> Answers[bool]:
            answers: Answers[bool] = {}
            response = leader.call(WriteTxnMarkersRequest([marker]), WriteTxnMarkersResponse, MARKER_VERSION)
            for topic in (each for result in response.markers for each in result.topics):
                for told in topic.partitions:
                    error = error_in(told.error_code, None, partition)
                    answers[partition] = True if error is None else error
            return answers

        marker = WritableTxnMarker(
            producer.producer_id,
            producer.epoch,
            False,
            [WritableTxnMarkerTopic(partition.topic, [partition.partition])],
            transaction.marker_epoch,
        )
        self._client.ask_leaders([partition], ask)
