from types import SimpleNamespace

import pytest

from andiron.broker.coordinators.group_coordinator import TOPIC as OFFSETS
from andiron.groups.records import ConsumerGroupMemberMetadataKey, GroupRecord, encode_record
from andiron.model.ids import TopicPartition
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.record import Record, records_of
from andiron.sim.canon import Canons
from andiron.sim.invariants.excuse import Excuse
from andiron.sim.mirror import Mirror, Mirrors
from andiron.sim.watcher import End
from unit.sim.quiet import Quiet


def canon(trio):
    law = trio.law(Excuse)
    return law._canons.of(trio.partition(trio.leader()))


def test_by_itself_a_power_loss_excuses_what_is_not_synced_first():
    for durable in (False, True):
        quiet = Quiet(durable=durable)
        law = next(watcher for watcher in quiet.world.watchers if isinstance(watcher, Excuse))
        quiet.host.kill()
        assert not law.is_given
        quiet.host.lose_power()
        assert law.is_given is not durable


def test_one_of_three_may_lose_its_power_and_nothing_is_excused(trio):
    trio.create(min_insync_replicas=2)
    trio.write(b"a")
    trio.run(1_000)
    kept = canon(trio)
    trio.leader().lose_power()
    assert not kept.is_excused
    assert not trio.law(Excuse).is_given


def test_all_at_once_excuse_what_they_had_not_synced(trio):
    trio.create(min_insync_replicas=2)
    trio.write(b"a")
    trio.run(1_000)
    kept, hosts = canon(trio), [trio.leader(), *trio.followers()]
    for host in hosts[:-1]:
        host.lose_power()
    assert not kept.is_excused
    hosts[-1].kill()  # it has all of it, but a controller cannot know
    assert kept.is_excused
    assert trio.law(Excuse).is_given


def test_what_is_synced_before_it_is_said_is_never_excused(trio):
    trio.create(flush_messages=1, min_insync_replicas=2)
    trio.write(b"a")
    trio.run(1_000)
    kept = canon(trio)
    for host in trio.hosts:
        host.lose_power()
    assert not kept.is_excused


def test_kills_alone_excuse_nothing(trio):
    trio.create()
    trio.write(b"a")
    trio.run(1_000)
    kept = canon(trio)
    for host in trio.hosts:
        host.kill()
    assert not kept.is_excused


def test_one_that_is_in_sync_again_is_no_suspect(trio):
    trio.create(min_insync_replicas=2)
    trio.write(b"a")
    trio.run(1_000)
    first = trio.followers()[0]
    first.lose_power()
    trio.run(500)
    first.start()
    trio.run(30_000, until=trio.is_at_rest)
    kept, law = canon(trio), trio.law(Excuse)
    place = trio.partition(trio.leader()).topic_id, 0
    assert not law._is_suspect(first.number, place)
    law.went_down(trio.host(1), End.STOPPED)
    assert not kept.is_excused


def stored(base, key, value):
    data = build([Record(0, 1_000, key, value, ())])
    made = Batch(bytes(base.to_bytes(8, "big") + data[8:12] + bytes(4) + data[16:]))
    return made, list(records_of(made))


@pytest.mark.parametrize(
    ("age_ms", "strayed_ms", "excused"), [(999, 0, False), (1_000, 0, True), (900, 100, True)]
)
def test_a_group_of_which_a_leader_missed_a_tombstone_is_excused_once_that_may_be_gone(
    age_ms, strayed_ms, excused
):
    key, _ = encode_record(GroupRecord(ConsumerGroupMemberMetadataKey("crowd", "gone"), None))
    joined, left, other = stored(0, key, b"here"), stored(1, key, None), stored(2, b"other", b"")
    name, topic_id = TopicPartition(OFFSETS, 1), b"o" * 16
    everything, mirrors, canons = Mirror(name, 0), Mirrors(), Canons()
    mirrors[2, topic_id, 1] = was_away = Mirror(name, 0)
    was_away.delete_retention_ms = 1_000
    partition = SimpleNamespace(name=name, topic_id=topic_id, leads=False, epoch=1)
    canon = canons.of(partition)
    for batch, records in (joined, left, other):
        canon.write(0, records, 5_000)
        everything.add(batch, records, 5_000)
    canon.commit(everything, 3)
    for batch, records in (joined, other):
        was_away.add(batch, records, 5_000)
    newest = SimpleNamespace(applied=-1, concerned=lambda host: [partition])
    host = SimpleNamespace(number=2, world=SimpleNamespace(now=5_000 + age_ms, hosts={}))
    host.world.hosts[2] = SimpleNamespace(clock=SimpleNamespace(strayed_ms=strayed_ms))
    law = Excuse(mirrors, newest, canons, durable=True)
    law.stepped(host)
    assert not law.has_revived("crowd")  # it does not lead
    partition.leads = True
    law.stepped(host)
    assert law.has_revived("crowd") is excused
    assert not law.has_revived("another")
    assert not law.is_given
