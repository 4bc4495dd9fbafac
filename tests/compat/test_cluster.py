"""What the cluster says of itself: its nodes, its folders, the APIs it serves."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from peers import clients, frames
from peers.clients import Client, Record
from peers.clients.java import Java
from peers.marks import each_client
from peers.process import Server
from peers.raw import Raw


@each_client("describe_cluster")
def test_the_cluster_is_one_node_that_controls_itself(client: Client) -> None:
    cluster = client.describe_cluster()

    assert cluster.brokers == {cluster.controller}


def test_all_clients_see_one_cluster(node: Server) -> None:
    ids = {
        clients.connect(name, node.bootstrap).describe_cluster().id for name in ("confluent", "kafka_python")
    }

    assert len(ids) == 1
    assert None not in ids


@pytest.mark.java
def test_folders_are_described_with_the_size_of_what_is_in_them(
    connect: Callable[[str], Client], make_topic: Callable[..., str]
) -> None:
    java = connect("java")
    assert isinstance(java, Java)
    topic = make_topic(partitions=2)
    java.write(topic, [Record(None, bytes(1000))] * 10)

    folders = java.call("describe_log_dirs", broker=java.describe_cluster().controller)

    sizes = {place: size for folder in folders.values() for place, size in folder["sizes"].items()}
    assert sizes[f"{topic}-0"] > 10_000
    assert sizes[f"{topic}-1"] == 0
    assert all(folder["total"] > 0 for folder in folders.values())


def test_every_api_offered_is_answered_to_the_oldest_question(node: Server) -> None:
    """ApiVersions in version 0 is all that aiokafka sends, and it carries no name of the software."""
    with Raw(node.port) as link:
        offered = frames.read_api_versions(link.ask(frames.api_versions()))

    assert {frames.PRODUCE, frames.FETCH, frames.METADATA, frames.API_VERSIONS} <= offered.keys()
    assert all(low <= high for low, high in offered.values())


def test_produce_is_offered_from_version_0(node: Server) -> None:
    """It is served from 3 on; an older librdkafka takes a higher minimum for a broker without compression."""
    with Raw(node.port) as link:
        offered = frames.read_api_versions(link.ask(frames.api_versions()))

    assert offered[frames.PRODUCE][0] == 0


def test_bytes_left_over_in_a_metadata_request_are_no_error(node: Server) -> None:
    """Librdkafka asks for all topics with a null array and forgets three bytes at the end."""
    with Raw(node.port) as link:
        answer = link.ask(frames.frame(frames.METADATA, 9, b"\x00\x00\x00\x00\x01\x00\x00"))
        again = link.ask(frames.api_versions())

    assert len(answer) > 20
    assert frames.read_api_versions(again)
