"""The groups that a broker coordinates."""

import pytest

from andiron.broker.handlers import list_groups
from andiron.wire.messages.list_groups import ListGroupsRequest
from worlds.coordinating import (
    DURABLY,
    commit,
    commit_request,
    consumer_heartbeat,
    coordinating,
    every_version,
    joined,
    loading,
    recover,
)
from worlds.node import SmallNode, error_of

STATES_SINCE, TYPES_SINCE = 4, 5


@pytest.fixture
def groups(coordinator):
    """A node with a group of each kind."""
    joined(coordinator, group="classic")
    coordinator.ask(consumer_heartbeat(group="assigned"))
    commit(coordinator, 5, group="offsets")
    return coordinator


def listed(node, version, states=(), types=()):
    answer = node.ask(ListGroupsRequest(list(states), list(types)), version)
    assert error_of(answer) == "NONE"
    return sorted(
        (each.group_id, each.protocol_type, each.group_state, each.group_type) for each in answer.groups
    )


@every_version(list_groups)
def test_every_group_is_listed_with_what_the_version_tells_of_it(groups, version):
    whole = [
        ("assigned", "consumer", "Stable", "consumer"),
        ("classic", "consumer", "Stable", "classic"),
        ("offsets", "", "Empty", "classic"),
    ]
    told = [
        (id, protocol, state if version >= STATES_SINCE else "", kind if version >= TYPES_SINCE else "")
        for id, protocol, state, kind in whole
    ]

    assert listed(groups, version) == told
    recover(groups)
    assert listed(groups, version) == told


@every_version(list_groups, since=STATES_SINCE)
def test_they_can_be_picked_by_state(groups, version):
    def names(*states):
        return [each[0] for each in listed(groups, version, states=states)]

    assert names("Empty") == ["offsets"]
    assert names("stable", "Empty") == ["assigned", "classic", "offsets"]
    assert names("Nonsense") == []


@every_version(list_groups, since=TYPES_SINCE)
def test_they_can_be_picked_by_type(groups, version):
    def names(*types):
        return [each[0] for each in listed(groups, version, types=types)]

    assert names("classic") == ["classic", "offsets"]
    assert names("Consumer") == ["assigned"]


@every_version(list_groups)
def test_while_some_are_loaded_none_are_listed(coordinator, version):
    loading(coordinator)

    answer = coordinator.ask(ListGroupsRequest(), version)

    assert (error_of(answer), answer.groups) == ("COORDINATOR_LOAD_IN_PROGRESS", [])


@every_version(list_groups)
def test_a_broker_that_coordinates_nothing_lists_nothing(version):
    assert listed(SmallNode(), version) == []


@every_version(list_groups)
def test_the_answer_waits_for_what_it_tells_to_be_committed(version):
    node = coordinating(**DURABLY)
    node.flush_at_once = False
    node.send(commit_request(node, 5))
    ticket = node.send(ListGroupsRequest(), version)
    assert node.answer(ticket) is None

    node.do_flushes()

    assert [each.group_id for each in node.answer(ticket).groups] == ["g"]
