import pytest

from andiron.log import timestamp_lookup
from andiron.log.offset_index import OffsetIndex
from andiron.sim.watcher import Violation

EARLIEST, LATEST, MAX_TIMESTAMP = -2, -1, -3


@pytest.fixture
def quiet(quiet):
    quiet.create(index_interval_bytes=0)
    for number in range(6):
        quiet.write(b"%d" % number, b"x")
        quiet.run(100)
    return quiet


def test_places_are_found(quiet):
    now = quiet.world.now
    assert quiet.list_offset(EARLIEST).offset == 0
    assert quiet.list_offset(LATEST).offset == 12
    assert quiet.list_offset(MAX_TIMESTAMP).offset == 10
    assert quiet.list_offset(now).offset == -1
    assert quiet.list_offset(0).offset == 0
    quiet.delete_records(11)
    assert quiet.list_offset(MAX_TIMESTAMP).offset == 11
    quiet.rest()


def test_a_wrong_place_in_time_is_noticed(quiet, monkeypatch):
    found = timestamp_lookup._first_in
    monkeypatch.setattr(
        timestamp_lookup, "_first_in", lambda batch, time, start: found(batch, time + 1, start)
    )
    with pytest.raises(Violation, match="lookups agree with a scan"):
        for record in list(quiet.mirror().records.values()):
            quiet.list_offset(record.timestamp)


def test_an_index_that_leads_astray_is_noticed_at_rest(quiet, monkeypatch):
    lookup = OffsetIndex.lookup
    monkeypatch.setattr(OffsetIndex, "lookup", lambda self, offset: lookup(self, offset + 3))
    with pytest.raises(Violation, match="lookups agree with a scan"):
        quiet.rest()
