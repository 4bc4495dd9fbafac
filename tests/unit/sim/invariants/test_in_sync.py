import pytest

from andiron.sim.invariants.in_sync import CommittedIsInSync
from andiron.sim.watcher import Violation


def test_what_is_committed_in_a_cluster_was_on_all_in_sync(trio):
    trio.create(min_insync_replicas=2)
    law, leader = trio.law(CommittedIsInSync), trio.leader()
    for number in range(3):
        trio.write(b"%d" % number)
    trio.followers()[0].kill()
    assert trio.write(b"after").base_offset == 3
    assert max(law._watermarks.values()) == 4
    assert leader.number in {key[0] for key in law._held}


def test_a_watermark_that_did_not_wait_for_one_in_sync_is_noticed(trio):
    trio.create()
    trio.write()
    law, leader, follower = trio.law(CommittedIsInSync), trio.leader(), trio.followers()[0]
    for key in law._held:
        if key[0] == follower.number:
            law._held[key] = 0
    partition = trio.partition(leader)
    with pytest.raises(Violation, match=f"orders-0 is committed up to 1; node-{follower.number} had 0"):
        law._check(leader, partition)


def test_nor_may_one_that_begins_to_lead_take_more_for_committed(trio):
    trio.create()
    trio.write()
    law, leader, follower = trio.law(CommittedIsInSync), trio.leader(), trio.followers()[0]
    law._watermarks.clear()
    law._held = {key: 0 if key[0] == follower.number else held for key, held in law._held.items()}
    leader.changed.__init__(leader)
    with pytest.raises(Violation, match="orders-0 is committed up to 1"):
        law.stepped(leader)
