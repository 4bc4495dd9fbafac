"""The cluster as a whole."""

import pytest

from andiron.wire.messages.describe_cluster import DescribeClusterRequest
from andiron.wire.messages.metadata import NOT_ASKED
from worlds.controllers import CLUSTER_ID
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
    ("listener", "kind", "code"),
    [
        ("PLAINTEXT", CONTROLLERS, "MISMATCHED_ENDPOINT_TYPE"),
        ("PLAINTEXT", 7, "UNSUPPORTED_ENDPOINT_TYPE"),
        ("CONTROLLER", BROKERS, "MISMATCHED_ENDPOINT_TYPE"),
        ("CONTROLLER", 7, "UNSUPPORTED_ENDPOINT_TYPE"),
    ],
)
def test_each_listener_knows_its_own_kind(node, listener, kind, code):
    node.connect(9, listener)

    response = node.ask(DescribeClusterRequest(endpoint_type=kind), conn=9)

    assert (error_of(response), response.brokers, response.endpoint_type) == (code, [], BROKERS)


@pytest.mark.parametrize("version", [1, 2])
def test_on_the_controllers_listener_it_names_all_controllers_that_have_registered(three, version):
    for number in (1, 2, 3):
        response = three.ask(number, DescribeClusterRequest(endpoint_type=CONTROLLERS), version)

        assert (error_of(response), response.endpoint_type) == ("NONE", CONTROLLERS)
        assert (response.cluster_id, response.controller_id) == (CLUSTER_ID, three.leader)
        found = sorted((each.broker_id, each.host, each.port) for each in response.brokers)
        assert found == [(each, f"node-{each}", 9093) for each in (1, 2, 3)]


def test_authorized_operations_are_told_to_those_who_ask(node):
    asked, not_asked = (node.ask(DescribeClusterRequest(each)) for each in (True, False))

    assert asked.cluster_authorized_operations == 8096
    assert not_asked.cluster_authorized_operations == NOT_ASKED


def test_no_broker_is_fenced_where_there_is_one(node):
    response = node.ask(DescribeClusterRequest(include_fenced_brokers=True), 2)

    assert [broker.is_fenced for broker in response.brokers] == [False]
