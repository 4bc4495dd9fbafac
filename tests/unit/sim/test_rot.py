import random

from andiron.sim.mirror import scan
from andiron.sim.rot import Rot


def test_a_batch_is_damaged_and_its_mirror_told(quiet):
    quiet.create(flush_messages=1)
    for _ in range(5):
        quiet.write(b"x" * 20)
    quiet.host.kill()
    Rot(quiet.mirrors, random.Random(2)).strike(quiet.host)
    quiet.boot()
    (mirror,) = quiet.mirrors.on(quiet.host)
    assert mirror.was_rotten
    assert mirror.end < 5  # recovery has cut it off
    assert all(records is not None for _, records in scan(quiet.host, quiet.partition()))


def test_where_there_is_nothing_nothing_is_damaged(quiet):
    quiet.create()
    quiet.host.kill()
    Rot(quiet.mirrors, random.Random(1)).strike(quiet.host)
    assert not any(mirror.was_rotten for mirror in quiet.mirrors.on(quiet.host))


def test_a_damaged_index_excuses_nothing(quiet):
    quiet.create(internal_segment_bytes=300, index_interval_bytes=0)
    for _ in range(10):
        quiet.write(b"x" * 40)
    quiet.restart(quiet.host.stop)
    quiet.host.stop()
    quiet.run(100)
    Rot(quiet.mirrors, random.Random(1)).strike(quiet.host)
    quiet.boot()
    assert not any(mirror.was_rotten for mirror in quiet.mirrors.on(quiet.host))
    assert quiet.partition().log.end == 10
    quiet.rest()
