"""Produce (key 0), versions 3-13; advertised from 0.

Answers when the acks asked for are in: 0 not at all, 1 after the append, all at the
watermark. Records are stored as they came; of the batch header offset and epoch are written,
and the largest timestamp if it is not the records' (records/validate.py). The advertised minimum
is 0 because librdkafka before 2.9 turns compression off for a broker that begins at 3
(KAFKA-18659); nobody sends a version below 3.

The first batch of a transaction in a partition waits for its coordinator's word before it is
appended (transaction_admission.py), and what comes after it on its connection for its turn
(turns.py). Batches of a transaction in a request that does not name it are refused, and all of the
request with them.

A batch with records that its topic does not take is refused as a whole, and record_errors tells which they
were: clients fail those for what is wrong with them, and may send the others again. What the batches
of a request unpack to together is bounded, and so is what is told of them (`Allowance`).

A partition that is led elsewhere says by whom (leader_hints.py).

With acks=0 nobody reads an error, so the connection is closed instead, as Kafka does,
and the producer finds out by that.
"""

from __future__ import annotations

import logging

from andiron.broker.broker import Broker
from andiron.broker.coordinators.internal_topics import ADMIN_CLIENT_ID
from andiron.broker.coordinators.transaction_admission import (
    Admissions,
    are_transactional,
    begin_transaction,
    keep_records,
)
from andiron.broker.node.request import Request
from andiron.broker.node.slice_sizes import SIZES
from andiron.broker.node.slices import InSlices
from andiron.broker.node.waiting import Wait
from andiron.broker.replicas.leader_hints import LeaderHints
from andiron.broker.replicas.partition import Partition
from andiron.broker.telemetry.traffic import count
from andiron.controller.topics import is_internal
from andiron.log.partition_log import LogAppendInfo
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis
from andiron.model.line import Line
from andiron.records.validate import Allowance, BadRecords
from andiron.wire.apis import ApiKey
from andiron.wire.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

API = ApiKey.PRODUCE
SERVED = (3, 13)
ADVERTISED = (0, 13)


log = logging.getLogger(__name__)

Pending = tuple[Partition, LogAppendInfo, PartitionProduceResponse]


