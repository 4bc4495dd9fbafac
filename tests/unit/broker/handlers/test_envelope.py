"""A request within a request: handled as if it had come by itself, where the controller is, and refused otherwise."""

import pytest

from andiron.wire.apis import APIS, ApiKey
from andiron.wire.codec import decode_message, encode_message
from andiron.wire.header import decode_response_header, encode_request_header
from andiron.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from andiron.wire.messages.envelope import EnvelopeRequest
from andiron.wire.messages.metadata import MetadataRequest
from andiron.wire.messages.produce import ProduceRequest
from worlds.cluster_client import ready, small_cluster
from worlds.node import Closed, error_of


def enclosed(request, version=None, key=None):
    api = APIS[type(request).__api_key__]
    version = api.versions[1] if version is None else version
    key = api.key if key is None else key
    return EnvelopeRequest(
        bytes(encode_request_header(key, version, 42, "a-client") + encode_message(request, version))
    )


def opened(answer, api, version):
    frame = answer.response_data
    correlation, position = decode_response_header(frame, 0, len(frame), api.key, version)
    assert correlation == 42
    return decode_message(api.response, version, frame[position:])


def a_topic(name="new"):
    return CreateTopicsRequest([CreatableTopic(name, 1, 1)], 5_000)


@pytest.mark.parametrize("version", range(2, 8))
def test_what_is_within_is_answered_in_its_own_version(three, version):
    answer = three.ask(three.leader, enclosed(a_topic(), version))

    assert error_of(answer) == "NONE"
    response = opened(answer, APIS[ApiKey.CREATE_TOPICS], version)
    assert error_of(response.topics[0]) == "NONE"


def test_an_error_within_is_not_an_error_around(three):
    three.ask(three.leader, enclosed(a_topic()))

    answer = three.ask(three.leader, enclosed(a_topic()))

    assert error_of(answer) == "NONE"
    assert error_of(opened(answer, APIS[ApiKey.CREATE_TOPICS], 7).topics[0]) == "TOPIC_ALREADY_EXISTS"


def test_who_is_not_the_controller_says_so(three):
    assert three.error(three.follower, enclosed(a_topic())) == "NOT_CONTROLLER"


def test_who_is_not_the_controller_any_more_says_so_and_does_not_pass_it_on():
    """The broker that sent it asks the next controller; two copies underway would be one too many."""
    cluster = small_cluster()
    before = cluster.controller
    cluster.isolate(before)
    creation = CreateTopicsRequest([CreatableTopic("new", 1, 3)], timeout_ms=60_000)
    answers = cluster.ask(before, enclosed(creation), listener="CONTROLLER")
    cluster.until(lambda: answers)  # when it does not hear from the others, and steps down
    cluster.heal()
    ready(cluster)

    assert error_of(answers[0]) == "NOT_CONTROLLER"
    assert not any("new" in cluster.broker(n).image.topics for n in (1, 2, 3))


@pytest.mark.parametrize(
    "request_",
    [
        enclosed(ProduceRequest(acks=1)),
        enclosed(MetadataRequest([])),
        enclosed(EnvelopeRequest(b"")),
        enclosed(a_topic(), 7, key=999),
        EnvelopeRequest(b""),
        EnvelopeRequest(b"\x00\x13\x00\x07garbage"),
    ],
)
def test_what_has_no_business_with_the_controller_is_refused(three, request_):
    assert three.error(three.leader, request_) == "INVALID_REQUEST"


def test_a_version_that_is_not_served_is_refused(three):
    frame = bytes(encode_request_header(ApiKey.CREATE_TOPICS, 7, 42, "x")).replace(
        b"\x00\x13\x00\x07", b"\x00\x13\x00\x63"
    )

    assert three.error(three.leader, EnvelopeRequest(frame)) == "INVALID_REQUEST"


def test_clients_may_not_send_envelopes(three):
    with pytest.raises(Closed):
        three.ask_as_client(three.leader, enclosed(a_topic()))
