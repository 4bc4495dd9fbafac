"""Voters with their endpoints, made into a record and out of one, one more and one less; a majority of their ids."""

import pytest

from andiron.model.ids import Address
from andiron.quorum.records import VotersRecord, decode_control, encode_control
from andiron.quorum.voter_set import NOWHERE, VoterIds, VoterNode, VoterSet


def node(id, directory=b"d" * 16):
    return VoterNode(id, directory, (("CONTROLLER", Address(f"host-{id}", 9093)), ("OTHER", Address("h", 1))))


def test_a_record_names_them():
    voters = VoterSet([node(3), node(1)])
    record = decode_control(*encode_control(voters.record()))

    assert isinstance(record, VotersRecord)
    assert VoterSet.of(record) == voters
    assert [voter.kraft_version_feature.max_supported_version for voter in record.voters] == [1, 1]


def test_they_are_in_the_order_of_their_numbers():
    voters = VoterSet([node(3), node(1)])

    assert [each.id for each in voters] == list(voters.ids) == [1, 3]
    assert (len(voters), voters.get(3), voters.get(2)) == (2, node(3), None)
    assert hash(voters) == hash(VoterSet([node(1), node(3)]))
    assert "host-1" in repr(voters)


def test_one_more_and_one_less_make_another_set():
    voters = VoterSet([node(1)])

    assert list(voters.with_voter(node(2)).ids) == [1, 2]
    assert list(voters.with_voter(node(2)).without(1).ids) == [2]
    assert list(voters.without(9).ids) == list(voters.ids) == [1]
    assert voters.with_voter(node(1, b"e" * 16)).get(1).directory == b"e" * 16


def test_a_voter_is_reached_at_its_first_listener():
    assert node(1).address == Address("host-1", 9093)
    assert VoterNode(1).address is None


def test_a_voter_is_a_node_with_its_directory():
    assert node(1).is_called(1, b"d" * 16)
    assert not node(1).is_called(2, b"d" * 16)
    assert not node(1).is_called(1, b"e" * 16)
    assert VoterNode(1, NOWHERE).is_called(1, b"e" * 16), "nobody has said where its votes lie"


@pytest.mark.parametrize(
    ("voters", "nodes", "majority"),
    [
        ([], [1, 2], False),
        ([1], [], False),
        ([1], [1], True),
        ([1, 2], [1], False),
        ([1, 2, 3], [3, 1], True),
        ([1, 2, 3], [1, 1, 1], False),
        ([1, 2, 3], [1, 8, 9], False),
        ([1, 2, 3, 4], [1, 2], False),
    ],
)
def test_a_majority_is_more_than_half_of_the_voters(voters, nodes, majority):
    assert VoterIds(voters).is_majority(nodes) is majority


def test_voters_are_the_same_in_whatever_order_they_come():
    assert VoterIds([3, 1, 2]) == VoterIds([1, 2, 3])
    assert list(VoterIds([3, 1, 2, 3])) == [1, 2, 3]
    assert 2 in VoterIds([1, 2]) and 3 not in VoterIds([1, 2])
    assert VoterIds([1]) != VoterIds([2])
    assert hash(VoterIds([2, 1])) == hash(VoterIds([1, 2]))
