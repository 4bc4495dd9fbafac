import pytest

from andiron.sim.clients.classic_member import ClassicMember
from andiron.sim.clients.consumer_member import ConsumerMember
from andiron.sim.clients.member import MemberHabits
from unit.sim.quiet import Quiet

both = pytest.mark.parametrize("protocol", [ClassicMember, ConsumerMember])


def crowd(quiet, protocol, count=3, instances=False, **how):
    for topic in ("input", "__consumer_offsets", "__transaction_state"):
        quiet.create(topic, partitions=3)
    members = []
    for number in range(count):
        habits = {
            "group": "g", "topic": "input", "instance_id": f"i{number}" if instances else None, "pace_ms": 100,
            "session_ms": 6_000, "rebalance_ms": 3_000, "fragility": 0.0, "stays": 1_000, **how,
        }  # fmt: skip
        member = protocol(quiet.world, quiet.network, f"member-{number}", MemberHabits(**habits))
        member.begin()
        members.append(member)
    return members


def close(quiet, members):
    for each in members:
        each.is_closing = True
    quiet.run(60_000, until=lambda: all(each.is_done for each in members))
    assert all(each.is_done for each in members)
    quiet.run(100_000)
    quiet.rest()


@both
def test_members_share_the_partitions_among_them(protocol):
    quiet = Quiet()
    members = crowd(quiet, protocol)
    quiet.run(30_000)
    assert sorted(index for each in members for index in each.positions) == [0, 1, 2]
    assert all(position for each in members for position in each.positions.values())
    close(quiet, members)


@both
@pytest.mark.parametrize("instances", [True, False])
def test_members_come_and_go_and_drop_dead(protocol, instances):
    quiet = Quiet(2)
    members = crowd(quiet, protocol, instances=instances, fragility=0.03, stays=20)
    quiet.run(60_000)
    close(quiet, members)
