"""One broker over one socket: versions agreed, answers in order, every failure in one line."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from andiron.client.connection import Connection
from andiron.client.core.addresses import Address
from andiron.client.settings import ClientSettings
from andiron.model.errors import ErrorCode, ProtocolError, Refused, StaleMetadata
from andiron.wire.apis import ApiKey
from andiron.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from andiron.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from andiron.wire.messages.metadata import MetadataRequest, MetadataResponse
from unit.client.scripted import ScriptedBroker

UNSUPPORTED = ErrorCode.UNSUPPORTED_VERSION.number
QUICK = ClientSettings(request_timeout_ms=50, socket_connection_setup_timeout_ms=500)


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        yield scripted


def connect(broker: ScriptedBroker, settings: ClientSettings | None = None) -> Connection:
    return Connection(Address("127.0.0.1", broker.port), settings or ClientSettings())


def test_it_begins_with_api_versions_and_our_name(broker: ScriptedBroker) -> None:
    connect(broker)

    ((api, version, request),) = broker.asked
    assert (api, version) == ("ApiVersions", 4)
    assert request.client_software_name == "andiron"


def test_each_api_is_spoken_in_the_highest_version_in_common(broker: ScriptedBroker) -> None:
    broker.versions[ApiKey.METADATA] = (0, 7)
    connect(broker).call(MetadataRequest([]), MetadataResponse)

    assert broker.asked[-1][:2] == ("Metadata", 7)


def test_an_api_that_is_not_served_is_not_sent(broker: ScriptedBroker) -> None:
    del broker.versions[ApiKey.DESCRIBE_CLUSTER]
    connection = connect(broker)

    with pytest.raises(Refused, match="does not serve DescribeCluster"):
        connection.call(DescribeClusterRequest(), DescribeClusterResponse)
    assert connection.is_open


def test_a_broker_that_does_not_know_our_api_versions_is_asked_in_its_own(broker: ScriptedBroker) -> None:
    refusal = ApiVersionsResponse(UNSUPPORTED, [ApiVersion(ApiKey.API_VERSIONS, 0, 2)])
    broker.on(ApiKey.API_VERSIONS, lambda request: (refusal, 0), broker.api_versions)
    connection = connect(broker)

    assert [version for _, version, _ in broker.asked] == [4, 2]
    assert connection.call(MetadataRequest([]), MetadataResponse).cluster_id == "scripted"


def test_a_broker_that_refuses_every_version_is_given_up(broker: ScriptedBroker) -> None:
    broker.on(ApiKey.API_VERSIONS, lambda request: (ApiVersionsResponse(UNSUPPORTED), 0))

    with pytest.raises(StaleMetadata, match="ApiVersions was refused"):
        connect(broker)
    assert [version for _, version, _ in broker.asked] == [4, 0]


def test_requests_can_be_sent_before_answers_are_read(broker: ScriptedBroker) -> None:
    broker.topic("t")
    connection = connect(broker)
    connection.send(MetadataRequest([]))
    connection.send(MetadataRequest(None))

    assert len(connection.receive(MetadataResponse).topics) == 0
    assert len(connection.receive(MetadataResponse).topics) == 1
    assert not connection.in_flight


def test_nobody_listening_is_told_with_the_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    with pytest.raises(StaleMetadata) as caught:
        Connection(Address("127.0.0.1", port), QUICK)
    assert caught.value.code is ErrorCode.NETWORK_EXCEPTION
    assert caught.value.detail == f"127.0.0.1:{port}: no connection (connection refused)"


def test_a_broker_that_hangs_up_is_told(broker: ScriptedBroker) -> None:
    broker.on(ApiKey.METADATA, lambda request: None)
    connection = connect(broker)

    with pytest.raises(StaleMetadata, match="Metadata was not answered"):
        connection.call(MetadataRequest([]), MetadataResponse)
    assert not connection.is_open


def test_a_broker_that_says_nothing_is_given_up_in_time(broker: ScriptedBroker) -> None:
    never = threading.Event()

    def silence(request: object) -> None:
        never.wait(5)

    broker.on(ApiKey.METADATA, silence)
    connection = connect(broker, QUICK)

    with pytest.raises(StaleMetadata, match="no answer to Metadata in time"):
        connection.call(MetadataRequest([]), MetadataResponse)
    never.set()
    assert not connection.is_open


def test_a_closed_connection_stays_closed(broker: ScriptedBroker) -> None:
    connection = connect(broker)
    connection.close()

    with pytest.raises(StaleMetadata, match="could not send Metadata"):
        connection.send(MetadataRequest([]))
    with pytest.raises(StaleMetadata, match="the connection was lost"):
        connection.receive(MetadataResponse)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\x00\x00\x00\x02\x00\x00",
        b"\x00\x00\x00\x06\x00\x00\x00\x63\x00\x00",
        b"\xff\xff\xff\xff",
    ],
    ids=["http", "short", "not ours", "negative"],
)
def test_whatever_is_no_answer_closes_the_connection(broker: ScriptedBroker, answer: bytes) -> None:
    connection = connect(broker)
    broker.on(ApiKey.METADATA, lambda request: answer)

    with pytest.raises(ProtocolError) as caught:
        connection.call(MetadataRequest([]), MetadataResponse)
    assert caught.value.code is ErrorCode.NETWORK_EXCEPTION
    assert not connection.is_open


def test_what_is_no_broker_is_told_as_such(broker: ScriptedBroker) -> None:
    broker.on(ApiKey.API_VERSIONS, lambda request: b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with pytest.raises(StaleMetadata, match="does not answer as a broker"):
        connect(broker)
