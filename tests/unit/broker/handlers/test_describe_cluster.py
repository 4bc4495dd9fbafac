"""The cluster as a whole."""

import pytest

from andiron.wire.messages.describe_cluster import DescribeClusterRequest
from andiron.wire.messages.metadata import NOT_ASKED
from worlds.node import SmallNode, error_of

BROKERS, CONTROLLERS = 1, 2


@pytest.mark.parametrize("version", range(3))
def test_it_names_the_cluster_its_controller_and_its_brokers(version):
    node = SmallNode(broker_rack="north")

    response = node.ask(DescribeClusterRequest(), version)

    assert (error_of(response), response.controller_id) == ("NONE", 1)
    assert response.cluster_id == node.node.broker.cluster_id
    [broker] = response.brokers
    assert (broker.broker_id, broker.host, broker.port, broker.rack) == (1, "localhost", 9092, "north")


def test_the_cluster_id_is_the_same_after_a_restart(node):
    before = node.ask(DescribeClusterRequest()).cluster_id
    node.restart()

    assert node.ask(DescribeClusterRequest()).cluster_id == before
    assert len(before) == 22


@pytest.mark.parametrize(
    ("kind", "code"), [(CONTROLLERS, "MISMATCHED_ENDPOINT_TYPE"), (7, "UNSUPPORTED_ENDPOINT_TYPE")]
)
def test_only_brokers_are_known_here(node, kind, code):
    response = node.ask(DescribeClusterRequest(endpoint_type=kind))

    assert (error_of(response), response.brokers) == (code, [])


def test_authorized_operations_are_told_to_those_who_ask(node):
    asked, not_asked = (node.ask(DescribeClusterRequest(each)) for each in (True, False))

    assert asked.cluster_authorized_operations == 8096
    assert not_asked.cluster_authorized_operations == NOT_ASKED


def test_no_broker_is_fenced_where_there_is_one(node):
    response = node.ask(DescribeClusterRequest(include_fenced_brokers=True), 2)

    assert [broker.is_fenced for broker in response.brokers] == [False]
