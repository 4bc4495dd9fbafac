from andiron.sim.changes import Changes


def told(changes):
    changes.stepped()
    return list(changes)


def test_a_replica_is_told_of_twice_when_it_is_new_and_then_when_it_changes(trio):
    trio.create()
    leader = trio.leader()
    changes, partition = Changes(leader), trio.partition(leader)

    assert [partition in told(changes) for _ in range(3)] == [True, True, False]
    trio.write()
    assert [partition in told(changes) for _ in range(2)] == [True, False]
    leader.is_open = False
    assert [partition in told(changes) for _ in range(2)] == [True, False]


def test_within_a_step_all_are_told_the_same(trio):
    trio.create()
    changes = Changes(trio.leader())

    assert list(changes) == list(changes) == [trio.partition(trio.leader())]


def test_segments_that_were_replaced_are_a_change_though_all_offsets_are_the_same(trio):
    trio.create()
    changes, partition = Changes(trio.leader()), trio.partition(trio.leader())
    told(changes), told(changes)

    segments = partition.log.segments
    segments._settle(list(segments))

    assert told(changes) == [partition]
