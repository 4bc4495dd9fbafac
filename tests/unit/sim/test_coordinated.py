import random

from andiron.sim.clients.classic_member import ClassicMember
from andiron.sim.clients.consumer_member import ConsumerMember
from andiron.sim.coordinated import coordinators

WORLDS = [coordinators({}, random.Random(seed)) for seed in range(100)]


def test_the_same_dice_are_the_same_world():
    assert coordinators({}, random.Random(3)) == coordinators({}, random.Random(3))


def test_both_protocols_and_all_kinds_of_transactions_are_there():
    members = [each for world in WORLDS for each in world["members"]]
    assert {protocol for protocol, _ in members} == {ClassicMember, ConsumerMember}
    assert any(habits.instance_id for _, habits in members)
    transactors = [each for world in WORLDS for each in world["transactors"]]
    assert {(each.bumping, each.two_phase) for each in transactors} == {
        (False, False),
        (True, False),
        (True, True),
    }


def test_where_every_log_is_synced_the_coordinators_are_too():
    for world in WORLDS:
        synced = ["flush.messages" in topic.configs for topic in world["topics"]]
        assert all(synced) if world["durable"] else not any(synced)


def test_members_of_a_group_speak_the_same_protocol():
    for world in WORLDS:
        protocols = {habits.group: protocol for protocol, habits in world["members"]}
        assert all(protocols[habits.group] is protocol for protocol, habits in world["members"])
