"""What a node asks of others: sent with the step, answered once, and an answer that is none counts as none."""

import pytest

from andiron.broker.node.calls import Calls
from andiron.model.effects import Answered, Unanswered
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Address
from andiron.wire.apis import APIS
from andiron.wire.codec import decode_message, encode_message
from andiron.wire.header import decode_request_header, encode_response_header
from andiron.wire.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from andiron.wire.messages.write_txn_markers import WriteTxnMarkersRequest
from worlds.noting import NotedStep

THERE = Address("there", 9093)
KEY = AllocateProducerIdsRequest.__api_key__


class Caller:
    """Calls, and what came of them."""

    def __init__(self):
        self.step, self.heard = NotedStep(), []
        self.calls = Calls("node-1", self.step)

    def call(self, body=None, **how):
        body = AllocateProducerIdsRequest(1, 5) if body is None else body
        self.calls.call(THERE, "lane", body, 1_000, lambda *heard: self.heard.append(heard), **how)
        [effect] = self.calls.take_effects()
        return effect


def answer(token, body=None, key=KEY, version=0):
    body = AllocateProducerIdsResponse(producer_id_start=7) if body is None else body
    return Answered(
        token,
        memoryview(bytearray(encode_response_header(key, version, token) + encode_message(body, version))),
    )


def test_a_call_is_a_request_of_the_nodes_own():
    call = Caller().call()

    frame = b"".join(bytes(part) for part in call.parts)
    key, version, correlation, client_id, position = decode_request_header(frame, 0, len(frame))
    assert (call.to, call.lane, call.timeout_ms) == (THERE, "lane", 1_000)
    assert (key, version, correlation, client_id) == (KEY, 0, call.token, "node-1")
    assert decode_message(AllocateProducerIdsRequest, 0, frame[position:]) == AllocateProducerIdsRequest(1, 5)


def test_the_end_of_the_step_is_told_that_there_is_something_to_send():
    caller = Caller()
    caller.call()

    assert caller.step.has_facts


def test_effects_are_taken_once():
    caller = Caller()
    caller.call()

    assert caller.calls.take_effects() == []


def test_requests_go_out_in_the_newest_version_unless_another_is_named():
    caller = Caller()
    newest = APIS[WriteTxnMarkersRequest.__api_key__].versions[1]
    seen = []
    for version in (None, 1):
        frame = b"".join(bytes(part) for part in caller.call(WriteTxnMarkersRequest(), version=version).parts)
        seen.append(decode_request_header(frame, 0, len(frame))[1])

    assert seen == [newest, 1]


def test_each_call_hears_its_own_answer():
    caller = Caller()
    first, second = caller.call(), caller.call()

    caller.calls.answered(answer(second.token, AllocateProducerIdsResponse(producer_id_start=2)), 20)
    caller.calls.answered(answer(first.token, AllocateProducerIdsResponse(producer_id_start=1)), 30)

    assert [(response.producer_id_start, now) for response, now in caller.heard] == [(2, 20), (1, 30)]


def test_a_call_that_is_not_answered_hears_that():
    caller = Caller()
    call = caller.call()
    caller.calls.unanswered(Unanswered(call.token, "nobody is there"), 20)

    assert caller.heard == [(None, 20)]


@pytest.mark.parametrize("keep", [0, 3, 6])
def test_an_answer_that_cannot_be_read_is_none(keep, caplog):
    caller = Caller()
    call = caller.call()
    whole = answer(call.token).frame
    caller.calls.answered(Answered(call.token, whole[:keep]), 20)

    assert caller.heard == [(None, 20)]
    assert "cannot be read and counts as none" in caplog.text


def test_a_question_is_a_wait_for_the_answer():
    caller = Caller()
    wait = caller.calls.ask(THERE, "lane", AllocateProducerIdsRequest(1, 5), 1_000)
    [call] = caller.calls.take_effects()
    assert not wait.until()

    caller.calls.answered(answer(call.token), 20)

    assert wait.until()
    assert caller.step.touched == list(wait.watch)
    assert wait.then().producer_id_start == 7


def test_a_question_that_nobody_answers_is_a_network_exception():
    caller = Caller()
    wait = caller.calls.ask(THERE, "lane", AllocateProducerIdsRequest(1, 5), 1_000)
    [call] = caller.calls.take_effects()
    caller.calls.unanswered(Unanswered(call.token, "lost"), 20)

    assert wait.until()
    with pytest.raises(ProtocolError) as caught:
        wait.then()
    assert caught.value.code is ErrorCode.NETWORK_EXCEPTION


def test_tokens_are_positive_numbers_of_four_bytes_for_ever():
    caller = Caller()
    caller.calls._token = (1 << 31) - 1

    assert caller.call().token == 1
