from andiron.model.ids import TopicPartition
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.record import Record, records_of
from andiron.sim.canon import Canon
from andiron.sim.ledger import Ledger
from andiron.sim.mirror import Mirror

ORDERS = TopicPartition("orders", 0)


def batch(*values, base=0, epoch=3):
    data = build([Record(n, 1_000, None, value, ()) for n, value in enumerate(values)])
    made = Batch(bytes(base.to_bytes(8, "big") + data[8:12] + epoch.to_bytes(4, "big") + data[16:]))
    return made, list(records_of(made))


def mirrored(*batches):
    mirror = Mirror(ORDERS, 0)
    for made, records in batches:
        mirror.add(made, records, 0)
    return mirror


def test_a_copy_is_what_a_leader_wrote_in_that_epoch():
    canon = Canon(ORDERS)
    made, records = batch(b"a", b"b")
    assert not canon.knows(made, records)
    canon.write(3, records, 77)
    assert canon.knows(made, records)
    assert canon.differs(made, records) is None
    assert canon.written_at(made, records) == 77
    assert canon.differs(*batch(b"a", b"z")) == 1
    assert not canon.knows(*batch(b"a", b"b", epoch=4))


def test_what_is_committed_is_compared_where_both_have_something():
    canon, mine = Canon(ORDERS), mirrored(batch(b"a", b"b"))
    canon.commit(mine, 2)
    assert canon.end == 2
    assert canon.parts_from(mine, 0, 2) is None
    other = mirrored(batch(b"a", b"z"))
    assert canon.parts_from(other, 0, 2) == 1
    del other.records[1]
    assert canon.parts_from(other, 0, 2) is None
    assert canon.misses(other, 0) == 1
    assert canon.misses(other, 2) is None


def test_what_is_excused_is_gone_with_its_promises():
    canon = Canon(ORDERS)
    canon.commit(mirrored(batch(b"a", b"b")), 2)
    sent = Ledger().write(ORDERS, [(0, None, b"b")], codec=0, producer=(-1, -1, -1))
    canon.promised = {0: sent, 1: sent}
    canon.is_excused = True
    canon.cut(1, epoch=5)
    assert (canon.end, list(canon.records), list(canon.promised)) == (1, [0], [0])
    assert (canon.is_excused, canon.cuts) == (False, [(1, 5)])


def test_the_same_record_of_another_epoch_is_another():
    canon = Canon(ORDERS)
    canon.commit(mirrored(batch(b"a", b"b")), 2)
    assert canon.parts_from(mirrored(batch(b"a", b"b", epoch=4)), 0, 2) == 0


def test_what_a_replica_has_of_before_an_excused_loss_is_lost_and_nothing_else():
    canon, mine = Canon(ORDERS), mirrored(batch(b"a"), batch(b"b", base=1), batch(b"c", base=2, epoch=5))
    canon.cut(1, epoch=5)
    assert [canon.is_lost(mine, offset) for offset in range(3)] == [False, True, False]


def keyed(base, value, key=b"k"):
    data = build([Record(0, 1_000, key, value, ())])
    made = Batch(bytes(base.to_bytes(8, "big") + data[8:12] + (3).to_bytes(4, "big") + data[16:]))
    return made, list(records_of(made))


def test_a_log_outlives_a_tombstone_that_it_never_had_and_that_was_long_spent():
    canon, value, tombstone, after = Canon(ORDERS), keyed(0, b"v"), keyed(1, None), keyed(2, b"w", b"other")
    for _, records in (value, tombstone, after):
        canon.write(3, records, 77)
    canon.commit(mirrored(value, tombstone, after), 3)
    was_away = mirrored(value, after)
    assert [record.offset for record in canon.outlived(was_away, 77)] == [1]
    assert canon.outlived(was_away, 76) == []  # no leader may have dropped it by then
    assert canon.outlived(mirrored(value), 77) == []  # it may still come
    assert canon.outlived(mirrored(value, tombstone, after), 77) == []
    assert canon.outlived(mirrored(after), 77) == []  # nothing is left that it deletes


def test_a_log_outlives_nothing_where_the_last_word_on_a_key_is_a_value():
    canon, value, tombstone, again = Canon(ORDERS), keyed(0, b"v"), keyed(1, None), keyed(2, b"w")
    for _, records in (value, tombstone, again):
        canon.write(3, records, 77)
    canon.commit(mirrored(value, tombstone, again), 3)
    assert canon.outlived(mirrored(value, again), 77) == []
