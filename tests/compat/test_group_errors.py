"""The classic protocol, by hand and with ill will: unknown members, stale generations, bad names and forgeries.

Every answer is the one that Kafka gives.
"""

from __future__ import annotations

from typing import Any

import pytest

from peers.asking import Asker, first_answer
from peers.joining import joined, joining
from peers.process import Server

ILLEGAL_GENERATION = 22
INCONSISTENT_GROUP_PROTOCOL = 23
INVALID_GROUP_ID = 24
UNKNOWN_MEMBER_ID = 25
INVALID_SESSION_TIMEOUT = 26
REBALANCE_IN_PROGRESS = 27
INVALID_REQUEST = 42
GROUP_ID_NOT_FOUND = 69
MEMBER_ID_REQUIRED = 79
GROUP_MAX_SIZE_REACHED = 81
FENCED_INSTANCE_ID = 82
GROUP_MAX_SIZE = 12  # of the node under test
SYNCING = {"protocol_type": "consumer", "protocol_name": "range", "assignments": []}


@pytest.mark.parametrize("version", [0, 4, 9])
def test_a_group_must_have_a_name(asker: Asker, version: int) -> None:
    fields = joining("")
    if version == 0:
        del fields["rebalance_timeout"]
    assert asker.ask("join_group", version, **fields).error_code == INVALID_GROUP_ID


def test_no_name_is_no_group_for_any_call(asker: Asker) -> None:
    place = {"group_id": "", "generation_id": 1, "member_id": "m"}
    assert asker.ask("heartbeat", 4, **place).error_code == INVALID_GROUP_ID
    assert asker.ask("sync_group", 5, **place, **SYNCING).error_code == INVALID_GROUP_ID
    assert asker.ask("leave_group", 2, group_id="", member_id="m").error_code == INVALID_GROUP_ID
    deleted = asker.ask("delete_groups", 2, groups_names=[""])
    assert [result.error_code for result in deleted.results] == [GROUP_ID_NOT_FOUND]


@pytest.mark.parametrize("timeout", [0, 999, 1_800_001, -1])
def test_a_session_must_be_of_a_length_that_the_broker_allows(asker: Asker, name: str, timeout: int) -> None:
    refused = asker.ask("join_group", 5, **joining(name, session_timeout=timeout))
    assert refused.error_code == INVALID_SESSION_TIMEOUT


@pytest.mark.parametrize("version", [4, 5, 9])
def test_a_new_member_is_given_an_id_and_told_to_come_back_with_it(
    asker: Asker, name: str, version: int
) -> None:
    first = asker.ask("join_group", version, **joining(name))
    assert first.error_code == MEMBER_ID_REQUIRED
    assert first.member_id.startswith("raw-") and first.generation_id == -1

    second = asker.ask("join_group", version, **joining(name, first.member_id))
    assert (second.error_code, second.member_id, second.generation_id) == (0, first.member_id, 1)


@pytest.mark.parametrize("version", [3, 9])
def test_a_forged_member_id_opens_no_door(asker: Asker, name: str, version: int) -> None:
    assert asker.ask("join_group", version, **joining(name, "forged")).error_code == UNKNOWN_MEMBER_ID
    joined(asker, name)
    assert asker.ask("join_group", version, **joining(name, "forged")).error_code == UNKNOWN_MEMBER_ID


def test_an_id_given_for_one_group_is_worth_nothing_in_another(asker: Asker, name: str) -> None:
    given = asker.ask("join_group", 5, **joining(name)).member_id

    assert asker.ask("join_group", 5, **joining(f"{name}-other", given)).error_code == UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("bad", [{"protocols": []}, {"protocol_type": ""}])
def test_a_member_must_offer_a_protocol(asker: Asker, name: str, bad: dict[str, Any]) -> None:
    assert asker.ask("join_group", 3, **joining(name, **bad)).error_code == INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize(
    "other", [{"protocols": [{"name": "sticky", "metadata": b""}]}, {"protocol_type": "connect"}]
)
def test_a_member_must_share_a_protocol_with_the_others(
    asker: Asker, name: str, other: dict[str, Any]
) -> None:
    joined(asker, name)

    assert asker.ask("join_group", 3, **joining(name, **other)).error_code == INCONSISTENT_GROUP_PROTOCOL


def test_a_group_grows_to_its_largest_size_and_no_further(node: Server, asker: Asker, name: str) -> None:
    """While a rebalance goes on, those count who wait for its end: here all but the first."""
    joined(asker, name)
    others = [Asker(node.port) for _ in range(GROUP_MAX_SIZE + 1)]
    for other in others:
        other.send("join_group", 3, **joining(name))

    assert first_answer(others).error_code == GROUP_MAX_SIZE_REACHED
    for other in others:
        other.close()


