"""Replicas are spread over brokers and racks, and leadership with them."""

from __future__ import annotations

from collections import Counter

import pytest

from andiron.controller.image import BrokerImage
from andiron.controller.replica_placement import place
from andiron.model.chance import Chance
from andiron.model.errors import Refused
from andiron.model.ids import NodeId


def brokers(count: int, racks: str = "", fenced: tuple[int, ...] = ()) -> list[BrokerImage]:
    """Brokers 1, 2, …; the n-th letter of `racks` is the rack of the n-th."""
    return [
        BrokerImage(NodeId(n), 0, b"", {}, racks[n - 1] if racks else None, n in fenced)
        for n in range(1, count + 1)
    ]


def test_a_sole_broker_gets_everything():
    assert place(3, 1, brokers(1), Chance(1)) == [[1], [1], [1]]


@pytest.mark.parametrize("seed", range(5))
def test_leaders_go_round_and_no_replica_stands_beside_itself(seed):
    placed = place(12, 3, brokers(4), Chance(seed))

    assert Counter(replicas[0] for replicas in placed) == {1: 3, 2: 3, 3: 3, 4: 3}
    assert all(len(set(replicas)) == 3 for replicas in placed)


@pytest.mark.parametrize("seed", range(5))
def test_followers_of_a_leader_vary_from_lap_to_lap(seed):
    placed = place(9, 2, brokers(4), Chance(seed))

    assert len({tuple(replicas) for replicas in placed if replicas[0] == placed[0][0]}) > 1


@pytest.mark.parametrize("seed", range(5))
def test_replicas_stand_in_different_racks_as_far_as_there_are_any(seed):
    rack = dict(enumerate("aabbcc", 1))

    assert all(
        len({rack[r] for r in replicas}) == 3 for replicas in place(6, 3, brokers(6, "aabbcc"), Chance(seed))
    )
    assert all(
        len({rack[r] for r in replicas}) == 3 for replicas in place(6, 5, brokers(6, "aabbcc"), Chance(seed))
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_fenced_broker_gets_replicas_last_and_never_leads(seed):
    with_room = place(8, 2, brokers(3, fenced=(2,)), Chance(seed))
    without = place(8, 3, brokers(3, fenced=(2,)), Chance(seed))

    assert all(2 not in replicas for replicas in with_room)
    assert all(replicas[2] == 2 for replicas in without)


def test_the_same_seed_places_the_same_way():
    assert place(5, 2, brokers(5), Chance(3)) == place(5, 2, brokers(5), Chance(3))


@pytest.mark.parametrize(
    ("replicas", "known", "complaint"),
    [
        (3, brokers(2), "to have 3 replicas, and only 2 brokers are registered"),
        (1, [], "to have 1 replicas, and only 0 brokers are registered"),
        (1, brokers(2, fenced=(1, 2)), "all brokers are fenced"),
    ],
)
def test_more_replicas_than_brokers_are_refused(replicas, known, complaint):
    with pytest.raises(Refused, match=complaint):
        place(1, replicas, known, Chance(1))
