"""Groups without members are forgotten, with their offsets."""

from andiron.broker.handlers import delete_groups
from andiron.wire.messages.delete_groups import DeleteGroupsRequest
from worlds.coordinating import (
    DURABLY,
    GROUP,
    commit,
    committed,
    coordinating,
    every_version,
    joined,
    loading,
    recover,
)
from worlds.node import SmallNode, error_of


def delete(node, version, *groups):
    answer = node.ask(DeleteGroupsRequest(list(groups)), version)
    return [(result.group_id, error_of(result)) for result in answer.results]


@every_version(delete_groups)
def test_a_group_that_is_deleted_is_gone_after_a_crash_too(coordinator, version):
    commit(coordinator, 5)

    assert delete(coordinator, version, GROUP) == [(GROUP, "NONE")]

    assert delete(coordinator, version, GROUP) == [(GROUP, "GROUP_ID_NOT_FOUND")]
    recover(coordinator)
    assert committed(coordinator) == -1


@every_version(delete_groups)
def test_each_group_is_answered_for_itself_and_once(coordinator, version):
    joined(coordinator, group="busy")
    commit(coordinator, 5)

    assert delete(coordinator, version, "busy", "none", GROUP, "none", "") == [
        ("busy", "NON_EMPTY_GROUP"),
        ("none", "GROUP_ID_NOT_FOUND"),
        (GROUP, "NONE"),
        ("", "GROUP_ID_NOT_FOUND"),
    ]


@every_version(delete_groups)
def test_the_answer_leaves_when_all_of_it_is_on_the_disk(version):
    node = coordinating(**DURABLY)
    for name in ("a", "b"):
        commit(node, 5, group=name)
    node.flush_at_once = False
    ticket = node.send(DeleteGroupsRequest(["a", "b"]), version)
    node.do_flush()
    assert node.answer(ticket) is None

    node.do_flushes()

    assert [error_of(result) for result in node.answer(ticket).results] == ["NONE", "NONE"]


@every_version(delete_groups)
def test_while_a_group_is_loaded_it_cannot_be_deleted(coordinator, version):
    loading(coordinator)

    assert delete(coordinator, version, GROUP) == [(GROUP, "COORDINATOR_LOAD_IN_PROGRESS")]


@every_version(delete_groups)
def test_where_there_is_no_coordinator(version):
    assert delete(SmallNode(), version, GROUP) == [(GROUP, "NOT_COORDINATOR")]


@every_version(delete_groups)
def test_none_are_deleted_if_none_are_named(coordinator, version):
    assert delete(coordinator, version) == []
