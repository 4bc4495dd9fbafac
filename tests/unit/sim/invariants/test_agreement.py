import pytest

from andiron.model.ids import Offset
from andiron.sim.changes import Changes
from andiron.sim.invariants.agreement import ReplicasAgree
from andiron.sim.watcher import Violation
from unit.sim.trio import ORDERS


def test_three_replicas_agree_and_a_new_leader_has_everything(trio):
    trio.create(min_insync_replicas=2)
    for number in range(5):
        trio.write(b"%d" % number)
    first = trio.leader()
    first.kill()
    trio.run(until=lambda: trio.leader() not in (None, first))
    assert trio.write(b"after").base_offset == 5
    first.start()
    trio.rest()


def test_a_leader_without_what_is_committed_is_noticed(trio):
    trio.create()
    trio.write(b"a")
    trio.write(b"b")
    law = trio.law(ReplicasAgree)
    leader = trio.leader()
    mirror = trio.mirrors.of(leader, trio.partition(leader))
    law._seen.clear()
    mirror.records = {0: mirror.records[0]}
    leader.changed = Changes(leader)
    with pytest.raises(
        Violation, match=r"a leader has all that is committed: orders-0 on node-. in epoch 0: not so from 1"
    ):
        law.stepped(leader)


def test_another_record_on_a_follower_is_noticed(trio):
    trio.create()
    trio.write(b"a")
    trio.run(2_000)
    law, follower = trio.law(ReplicasAgree), trio.followers()[0]
    mirror = trio.mirrors.of(follower, trio.partition(follower))
    law._seen.clear()
    law._checked.clear()
    mirror.records[0] = mirror.records[0]._replace(value=b"z")
    follower.changed = Changes(follower)
    with pytest.raises(Violation, match="another record stands at 0"):
        law.stepped(follower)


def test_a_follower_does_not_know_of_more_than_is_committed(trio):
    trio.create()
    trio.write(b"a")
    trio.run(2_000)
    law, follower = trio.law(ReplicasAgree), trio.followers()[0]
    law._canons.of(trio.partition(follower)).end = Offset(0)
    law._seen.clear()
    follower.changed = Changes(follower)
    with pytest.raises(Violation, match="what a follower takes for committed is"):
        law.stepped(follower)


def test_what_is_excused_is_cut_and_counts_no_more(trio):
    trio.create()
    trio.write(b"a")
    trio.write(b"b")
    law, leader = trio.law(ReplicasAgree), trio.leader()
    canon = law._canons.of(trio.partition(leader))
    canon.is_excused = True
    mirror = trio.mirrors.of(leader, trio.partition(leader))
    mirror.records = {0: mirror.records[0]}
    law._seen.clear()
    leader.changed = Changes(leader)
    law.stepped(leader)
    assert (canon.cuts, canon.is_excused) == ([(1, 0)], False)
    assert 1 not in canon.records or canon.end == 2
    assert trio.partition(leader).name == ORDERS


def test_who_still_has_what_was_lost_with_an_excuse_is_not_blamed_and_is_looked_at_again(trio):
    trio.create()
    trio.write(b"a")
    trio.run(2_000)
    law, follower = trio.law(ReplicasAgree), trio.followers()[0]
    mirror = trio.mirrors.of(follower, trio.partition(follower))
    law._canons.of(trio.partition(follower)).cuts = [(0, 1)]
    law._seen.clear()
    law._checked.clear()
    mirror.records[0] = mirror.records[0]._replace(value=b"z")
    follower.changed = Changes(follower)
    law.stepped(follower)
    assert not any(law._checked.values())