def handle(
    broker: Broker, request: Request[ProduceRequest]
) -> ProduceResponse | Wait | InSlices[ProduceResponse | Wait | None] | None:
    body = request.body
    if body.acks not in (-1, 0, 1):
        return _refusal(body, ErrorCode.INVALID_REQUIRED_ACKS)
    if body.transactional_id is None:
        if _has_transactional(body):
            return _refusal(body, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        if sum(len(topic.partition_data) for topic in body.topic_data) > SIZES.produced_batches:
            return _produce_at_length(broker, request)
        return produce(broker, request, {})
    id = body.transactional_id
    if broker.turns.is_waiting(request.conn):
        keep_records(body)
    return broker.turns.take(
        request.conn,
        lambda: begin_transaction(broker, request, id),
        lambda admissions: produce(broker, request, admissions),
    )


def produce(
    broker: Broker, request: Request[ProduceRequest], admissions: Admissions
) -> ProduceResponse | Wait | None:
    """Append all batches of a request, those that begin a transaction as they were admitted."""
    response = ProduceResponse()
    pending: list[Pending] = []
    allowance = Allowance()
    for topic in request.body.topic_data:
        answered = TopicProduceResponse(topic.name, topic.topic_id)
        response.responses.append(answered)
        for produced in topic.partition_data:
            appended = _append(broker, request, topic, produced, admissions, allowance)
            if isinstance(appended, tuple):
                pending.append(appended)
                appended = appended[2]
            answered.partition_responses.append(appended)
    return _answer(broker, request, response, pending)


def _produce_at_length(
    broker: Broker, request: Request[ProduceRequest]
) -> InSlices[ProduceResponse | Wait | None]:
    """The same for hundreds of batches, some at a time."""
    keep_records(request.body)
    response = ProduceResponse()
    pending: list[Pending] = []
    allowance, since = Allowance(), 0
    for topic in request.body.topic_data:
        answered = TopicProduceResponse(topic.name, topic.topic_id)
        response.responses.append(answered)
        for produced in topic.partition_data:
            appended = _append(broker, request, topic, produced, {}, allowance)
            if isinstance(appended, tuple):
                pending.append(appended)
                appended = appended[2]
            answered.partition_responses.append(appended)
            since += 1
            if since % SIZES.produced_batches == 0:
                yield
    return _answer(broker, request, response, pending)


def _answer(
    broker: Broker, request: Request[ProduceRequest], response: ProduceResponse, pending: list[Pending]
) -> ProduceResponse | Wait | None:
    """What is to be said now, or once the acks are in."""
    body = request.body
    if body.acks == 0:
        _check_unanswered(response)
        return None
    waiting = [one for one in pending if not one[0].acknowledged(one[1], body.acks)]
    if not waiting:
        return _with_hints(response, broker, request)
    return _wait(response, waiting, body, request.now).and_then(
        lambda response: _with_hints(response, broker, request)
    )


def _append(
    broker: Broker, request: Request[ProduceRequest], topic: TopicProduceData,
    produced: PartitionProduceData, admissions: Admissions, allowance: Allowance,
) -> Pending | PartitionProduceResponse:  # fmt: skip
    """The answer for one batch, with what it waits for where the batch was taken."""
    try:
        partition = broker.partition(topic.name, topic.topic_id, produced.index)
        if is_internal(partition.name.topic) and request.client_id != ADMIN_CLIENT_ID:
            raise ErrorCode.INVALID_TOPIC_EXCEPTION.error(f"{partition.name.topic} is the cluster's own")
        admission = admissions.get(partition.name)
        guard = None if admission is None else admission.guard()
        written = partition.append(
            produced.records, request.body.acks, request.version, request.now, guard, allowance
        )
    except ProtocolError as error:
        traffic = broker.replica_manager.traffic.asked_for(topic.name, topic.topic_id, broker.image)
        count(traffic.failed_produces, error.code.name)
        return refused(broker, produced.index, error)
    broker.step.appended(partition, written)
    answer = PartitionProduceResponse(
        produced.index, 0, written.base_offset, written.append_time, partition.log.start
    )
    return partition, written, answer


def _with_hints(
    response: ProduceResponse, broker: Broker, request: Request[ProduceRequest]
) -> ProduceResponse:
    """The response, with the leader of each partition that is led elsewhere."""
    hints = LeaderHints(broker, request.listener)
    for topic in response.responses:
        for answer in topic.partition_responses:
            if answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER.number:
                hint = hints.leader_of(topic.name, topic.topic_id, answer.index)
                answer.current_leader = None if hint is None else LeaderIdAndEpoch(*hint)
    response.node_endpoints = [NodeEndpoint(*each) for each in hints.endpoints()]
    return response


def refused(broker: Broker, index: int, error: ProtocolError) -> PartitionProduceResponse:
    """The answer for a partition that did not take its batch."""
    answer = PartitionProduceResponse(index, error.code.number, -1, error_message=error.detail)
    if isinstance(error, BadRecords):
        answer.record_errors = [BatchIndexAndErrorMessage(*bad) for bad in error.records]
    if error.code is ErrorCode.KAFKA_STORAGE_ERROR:
        suppressed = broker.log_limiter.again(error.detail, broker.step.now)
        if suppressed is not None:
            log.error(Line(
                "Produce is refused with KAFKA_STORAGE_ERROR: the log cannot be written; check the disk",
                error=error.detail, suppressed=suppressed,
            ))  # fmt: skip
    return answer


def _wait(response: ProduceResponse, waiting: list[Pending], body: ProduceRequest, now: Millis) -> Wait:
    def settled() -> bool:
        for one in waiting[:]:
            partition, written, answer = one
            try:
                if not partition.acknowledged(written, body.acks):
                    continue
            except ProtocolError as error:
                answer.error_code, answer.base_offset = error.code.number, -1
                answer.error_message = error.detail
                count(partition.traffic.failed_produces, error.code.name)
            waiting.remove(one)
        return not waiting

    def too_late() -> ProduceResponse:
        for partition, _, answer in waiting:
            answer.error_code, answer.base_offset = ErrorCode.REQUEST_TIMED_OUT.number, -1
            count(partition.traffic.failed_produces, ErrorCode.REQUEST_TIMED_OUT.name)
        return response

    return Wait(
        watch=tuple(dict.fromkeys(partition for partition, _, _ in waiting)),
        until=settled,
        deadline=Millis(now + max(0, body.timeout_ms)),
        then=lambda: response,
        otherwise=too_late,
    )


def _check_unanswered(response: ProduceResponse) -> None:
    for topic in response.responses:
        for answer in topic.partition_responses:
            if answer.error_code:
                code = ErrorCode.of(answer.error_code)
                raise code.error(f"acks=0 to {topic.name}-{answer.index}: {answer.error_message}")


def _has_transactional(body: ProduceRequest) -> bool:
    for topic in body.topic_data:
        for produced in topic.partition_data:
            if are_transactional(produced.records):
                return True
    return False


def _refusal(body: ProduceRequest, code: ErrorCode) -> ProduceResponse:
    if body.acks == 0:
        raise code.error("all of a request with acks=0")

    def refuse(produced: PartitionProduceData) -> PartitionProduceResponse:
        return PartitionProduceResponse(produced.index, code.number, -1)

    return ProduceResponse(
        [
            TopicProduceResponse(t.name, t.topic_id, [refuse(p) for p in t.partition_data])
            for t in body.topic_data
        ]
    )
