"""Every client with every assignor it has: who gets which partitions, and how they change hands.

Records flow all the while. Nobody fails, so each is processed exactly once, and at no time has a partition two
owners. Where the protocol is incremental, a partition that stays is not asked back.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from peers.members import kinds, laws
from peers.members.group import Group
from peers.members.hosting import Member
from peers.members.kinds import CLIENTS, RANGE, ROUND_ROBIN, Kind


def keep_the_laws(group: Group, kind: Kind) -> None:
    group.drained()
    laws.exactly_once(group)
    laws.in_order(group)
    laws.one_owner(group)
    if kind.incremental:
        laws.nothing_moved_in_vain(group)


@kinds.each([*kinds.CLASSIC, *kinds.NEW])
def test_members_come_and_go_and_each_record_is_processed_once(
    make_group: Callable[..., Group], kind: Kind
) -> None:
    group = make_group(6, 6)
    with group.flowing():
        first = group.join(kind)
        group.settled()
        second = group.join(kind)
        group.settled(6, 6)
        before = {member.name: member.owned for member in (first, second)}
        third = group.join(kind)
        group.settled(4, 4, 4)
        check_shares(group, kind, before)
        first.leave()
        group.settled()
        assert second.owned | third.owned == set(group.partitions)
    keep_the_laws(group, kind)


def check_shares(group: Group, kind: Kind, before: dict[str, set[tuple[str, int]]]) -> None:
    """Three members on two topics of six: four partitions each, and which ones the assignor says."""
    shares = [member.owned for member in group.living]
    if kind.assignor == RANGE:
        for topic in group.topics:
            blocks = sorted(sorted(number for name, number in share if name == topic) for share in shares)
            assert blocks == [[0, 1], [2, 3], [4, 5]]
    if kind.assignor == ROUND_ROBIN:
        dealt = sorted(group.partitions)
        assert sorted(map(sorted, shares)) == sorted(dealt[start::3] for start in range(3))
    if kind.sticky:
        for member in group.living[:2]:
            assert member.owned <= before[member.name]


@pytest.mark.parametrize("assignor", [RANGE, ROUND_ROBIN])
def test_members_of_all_clients_share_one_group(make_group: Callable[..., Group], assignor: str) -> None:
    """Whoever leads computes for all, so the libraries must understand each other's subscriptions."""
    group = make_group(8)
    with group.flowing():
        for client in CLIENTS:
            group.join(Kind(client, assignor))
            group.settled()
        group.settled(2, 2, 2, 2)
        group.living[0].leave()
        group.settled()
    keep_the_laws(group, Kind("all", assignor))


def test_a_group_goes_from_eager_to_cooperative_one_restart_after_the_other(
    make_group: Callable[..., Group],
) -> None:
    """First both assignors are offered, and only range is common to all; when all offer both, it can go."""
    group = make_group(6)

    def replace(old: Member, assignor: str) -> Member:
        old.leave()
        new = group.join(Kind("java", assignor))
        group.settled()
        return new

    with group.flowing():
        members = [group.join(Kind("java", "range")) for _ in range(2)]
        group.settled()
        for assignor in ("cooperative-sticky,range", "cooperative-sticky"):
            members = [replace(member, assignor) for member in members]
    keep_the_laws(group, Kind("java", "range"))
