from andiron.sim.newest import Newest


def test_whoever_is_ahead_counts_also_when_it_is_gone(trio):
    trio.create()
    newest = trio.law(Newest)
    place = trio.partition(trio.leader()).topic_id, 0
    assert newest.partition(place).leader == trio.leader().number
    assert newest.broker(2).id == 2
    assert dict(newest.partitions())[trio.partition(trio.leader()).name] == newest.partition(place)
    applied = newest.applied
    for host in trio.hosts:
        host.kill()
    assert newest.applied == applied
    assert newest.partition(place).replicas


def test_only_one_leads_in_earnest(trio):
    trio.create()
    newest, leader = trio.law(Newest), trio.leader()
    follower = trio.followers()[0]
    assert newest.leads(leader, trio.partition(leader))
    assert not newest.leads(follower, trio.partition(follower))
    leader.is_open = False
    assert not newest.leads(leader, trio.partition(leader))
    assert newest.partition((b"nope", 0)) is None


def test_all_replicas_are_concerned_when_the_metadata_has_moved_and_else_those_that_have_changed(trio):
    trio.create()
    trio.run(2_000)
    newest, leader = trio.law(Newest), trio.leader()
    newest.stepped(leader)
    assert list(newest.concerned(leader)) == list(leader.changed)
    newest.applied += 1
    newest.stepped(leader)
    assert list(newest.concerned(leader)) == list(leader.node.broker.replica_manager)
