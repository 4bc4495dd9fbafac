"""The first thing a client asks, and it must be true."""

import pytest

from andiron.broker.handlers import HANDLERS
from andiron.broker.settings.listeners import Scope
from andiron.controller.features import OFFERED
from andiron.wire.apis import APIS, ApiKey
from andiron.wire.messages.api_versions import ApiVersionsRequest
from worlds.node import Closed, error_of


def ask(node, version, name="client", number="1.0"):
    return node.ask(ApiVersionsRequest(name, number), version)


@pytest.mark.parametrize("version", range(5))
def test_every_api_that_is_served_is_named_and_no_other(node, version):
    told = {api.api_key: (api.min_version, api.max_version) for api in ask(node, version).api_keys}

    assert told == {key: row.advertised for key, row in HANDLERS.items() if Scope.BROKER in row.scope}


def test_controllers_name_what_is_theirs(node):
    node.connect(9, "CONTROLLER")
    told = {api.api_key for api in node.ask(ApiVersionsRequest("test", "1"), 4, conn=9).api_keys}

    assert told == {key for key, row in HANDLERS.items() if Scope.CONTROLLER in row.scope}
    assert ApiKey.VOTE in told
    assert ApiKey.PRODUCE not in told


def test_api_versions_are_those_served_but_for_the_oldest_of_produce():
    apart = {key for key, handler in HANDLERS.items() if handler.advertised != handler.served}

    assert apart == {0}
    assert (HANDLERS[0].advertised, HANDLERS[0].served) == ((0, 13), (3, 13))


def test_what_is_served_can_be_read_and_written():
    for key, handler in HANDLERS.items():
        least, most = APIS[key].versions
        assert least <= handler.served[0] <= handler.served[1] <= most


@pytest.mark.parametrize("version", [5, 99, -1])
def test_an_unknown_version_is_answered_in_version_0_with_the_range_of_this_api(node, version):
    response = node.ask_raw(18, version, b"\xff\x00", read_as=0)

    assert error_of(response) == "UNSUPPORTED_VERSION"
    assert [(api.api_key, api.min_version, api.max_version) for api in response.api_keys] == [(18, 0, 4)]


@pytest.mark.parametrize("name", ["librdkafka", "a", "Apache.Kafka-java", "x9"])
def test_software_names_that_are_fine(node, name):
    assert error_of(ask(node, 3, name)) == "NONE"


@pytest.mark.parametrize(
    ("name", "number"),
    [("", "1"), ("-x", "1"), ("x-", "1"), ("x y", "1"), ("x_y", "1"), ("x", ""), ("x", "1 0")],
)
@pytest.mark.parametrize("version", [3, 4])
def test_software_names_that_are_not(node, name, number, version):
    assert error_of(ask(node, version, name, number)) == "INVALID_REQUEST"


def test_features_begin_at_level_1_for_version_3(node):
    """Clients of that time break on a feature whose least level is 0."""
    assert all(feature.min_version > 0 for feature in ask(node, 3).supported_features)


def test_what_all_nodes_can_be_set_to_is_told(node):
    told = {each.name: (each.min_version, each.max_version) for each in ask(node, 4).supported_features}

    assert told == OFFERED
    assert (told["kraft.version"], told["metadata.version"]) == ((0, 1), (24, 30))


@pytest.mark.parametrize("version", [3, 4])
def test_the_levels_of_the_features_are_told(node, version):
    response = ask(node, version)

    final = {feature.name: feature.max_version_level for feature in response.finalized_features}
    newest = {"metadata.version": 30, "group.version": 1, "transaction.version": 2}
    assert final == {**newest, "eligible.leader.replicas.version": 1, "kraft.version": 1}
    for supported in response.supported_features:
        assert supported.min_version <= final.get(supported.name, 0) <= supported.max_version
    assert response.finalized_features_epoch > 0


@pytest.mark.parametrize("key", [key for key in APIS if key not in HANDLERS])
def test_an_api_that_is_not_served_closes_the_connection(node, key):
    with pytest.raises(Closed, match=f"key {key}"):
        node.ask_raw(key, 0, b"")


@pytest.mark.parametrize("version", [0, 1, 2, 14, -1])
def test_a_version_that_is_not_served_closes_the_connection(node, version):
    with pytest.raises(Closed, match="is not served"):
        node.ask_raw(0, version, bytes(20))
