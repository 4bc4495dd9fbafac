"""One request for several batches, and what its answer means for each."""

from __future__ import annotations

from andiron.client.core.metadata import Topic
from andiron.client.core.outbox import ClosedBatch
from andiron.client.core.produce_request import (
    VERSION_BEFORE_IDS,
    VERSION_OF_TRANSACTIONS,
    outcomes,
    produce_request,
)
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NO_TOPIC_ID, TopicPartition
from andiron.wire.messages.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)

ID = b"i" * 16
TOPICS = {"t": Topic("t", ID, False, []), "old": Topic("old", NO_TOPIC_ID, False, [])}


def closed(topic: str = "t", partition: int = 0) -> ClosedBatch:
    return ClosedBatch(0, TopicPartition(topic, partition), bytearray(b"batch"), 1, 0)


def request_for(*batches: ClosedBatch) -> ProduceRequest:
    return produce_request(batches, TOPICS, -1, 1000)[0]


def answered(answer: PartitionProduceResponse, *, by_id: bool = False) -> int | ProtocolError:
    topic = (
        TopicProduceResponse("", ID, [answer]) if by_id else TopicProduceResponse("t", NO_TOPIC_ID, [answer])
    )
    ((_, outcome),) = outcomes(ProduceResponse([topic]), request_for(closed()), [closed()])
    return outcome


def test_batches_are_grouped_by_topic() -> None:
    request = request_for(closed("t", 0), closed("old", 0), closed("t", 1))

    assert [(topic.name, len(topic.partition_data)) for topic in request.topic_data] == [("t", 2), ("old", 1)]
    assert request.acks == -1


def test_a_topic_without_an_id_keeps_the_version_low() -> None:
    assert produce_request([closed("t")], TOPICS, 1, 1000)[1] is None
    assert produce_request([closed("t"), closed("old")], TOPICS, 1, 1000)[1] == VERSION_BEFORE_IDS


def test_success_is_an_offset() -> None:
    assert answered(PartitionProduceResponse(0, 0, 42)) == 42
    assert answered(PartitionProduceResponse(0, 0, 42), by_id=True) == 42


def test_a_duplicate_long_forgotten_is_written_all_the_same() -> None:
    code = ErrorCode.DUPLICATE_SEQUENCE_NUMBER.number
    assert answered(PartitionProduceResponse(0, code, -1)) == -1


def test_an_error_says_what_the_broker_said() -> None:
    errors = [BatchIndexAndErrorMessage(3, "no key")]
    outcome = answered(PartitionProduceResponse(0, 87, -1, record_errors=errors, error_message="bad"))

    assert isinstance(outcome, ProtocolError)
    assert outcome.code is ErrorCode.INVALID_RECORD
    assert outcome.detail == "t-0: bad (record 3 of the batch: no key)"


def test_a_batch_that_the_answer_leaves_out_is_an_error() -> None:
    outcome = answered(PartitionProduceResponse(9, 0, 42))

    assert isinstance(outcome, ProtocolError)
    assert outcome.code is ErrorCode.UNKNOWN_SERVER_ERROR


def test_a_batch_of_a_transaction_names_it_and_stays_below_what_adds_by_itself() -> None:
    request, at_most = produce_request([closed()], TOPICS, -1, 1000, "tx")

    assert (request.transactional_id, at_most) == ("tx", VERSION_OF_TRANSACTIONS)