def test_heartbeats_of_the_unknown_and_the_stale(asker: Asker, name: str) -> None:
    def beat(group: str, member: str, generation: int) -> int:
        fields = {"group_id": group, "member_id": member, "generation_id": generation}
        codes = {asker.ask("heartbeat", version, **fields).error_code for version in (0, 4)}
        assert len(codes) == 1
        return int(codes.pop())

    me = joined(asker, name)

    assert beat(name, me.member_id, me.generation_id) == 0
    assert beat(f"{name}-nobody", "m", 1) == UNKNOWN_MEMBER_ID
    assert beat(name, "m", me.generation_id) == UNKNOWN_MEMBER_ID
    assert beat(name, me.member_id, me.generation_id - 1) == ILLEGAL_GENERATION
    assert beat(name, me.member_id, me.generation_id + 1) == ILLEGAL_GENERATION


def test_a_heartbeat_tells_of_a_rebalance(node: Server, asker: Asker, name: str) -> None:
    me = joined(asker, name)
    place = {"group_id": name, "member_id": me.member_id, "generation_id": me.generation_id}
    with Asker(node.port) as other:
        other.send("join_group", 3, **joining(name))
        while asker.ask("heartbeat", 4, **place).error_code == 0:
            pass
        assert asker.ask("heartbeat", 4, **place).error_code == REBALANCE_IN_PROGRESS
        assert asker.ask("sync_group", 3, **place, assignments=[]).error_code == REBALANCE_IN_PROGRESS

        again = asker.ask("join_group", 3, **joining(name, me.member_id))
        assert (again.error_code, again.generation_id) == (0, me.generation_id + 1)
        assert other.receive().generation_id == again.generation_id
    assert asker.ask("heartbeat", 4, **place).error_code == ILLEGAL_GENERATION


def test_syncs_of_the_unknown_and_the_stale(asker: Asker, name: str) -> None:
    me = joined(asker, name)
    place = {"group_id": name, "member_id": me.member_id, "generation_id": me.generation_id, **SYNCING}

    def sync(**changed: Any) -> int:
        return int(asker.ask("sync_group", 5, **place | changed).error_code)

    assert sync() == 0
    assert sync(group_id=f"{name}-nobody") == UNKNOWN_MEMBER_ID
    assert sync(member_id="m") == UNKNOWN_MEMBER_ID
    assert sync(generation_id=me.generation_id + 1) == ILLEGAL_GENERATION
    assert sync(protocol_type="connect") == INCONSISTENT_GROUP_PROTOCOL
    assert sync(protocol_name="sticky") == INCONSISTENT_GROUP_PROTOCOL


def test_leaves_of_the_unknown(asker: Asker, name: str) -> None:
    me = joined(asker, name)

    assert asker.ask("leave_group", 2, group_id=f"{name}-no", member_id="m").error_code == UNKNOWN_MEMBER_ID
    assert asker.ask("leave_group", 2, group_id=name, member_id="m").error_code == UNKNOWN_MEMBER_ID
    members = [{"member_id": each, "group_instance_id": None} for each in ("m", me.member_id)]
    answer = asker.ask("leave_group", 5, group_id=name, members=members)
    assert answer.error_code == 0
    assert [each.error_code for each in answer.members] == [UNKNOWN_MEMBER_ID, 0]


def test_a_name_of_an_instance_belongs_to_its_latest_member(asker: Asker, name: str) -> None:
    older = joined(asker, name, group_instance_id="one")
    newer = asker.ask("join_group", 5, **joining(name, group_instance_id="one"))
    assert newer.error_code == 0 and newer.member_id != older.member_id
    place = {"group_id": name, "generation_id": newer.generation_id, "group_instance_id": "one"}

    def codes(member: str) -> list[int]:
        beat = asker.ask("heartbeat", 4, **place, member_id=member)
        sync = asker.ask("sync_group", 5, **place, member_id=member, **SYNCING)
        join = asker.ask("join_group", 5, **joining(name, member, group_instance_id="one"))
        who = {"member_id": member, "group_instance_id": "one"}
        leave = asker.ask("leave_group", 5, group_id=name, members=[who])
        return [beat.error_code, sync.error_code, join.error_code, leave.members[0].error_code]

    assert codes(older.member_id) == [FENCED_INSTANCE_ID] * 4
    assert codes(newer.member_id) == [0, 0, 0, 0]
    assert codes(newer.member_id) == [UNKNOWN_MEMBER_ID] * 4


def test_a_coordinator_of_an_unknown_kind(asker: Asker, name: str) -> None:
    assert asker.ask("find_coordinator", 3, key=name, key_type=7).error_code == INVALID_REQUEST
    found = asker.ask("find_coordinator", 6, key_type=7, coordinator_keys=[name])
    assert [each.error_code for each in found.coordinators] == [INVALID_REQUEST]
