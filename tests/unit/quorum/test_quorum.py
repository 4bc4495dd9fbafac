"""A sole voter elects itself, in an epoch above all it has seen, with its vote on the disk first."""

from __future__ import annotations

import json

import pytest

from andiron.model.errors import Refused
from andiron.model.ids import NEVER
from andiron.quorum.quorum import BecameLeader, Quorum, Started
from andiron.quorum.records import LeaderChangeMessage, LeaderChangeVoter
from andiron.quorum.voters import Voters


class Memory(dict):
    """Files in memory, and everything that was ever written."""

    def __init__(self) -> None:
        self.written: list[dict] = []

    def exists(self, path: str) -> bool:
        return path in self

    def read_file(self, path: str) -> bytes:
        return self[path]

    def write_file(self, path: str, data: bytes) -> None:
        self[path] = data
        self.written.append(json.loads(data))


def quorum(files: Memory, voters: tuple[int, ...] = (1,)) -> Quorum:
    return Quorum(1, Voters(voters), files, "/m")


def test_a_sole_voter_leads_at_once():
    machine = quorum(Memory())
    assert (machine.leader, machine.leads) == (None, False)

    effects = machine.step(Started(0), now=5)

    record = LeaderChangeMessage(0, 1, [LeaderChangeVoter(1)], [LeaderChangeVoter(1)])
    assert effects == [BecameLeader(1, record)]
    assert (machine.leader, machine.epoch, machine.leads) == (1, 1, True)
    assert machine.next_deadline() == NEVER


def test_the_vote_is_on_the_disk_before_the_leadership():
    files = Memory()
    quorum(files).step(Started(0), now=5)

    assert [(state["leaderEpoch"], state["votedId"], state["leaderId"]) for state in files.written] == [
        (1, 1, -1),
        (1, -1, 1),
    ]


def test_each_start_is_a_new_epoch():
    files = Memory()
    quorum(files).step(Started(0), now=5)

    again = quorum(files)
    assert (again.epoch, again.leader) == (1, None)
    again.step(Started(1), now=6)

    assert again.epoch == 2


def test_the_epoch_is_above_that_of_the_log_even_where_the_file_is_lost():
    machine = quorum(Memory())

    assert machine.step(Started(41), now=5)[0].epoch == 42


def test_one_of_three_does_not_lead_by_its_own_vote():
    files = Memory()
    machine = quorum(files, voters=(1, 2, 3))

    assert machine.step(Started(0), now=5) == []
    assert (machine.leader, machine.leads) == (None, False)
    assert files.written[-1]["votedId"] == 1


def test_other_voters_than_last_time_are_refused():
    files = Memory()
    quorum(files).step(Started(0), now=5)

    with pytest.raises(Refused, match="INCONSISTENT_VOTER_SET"):
        quorum(files, voters=(1, 2, 3))


def test_a_node_that_does_not_vote_does_not_stand():
    with pytest.raises(AssertionError):
        Quorum(1, Voters([2]), Memory(), "/m")
